"""A source of rows in memory, as the solver reads one from disk."""

from __future__ import annotations

from functools import reduce

import numpy as np

from widemargin._arrays import Csr, canonical_csr
from widemargin.weight.left_out import taken_rows


class RowsInMemory:
    """The rows of `X` with the label columns of `labels`, in blocks of at most `size` rows."""

    def __init__(self, X, labels, size=7, weights=None):
        self._csr, self._labels, self._weights = canonical_csr(X), labels, weights
        n = self._csr.n_rows
        self.n_columns, self.n_entries = self._csr.n_columns, len(self._csr.data)
        self.first_rows = np.append(np.arange(0, n, size), n).astype(np.int64)

    def rows(self, block, which=None):
        some = self._csr.rows(*self.first_rows[block : block + 2].tolist())
        return some if which is None else taken_rows(some, which)

    def rows_of(self, wanted, n_threads):
        return reduce(Csr.below, (self.rows(block, which) for block, which in wanted))

    def read_ahead(self, blocks):
        pass

    def labels(self, block):
        some = self._labels[slice(*self.first_rows[block : block + 2])]
        first = np.cumsum([0, *map(len, some)], dtype=np.int64)
        return first, np.array([label for labels in some for label in labels], dtype=np.int32)

    def weights(self, block):
        return None if self._weights is None else self._weights[slice(*self.first_rows[block : block + 2])]
