"""Thresholds that keep a promise: at least this precision, or this recall, with a stated confidence.

The promise is about new examples, whose scores are distributed as those given here: "among 100 ways in which
the given examples could have been drawn, 95 lead to a threshold whose true precision (recall) is at least
the target". It is made for each label alone. Scores of examples by rules that learned from them break it.

Recall. With P positive examples, the share of positive examples that score at least as high as the j-th
lowest of them has a distribution that depends on P and j only, Beta(P - j + 1, j) (Wilks' tolerance limits,
1941). The largest j that is safe at the stated confidence is known before any score is seen: nothing has
been searched.

Precision. Given the k-th highest score, the examples above it are independent draws from those that exceed
it, so that their positives are binomial with the true precision, and Clopper and Pearson's bound holds for
this k. The k are searched over a fixed grid, each at its part of what the confidence leaves (Bonferroni);
the grid starts where a run of nothing but hits would be proof enough, and grows by half at every step.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.decide.sorted_scores import SortedScores
from widemargin.errors import DataWarning, UsageError

Floats = NDArray[np.float64]

_GROWTH = 1.5


def precision_thresholds(scores: Any, truth: Any, target: float, confidence: float = 0.95) -> Floats:
    """The lowest threshold of each label that is proven to have the target precision.

    Parameters
    ----------
    scores, truth : (n, labels) or (n,), of examples that the scoring rule did not learn from
    target, confidence : between 0 and 1

    Returns
    -------
    (labels,); infinity, with a warning, where these examples prove it of no threshold

    Examples
    --------
    >>> scores, truth = np.arange(100.0), np.where(np.arange(100) >= 50, 1, -1)
    >>> precision_thresholds(scores, truth, 0.8).tolist()
    [52.0]
    """
    from scipy.special import betainc

    _check(target, confidence)
    ranked = SortedScores.of(scores, truth)
    n = len(ranked.values)
    steps = _grid(n, target, confidence)
    thresholds = np.full(ranked.values.shape[1], np.inf)
    if len(steps):
        # The examples strictly above the k-th score; fewer than k - 1 where scores are equal.
        above = np.maximum.accumulate(np.where(ranked.cut, ranked.given, 0), axis=0)[steps - 1]
        hits = np.take_along_axis(ranked.hits, above, axis=0)
        chance = np.where(hits > 0, betainc(np.maximum(hits, 1), above - hits + 1, target), 1.0)
        proven = chance <= (1 - confidence) / len(steps)
        last = len(steps) - 1 - proven[::-1].argmax(axis=0)
        lowest = np.take_along_axis(ranked.values, (steps - 1)[last][None, :], axis=0)[0]
        thresholds = np.where(proven.any(axis=0), lowest, np.inf)
    _warn(np.isinf(thresholds), f"a precision of {target:g}", confidence, "no document")
    return thresholds


def recall_thresholds(scores: Any, truth: Any, target: float, confidence: float = 0.95) -> Floats:
    """The highest threshold of each label that is proven to have the target recall.

    Returns
    -------
    (labels,); minus infinity, with a warning, where there are too few positive examples to prove it of any

    Examples
    --------
    >>> scores, truth = np.arange(100.0), np.where(np.arange(100) >= 50, 1, -1)
    >>> recall_thresholds(scores, truth, 0.8).round(6).tolist()
    [55.0]
    """
    from scipy.special import betainc

    _check(target, confidence)
    ranked = SortedScores.of(scores, truth)
    positives = ranked.positives
    # The largest j with P(Beta(P - j + 1, j) < target) <= 1 - confidence; the probability rises with j.
    low, high = np.zeros_like(positives), positives.copy()
    while (low < high).any():
        j = (low + high + 1) // 2
        safe = betainc(np.maximum(positives - j + 1, 1), np.maximum(j, 1), target) <= 1 - confidence
        safe &= low < high
        low, high = np.where(safe, j, low), np.where(safe | (low >= high), high, j - 1)
    # The row that takes in the j-th lowest positive example: the first with so many hits.
    row = (ranked.hits < positives - low + 1).sum(axis=0)
    reached = ranked.values[np.clip(row - 1, 0, len(ranked.values) - 1), np.arange(len(row))]
    thresholds = np.where(low > 0, np.nextafter(reached, -np.inf), -np.inf)
    _warn(np.isinf(thresholds), f"a recall of {target:g}", confidence, "every document")
    return thresholds


def _grid(n: int, target: float, confidence: float) -> NDArray[np.int64]:
    """The k to try, which may depend on everything but the scores."""
    steps: list[int] = []
    # With the correction for J steps a run of hits has to be longer, and then there are fewer steps.
    for wanted in range(1, 200):
        first = math.ceil(math.log((1 - confidence) / wanted) / math.log(target)) + 1
        steps = []
        k = first
        while k <= n:
            steps.append(k)
            k = max(k + 1, round(k * _GROWTH))
        if len(steps) <= wanted:
            break
    return np.array(steps, dtype=np.int64)


def _check(target: float, confidence: float) -> None:
    for name, value in (("target", target), ("confidence", confidence)):
        if not 0 < value < 1:
            raise UsageError(f"{name}={value}: expected a number between 0 and 1, such as 0.9.")


def _warn(failed: NDArray[np.bool_], what: str, confidence: float, consequence: str) -> None:
    columns = np.flatnonzero(failed)
    if len(columns):
        some = ", ".join(map(str, columns[:5])) + (", ..." if len(columns) > 5 else "")
        warnings.warn(
            f"{what[0].upper()}{what[1:]} with {confidence:.0%} confidence cannot be promised for "
            f"{len(columns)} of {len(failed)} labels (column {some}), which will be given to "
            f"{consequence}. Label more examples, or lower the target or the confidence.",
            DataWarning,
            stacklevel=3,
        )
