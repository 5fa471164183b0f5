"""Thresholds that promise a precision or a recall, chosen on held-out scores.

The promise is about new examples with the same distribution of scores: of 100 samples of examples, at most 5
lead to a threshold whose true precision (recall) is below the target. It holds for each label separately, and
not for scores of examples that the model was trained on.

**Recall.** With P positive examples, the share of positives that score at least as high as the j-th lowest of
them is distributed as Beta(P - j + 1, j), whatever the scores (Wilks' tolerance limits, 1941). So the largest
safe j is known before any score is seen.

Held-out scores are not quite independent, since each was given by a model that was trained on the others.
Over random splits of four collections the recall above such a limit has the mean of the Beta distribution,
but 0.8 to 1.3 times its variance, 1.1 times on average. `HELD_OUT` is what goals allow for: both parameters
of the Beta distribution are divided by it, which leaves the mean as it is. A promised precision gets no such
allowance: it is given only where a test passes, and over splits of four collections it was broken for 0.3 to
5.5 % of all labels (benchmarks/promises.py), slightly above the stated 5 % on one of them.

**Precision.** Given the k-th highest score, the number of positives above it is binomial with the true
precision. So Clopper and Pearson's bound is a test of "the precision above the k-th score is too low". Many k
are tested in an order that is fixed before any score is seen, each at the full level, until a test fails; the
last k that passed gives the threshold. Only the first test of a precision that is too low can break the
promise, so no correction for the number of tests is needed (fixed sequence testing; Angelopoulos, Bates,
Candes, Jordan and Lei, Learn then Test, Annals of Applied Statistics 19, 2025). The numbers k are those at
which one more false positive becomes tolerable. The sequence starts at a third of the positive examples: a
few labeling errors at the very top then do not end it. That start depends on the number of positive
examples, not on the scores; in simulations of the least favorable distributions the promise is broken no more
often than stated (tests/decide/test_promised_thresholds.py).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.decide.sorted_scores import SortedScores
from widemargin.errors import DataWarning, UsageError

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

# The variance of the recall of held-out scores, relative to independent ones.
HELD_OUT = 1.2
# The share of the positive examples at which the search for a precision starts, and the least ratio of
# successive numbers of examples.
_START, _GROWTH = 0.35, 1.1


def precision_thresholds(scores: Any, truth: Any, target: float, confidence: float = 0.95) -> Floats:
    """A low threshold of each label that has the target precision with the stated confidence.

    Parameters
    ----------
    scores, truth : (n, labels) or (n,), held-out
    target, confidence : between 0 and 1

    Returns
    -------
    (labels,); infinity, with a warning, if no threshold is proven

    Examples
    --------
    >>> scores, truth = np.arange(100.0), np.where(np.arange(100) >= 50, 1, -1)
    >>> precision_thresholds(scores, truth, 0.8).tolist()
    [49.0]
    """
    _check_share(target, confidence)
    ranked = SortedScores.of(scores, truth)
    sizes = _sizes(len(ranked.values) - 1, target, confidence)
    thresholds = np.full(ranked.values.shape[1], np.inf)
    if len(sizes):
        # The k examples above the next score; fewer where scores are equal.
        above = np.maximum.accumulate(np.where(ranked.cut, ranked.given, 0), axis=0)[sizes]
        hits = np.take_along_axis(ranked.hits, above, axis=0)
        proven = _chance(hits, above - hits, target) <= 1 - confidence
        start = np.maximum(np.searchsorted(sizes, _START * ranked.positives, side="right") - 1, 0)
        skipped = np.arange(len(sizes))[:, None] < start
        passed = np.logical_and.accumulate(proven | skipped, axis=0).sum(axis=0)
        lowest = ranked.values[sizes[np.maximum(passed, 1) - 1], np.arange(len(start))]
        thresholds = np.where(passed > start, lowest, np.inf)
    _warn_of_failed(np.isinf(thresholds), f"a precision of {target:g}", confidence, "no document")
    return thresholds


def recall_thresholds(
    scores: Any, truth: Any, target: float, confidence: float = 0.95, *, dependence: float = 1.0
) -> Floats:
    """The highest threshold of each label that has the target recall with the stated confidence.

    Parameters
    ----------
    scores, truth, target, confidence : as for :func:`precision_thresholds`
    dependence : how much more the recall varies than that of independent scores, at least 1

    Returns
    -------
    (labels,); minus infinity, with a warning, if there are too few positive examples

    Examples
    --------
    >>> scores, truth = np.arange(100.0), np.where(np.arange(100) >= 50, 1, -1)
    >>> recall_thresholds(scores, truth, 0.8).round(6).tolist()
    [55.0]
    """
    from scipy.special import betainc

    _check_share(target, confidence)
    ranked = SortedScores.of(scores, truth)
    positives = ranked.positives
    if not dependence >= 1:
        raise UsageError(f"dependence={dependence}: expected 1 or more.")
    # The largest j with P(Beta(P - j + 1, j) < target) <= 1 - confidence; the probability rises with j.
    low, high = np.zeros_like(positives), positives.copy()
    while (low < high).any():
        j = (low + high + 1) // 2
        a, b = np.maximum(positives - j + 1, 1) / dependence, np.maximum(j, 1) / dependence
        safe = (betainc(a, b, target) <= 1 - confidence) & (low < high)
        low, high = np.where(safe, j, low), np.where(safe | (low >= high), high, j - 1)
    # The row that includes the j-th lowest positive example: the first with that many hits.
    row = (ranked.hits < positives - low + 1).sum(axis=0)
    reached = ranked.values[np.clip(row - 1, 0, len(ranked.values) - 1), np.arange(len(row))]
    thresholds = np.where(low > 0, np.nextafter(reached, -np.inf), -np.inf)
    _warn_of_failed(np.isinf(thresholds), f"a recall of {target:g}", confidence, "every document")
    return thresholds


def _chance(hits: Counts, misses: Counts, precision: float) -> Floats:
    """The probability of at least so many hits at this precision."""
    from scipy.special import betainc

    result: Floats = np.where(hits > 0, betainc(np.maximum(hits, 1), misses + 1, precision), 1.0)
    return result


def _sizes(most: int, target: float, confidence: float) -> Counts:
    """The numbers of examples k to test: for m = 0, 1, 2, ... false positives the smallest that proves the
    target, up to `most`, without those that are nearly equal."""
    misses = np.arange(max(most, 0))
    low, high = misses + 1, np.full(len(misses), most + 1)
    while (low < high).any():
        k = (low + high) // 2
        enough = _chance(k - misses, misses, target) <= 1 - confidence
        low, high = np.where(enough | (low >= high), low, k + 1), np.where(enough & (low < high), k, high)
    sizes: list[int] = []
    for k in low[low <= most].tolist():
        if not sizes or k >= _GROWTH * sizes[-1]:
            sizes.append(k)
    return np.array(sizes, dtype=np.int64)


def _check_share(target: float, confidence: float) -> None:
    for name, value in (("target", target), ("confidence", confidence)):
        if not 0 < value < 1:
            raise UsageError(f"{name}={value}: expected a number between 0 and 1, such as 0.9.")


def _warn_of_failed(failed: NDArray[np.bool_], what: str, confidence: float, consequence: str) -> None:
    columns = np.flatnonzero(failed)
    if len(columns):
        some = ", ".join(map(str, columns[:5])) + (", ..." if len(columns) > 5 else "")
        warnings.warn(
            f"{what[0].upper()}{what[1:]} with {confidence:.0%} confidence cannot be guaranteed for "
            f"{len(columns)} of {len(failed)} labels (column {some}); they are assigned to "
            f"{consequence}. Label more examples, or lower the target or the confidence.",
            DataWarning,
            stacklevel=3,
        )
