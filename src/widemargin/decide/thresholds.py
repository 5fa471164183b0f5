"""Thresholds that maximize F or minimize costs, chosen on scores by rules that did not see the example.

A label is given where its score exceeds its threshold. All labels are treated together: their scores are
sorted once, column by column, and every place between two different scores is a candidate.

The best threshold of a label on its own (SCut; Yang, A Study on Thresholding Strategies for Text
Categorization, SIGIR 2001) follows the noise where the label is rare: one lucky or unlucky document decides,
and a rare label given to thousands of documents ruins the micro-average. Yang's remedy is a floor (FBR): a
label whose best F stays below it is given to no document, or only above its highest score. The default of
this library shrinks the evidence instead: to the outcomes of a label at a threshold come those of `strength`
positive examples of an average label, all labels pooled. A frequent label hardly notices them; a rare one
moves as far from the common threshold as its own examples pay for.
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
    """Each label's own best threshold on these scores (SCut).

    Parameters
    ----------
    scores, truth : (n, labels) or (n,); truth is positive where an example is in the class
    beta : of :func:`~widemargin.measure.f_measure`

    Returns
    -------
    (labels,): midway between two scores. A label without a positive example is not given: infinity

    Examples
    --------
    >>> best_f_thresholds(np.array([0.75, 0.25, -0.5, -1.0]), np.array([1, -1, 1, -1])).tolist()
    [-0.75]
    """
    ranked = SortedScores.of(scores, truth)
    _warn_of_empty(ranked)
    return ranked.thresholds_at(_best_rows(ranked, _f(ranked, beta)))


def shrunk_f_thresholds(scores: Any, truth: Any, *, beta: float = 1.0, strength: float = 3.0) -> Floats:
    """Thresholds for F that hold for rare labels too: the library's default.

    Parameters
    ----------
    scores, truth, beta : as for :func:`best_f_thresholds`
    strength : how many positive examples of the average label stand beside a label's own. Small values
        favor the macro-average, large ones pull all labels to a common threshold. The default
        is the best of 0.5 to 10 by cross-validation on Ohsumed and 20 Newsgroups, by so little that the
        choice is not critical

    Returns
    -------
    (labels,); a label without a positive example has the common threshold

    Examples
    --------
    The second label has one positive example, below three others: alone it would be given to them too.

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
    # What the average label would have at each place of every label.
    places = np.searchsorted(grid, ranked.middles())
    pooled_hits, pooled_given = strength * hits[places], strength * given[places]
    # A label without a positive example has nothing but the pool to go by.
    own = ranked.positives > 0
    f = _f(ranked, beta, own, pooled_hits, pooled_given, strength)
    return ranked.thresholds_at(_best_rows(ranked, f))


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
    floor : the least F on these scores at which a label's own threshold is believed
    below : what the others do: "none" gives them to no document (FBR.0), "first" only above the highest
        score seen (FBR.1). The first raises the micro-average, the second less, at a smaller price in macro

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
    # A label without any positive example is not believed at any score.
    instead = np.where(ranked.positives > 0, instead, np.inf)
    return np.where(best >= floor, ranked.thresholds_at(rows), instead)


def cost_thresholds(scores: Any, truth: Any, costs: Any) -> Floats:
    """The threshold of each label at which decisions on these scores cost least.

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
    # Against giving the label to nobody: what each hit and each false alarm changes.
    gain = (costs[1, 0] - costs[0, 0]) * ranked.hits + (costs[1, 1] - costs[0, 1]) * (
        ranked.given - ranked.hits
    )
    return ranked.thresholds_at(_best_rows(ranked, gain))


def assign_proportionally(scores: Any, shares: Any) -> NDArray[np.int8]:
    """Signs that give each label to its share of the examples: those with the highest scores.

    Parameters
    ----------
    scores : (n, labels) or (n,)
    shares : (labels,) or a number, from 0 to 1; of equal scores the first come first

    Examples
    --------
    >>> scores = np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 3.0], [0.0, 9.0]])
    >>> assign_proportionally(scores, [0.25, 0.5]).tolist()
    [[-1, 1], [-1, -1], [1, -1], [-1, 1]]
    """
    scores, shares = np.asarray(scores, dtype=np.float64), np.asarray(shares, dtype=np.float64)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise UsageError("A share is below 0 or above 1: expected the fraction of examples in each class.")
    table = scores.reshape(len(scores), -1)
    if shares.ndim and shares.shape != table.shape[1:]:
        raise UsageError(
            f"There are {shares.shape} shares for {table.shape[1]} labels; expected one a label."
        )
    order = np.argsort(-table, axis=0, kind="stable")
    count = np.round(shares * len(table))
    ranked = np.where(np.arange(len(table))[:, None] < count, 1, -1).astype(np.int8)
    signs = np.empty(table.shape, dtype=np.int8)
    np.put_along_axis(signs, order, np.broadcast_to(ranked, table.shape), axis=0)
    return signs.reshape(scores.shape)


def _f(
    ranked: SortedScores,
    beta: float,
    own: Any = True,
    more_hits: Any = 0.0,
    more_given: Any = 0.0,
    more: float = 0.0,
) -> Floats:
    """F-beta of every row, with `more` pooled positive examples beside a label's own."""
    if not beta >= 0:
        raise UsageError(f"beta={beta}: expected 0 or more.")
    weight = beta**2
    hits = ranked.hits + more_hits
    total = weight * (ranked.positives + more) + np.where(own, ranked.given, 0) + more_given
    result: Floats = np.divide((1 + weight) * hits, total, out=np.zeros(hits.shape), where=total > 0)
    return result


def _best_rows(ranked: SortedScores, value: Any) -> NDArray[np.intp]:
    """The row of each label with the largest value; of equal ones the highest threshold."""
    rows: NDArray[np.intp] = np.where(ranked.cut, value, -np.inf).argmax(axis=0)
    return rows


def _pooled(ranked: SortedScores) -> tuple[Floats, Floats, Floats]:
    """Scores in rising order and, for a threshold there, the hits and the given of one positive example."""
    positive = np.diff(ranked.hits, axis=0) > 0
    grid = np.unique(np.quantile(ranked.values[positive], np.linspace(0, 1, _GRID)))
    # How many scores exceed each place; the row after the last is for thresholds above all of them.
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
            f"{', ...' if len(empty) > 1 else ''}) have no positive example to set a threshold by, and will "
            f"be given to no document. Label some, or leave these labels out.",
            DataWarning,
            stacklevel=3,
        )
