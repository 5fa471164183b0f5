"""Tables, plots and pages: plain values in, something to read out.

The package is a function as well: ``widemargin.report(model, test)`` makes the page of a model
(:func:`widemargin.model_report.reporting.report`), whichever name was imported first.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A module that is called like the public function of the same name.

    Importing a submodule binds its package to the name that the public function has. The function gathers
    what models know, so it is in a package that imports this one, and is looked up when it is called.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return importlib.import_module("widemargin.model_report.reporting").report(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
