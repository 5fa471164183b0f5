"""A fitted selection as two arrays: what it takes to narrow one short document without delay."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import canonical_csr, is_sparse, row_squares


class KeptColumns(NamedTuple):
    """Which columns stay, where each goes (-1: nowhere), and what kept values are multiplied by.

    `unit_length` says that rows are scaled to length 1 afterwards.
    """

    columns: NDArray[np.intp]
    place: NDArray[np.int32]
    factors: NDArray[np.float64] | None = None
    unit_length: bool = False

    def apply(self, X: sp.csr_array) -> sp.csr_array:
        """The kept columns of a canonical matrix, canonical.

        Examples
        --------
        >>> kept = KeptColumns(np.array([1, 2]), np.array([-1, 0, 1], dtype=np.int32), np.array([1.0, 2.0]))
        >>> kept.apply(sp.csr_array(np.array([[1.0, 0.0, 3.0], [0.0, 4.0, 5.0]]))).toarray().tolist()
        [[0.0, 6.0], [4.0, 10.0]]
        """
        found = self.place[X.indices]
        kept = found >= 0
        indices, data = found[kept], X.data[kept]
        if self.factors is not None:
            data = data * self.factors[indices].astype(data.dtype)
        before = np.concatenate([[0], np.cumsum(kept)])
        indptr = before[X.indptr].astype(X.indptr.dtype)
        narrow = sp.csr_array((data, indices, indptr), shape=(X.shape[0], len(self.columns)))
        return unit_rows(narrow) if self.unit_length else narrow


def unit_rows(X: Any) -> Any:
    """Rows of length 1, but for those that are 0; sparse or dense as they come.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).round(6).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    sparse = is_sparse(X)
    if X.dtype.kind != "f":
        X = X.astype(np.float64)
    squares = row_squares(canonical_csr(X)) if sparse else np.square(X, dtype=np.float64).sum(axis=1)
    factors = np.divide(1.0, np.sqrt(squares), out=np.ones_like(squares), where=squares > 0)
    factors = factors.astype(X.dtype)
    if not sparse:
        return X * factors[:, None]
    data = X.data * np.repeat(factors, np.diff(X.indptr))
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def kept_columns_of(selection: Any) -> KeptColumns:
    """What a fitted `SelectFeatures` or `SampleFeatures` does."""
    support = selection.get_support()
    columns = np.flatnonzero(support)
    place = np.full(len(support), -1, dtype=np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    unit_length = getattr(selection, "unit_length", False)
    return KeptColumns(columns, place, getattr(selection, "factors", None), unit_length)
