"""Left-out scores of training documents as those of new documents (:mod:`widemargin.weight.left_out`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr, canonical_csr
from widemargin.learn.kernels import Kernel
from widemargin.weight.left_out import AsNew

Floats = NDArray[np.float64]

# Rows whose kernel values are computed at a time, of which one per row is needed.
_ROWS_AT_ONCE = 64


class Seen(NamedTuple):
    """The scores that decide, as numbers or (n, columns): `offset` and `slope` times those that are found."""

    offset: Any = 0.0
    slope: Any = 1.0

    def __call__(self, scores: Floats, within: Floats) -> tuple[Floats, Floats]:
        """The scores, and their accuracy."""
        known = np.where(self.slope == 0, 0.0, within)
        return self.offset + self.slope * scores, np.abs(self.slope) * known


def linear_as_new(model: Any, n_columns: int, new: AsNew) -> Seen:
    """Of a linear rule.

    A term that no other document has carries no weight once its document has left, so the score of the
    shared terms by the rule without the document is known, and normalization scales it about the intercept.
    What the shift of document frequencies adds is scored by the rule of all documents.
    """
    rows, shared = (_scores(model, part, n_columns) for part in (new.rows, new.shared))
    slope = np.repeat(new.scale[:, None], n_columns, axis=1)
    return Seen(rows - slope * shared, slope)


def kernel_as_new(model: Any, kernel: Kernel, X: Any, n_columns: int, new: AsNew) -> Seen:
    """Of a rule by any kernel: what a document adds to its own score, it adds in proportion to
    k(as new, as trained)."""
    before, after = canonical_csr(X), canonical_csr(new.rows)
    own = _pairs(kernel, before, before)
    share = np.divide(_pairs(kernel, after, before), own, out=np.ones_like(own), where=own > 0)
    slope = np.repeat(share[:, None], n_columns, axis=1)
    return Seen(_scores(model, new.rows, n_columns) - slope * _scores(model, X, n_columns), slope)


def _scores(model: Any, X: Any, n_columns: int) -> Floats:
    found: Floats = np.asarray(model.decision_function(X), dtype=np.float64).reshape(-1, n_columns)
    return found


def _pairs(kernel: Kernel, a: Csr, b: Csr) -> Floats:
    """k(a_i, b_i) of every row."""
    values = np.empty(a.n_rows)
    for first in range(0, a.n_rows, _ROWS_AT_ONCE):
        some = slice(first, min(first + _ROWS_AT_ONCE, a.n_rows))
        values[some] = kernel.between(_rows(a, some), _rows(b, some), None).diagonal()
    return values


def _rows(csr: Csr, some: slice) -> Csr:
    begin, end = csr.indptr[some.start], csr.indptr[some.stop]
    indptr = csr.indptr[some.start : some.stop + 1] - begin
    return Csr(indptr, csr.indices[begin:end], csr.data[begin:end], csr.n_columns)
