"""Choose one of k classes from the scores of k(k-1)/2 classifiers, one for each pair of classes.

The pairs (a, b), a < b, are in lexicographic order: (0, 1), (0, 2), ..., (0, k-1), (1, 2), ... A positive
score in the column of a pair is a vote for b, any other score a vote for a. Classes are numbers from 0 to
k-1.

There are two ways to combine them. Majority vote: the class with the most votes wins (joachims, 2.1.2).
Decision DAG: k-1 comparisons eliminate one class each (Platt, Cristianini and Shawe-Taylor, Large Margin DAGs
for Multiclass Classification, NIPS 12, 2000).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError, UsageError

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """The pairs of classes, in column order.

    Examples
    --------
    >>> pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return [(a, b) for a in range(n_classes) for b in range(a + 1, n_classes)]


def majority_vote(scores: NDArray[Any], n_classes: int) -> Numbers:
    """The class that wins most of its pairs.

    Ties are broken by the sum of margins over all pairs of a class (lost pairs count negative), then by
    position.

    Parameters
    ----------
    scores : array (n, k(k-1)/2)
    n_classes : the number of classes

    Returns
    -------
    int array (n,) of the winners

    Examples
    --------
    >>> majority_vote(np.array([[-1.0, 2.0, 0.5], [1.0, -1.0, 3.0]]), 3).tolist()
    [2, 2]
    """
    votes, margins = tally(scores, n_classes)
    leading = votes == votes.max(axis=1, keepdims=True)
    winners: Numbers = np.where(leading, margins, -np.inf).argmax(axis=1)
    return winners


def tally(scores: NDArray[Any], n_classes: int) -> tuple[NDArray[np.int64], Floats]:
    """Votes and sums of margins of every class, both (n, n_classes).

    Examples
    --------
    >>> votes, margins = tally(np.array([[-1.0, 2.0, 0.5]]), 3)
    >>> votes.tolist(), margins.tolist()
    ([[1, 0, 2]], [[-1.0, -1.5, 2.5]])
    """
    scores = _checked(scores, n_classes)
    first, second = np.triu_indices(n_classes, 1)
    for_second = scores > 0
    votes = np.empty((len(scores), n_classes), dtype=np.int64)
    margins = np.empty((len(scores), n_classes))
    for c in range(n_classes):
        mine, theirs = second == c, first == c
        votes[:, c] = for_second[:, mine].sum(axis=1) + (~for_second[:, theirs]).sum(axis=1)
        margins[:, c] = scores[:, mine].sum(axis=1) - scores[:, theirs].sum(axis=1)
    return votes, margins


def dag_vote(scores: NDArray[Any], n_classes: int) -> Numbers:
    """The class that remains after k-1 comparisons of the first and the last remaining class.

    Parameters and result are those of :func:`majority_vote`.

    Examples
    --------
    >>> dag_vote(np.array([[-1.0, 2.0, 0.5], [1.0, -1.0, 3.0]]), 3).tolist()
    [2, 1]
    """
    scores = _checked(scores, n_classes)
    rows = np.arange(len(scores))
    first = np.zeros(len(scores), dtype=np.intp)
    last = np.full(len(scores), n_classes - 1, dtype=np.intp)
    for _ in range(n_classes - 1):
        # The remaining classes are always a contiguous range.
        last_wins = scores[rows, _column(first, last, n_classes)] > 0
        first += last_wins
        last -= ~last_wins
    return first


def class_scores(scores: NDArray[Any], n_classes: int, scheme: Literal["votes", "dag"] = "votes") -> Floats:
    """One score per class, (n, n_classes); the winner has the largest.

    The score of a class is its number of votes, plus or minus up to a third by its sum of margins, which
    orders ties. The winner of the DAG, which may have fewer votes, scores n_classes.

    Examples
    --------
    >>> class_scores(np.array([[-1.0, 2.0, 0.5], [1.0, -1.0, 3.0]]), 3, "dag").argmax(axis=1).tolist()
    [2, 1]
    """
    votes, margins = tally(scores, n_classes)
    result: Floats = votes + margins / (3 * (1 + np.abs(margins)))
    if scheme == "dag":
        result[np.arange(len(result)), dag_vote(scores, n_classes)] = n_classes
    return result


def _column(a: Numbers, b: Numbers, k: int) -> Numbers:
    """The columns of the pairs (a, b) in lexicographic order."""
    return a * (2 * k - a - 1) // 2 + (b - a - 1)


def _checked(scores: NDArray[Any], k: int) -> Floats:
    if k < 2:
        raise UsageError(f"n_classes={k}: expected at least 2.")
    scores = np.asarray(scores, dtype=np.float64)
    expected = k * (k - 1) // 2
    if scores.ndim != 2 or scores.shape[1] != expected:
        raise UsageError(
            f"The scores have shape {scores.shape}; expected (n, {expected}), one column for each pair of "
            f"{k} classes."
        )
    if not np.isfinite(scores).all():
        raise DataError("The scores contain NaN or infinity. Check the vectors.")
    return scores
