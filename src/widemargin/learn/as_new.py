"""Left-out scores of training documents as those of new documents (:mod:`widemargin.weight.left_out`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr, canonical_csr, row_squares
from widemargin.learn.kernels import Kernel
from widemargin.weight.left_out import AsNew

Floats = NDArray[np.float64]

# Rows whose kernel values are computed at a time, of which one per row is needed.
_ROWS_AT_ONCE = 64
# Farther apart nothing is left of a score but rounding, which would be magnified.
_MOST_AWAY = 5.0


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


def kernel_as_new(model: Any, kernel: Kernel, X: Any, weights: Floats, new: AsNew) -> Seen:
    """Of a rule by any kernel.

    What a document adds to its own score by its dual variable is known, and taken away. What the others add
    when it has left reaches it through its kernel values with them, all of which change by about the same
    factor from the document as trained to the document as new.

    Parameters
    ----------
    weights : (n, columns) dual variables times signs
    """
    before, after = canonical_csr(X), canonical_csr(new.rows)
    as_trained, as_seen = (_pairs(kernel, part, before)[:, None] for part in (before, after))
    slope = np.repeat(_factor(kernel, before, after, new.scale)[:, None], weights.shape[1], axis=1)
    rows, trained = (_scores(model, part, weights.shape[1]) for part in (new.rows, X))
    return Seen(rows - weights * as_seen - slope * (trained - weights * as_trained), slope)


def _factor(kernel: Kernel, before: Csr, after: Csr, scale: Floats) -> Floats:
    """k(as new, z) / k(as trained, z) for other documents z, apart from what differs between them."""
    if kernel.name == "linear":
        return scale
    if kernel.name == "rbf":
        nearer = row_squares(before) - row_squares(after)
    elif kernel.name == "chi2" and kernel.power == 1:
        nearer = 2 * (_sums(before) - _sums(after))
    else:
        return np.ones(before.n_rows)
    return np.asarray(np.exp(np.clip(kernel.gamma * nearer, -_MOST_AWAY, _MOST_AWAY)))


def _sums(csr: Csr) -> Floats:
    return np.asarray(csr.matrix.sum(axis=1, dtype=np.float64)).ravel()


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
