"""Left-out scores of training documents as those of new documents (:mod:`widemargin.weight.left_out`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr, canonical_csr
from widemargin.learn.kernels import Kernel
from widemargin.weight.left_out import AsNew

Floats = NDArray[np.float64]

# Rows whose kernel values are computed at a time, of which one per row is needed.
_ROWS_AT_ONCE = 64


def linear_as_new(model: Any, scores: Floats, new: AsNew) -> Floats:
    """Of a linear rule.

    A term that no other document has carries no weight once its document has left, so the score of the
    shared terms by the rule without the document is known, and normalization scales it about the intercept.
    What the shift of document frequencies adds is scored by the rule of all documents.

    Parameters
    ----------
    scores : (n, columns) of the rows that `model` was fitted on, each by the rule without it
    """
    rows, shared = (_scores(model, part, scores.shape) for part in (new.rows, new.shared))
    result: Floats = rows + new.scale[:, None] * (scores - shared)
    return result


def kernel_as_new(model: Any, kernel: Kernel, X: Any, scores: Floats, new: AsNew) -> Floats:
    """Of a rule by any kernel: what a document adds to its own score, it adds in proportion to
    k(as new, as trained)."""
    kept = _scores(model, X, scores.shape) - scores
    before, after = canonical_csr(X), canonical_csr(new.rows)
    own = _pairs(kernel, before, before)
    share = np.divide(_pairs(kernel, after, before), own, out=np.ones_like(own), where=own > 0)
    return _scores(model, new.rows, scores.shape) - share[:, None] * kept


def _scores(model: Any, X: Any, shape: tuple[int, ...]) -> Floats:
    found: Floats = np.asarray(model.decision_function(X), dtype=np.float64).reshape(shape)
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
