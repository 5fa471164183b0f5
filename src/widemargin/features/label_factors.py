"""Factors of terms that differ by label: how well each term separates the documents with the label
(core/sparse/label_factors.hpp).

The bi-normal separation of term j and label l is r_jl = |F^-1(tp rate) - F^-1(fp rate)|: F is the normal
distribution, the rates are the shares of the documents with and without the label that have the term, kept
0.0005 away from 0 and 1 (Forman, JMLR 3, 2003). Scaled so that the terms of the training documents have the
mean 1, it makes the factor f_jl = (1 - mix) + mix r_jl. A label that is on no document or on all of them, or
that no term tells anything about, has factors of 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._threads import thread_count
from widemargin.features.scores import NEAREST_RATE

Floats = NDArray[np.float64]


def squared_factors(
    csr: Csr, signs: NDArray[np.int8], weights: Floats, mix: float, n_jobs: int | None = None
) -> NDArray[np.float32]:
    """The squares of the factors of all terms, (terms, labels).

    Parameters
    ----------
    csr : the documents; a term occurs where its value is not 0
    signs : (n, labels) of +1 and -1
    weights : (n,) how often each document counts; empty if each counts once
    mix : from 0, where all factors are 1, to 1
    n_jobs : number of threads, None for all cores

    Examples
    --------
    >>> from widemargin._arrays import canonical_csr
    >>> X = canonical_csr(np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, 0], [0, 0, 1]]))
    >>> signs = np.array([[1], [1], [-1], [-1]], dtype=np.int8)
    >>> np.sqrt(squared_factors(X, signs, np.zeros(0), 0.3)).round(1).ravel()
    array([1.6, 0.7, 0.7], dtype=float32)
    """
    positive = np.ascontiguousarray(signs.T) > 0
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(positive, axis=1))]).astype(np.int64)
    rows = (np.flatnonzero(positive) % max(1, csr.n_rows)).astype(np.int32)
    squares = np.empty((csr.n_columns, signs.shape[1]), dtype=np.float32)
    _core.label_factors(
        csr.native(), indptr, rows, weights, float(mix), NEAREST_RATE, squares, thread_count(n_jobs)
    )
    return squares
