"""Products with Z Z' for sparse rows Z, without the matrix itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr, times

Floats = NDArray[np.float64]


class GramProduct:
    """V -> Z Z' V.

    A feature of one row alone adds to the diagonal of Z Z' only, and is left out of the products. The others
    are sorted by frequency, so that what is needed most often lies together in memory.

    Examples
    --------
    >>> from widemargin._arrays import canonical_csr
    >>> product = GramProduct(canonical_csr(np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])), 1)
    >>> product(np.eye(2)).tolist(), product.weights(np.eye(2)).tolist()
    ([[5.0, 1.0], [1.0, 10.0]], [[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]])
    """

    def __init__(self, rows: Csr, n_threads: int) -> None:
        frequencies = np.bincount(rows.indices, minlength=rows.n_columns)
        order = np.argsort(-frequencies, kind="stable")
        self._order = order.astype(np.int32)
        place = np.empty(rows.n_columns, dtype=np.int32)
        place[order] = np.arange(rows.n_columns, dtype=np.int32)
        n_shared = int(np.count_nonzero(frequencies > 1))
        n_values = int(frequencies[order[:n_shared]].sum())
        indptr = np.concatenate([[0], np.cumsum(frequencies[order], dtype=np.int64)])
        dtype: Any = rows.data.dtype
        self._across = Csr(
            np.empty(rows.n_rows + 1, dtype=np.int64),
            np.empty(n_values, dtype=np.int32),
            np.empty(n_values, dtype=dtype),
            n_shared,
        )
        values = len(rows.indices)
        self._down = Csr(indptr, np.empty(values, dtype=np.int32), np.empty(values, dtype), rows.n_rows)
        self._own = np.empty(rows.n_rows)
        self._n_threads = n_threads
        _core.shared_columns(rows.native(), place, n_shared, *self._across[:3], self._own)
        _core.columns_by_place(rows.native(), place, *self._down[:3])
        self._middle = np.empty((0, 0))  # Z' V, in memory that is used again
        self._shared = self._down._replace(indptr=indptr[: n_shared + 1])

    def __call__(self, V: Floats) -> Floats:
        if self._middle.shape[1] != V.shape[1]:
            self._middle = np.empty((self._shared.n_rows, V.shape[1]))
        times(self._shared, V, self._n_threads, out=self._middle)
        product = times(self._across, self._middle, self._n_threads)
        product += self._own[:, None] * V
        return product

    def weights(self, V: Floats) -> Floats:
        """Z' V."""
        weights = np.empty((self._down.n_rows, V.shape[1]))
        columns = np.ascontiguousarray(V)
        _core.product_lines(self._down.native(), columns, self._order, weights, self._n_threads)
        return weights
