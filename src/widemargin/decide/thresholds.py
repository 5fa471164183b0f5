"""Thresholds for F or for a cost, chosen on held-out scores.

A label is assigned if its score exceeds its threshold. The scores of all labels are sorted together, column
by column; every midpoint between two different scores is a candidate.

The best threshold of each label alone (SCut; Yang, A Study on Thresholding Strategies for Text
Categorization, SIGIR 2001) overfits rare labels: a single document decides, and a rare label assigned to
thousands of documents ruins the micro-average. Yang's remedy is a floor (FBR): a label whose best F is below
the floor is assigned to no document, or only above its highest score. The default of this library smooths the
counts instead: it adds, for every label, the outcomes of `strength` positive examples of an average label
(all labels pooled). They hardly change the threshold of a frequent label; that of a rare label stays near the
common one.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from widemargin.decide.sorted_scores import SortedScores
from widemargin.errors import DataWarning, UsageError

Floats = NDArray[np.float64]

# Scores at which the pooled outcomes are known.
_GRID = 1000


def best_f_thresholds(scores: Any, truth: Any, *, beta: float = 1.0) -> Floats:
    """The threshold with the best F on these scores, for each label alone (SCut).

    Parameters
    ----------
    scores, truth : (n, labels) or (n,), held-out; truth is positive if an example has the label
    beta : weight of recall, as in :func:`~widemargin.measure.f_measure`

    Returns
    -------
    (labels,): midpoints between two scores; infinity for a label without positive examples

    Examples
    --------
    >>> best_f_thresholds(np.array([0.75, 0.25, -0.5, -1.0]), np.array([1, -1, 1, -1])).tolist()
    [-0.75]
    """
    ranked = SortedScores.of(scores, truth)
    _warn_of_empty(ranked)
    return ranked.thresholds_at(_best_rows(ranked, _f(ranked, beta)))


def shrunk_f_thresholds(scores: Any, truth: Any, *, beta: float = 1.0, strength: float = 3.0) -> Floats:
    """Thresholds for F that also work for rare labels: the default of this library.

    Parameters
    ----------
    scores, truth, beta : as for :func:`best_f_thresholds`
    strength : number of positive examples of the average label that are added to the label's own. Small
        values favor the macro-average, large values pull all labels to a common threshold. The default is the
        best of 0.5 to 10 by cross-validation on Ohsumed and 20 Newsgroups; the choice is not critical

    Returns
    -------
    (labels,); a label without positive examples gets the common threshold

    Examples
    --------
    The second label has one positive example, which scores below three negative ones.

    >>> scores = np.array([[2.0, -2.0], [1.0, 0.5], [0.5, 0.25], [-1.0, 0.125], [-2.0, -3.0]])
    >>> truth = np.array([[1, 1], [1, -1], [1, -1], [-1, -1], [-1, -1]])
    >>> best_f_thresholds(scores, truth).tolist()
    [-0.25, -2.5]
    >>> shrunk_f_thresholds(scores, truth, strength=2).tolist()
    [-0.25, 0.375]
    """
    if not strength >= 0:
        raise UsageError(f"strength={strength}: expected 0 or more.")
    ranked = SortedScores.of(scores, truth)
    if not ranked.positives.any():
        _warn_of_empty(ranked)
        return np.full(len(ranked.positives), np.inf)
    grid, hits, given = _pooled(ranked)
    # Outcomes of the average label at each candidate.
    places = np.searchsorted(grid, ranked.middles())
    pooled_hits, pooled_given = strength * hits[places], strength * given[places]
    # A label without positive examples uses the pooled outcomes only.
    own = ranked.positives > 0
    f = _f(ranked, beta, own, pooled_hits, pooled_given, strength)
    rows = _best_rows(ranked, f)
    # Where all scores of a label are equal (no neighbor has it), a threshold of its own assigns it to all
    # documents or to none. The common threshold, which is above them, is the better choice.
    weight = beta**2
    common = int((hits / np.maximum(weight + given, np.finfo(float).tiny))[:-1].argmax())
    below = weight * (ranked.positives + strength) + strength * given[common]
    f_common = np.divide(
        (1 + weight) * strength * hits[common], below, out=np.zeros(len(rows)), where=below > 0
    )
    instead = (rows == len(ranked.values)) & (grid[common] >= ranked.values[0]) & (f_common > f[-1])
    return np.where(instead, grid[common], ranked.thresholds_at(rows))


def fbr_thresholds(
    scores: Any,
    truth: Any,
    *,
    floor: float = 0.3,
    below: Literal["none", "first"] = "first",
    beta: float = 1.0,
) -> Floats:
    """SCut, except for labels whose best F is below a floor (Yang's SCutFBR.0 and SCutFBR.1).

    Parameters
    ----------
    floor : smallest F on these scores at which a label keeps its own threshold
    below : all other labels are assigned to no document ("none", FBR.0) or only above the highest score seen
        ("first", FBR.1). "none" raises the micro-average more, "first" costs less macro-average

    Examples
    --------
    >>> scores, truth = np.array([3.0, 2.0, 1.0, 0.0]), np.array([-1, -1, -1, 1])
    >>> fbr_thresholds(scores, truth, floor=0.5).tolist()
    [3.0]
    """
    if below not in ("none", "first"):
        raise UsageError(f'below={below!r}: expected "none" or "first".')
    ranked = SortedScores.of(scores, truth)
    _warn_of_empty(ranked)
    f = _f(ranked, beta)
    rows = _best_rows(ranked, f)
    best = np.take_along_axis(f, rows[None, :], axis=0)[0]
    instead = np.full(len(rows), np.inf) if below == "none" else ranked.values[0]
    # A label without positive examples is never assigned.
    instead = np.where(ranked.positives > 0, instead, np.inf)
    return np.where(best >= floor, ranked.thresholds_at(rows), instead)


def cost_thresholds(scores: Any, truth: Any, costs: Any) -> Floats:
    """The threshold of each label with the lowest cost on these scores.

    Parameters
    ----------
    costs : 2 x 2 as for :func:`~widemargin.measure.cost`: ``[[C++, C+-], [C-+, C--]]``, rows by decision

    Examples
    --------
    >>> scores, truth = np.array([0.75, 0.25, -0.5, -1.0]), np.array([1, -1, 1, -1])
    >>> cost_thresholds(scores, truth, [[0, 5], [1, 0]]).tolist()
    [0.5]
    >>> cost_thresholds(scores, truth, [[0, 1], [5, 0]]).tolist()
    [-0.75]
    """
    costs = np.asarray(costs, dtype=np.float64)
    if costs.shape != (2, 2):
        raise UsageError(f"The cost matrix has shape {costs.shape}; expected [[C++, C+-], [C-+, C--]].")
    ranked = SortedScores.of(scores, truth)
    # Gain over never assigning the label, from true and from false positives.
    gain = (costs[1, 0] - costs[0, 0]) * ranked.hits + (costs[1, 1] - costs[0, 1]) * (
        ranked.given - ranked.hits
    )
    return ranked.thresholds_at(_best_rows(ranked, gain))


def assign_proportionally(scores: Any, shares: Any) -> NDArray[np.int8]:
    """Assign each label to a given share of the examples, those with the highest scores; returns signs.

    Parameters
    ----------
    scores : (n, labels) or (n,)
    shares : (labels,) or a number, from 0 to 1; ties are broken by position

    Examples
    --------
    >>> scores = np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 3.0], [0.0, 9.0]])
    >>> assign_proportionally(scores, [0.25, 0.5]).tolist()
    [[-1, 1], [-1, -1], [1, -1], [-1, 1]]
    """
    scores = np.asarray(scores, dtype=np.float64)
    shares = _checked_shares(shares, scores)
    table = scores.reshape(len(scores), -1)
    order = np.argsort(-table, axis=0, kind="stable")
    count = np.round(shares * len(table))
    ranked = np.where(np.arange(len(table))[:, None] < count, 1, -1).astype(np.int8)
    signs = np.empty(table.shape, dtype=np.int8)
    np.put_along_axis(signs, order, np.broadcast_to(ranked, table.shape), axis=0)
    return signs.reshape(scores.shape)


def proportional_scores(scores: Any, shares: Any) -> Floats:
    """Scores that are comparable across labels, by proportional assignment (Wiener et al., 1995).

    A label is expected on a share of the documents. The score of a document is log(share n / r) where it has
    the r-th highest score of n: down to 0, the label is assigned as by :func:`assign_proportionally`, and one
    threshold for all labels changes how often each is assigned by the same factor. joachims averages
    Rocchio's cosines in this way (2.6.4). Tied documents share the mean of their ranks.

    Parameters
    ----------
    scores : (n, labels) or (n,), of all documents that are to be compared
    shares : (labels,) or a number, from 0 to 1, such as the shares of training documents

    Examples
    --------
    >>> scores = np.array([[0.9, 0.02], [0.8, 0.01], [0.7, 0.03], [0.6, 0.04]])
    >>> proportional_scores(scores, [0.5, 0.25]).round(2).tolist()
    [[0.69, -1.1], [0.0, -1.39], [-0.41, -0.69], [-0.69, 0.0]]
    """
    scores = np.asarray(scores, dtype=np.float64)
    shares = _checked_shares(shares, scores)
    table = scores.reshape(len(scores), -1)
    ranks = np.empty(table.shape)
    for column, rank in zip(table.T, ranks.T, strict=True):
        _, place, number = np.unique(-column, return_inverse=True, return_counts=True)
        rank[:] = (np.cumsum(number) - (number - 1) / 2)[place]
    with np.errstate(divide="ignore"):  # a label that is expected on no document scores -infinity
        found = np.log(shares * len(table)) - np.log(ranks)
    comparable: Floats = found.reshape(scores.shape)
    return comparable


def _checked_shares(given: Any, scores: Floats) -> Floats:
    shares: Floats = np.asarray(given, dtype=np.float64)
    n_labels = 1 if scores.ndim == 1 else scores.shape[1]
    if not ((shares >= 0) & (shares <= 1)).all():
        raise UsageError("Shares must be from 0 to 1: the fraction of examples with each label.")
    if shares.ndim and shares.shape != (n_labels,):
        raise UsageError(f"There are {shares.shape} shares for {n_labels} labels; expected one per label.")
    return shares


def _f(
    ranked: SortedScores,
    beta: float,
    own: Any = True,
    more_hits: Any = 0.0,
    more_given: Any = 0.0,
    more: float = 0.0,
) -> Floats:
    """F-beta of every row, with `more` pooled positive examples added to the label's own."""
    if not beta >= 0:
        raise UsageError(f"beta={beta}: expected 0 or more.")
    weight = beta**2
    hits = ranked.hits + more_hits
    total = weight * (ranked.positives + more) + np.where(own, ranked.given, 0) + more_given
    result: Floats = np.divide((1 + weight) * hits, total, out=np.zeros(hits.shape), where=total > 0)
    return result


def _best_rows(ranked: SortedScores, value: Any) -> NDArray[np.intp]:
    """The row of each label with the largest value; ties go to the highest threshold."""
    rows: NDArray[np.intp] = np.where(ranked.cut, value, -np.inf).argmax(axis=0)
    return rows


def _pooled(ranked: SortedScores) -> tuple[Floats, Floats, Floats]:
    """Scores in increasing order and, for a threshold there, true and all positives per positive example."""
    positive = np.diff(ranked.hits, axis=0) > 0
    grid = np.unique(np.quantile(ranked.values[positive], np.linspace(0, 1, _GRID)))
    # How many scores exceed each grid point; the last row is for thresholds above all of them.
    total = np.count_nonzero(positive)
    hits, given = (
        np.append(
            np.cumsum(np.bincount(np.searchsorted(grid, values), minlength=len(grid) + 1)[::-1])[::-1][1:], 0
        )
        for values in (ranked.values[positive], ranked.values.ravel())
    )
    return grid, hits / total, given / total


def _warn_of_empty(ranked: SortedScores) -> None:
    empty = np.flatnonzero(ranked.positives == 0)
    if len(empty):
        warnings.warn(
            f"{len(empty)} of {len(ranked.positives)} labels (column {empty[0]}"
            f"{', ...' if len(empty) > 1 else ''}) have no positive example and are "
            f"never assigned. Label some examples, or drop these labels.",
            DataWarning,
            stacklevel=3,
        )
