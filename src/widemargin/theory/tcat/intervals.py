"""TCat-concepts with intervals: between a least and a largest number of words of each set in a document.

The thesis leaves this open (4.6). Documents need not have the same length or composition, so what is noise
for a concept with exact numbers can be inside the intervals. The margin follows as in Lemma 2: with the same
weight v_i for all words of set i, the worst positive document has the least number of words where v_i > 0 and
the largest number where v_i < 0, the worst negative document the other way around. The dual of

    min 1/2 sum_i f_i v_i^2   so that the worst documents score at least 1 and at most -1

has one variable for each class, and its value is quadratic in their sum. Only their ratio t : 1 - t is left:

    delta^2 = min over t in [0, 1] of  sum_i f_i v_i(t)^2,
    f_i v_i(t) = max(0, t p_low - (1 - t) n_high) + min(0, t p_high - (1 - t) n_low),

a convex function of t. With p_low = p_high and n_low = n_high, this is Lemma 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from widemargin.errors import DataError, UsageError
from widemargin.theory.laws import counts_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class IntervalConcept:
    """A task whose documents have numbers of words of each set within intervals.

    Parameters
    ----------
    sets : ((least p, largest p), (least n, largest n), f), for positive and negative documents

    Examples
    --------
    >>> IntervalConcept([((3, 5), (0, 1), 100), ((0, 1), (3, 5), 100)]).margin_bound()
    0.1414...
    >>> IntervalConcept([((4, 4), (1, 1), 100), ((1, 1), (4, 4), 100)]).margin_bound()
    0.2121...
    """

    sets: tuple[tuple[tuple[float, float], tuple[float, float], int], ...]

    def __init__(self, sets: Iterable[tuple[tuple[float, float], tuple[float, float], int]]) -> None:
        checked = tuple(((float(p[0]), float(p[1])), (float(n[0]), float(n[1])), int(f)) for p, n, f in sets)
        for p, n, f in checked:
            if not (0 <= p[0] <= p[1] and 0 <= n[0] <= n[1]) or f < 1:
                raise UsageError(
                    f"[{p[0]:g}-{p[1]:g} : {n[0]:g}-{n[1]:g} : {f}]: expected intervals of numbers that are "
                    f"not negative, from a set of at least one word."
                )
        if not checked:
            raise UsageError("A concept needs at least one set of words, such as ((3, 5), (0, 1), 200).")
        object.__setattr__(self, "sets", checked)

    @property
    def n_words(self) -> int:
        """The size of the vocabulary."""
        return sum(f for _, _, f in self.sets)

    def margin_bound(self) -> float:
        """The least margin of documents within the intervals; 0 if there may be none."""
        return float(np.sqrt(self._solution()[0]))

    def set_weights(self) -> Floats:
        """The weight of the words of each set in the hyperplane with this margin."""
        squared, weights = self._solution()
        if squared <= 0:
            raise UsageError(
                "The intervals of the two classes overlap too much: no hyperplane separates them."
            )
        return np.asarray(weights / squared)

    def contains(self, counts: Any, y: Any) -> NDArray[np.bool_]:
        """Which documents (rows of counts of the words, set after set) are within the intervals of their
        class."""
        matrix = counts_of(counts)
        signs = np.asarray(y)
        taken = words_per_set(matrix, [f for _, _, f in self.sets])
        low, high = (
            np.where(
                (signs > 0)[:, None], [p[end] for p, _, _ in self.sets], [n[end] for _, n, _ in self.sets]
            )
            for end in (0, 1)
        )
        return np.asarray(((taken >= low) & (taken <= high)).all(axis=1))

    def _solution(self) -> tuple[float, Floats]:
        """delta^2, and v(t) where it is least."""
        p, n = (np.array([one[side] for one in self.sets], dtype=np.float64).T for side in (0, 1))
        f = np.array([size for _, _, size in self.sets], dtype=np.float64)

        def weights(t: float) -> Floats:
            above = np.maximum(t * p[0] - (1 - t) * n[1], 0.0)
            below = np.minimum(t * p[1] - (1 - t) * n[0], 0.0)
            return np.asarray((above + below) / f)

        def squared(t: float) -> float:
            return float(f @ np.square(weights(t)))

        found = minimize_scalar(squared, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12})
        t = min((0.0, 1.0, float(found.x)), key=squared)
        return squared(t), weights(t)


def interval_concept(counts: Any, y: Any, sizes: Iterable[int], outside: float = 0.0) -> IntervalConcept:
    """The concept of given documents: the range of their numbers of words of each set.

    Parameters
    ----------
    counts : (documents, words), set after set
    y : signs of the documents
    sizes : f, the number of words of each set
    outside : share of documents that may fall outside an interval, half of it on each side

    Examples
    --------
    >>> found = interval_concept(np.array([[3, 1], [4, 0], [1, 5]]), [1, 1, -1], [1, 1])
    >>> found.sets
    (((3.0, 4.0), (1.0, 1.0), 1), ((0.0, 1.0), (5.0, 5.0), 1))
    """
    if not 0 <= outside < 1:
        raise UsageError(f"outside={outside!r}: expected a share of at least 0 and below 1.")
    sizes = list(sizes)
    matrix, signs = counts_of(counts), np.asarray(y)
    if not ((signs > 0).any() and (signs < 0).any()):
        raise DataError("There are only documents of one class. Add documents of the other one.")
    taken = words_per_set(matrix, sizes)
    ends = [
        np.quantile(taken[side], [outside / 2, 1 - outside / 2], axis=0, method="inverted_cdf")
        for side in (signs > 0, signs < 0)
    ]
    return IntervalConcept(
        ((ends[0][0, i], ends[0][1, i]), (ends[1][0, i], ends[1][1, i]), f) for i, f in enumerate(sizes)
    )


def words_per_set(counts: Any, sizes: Iterable[int]) -> Floats:
    """How many words of every set documents have, from counts of words, set after set.

    Examples
    --------
    >>> words_per_set(np.array([[1, 2, 3], [0, 1, 0]]), [2, 1]).tolist()
    [[3.0, 3.0], [1.0, 0.0]]
    """
    sizes = list(sizes)
    if counts.shape[1] != sum(sizes):
        raise UsageError(f"There are {counts.shape[1]} columns of counts for {sum(sizes)} words.")
    of_word = np.repeat(np.eye(len(sizes)), sizes, axis=0)
    return np.asarray(counts @ of_word, dtype=np.float64)
