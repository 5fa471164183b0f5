"""What is hard, wrong or missing in a collection of labeled documents.

The package is a function as well: ``widemargin.diagnose(texts, labels)`` calls :func:`diagnose`, whichever
name was imported first.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from widemargin.diagnose.diagnosing import diagnose
from widemargin.diagnose.diagnosis import Diagnosis

__all__ = ["Diagnosis", "diagnose"]


class _Callable(ModuleType):
    """A module that is called like its function of the same name.

    Importing a submodule binds its package to the name that the public function has.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Diagnosis:
        return diagnose(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
