"""The demo corpus: the docstrings that every installation has, labeled by the area they document.

It is real prose, several thousand documents, and needs no download. It changes with the releases of Python,
NumPy and SciPy.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import sys
import warnings
import zlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from widemargin.documents.collection import Collection
from widemargin.documents.demo_areas import AREAS
from widemargin.documents.record import Document
from widemargin.errors import DataError

MIN_CHARACTERS = 40
# Large areas are thinned out, so that none dominates.
MAX_PER_AREA = 220

_ROOTS = {*sys.stdlib_module_names, "numpy", "scipy"}


def demo_corpus() -> Collection:
    """Collect the docstrings of the standard library, NumPy and SciPy, each with its area as the label.

    Functions, classes and methods with at least 40 characters of documentation; duplicate texts are dropped.
    Ids are qualified names. The order and the choice are the same in every run.
    """
    if sys.flags.optimize >= 2:
        raise DataError(
            "The demo corpus is made of docstrings, and Python was started with -OO, which strips them. "
            "Start it without -OO (and with PYTHONOPTIMIZE unset)."
        )
    collection = Collection()
    seen: set[str] = set()
    for area, modules in AREAS.items():
        found: dict[str, str] = {}
        for name in modules:
            module = _import_quietly(name)
            if module is None:
                continue
            for identifier, text in _docstrings(module):
                if text not in seen:
                    seen.add(text)
                    found.setdefault(identifier, text)
        for identifier in _thin_out(sorted(found), MAX_PER_AREA):
            collection.append(Document(identifier, found[identifier], (area,)))
    return collection


def _import_quietly(name: str) -> ModuleType | None:
    """The module, or None if this platform or release does not have it."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except (ImportError, OSError, AttributeError):
            return None


def _docstrings(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Qualified names and cleaned docstrings of the public objects of `module`."""
    for name, value in _public(module):
        if inspect.isclass(value):
            if text := _clean(value):
                yield f"{module.__name__}.{name}", text
            for member, method in list(vars(value).items()):
                # The function inside a class method or static method has the docstring.
                function = getattr(method, "__func__", method)
                if not member.startswith("_") and callable(function) and (text := _clean(function)):
                    yield f"{module.__name__}.{name}.{member}", text
        elif callable(value) and (text := _clean(value)):
            yield f"{module.__name__}.{name}", text


def _public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The names that a module exports; without ``__all__``, the public ones that it defines itself."""
    exported = getattr(module, "__all__", None)
    for name, value in list(vars(module).items()):
        # Functions written in C have a private module name, or none.
        home = getattr(value, "__module__", None)
        home = home if isinstance(home, str) else module.__name__
        # Test runners and debuggers replace some functions.
        if name.startswith("_") or home.partition(".")[0] not in _ROOTS:
            continue
        if name in exported if exported is not None else home == module.__name__ or home.startswith("_"):
            yield name, value


def _clean(value: Any) -> str | None:
    """The docstring of `value` itself, not of its type, if it is long enough."""
    text = getattr(value, "__doc__", None)
    if not isinstance(text, str) or (not inspect.isclass(value) and text is type(value).__doc__):
        return None
    text = inspect.cleandoc(text)
    return text if len(text) >= MIN_CHARACTERS else None


def _thin_out(names: list[str], limit: int) -> list[str]:
    """At most `limit` of `names`; adding or removing one name changes at most one other choice."""
    return sorted(sorted(names, key=lambda name: zlib.crc32(name.encode()))[:limit])
