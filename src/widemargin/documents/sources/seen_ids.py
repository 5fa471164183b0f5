"""Which ids have occurred before: eight bytes for each, however many documents there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Enough to notice a column that does not contain ids, without storing every id of an endless stream.
_REMEMBERED = 1 << 22


class SeenIds:
    """The hashes of ids as sorted arrays, each at least twice as long as the next, so that few are searched.

    Examples
    --------
    >>> seen = SeenIds()
    >>> seen.add(["a", "b", "a"]).tolist(), seen.add(["b", "c"]).tolist(), seen.has(["c", "d"]).tolist()
    ([False, False, True], [True, False], [True, False])
    """

    def __init__(self, most: int = _REMEMBERED) -> None:
        self._most = most
        self._sorted: list[NDArray[np.int64]] = []

    def __len__(self) -> int:
        return sum(map(len, self._sorted))

    def has(self, ids: Sequence[str]) -> NDArray[np.bool_]:
        """Whether each has been added."""
        return self._found(_hashes(ids))

    def add(self, ids: Sequence[str]) -> NDArray[np.bool_]:
        """Whether each has been added before, also as an earlier one of these; then add all that fit."""
        hashes = _hashes(ids)
        repeated = self._found(hashes)
        distinct, first = np.unique(hashes, return_index=True)
        earlier = np.ones(len(hashes), dtype=bool)
        earlier[first] = False
        self._insert(distinct[~repeated[first]][: max(self._most - len(self), 0)])
        return repeated | earlier

    def merge(self, other: SeenIds) -> None:
        """Add those of another."""
        for one in other._sorted:
            new = one[~self._found(one)]
            self._insert(new[: max(self._most - len(self), 0)])

    def _found(self, hashes: NDArray[np.int64]) -> NDArray[np.bool_]:
        found = np.zeros(len(hashes), dtype=bool)
        for one in self._sorted:
            place = np.searchsorted(one, hashes)
            place[place == len(one)] = 0
            found |= one[place] == hashes
        return found

    def _insert(self, new: NDArray[np.int64]) -> None:
        while self._sorted and len(self._sorted[-1]) < 2 * len(new):
            new = np.sort(np.concatenate((self._sorted.pop(), new)), kind="stable")
        if len(new):
            self._sorted.append(new)


def _hashes(ids: Sequence[str]) -> NDArray[np.int64]:
    return np.fromiter(map(hash, ids), dtype=np.int64, count=len(ids))
