"""Rows that are read in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr

LeftOut = Callable[[int], NDArray[np.bool_]]


class RowSource(Protocol):
    """A matrix and its labels in blocks of rows, such as a weighted store on disk.

    Attributes
    ----------
    n_columns : number of features
    n_entries : number of values that are not 0, about
    first_rows : (blocks + 1,); block b has the rows from ``first_rows[b]`` up to ``first_rows[b + 1]``.
        Every block should be a random sample of all rows.
    """

    @property
    def n_columns(self) -> int: ...

    @property
    def n_entries(self) -> int: ...

    @property
    def first_rows(self) -> NDArray[np.int64]: ...

    def rows(self, block: int, which: NDArray[np.int32] | None = None) -> Csr:
        """Rows of a block, all or those with the ascending numbers `which`, in float32 or float64."""

    def rows_of(self, wanted: Sequence[tuple[int, NDArray[np.int32]]], n_threads: int) -> Csr:
        """Rows of several blocks below each other: numbers of blocks, and of rows within them. The arrays are
        new, and the caller may change them."""

    def read_ahead(self, blocks: Iterable[int]) -> None:
        """Prepare for blocks that will be needed soon."""

    def labels(self, block: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The label columns of every row of a block: row pointers and numbers."""

    def weights(self, block: int) -> NDArray[np.float64] | None:
        """The weights of the rows of a block; None if all are 1."""


class BlockLabels(NamedTuple):
    """What the solver knows of the rows of a block besides their features."""

    first_label: NDArray[np.int64]
    labels: NDArray[np.int32]
    weights: NDArray[np.float64] | None

    @classmethod
    def read(cls, source: RowSource, block: int, left_out: LeftOut | None) -> BlockLabels:
        """The labels and weights of a block; rows that are left out weigh nothing."""
        first, labels = source.labels(block)
        weights = source.weights(block)
        if left_out is not None:
            weights = np.where(left_out(block), 0.0, 1.0 if weights is None else weights)
        weights = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        return cls(first, labels, weights)
