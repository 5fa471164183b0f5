"""The rows of a store on disk as a solver reads them: counts with their weights applied."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr
from widemargin.weight.left_out import RemainingTerms

if TYPE_CHECKING:
    from widemargin.on_disk.row_store import RowStore


class WeighedRows:
    """A store of counted documents and a fitted vectorizer as a source of weighted rows.

    Weights are made when a block is read, in the same way as in memory.

    Parameters
    ----------
    store : the counts, in the columns of the vectorizer, or vectors that came in as such
    vectorizer : fitted; None for vectors
    without : the terms that remain, and their weights, if some documents are held out; None for all
    nodes : of labels that are paths: the columns that each column of the store stands for; that of documents
        without any comes last. None if columns are those of the store
    """

    def __init__(
        self,
        store: RowStore,
        vectorizer: Any = None,
        without: RemainingTerms | None = None,
        nodes: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self.store, self._vectorizer, self._without = store, copy(vectorizer), without
        self._nodes = None if nodes is None else [np.asarray(each, dtype=np.int32) for each in nodes]
        self.first_rows: NDArray[np.int64] = store.first_rows
        self.n_columns: int = store.n_columns
        self.n_entries: int = store.n_entries
        if vectorizer is not None:
            self.n_columns = vectorizer.n_columns
            _ = self._vectorizer.factors  # made now, for all of these

    @property
    def n_rows(self) -> int:
        return int(self.first_rows[-1])

    @property
    def n_blocks(self) -> int:
        return len(self.first_rows) - 1

    def rows(self, block: int, which: NDArray[np.int32] | None = None) -> Csr:
        """The weighted rows of a block, or some of them."""
        return self.weigh(self.store.rows(block, which))

    def rows_of(self, wanted: Sequence[tuple[int, NDArray[np.int32]]], n_threads: int) -> Csr:
        """The weighted rows of several blocks below each other."""
        return self.weigh(self.store.rows_of(wanted, n_threads), n_threads)

    def read_ahead(self, blocks: Iterable[int]) -> None:
        """Prepare for blocks that will be needed soon."""
        self.store.read_ahead(blocks)

    def weigh(self, counts: Csr, n_threads: int = 1) -> Csr:
        """The weights of counted documents."""
        if self._vectorizer is None:
            return _real(counts)
        vectorizer = copy(self._vectorizer)
        vectorizer.n_jobs = n_threads
        if self._without is None:
            return _real(vectorizer.weighed(counts))
        rest = self._without.entries(counts)
        return _real(vectorizer.weighed_by(rest, self._without.factors))

    def labels(self, block: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Where the labels of each row begin, and their columns."""
        indptr, columns = self.store.labels(block)
        return (indptr, columns) if self._nodes is None else _expanded(indptr, columns, self._nodes)

    def weights(self, block: int) -> NDArray[np.float64] | None:
        """Factors on the costs of the rows; None if there are none."""
        return self.store.weights(block)

    def keys(self, block: int) -> NDArray[np.uint64]:
        """The keys of the documents, ascending over all blocks."""
        return self.store.keys(block)

    def signs(self, block: int, n_columns: int, which: NDArray[np.int32] | None = None) -> NDArray[np.int8]:
        """The labels of the rows of a block, or of some of them, as +1 and -1."""
        indptr, columns = self.labels(block)
        signs = np.full((len(indptr) - 1, n_columns), -1, dtype=np.int8)
        signs[np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), columns] = 1
        return signs if which is None else signs[which]


def _expanded(
    indptr: NDArray[np.int64], columns: NDArray[np.int32], nodes: Sequence[NDArray[np.int32]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The nodes of every row, ascending and each once.

    Examples
    --------
    >>> nodes = [np.array([0, 1], np.int32), np.array([0, 2], np.int32), np.array([3], np.int32)]
    >>> indptr, found = _expanded(np.array([0, 2, 2, 3]), np.array([0, 1, 1]), nodes)
    >>> indptr.tolist(), found.tolist()
    ([0, 3, 4, 6], [0, 1, 2, 3, 0, 2])
    """
    n, width = len(indptr) - 1, 1 + max((int(each.max(initial=0)) for each in nodes), default=0)
    empty = np.flatnonzero(np.diff(indptr) == 0)
    rows = np.concatenate([np.repeat(np.arange(n), np.diff(indptr)), empty])
    labels = np.concatenate([columns, np.full(len(empty), len(nodes) - 1, dtype=np.int32)])
    sizes = np.array([len(each) for each in nodes])
    begins, every = np.cumsum(sizes) - sizes, np.concatenate(nodes)
    lengths = sizes[labels]
    places = np.arange(lengths.sum()) + np.repeat(begins[labels] - (np.cumsum(lengths) - lengths), lengths)
    cells = np.unique(np.repeat(rows, lengths) * width + every[places])
    counts = np.bincount(cells // width, minlength=n)
    return np.concatenate([[0], np.cumsum(counts)]), (cells % width).astype(np.int32)


def _real(csr: Csr) -> Csr:
    """Weights as they are, counts as float32."""
    return csr if csr.data.dtype.kind == "f" else csr._replace(data=csr.data.astype(np.float32))
