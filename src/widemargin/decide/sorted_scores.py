"""The scores of every label in decreasing order, with the outcome of a threshold at each position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError, UsageError

Floats = NDArray[np.float64]


def checked_columns(scores: Any, truth: Any) -> tuple[Floats, NDArray[np.bool_]]:
    """Check scores and truth; returns scores and the positive examples, both (n, labels)."""
    scores, positive = np.asarray(scores, dtype=np.float64), np.asarray(truth) > 0
    if scores.shape != positive.shape or scores.ndim not in (1, 2):
        raise UsageError(
            f"The scores have shape {scores.shape} and the truth {positive.shape}; "
            f"expected (n, labels) or (n,), and the same for both."
        )
    if not scores.size:
        raise DataError("There are no scores to choose thresholds on.")
    if np.isnan(scores).any():
        raise DataError("Some scores are NaN. Thresholds need a number for every example.")
    return scores.reshape(len(scores), -1), positive.reshape(len(scores), -1)


@dataclass(frozen=True, eq=False)
class SortedScores:
    """Row k: the label is assigned to the k examples with the highest scores, k = 0, ..., n.

    Attributes
    ----------
    values : (n, labels) scores in decreasing order
    hits : (n + 1, labels) how many of the k are positive
    cut : (n + 1, labels) whether a threshold exists, that is, not between equal scores
    """

    values: Floats
    hits: NDArray[np.int64]
    cut: NDArray[np.bool_]

    @classmethod
    def of(cls, scores: Any, truth: Any) -> SortedScores:
        scores, positive = checked_columns(scores, truth)
        n, labels = scores.shape
        order = np.argsort(-scores, axis=0, kind="stable")
        values = np.take_along_axis(scores, order, axis=0)
        hits = np.zeros((n + 1, labels), dtype=np.int64)
        np.cumsum(np.take_along_axis(positive, order, axis=0), axis=0, out=hits[1:])
        cut = np.ones((n + 1, labels), dtype=bool)
        cut[1:-1] = values[:-1] > values[1:]
        return cls(values, hits, cut)

    @property
    def given(self) -> NDArray[np.int64]:
        """(n + 1, 1): the number k of every row."""
        return np.arange(len(self.hits))[:, None]

    @property
    def positives(self) -> NDArray[np.int64]:
        """(labels,): number of positive examples."""
        last: NDArray[np.int64] = self.hits[-1]
        return last

    def middles(self) -> Floats:
        """(n + 1, labels): the threshold of every row, midway between two scores.

        Infinity assigns the label to no example, minus infinity to all.
        """
        ends = np.full((1, self.values.shape[1]), np.inf)
        middle = self.values[1:] + (self.values[:-1] - self.values[1:]) / 2
        # Rounding must not raise a threshold to the score above it.
        middle = np.where(middle < self.values[:-1], middle, self.values[1:])
        return np.concatenate([ends, middle, -ends])

    def thresholds_at(self, rows: NDArray[Any]) -> Floats:
        """The threshold of each label at the given row."""
        columns = np.arange(self.values.shape[1])
        last = len(self.values)
        above = self.values[np.clip(rows - 1, 0, last - 1), columns]
        below = self.values[np.clip(rows, 0, last - 1), columns]
        middle = below + (above - below) / 2
        middle = np.where(middle < above, middle, below)
        return np.where(rows == 0, np.inf, np.where(rows == last, -np.inf, middle))
