"""Finite numbers in, finite numbers out: checks of parameters before training, and of results after it.

A learner declares what it expects of each parameter, in the terms below. After training,
:func:`require_finite` checks every number of the model. A number that is not finite is an error that names
its probable cause: the most extreme value of X or parameter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field
from numbers import Integral, Real
from typing import Any, NamedTuple, NoReturn

import numpy as np

from widemargin._arrays import LARGEST, Csr, is_sparse, place_of
from widemargin.errors import DataError, UsageError


class Expected(NamedTuple):
    """What a parameter must be: in words, and as a test that accepts any object."""

    words: str
    holds: Callable[[Any], bool]


def _number(words: str, holds: Callable[[float], bool]) -> Expected:
    """A real number, possibly infinite, for which `holds` is true; false for NaN."""
    return Expected(words, lambda value: isinstance(value, Real) and value == value and holds(float(value)))


# Numbers up to 1e100, like the values of X, so that squares and sums stay finite.
POSITIVE = _number("a positive number up to 1e100", lambda value: 0 < value <= LARGEST)
POSITIVE_OR_INFINITE = _number(
    "a positive number up to 1e100, or infinity", lambda value: 0 < value <= LARGEST or value == math.inf
)
FINITE = _number("a number from -1e100 to 1e100", lambda value: abs(value) <= LARGEST)
BETWEEN_0_AND_1 = _number("a number between 0 and 1", lambda value: 0 < value < 1)
PROBABILITY = _number("a probability: a number from 0 to 1", lambda value: 0 <= value <= 1)
FROM_0_TO_1 = _number("a number from 0 to 1", lambda value: 0 <= value <= 1)
SHARE = _number("a share above 0 and at most 1", lambda value: 0 < value <= 1)
ABOVE_0_TO_1 = _number("a number above 0 and at most 1", lambda value: 0 < value <= 1)
PERCENTAGE = _number("a number above 0 and up to 100, a share in percent", lambda value: 0 < value <= 100)
ABOVE_1 = _number("a number above 1, such as 1.1", lambda value: 1 < value <= LARGEST)
# The core counts in 64 bits.
COUNT = Expected(
    "a positive integer below 2**63",
    lambda value: isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) < 2**63,
)
FLAG = Expected("True or False", lambda value: isinstance(value, bool | np.bool_))
SIZE_OF_BIAS = Expected(
    "a positive number up to 1e100 (the size of the constant feature) or None",
    lambda value: value is None or POSITIVE.holds(value),
)


def at_least(lowest: float) -> Expected:
    """A number of at least `lowest`.

    Examples
    --------
    >>> at_least(1e-12).words
    'a number of at least 1e-12, up to 1e100'
    """
    return _number(f"a number of at least {lowest:g}, up to 1e100", lambda value: lowest <= value <= LARGEST)


def one_of(*choices: Any) -> Expected:
    """One of several names; None may be one of them.

    Examples
    --------
    >>> one_of("gap", "gradient").words
    '"gap" or "gradient"'
    """
    names = [f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in choices]
    words = " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    words = f"one of {', '.join(names)}" if len(names) > 4 else words
    # An array or a list is not a name, and comparing it is not a truth value.
    return Expected(words, lambda value: isinstance(value, str | None) and value in choices)


def either(*expected: Expected) -> Expected:
    """Any of several expectations."""
    words = ", or ".join(each.words for each in expected)
    return Expected(words, lambda value: any(each.holds(value) for each in expected))


def each_of(expected: Expected) -> Expected:
    """A list of one or more values as expected.

    Examples
    --------
    >>> each_of(POSITIVE).holds([1.0, 2]), each_of(POSITIVE).holds([]), each_of(POSITIVE).holds([[1.0]])
    (True, False, False)
    """

    def holds(value: Any) -> bool:
        flat = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
        return flat and len(value) > 0 and all(expected.holds(each) for each in value)

    return Expected(f"a list of numbers, each {expected.words}", holds)


def or_none(expected: Expected) -> Expected:
    """The same, or None."""
    return Expected(f"{expected.words}, or None", lambda value: value is None or expected.holds(value))


AT_LEAST_0 = at_least(0)


def check_parameters(estimator: Any, /, **expected: Expected) -> None:
    """Raise for the first parameter of `estimator` that is not as expected.

    Examples
    --------
    >>> from widemargin import LinearSVM
    >>> check_parameters(LinearSVM(tol=float("nan")), tol=AT_LEAST_0)
    Traceback (most recent call last):
    ...
    widemargin.errors.UsageError: tol=nan: expected a number of at least 0, up to 1e100.
    """
    for name, rule in expected.items():
        value = getattr(estimator, name)
        if not rule.holds(value):
            raise UsageError(f"{name}={value!r}: expected {rule.words}.")


def parameter(default: Any, expected: Expected) -> Any:
    """A dataclass field of an estimator: its default, and what it must be.

    A subclass that declares the field again with another default keeps what is expected of it.
    """
    return field(default=default, metadata={"expected": expected})


def check_declared(estimator: Any) -> None:
    """Refuse the first parameter of `estimator` that is not what its :func:`parameter` says."""
    for cls in type(estimator).__mro__:
        declared = vars(cls).get("__dataclass_fields__", {}).values()
        rules = {each.name: each.metadata["expected"] for each in declared if "expected" in each.metadata}
        check_parameters(estimator, **rules)


# A number this many orders of magnitude from 1 is named as a cause.
_EXTREME = 10
# Parameters that do not affect the size of a solution.
_NO_CAUSE = frozenset(["tol", "max_iter", "random_state", "n_jobs", "cache"])


def require_finite(estimator: Any, X: Csr | None, **results: Any) -> None:
    """Raise if a result contains a number that is not finite.

    Parameters
    ----------
    estimator : its parameters may be the cause; or the name of the learner, if they are not known
    X : the documents, whose values may be the cause; None for data without values, such as a kernel matrix
    results : arrays, sparse or dense, and numbers, by their public names; None is skipped
    """
    for name, result in results.items():
        values = result.data if is_sparse(result) else result
        if values is not None and not all_finite(values):
            refuse_result(estimator, X, name)


def all_finite(values: Any) -> bool:
    """Whether all numbers are finite. A finite sum shows it without an array of Booleans.

    Examples
    --------
    >>> all_finite(np.array([1e308, 1e308])), all_finite(np.array([np.inf, -np.inf]))
    (True, False)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.sum(values)) or np.isfinite(values).all())


def refuse_result(estimator: Any, X: Csr | None, name: str) -> NoReturn:
    """Raise an error that `name` is not finite, with the probable cause."""
    learner = estimator if isinstance(estimator, str) else type(estimator).__name__
    raise DataError(
        f"{learner} ended with numbers that are not finite in {name}. {probable_cause(estimator, X)}"
    )


def probable_cause(estimator: Any, X: Csr | None, otherwise: str = "") -> str:
    """The value or parameter furthest from 1, in orders of magnitude; `otherwise` if none is extreme."""
    causes = []
    if X is not None and len(X.data):
        largest = int(np.abs(X.data).argmax())
        size, (row, column) = abs(float(X.data[largest])), place_of(X, largest)
        causes.append(
            (size, f"X holds {X.data[largest]:g} in row {row}, column {column}: scale the values of X down.")
        )
    for name, value in _numbers(estimator):
        causes.append((abs(value), f"{name}={value:g} is too extreme for these data: choose another."))
    size, words = max(causes, key=lambda cause: _orders(cause[0]), default=(1.0, ""))
    if _orders(size) < _EXTREME:
        return otherwise or "Scale the values of X, or choose less extreme parameters."
    return words


def _orders(size: float) -> float:
    """Distance of a size from 1; 0 and infinity are deliberate, or were rejected before."""
    return abs(math.log10(size)) if 0 < size < math.inf else 0.0


def _numbers(estimator: Any) -> list[tuple[str, float]]:
    """The numeric parameters, including those within pairs and class weights."""
    found: list[tuple[str, float]] = []
    if isinstance(estimator, str):
        return found
    for name, value in estimator.get_params(deep=False).items():
        parts = value.values() if isinstance(value, dict) else value
        for part in parts if isinstance(parts, tuple | list) or isinstance(value, dict) else [value]:
            if isinstance(part, Real) and not isinstance(part, bool) and name not in _NO_CAUSE:
                found.append((name, float(part)))
    return found
