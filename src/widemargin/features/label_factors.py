"""Factors of terms that differ by label: how well each term separates the documents with the label.

The bi-normal separation of term j and label l is r_jl = |F^-1(tp rate) - F^-1(fp rate)|: F is the normal
distribution, the rates are the shares of the documents with and without the label that have the term, kept
0.0005 away from 0 and 1 (Forman, JMLR 3, 2003). Scaled so that the terms of the training documents have the
mean 1, it makes the factor f_jl = (1 - mix) + mix r_jl. A label that is on no document or on all of them, or
that no term tells anything about, has factors of 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from widemargin._arrays import Csr, canonical_csr
from widemargin.features.scores import NEAREST_RATE, bi_normal_separation, count_terms

Floats = NDArray[np.float64]

# Labels whose scores are in double precision at a time.
_LABELS_AT_ONCE = 16


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
    if len(weights):  # documents that do not count are not there
        counts = np.flatnonzero(weights)
        csr, signs, weights = canonical_csr(csr.matrix[counts]), signs[counts], weights[counts]
    if (weights == 1).all():
        weights = weights[:0]
    n_labels = signs.shape[1]
    squares = np.empty((csr.n_columns, n_labels), dtype=np.float32)
    occurs = np.bincount(csr.indices, csr.data != 0, csr.n_columns) > 0
    for first in range(0, n_labels, _LABELS_AT_ONCE):
        some = slice(first, first + _LABELS_AT_ONCE)
        separation = _separation(csr, signs[:, some], weights, n_jobs)
        mean = separation[:, occurs].mean(axis=1, keepdims=True) if occurs.any() else np.zeros((1, 1))
        factors = np.divide(separation, mean, out=np.ones_like(separation), where=mean > 0)
        factors *= mix
        factors += 1 - mix
        factors *= factors
        squares[:, some] = factors.T
    return squares


def _separation(csr: Csr, signs: NDArray[np.int8], weights: Floats, n_jobs: int | None) -> Floats:
    """The bi-normal separation of labels and terms, (labels, terms)."""
    if not len(weights):
        return bi_normal_separation(count_terms(csr, signs, n_jobs))
    present = csr.matrix.astype(bool).astype(np.float64)
    of_label = (signs > 0) * weights[:, None]
    together, terms = (present.T @ of_label).T, present.T @ weights
    sizes, n = of_label.sum(axis=0)[:, None], weights.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        inside, outside = together / sizes, (terms - together) / (n - sizes)
    rates = (np.clip(rate, NEAREST_RATE, 1 - NEAREST_RATE) for rate in (inside, outside))
    separation: Floats = np.abs(np.subtract(*(ndtri(rate) for rate in rates)))
    separation[~((sizes[:, 0] > 0) & (sizes[:, 0] < n))] = 0.0
    return separation
