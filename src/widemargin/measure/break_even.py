"""Measures of rankings: the precision/recall break-even point (PRBEP) and its micro-averages, the
precision-recall curve, precision among the first documents, and average precision.

Given a ranking, precision and recall are equal when as many examples are retrieved as are positive
(joachims, Definition 7). If scores
tie, the cut may fall inside a group of equal scores. The measures here are expectations over all orders of
the tied examples: the PRR method of Raghavan, Bollmann and Jung (ACM TOIS 7(3), 1989):

- stopping after a number of documents (the break-even): of a tied group with r positives and i negatives
  from which s documents are taken, s r / (r + i) are expected to be positive;
- stopping after a number of positives (precision at a recall level): to find s of its r positives,
  s i / (r + 1) negatives are expected to be read.

Average precision is the mean, over all positive documents, of the precision at the place of each one. Of a
tied group of t documents with r positives, after P positives, the document at place j of the group is
positive with probability r / t, and then P + 1 + (j - 1) (r - 1) / (t - 1) positives are expected down to it
(McSherry and Najork, Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied
Scores, ECIR 2008).

The measures of a task without positive examples are NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError
from widemargin.measure.contingency import Contingency, f_measure, precision
from widemargin.measure.dependence import dependence
from widemargin.measure.intervals import Figure, bootstrap_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """Precision and recall at every distinct threshold (score >= threshold is positive), highest first."""

    threshold: Floats
    precision: Floats
    recall: Floats


def prbep(truth: NDArray[Any], scores: NDArray[Any]) -> Floats:
    """The precision/recall break-even point of every task.

    Parameters
    ----------
    truth : array (n,) or (n, tasks), positive if an example has the label
    scores : array of the same shape, higher if an example is more likely to have the label

    Examples
    --------
    >>> float(prbep(np.array([1, 1, -1, -1]), np.array([0.9, 0.1, 0.5, 0.0])))
    0.5
    """
    return precision(break_even_table(truth, scores))


def break_even_table(truth: NDArray[Any], scores: NDArray[Any]) -> Contingency:
    """The (expected) contingency table of every task at its own break-even."""
    truth, scores = _checked(truth, scores)
    n = len(truth)
    columns, values = np.atleast_2d((truth > 0).T, scores.T)
    hits = np.array([_expected_hits(*task) for task in zip(columns, values, strict=True)])
    hits = hits.reshape(truth.shape[1:])
    positives = np.count_nonzero(truth > 0, axis=0)
    return Contingency(hits, positives - hits, positives - hits, n - 2 * positives + hits)


def micro_prbep(
    truth: NDArray[Any], scores: NDArray[Any], threshold: Literal["shared", "own"] = "shared"
) -> float:
    """The micro-averaged break-even point of several tasks.

    Parameters
    ----------
    truth, scores : arrays (n, tasks)
    threshold : "shared" lowers one threshold over all tasks at once until the merged table breaks even
        (joachims, 2.6.4); "own" takes every task at its own break-even and adds the tables (zhang, 4)
    """
    if threshold == "shared":
        return float(prbep(np.ravel(truth), np.ravel(scores)))
    if threshold == "own":
        return float(precision(break_even_table(truth, scores).merged()))
    raise UsageError(f'threshold={threshold!r}: expected "shared" or "own".')


def micro_prbep_figure(
    truth: NDArray[Any], scores: NDArray[Any], kind: Literal["estimate", "measured"]
) -> Figure:
    """The micro-averaged break-even point with its 95 % interval.

    The interval is that of F1 at the shared threshold where precision and recall break even, widened because
    the labels of a document are decided together.

    Examples
    --------
    >>> truth = np.tile([[1, -1], [-1, 1], [1, -1], [-1, -1]], (25, 1)).astype(np.int8)
    >>> figure = micro_prbep_figure(truth, truth + np.linspace(-2, 2, 200).reshape(100, 2), "measured")
    >>> figure.value, round(figure.low, 2), round(figure.high, 2)
    (0.68, 0.59, 0.76)
    """
    table = break_even_table(np.ravel(truth), np.ravel(scores))
    value = float(precision(table))
    if np.isnan(value):
        return Figure(value, value, value, kind)
    low, high = bootstrap_interval(f_measure, table)
    positives = np.count_nonzero(truth > 0)
    cut = np.partition(scores, scores.size - positives, axis=None)[scores.size - positives]
    factor = dependence(np.asarray(truth), np.where(scores >= cut, 1, -1).astype(np.int8), "micro")["f1"]
    ends = value - factor * (value - float(low)), value + factor * (float(high) - value)
    return Figure(round(value, 6), round(max(ends[0], 0.0), 6), round(min(ends[1], 1.0), 6), kind)


def precision_at(truth: NDArray[Any], scores: NDArray[Any], count: int) -> float:
    """The expected share of positives among the first `count` documents of the ranking.

    If there are fewer documents, the missing ones count as negative.

    Parameters
    ----------
    truth : array (n,), positive if a document is
    scores : array (n,), higher for documents that are ranked first

    Examples
    --------
    >>> precision_at(np.array([1, -1, 1, -1]), np.array([0.9, 0.5, 0.5, 0.1]), 2)
    0.75
    """
    if count < 1:
        raise UsageError(f"count={count}: expected at least 1.")
    _, positives, retrieved = _ranks(truth, scores)
    # Within a tied group the expected number of positives grows by the same amount at every place.
    return float(np.interp(count, np.append(0, retrieved), np.append(0, positives)) / count)


def average_precision(truth: NDArray[Any], scores: NDArray[Any]) -> float:
    """The mean of the precision at every positive document; NaN without any.

    Parameters
    ----------
    truth, scores : as for :func:`precision_at`

    Examples
    --------
    >>> round(average_precision(np.array([1, -1, 1, -1]), np.array([0.9, 0.5, 0.3, 0.1])), 4)
    0.8333
    """
    _, positives, retrieved = _ranks(truth, scores)
    if not len(positives) or positives[-1] == 0:
        return float("nan")
    before, N = np.append(0, positives[:-1]), np.append(0, retrieved[:-1])
    t, r = retrieved - N, positives - before
    group = np.repeat(np.arange(len(t)), t)
    place = np.arange(1, len(truth) + 1)
    j = place - N[group]
    others = (j - 1) * (r[group] - 1) / np.maximum(t[group] - 1, 1)
    found = before[group] + 1 + others
    return float(np.sum(r[group] / t[group] * found / place) / positives[-1])


def precision_recall_curve(truth: NDArray[Any], scores: NDArray[Any]) -> Curve:
    """Precision and recall as the threshold is lowered through the distinct scores of one task."""
    thresholds, positives, retrieved = _ranks(truth, scores)
    total = positives[-1] if len(positives) else 0
    recall = positives / total if total else np.full(len(positives), np.nan)
    return Curve(thresholds, positives / retrieved, recall)


def precision_at_recall(truth: NDArray[Any], scores: NDArray[Any], levels: Any) -> Floats:
    """Precision at recall levels in (0, 1] of one task, by PRR if scores tie.

    To reach recall level L, ``N = L R`` of the R positives have to be found. If j negatives rank above the
    tied group that holds the last of them, and s of its r positives are needed among i negatives, the
    precision is ``N / (N + j + s i / (r + 1))``.
    """
    levels = np.asarray(levels, dtype=np.float64)
    if not ((levels > 0) & (levels <= 1)).all():
        raise UsageError("Recall levels must be above 0 and at most 1.")
    _, positives, retrieved = _ranks(truth, scores)
    if not len(positives) or positives[-1] == 0:
        return np.full(levels.shape, np.nan)
    found = np.concatenate([[0], positives])
    passed = np.concatenate([[0], retrieved]) - found  # negatives read by the end of each group
    needed = levels * found[-1]
    # Rounding must not push a level such as 0.3 * 10 beyond the group that completes it.
    group = np.searchsorted(positives, needed - 1e-9 * found[-1])
    s = needed - found[group]
    r = found[group + 1] - found[group]
    i = passed[group + 1] - passed[group]
    result: Floats = needed / (needed + passed[group] + s * i / (r + 1))
    return result


def _expected_hits(positive: NDArray[np.bool_], scores: NDArray[Any]) -> float:
    """How many positives are expected among the R best-ranked examples, R being the number of positives."""
    n, wanted = len(positive), int(np.count_nonzero(positive))
    if wanted == 0:
        return 0.0
    cut = np.partition(scores, n - wanted)[n - wanted]
    above, tied = scores > cut, scores == cut
    taken = wanted - np.count_nonzero(above)
    share = taken / np.count_nonzero(tied)
    return float(np.count_nonzero(positive & above) + share * np.count_nonzero(positive & tied))


def _ranks(truth: NDArray[Any], scores: NDArray[Any]) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
    """The distinct scores from high to low, with the positives and the examples retrieved down to each."""
    truth, scores = _checked(truth, scores)
    if truth.ndim != 1:
        raise UsageError(
            f"A curve needs a single task, but the truth has shape {truth.shape}. Pass one column."
        )
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)[: len(ranked)]
    return ranked[last].astype(np.float64), np.cumsum(truth[order] > 0)[last], last + 1


def _checked(truth: NDArray[Any], scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    truth, scores = np.asarray(truth), np.asarray(scores)
    if truth.shape != scores.shape:
        raise UsageError(f"The truth has shape {truth.shape} and the scores {scores.shape}.")
    if np.isnan(scores).any():
        raise UsageError("Some scores are NaN and cannot be ranked.")
    return truth, scores
