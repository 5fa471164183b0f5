"""Several methods on the same documents, every two of them compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from widemargin.errors import UsageError
from widemargin.measure.resampling import randomization_test
from widemargin.measure.significance import Comparison, holm


@dataclass(frozen=True)
class ComparedPair:
    """Two methods, the test of their difference, and its p-value corrected for all pairs (Holm)."""

    first: str
    second: str
    result: Comparison
    corrected: float

    @property
    def better(self) -> str | None:
        """The name of the better method, None if both are equally good."""
        return {"first": self.first, "second": self.second, None: None}[self.result.better]

    @property
    def worse(self) -> str | None:
        """The name of the worse method, None if both are equally good."""
        return {"first": self.second, "second": self.first, None: None}[self.result.better]


@dataclass(frozen=True)
class ComparedMethods:
    """All pairs of several methods, in the order in which the methods were given."""

    pairs: tuple[ComparedPair, ...]

    def worse_than(self, name: str, level: float = 0.05) -> list[str]:
        """The methods that are significantly worse than this one."""
        if all(name not in (pair.first, pair.second) for pair in self.pairs):
            names = dict.fromkeys(name for pair in self.pairs for name in (pair.first, pair.second))
            raise UsageError(f"{name!r} was not compared. Choose from: {', '.join(names)}.")
        return [
            pair.worse
            for pair in self.pairs
            if pair.better == name and pair.worse is not None and pair.corrected <= level
        ]


def compare_decisions(
    truth: ArrayLike,
    decisions: Mapping[str, ArrayLike],
    *,
    test: Callable[..., Comparison] = randomization_test,
    **options: Any,
) -> ComparedMethods:
    """Compare every two of several methods on the same documents, with Holm's correction for all pairs.

    Since all pairs count in the correction, the best method may be chosen on the same documents and compared
    with the others. A p-value by randomization or bootstrap is at least 1 / (`samples` + 1), so that hundreds
    of pairs need more samples.

    Parameters
    ----------
    truth : (n,) or (n, labels), positive if a document has the label
    decisions : the name of each method -> its decisions, of the same shape
    test : a function of truth and two arrays of decisions, such as ``randomization_test`` or ``macro_t_test``
    options : for the test, such as ``measure``, ``average`` or ``seed``

    Examples
    --------
    >>> truth = np.array([1, -1] * 20)
    >>> weak = np.where(np.arange(40) < 16, -truth, truth)
    >>> found = compare_decisions(truth, {"svm": truth, "bayes": weak, "same as svm": truth}, samples=999)
    >>> [(pair.first, pair.second, pair.better, pair.corrected) for pair in found.pairs]
    [('svm', 'bayes', 'svm', 0.003), ('svm', 'same as svm', None, 1.0),
     ('bayes', 'same as svm', 'same as svm', 0.003)]
    >>> found.worse_than("svm")
    ['bayes']

    McNemar's test, of class names:

    >>> from widemargin.measure import mcnemar
    >>> classes = np.array(["a", "b", "c"] * 4)
    >>> found = compare_decisions(classes, {"svm": classes, "bayes": np.roll(classes, 1)},
    ...                           test=lambda truth, first, second: mcnemar(first == truth, second == truth))
    >>> found.pairs[0].result.first, found.pairs[0].corrected < 0.001
    (12.0, True)
    """
    if len(decisions) < 2:
        raise UsageError(f"Expected the decisions of at least two methods, but got {len(decisions)}.")
    actual = np.asarray(truth)
    arrays = {name: np.asarray(every) for name, every in decisions.items()}
    for name, every in arrays.items():
        if every.shape != actual.shape:
            raise UsageError(
                f"The decisions of {name} have shape {every.shape}, but the truth has {actual.shape}. "
                "Compare decisions on the same documents."
            )
    names = list(combinations(arrays, 2))
    results = [test(actual, arrays[first], arrays[second], **options) for first, second in names]
    corrected = holm([result.p_value for result in results])
    return ComparedMethods(
        tuple(
            ComparedPair(first, second, result, float(p))
            for (first, second), result, p in zip(names, results, corrected, strict=True)
        )
    )
