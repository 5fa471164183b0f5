"""Checked access to the content of a model file, used by all its parts.

A file with correct checksums may still come from a faulty or malicious program. Every `from_state` reads its
configuration and arrays through :class:`Stored`, so that anything missing, of the wrong type or shape, out of
range or not finite is rejected by name when the file is loaded.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from widemargin._arrays import Csr, arrays_with_value_check
from widemargin.errors import DataError, UsageError

Floats = NDArray[np.float64]
Shape = tuple[int | None, ...]
LARGEST_SIZE = 2**31 - 1


class Stored:
    """The configuration and arrays of one part of a model; methods raise DataError if these are not as
    expected.

    A dimension of None in a shape may have any length.

    Examples
    --------
    >>> stored = Stored({"n_features": 2}, {"coef": np.ones((2, 1))})
    >>> stored.array("coef", (stored.integer("n_features"), None)).shape
    (2, 1)
    >>> stored.array("coef", (3, 1))
    Traceback (most recent call last):
    ...
    widemargin.errors.DataError: 'coef' in arrays.safetensors has shape (2, 1); expected (3, 1)
    """

    def __init__(self, config: Any, arrays: Mapping[str, NDArray[Any]] | None = None, path: str = "") -> None:
        self._path = path
        if not isinstance(config, dict):
            raise self._wrong(None, config, "an object")
        self._config: dict[str, Any] = config
        self._arrays = {} if arrays is None else arrays

    # ------------------------------------------------------------------ configuration

    def __contains__(self, name: str) -> bool:
        return name in self._config

    def value(self, name: str) -> Any:
        """The value under `name`."""
        if name not in self._config:
            raise DataError(f"{self._name(name)} in manifest.json is missing")
        return self._config[name]

    def _checked(self, name: str, words: str, holds: Callable[[Any], bool]) -> Any:
        """The value under `name`, for which `holds` must be true."""
        value = self.value(name)
        if not holds(value):
            raise self._wrong(name, value, words)
        return value

    def integer(self, name: str, *, least: int = 0, most: int = LARGEST_SIZE) -> int:
        """A whole number from `least` to `most`."""
        words = f"a whole number from {least} to {most}"
        return int(self._checked(name, words, lambda value: type(value) is int and least <= value <= most))

    def number(self, name: str, *, least: float = -math.inf, most: float = math.inf) -> float:
        """A finite number from `least` to `most`."""
        words = "a finite number"
        return float(self._checked(name, words, lambda value: _is_finite(value) and least <= value <= most))

    def flag(self, name: str) -> bool:
        """True or false."""
        return bool(self._checked(name, "true or false", lambda value: isinstance(value, bool)))

    def text(self, name: str) -> str:
        """A string."""
        return str(self._checked(name, "a string", lambda value: isinstance(value, str)))

    def choice(self, name: str, known: Collection[str]) -> str:
        """One of several strings."""
        words = f"one of {', '.join(known)}"
        return str(self._checked(name, words, lambda value: isinstance(value, str) and value in known))

    def items(self, name: str) -> list[Any]:
        """A list."""
        return list(self._checked(name, "a list", lambda value: isinstance(value, list)))

    def same(self, name: str, expected: Any) -> None:
        """Reject a value other than `expected`, unless that is not known (None) or there is no value."""
        if expected is not None and name in self and self.value(name) != expected:
            raise self._wrong(name, self.value(name), f"{expected!r}, as in the other parts")

    def inner(self, name: str) -> Stored:
        """The object under `name`, with the same arrays."""
        return Stored(self.value(name), self._arrays, f"{self._path}{name}.")

    def estimator(self, cls: type[Any], name: str = "parameters") -> Any:
        """An estimator with the parameters under `name`, checked like a user's."""
        given = self.inner(name)
        return given.made(cls)

    def made(self, cls: type[Any]) -> Any:
        """An estimator with this configuration as its parameters."""
        known = inspect.signature(cls).parameters
        for parameter, value in self._config.items():
            if parameter not in known:
                raise DataError(
                    f"{self._name(parameter)} in manifest.json is not a parameter of {cls.__name__}"
                )
            if isinstance(value, float) and math.isnan(value):
                raise self._wrong(parameter, value, "a number")
        made = cls(**self._config)
        check = getattr(made, "_check_parameters", None)
        if check is not None:
            try:
                check()
            except (UsageError, TypeError, ValueError, OverflowError, AttributeError) as error:
                where = repr(self._path.rstrip(".")) if self._path else "The configuration"
                raise DataError(
                    f"{where} in manifest.json is not valid for {cls.__name__}: {error}"
                ) from error
        return made

    # ------------------------------------------------------------------ arrays

    def has_array(self, name: str) -> bool:
        """Whether there is an array named `name`."""
        return name in self._arrays

    def array(
        self,
        name: str,
        shape: Shape,
        *types: DTypeLike,
        least: float | None = None,
        most: float | None = None,
        infinite: bool = False,
    ) -> NDArray[Any]:
        """The array `name` of one of the `types` (by default float64), with values within bounds and without
        NaN.

        Parameters
        ----------
        infinite : whether infinity is allowed
        """
        member = "arrays.safetensors"
        if name not in self._arrays:
            raise DataError(f"{name!r} in {member} is missing")
        values = self._arrays[name]
        allowed = [np.dtype(kind) for kind in types or (np.float64,)]
        if values.dtype not in allowed:
            expected = " or ".join(kind.name for kind in allowed)
            raise DataError(f"{name!r} in {member} is of type {values.dtype.name}; expected {expected}")
        if len(shape) != values.ndim or any(
            wanted not in (None, found) for wanted, found in zip(shape, values.shape, strict=True)
        ):
            expected = ", ".join("any" if wanted is None else str(wanted) for wanted in shape)
            expected += "," if len(shape) == 1 else ""
            raise DataError(f"{name!r} in {member} has shape {values.shape}; expected ({expected})")
        if values.dtype.kind == "f" and values.size:
            # The sum of finite numbers may overflow; only then are all values checked.
            with np.errstate(over="ignore", invalid="ignore"):
                sound = bool(np.isfinite(values.sum()))
            if not sound and (np.isnan(values) if infinite else ~np.isfinite(values)).any():
                kind = "NaN" if infinite else "numbers that are not finite"
                raise DataError(f"{name!r} in {member} holds {kind}")
        if values.size and (
            (least is not None and values.min() < least) or (most is not None and values.max() > most)
        ):
            raise DataError(
                f"{name!r} in {member} holds values from {values.min()} to {values.max()}; expected "
                f"{'any' if least is None else least} to {'any' if most is None else most}"
            )
        return values

    def csr(self, name: str, shape: tuple[int, int], *types: DTypeLike) -> Csr:
        """The sparse matrix in the arrays `name_data`, `name_indices` and `name_indptr`."""
        data = self.array(f"{name}_data", (None,), *types)
        indices = self.array(f"{name}_indices", data.shape, np.int32)
        indptr = self.array(f"{name}_indptr", (shape[0] + 1,), np.int64)
        try:
            return arrays_with_value_check(indptr, indices, data, shape)[0]
        except DataError as error:
            raise DataError(f"'{name}_indices' and '{name}_indptr' in arrays.safetensors: {error}") from error

    def check_room(self, name: str, *shape: int) -> None:
        """Reject a size that no array of the file confirms and that exceeds the memory of this machine."""
        wanted = 8 * math.prod(shape)
        if wanted > _memory():
            raise DataError(f"{self._name(name)} in manifest.json asks for {wanted / 1e9:,.1f} GB of memory")

    # ------------------------------------------------------------------ errors

    def _name(self, name: str) -> str:
        return repr(f"{self._path}{name}")

    def _wrong(self, name: str | None, value: Any, expected: str) -> DataError:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        where = repr(self._path.rstrip(".")) if name is None else self._name(name)
        return DataError(f"{where} in manifest.json is {shown}; expected {expected}")


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that is too large for a float
        return False


def _memory() -> float:
    """The memory of this machine in bytes; infinity if unknown."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf
