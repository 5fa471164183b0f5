"""Which documents of a large collection are held out, and by which rule each is scored.

Documents are ordered by a random key, so the first ones are a random sample. Where there are many documents,
only such a sample is scored: the scores of all would fill the memory, and a sample of a hundred thousand
gives figures to a few thousandths. Each document of the sample is in one fold, by its key, so that neither
the order of the documents nor their division into files has an effect, and copies are in the same fold.

A fold has about a tenth of all documents, so a small sample is one fold, which takes one training: that is a
hold-out, whose rule has learned from more documents than those of ten folds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin.estimate.held_out import FOLDS

# Documents, and documents x labels, whose held-out scores are found; and the fewest documents of many labels.
MOST_DOCUMENTS, MOST_CELLS, LEAST_DOCUMENTS = 100_000, 4_000_000, 10_000
# The share of all documents that a hold-out may take.
_SHARE = 5
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_64_BITS = 2**64 - 1


class Folds(NamedTuple):
    """The first `size` rows in `number` folds; the others are always learned from."""

    size: int
    number: int
    seed: int = 0

    @classmethod
    def of(cls, n: int, n_columns: int, method: str = "k-fold", seed: int = 0) -> Folds:
        """For `n` documents and so many columns of labels.

        Examples
        --------
        >>> [Folds.of(n, 20)[:2] for n in (50_000, 500_000, 5_000_000)]
        [(50000, 10), (100000, 2), (100000, 1)]
        """
        size = min(n, MOST_DOCUMENTS, max(LEAST_DOCUMENTS, MOST_CELLS // max(n_columns, 1)))
        if method == "hold-out":
            return cls(max(min(size, n // _SHARE), 1), 1, seed)
        return cls(size, max(round(FOLDS * size / max(n, 1)), 1), seed)

    def numbers(self, keys: NDArray[np.uint64], first: int) -> NDArray[np.int32]:
        """The fold of every row of a block whose `first` row is given; -1 for those outside the sample.

        Examples
        --------
        >>> Folds(3, 2).numbers(np.array([1, 2, 3, 4], np.uint64), 0).tolist()
        [1, 0, 1, -1]
        """
        folds = np.full(len(keys), -1, dtype=np.int32)
        inside = max(min(self.size - first, len(keys)), 0)
        folds[:inside] = _mixed(keys[:inside], self.seed) % np.uint64(self.number)
        return folds

    def last_block(self, first_rows: NDArray[np.int64]) -> int:
        """How many blocks have rows of the sample."""
        return int(np.searchsorted(first_rows[:-1], self.size))


def _mixed(keys: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Keys as other random numbers (splitmix64): small keys alone would not be in random folds."""
    z = keys + np.uint64((_GOLDEN * (seed + 1)) & _64_BITS)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_FIRST)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_SECOND)
    mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed
