"""A fitted selection as two arrays: what it takes to narrow one short document without delay."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


class Narrowing(NamedTuple):
    """Which columns stay, where each goes (-1: nowhere), and what kept values are multiplied by."""

    columns: NDArray[np.intp]
    place: NDArray[np.int32]
    factors: NDArray[np.float64] | None

    def apply(self, X: sp.csr_array) -> sp.csr_array:
        """The kept columns of a canonical matrix, canonical.

        Examples
        --------
        >>> narrow = Narrowing(np.array([1, 2]), np.array([-1, 0, 1], dtype=np.int32), np.array([1.0, 2.0]))
        >>> narrow.apply(sp.csr_array(np.array([[1.0, 0.0, 3.0], [0.0, 4.0, 5.0]]))).toarray().tolist()
        [[0.0, 6.0], [4.0, 10.0]]
        """
        found = self.place[X.indices]
        kept = found >= 0
        indices, data = found[kept], X.data[kept]
        if self.factors is not None:
            data = data * self.factors[indices].astype(data.dtype)
        before = np.concatenate([[0], np.cumsum(kept)])
        indptr = before[X.indptr].astype(X.indptr.dtype)
        return sp.csr_array((data, indices, indptr), shape=(X.shape[0], len(self.columns)))


def narrowing_of(selection: Any) -> Narrowing:
    """What a fitted `SelectFeatures` or `SampleFeatures` does."""
    support = selection.get_support()
    columns = np.flatnonzero(support)
    place = np.full(len(support), -1, dtype=np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    return Narrowing(columns, place, getattr(selection, "factors", None))
