"""A random sample of documents that depends on the documents alone: those with the smallest keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class SmallestKeys:
    """The documents with the smallest keys among those that were added, in the order of their keys.

    Parameters
    ----------
    most : how many documents to keep
    most_bytes : the sum of their sizes; None for any

    Examples
    --------
    >>> sample = SmallestKeys(2)
    >>> sample.add(np.array([5, 1, 3], np.uint64), ["five", "one", "three"])
    >>> sample.items
    ['one', 'three']
    """

    def __init__(self, most: int, most_bytes: int | None = None) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._kept: list[tuple[int, Any, int]] = []
        self._last, self._bytes = 2**64 - 1, 0

    def wanted(self, keys: NDArray[np.uint64]) -> NDArray[np.intp]:
        """The places of keys that may be among the smallest."""
        return np.flatnonzero(keys <= np.uint64(self._last))

    def add(self, keys: NDArray[np.uint64], items: Sequence[Any], sizes: Sequence[int] | None = None) -> None:
        """Add documents; their `sizes` count for `most_bytes`. Items of equal keys have to be comparable."""
        self._kept += zip(keys.tolist(), items, sizes or [0] * len(items), strict=True)
        self._bytes += sum(sizes or ())
        many = self._most_bytes is not None and self._bytes > 2 * self._most_bytes
        if len(self._kept) > 2 * self._most or many:
            self._cut()

    @property
    def kept(self) -> list[tuple[int, Any, int]]:
        """The documents with their keys and sizes."""
        self._cut()
        return self._kept

    @property
    def items(self) -> list[Any]:
        """The documents."""
        self._cut()
        return [item for _, item, _ in self._kept]

    def _cut(self) -> None:
        self._kept.sort()
        kept = self._kept[: self._most]
        if self._most_bytes is not None:
            fits = np.cumsum([size for *_, size in kept]) <= self._most_bytes
            kept = kept[: max(int(np.count_nonzero(fits)), 1)]
        # What comes after the first that is left out would be left out, too.
        if len(kept) < len(self._kept):
            self._last = self._kept[len(kept)][0]
        self._kept, self._bytes = kept, sum(size for *_, size in kept)
