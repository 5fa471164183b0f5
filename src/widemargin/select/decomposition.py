"""The top singular vectors of a sparse matrix: exactly where it is small, at random where it is large."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.extmath import randomized_svd

from widemargin.errors import DataError

Floats = NDArray[np.float64]

# Up to this many rows or columns all singular vectors are computed.
_EXACT = 1500
# Of the randomised decomposition: vectors more than wanted, and passes of power iteration.
_SPARE_VECTORS, _POWER_PASSES = 20, 5


class Singular(NamedTuple):
    """Singular values, falling, and right singular vectors, one a row."""

    values: Floats
    vectors: Floats


def is_large(A: sp.csr_array, k: int) -> bool:
    """Whether k vectors are few enough of a matrix that is large enough to draw them at random."""
    smaller = min(A.shape)
    return smaller > _EXACT and k + _SPARE_VECTORS < smaller // 2


def top_singular_vectors(A: sp.csr_array, k: int, random_state: Any = 0) -> Singular:
    """The top `k`, or as many as the rank; the largest entry of each vector is positive."""
    if is_large(A, k):
        _, values, vectors = randomized_svd(
            A,
            k,
            n_oversamples=_SPARE_VECTORS,
            n_iter=_POWER_PASSES,
            power_iteration_normalizer="QR",
            random_state=check_random_state(random_state),
        )
        kept = values > _cut(values, A)
        values, vectors = values[kept], vectors[kept]
    else:
        values, left = gram_vectors(A)
        values, left = values[:k], left[:, :k]
        by_rows = A.shape[0] <= A.shape[1]
        vectors = np.asarray((A.T @ left) / values).T if by_rows else left.T
    largest = np.abs(vectors).argmax(axis=1)
    signs = np.sign(vectors[np.arange(len(vectors)), largest])
    return Singular(values, vectors * signs[:, None])


def gram_vectors(A: sp.csr_array) -> tuple[Floats, Floats]:
    """All singular values above 0, falling, and the singular vectors of the shorter side, one a column."""
    half: Any = A if A.shape[0] <= A.shape[1] else A.T
    squares, vectors = scipy.linalg.eigh((half @ half.T).toarray(), overwrite_a=True)
    squares, vectors = np.maximum(squares[::-1], 0.0), vectors[:, ::-1]
    rank = int(np.count_nonzero(squares > len(squares) * np.finfo(float).eps * squares.max(initial=0.0)))
    if rank == 0:
        raise DataError("Every feature is 0 in every document: there are no singular vectors.")
    return np.sqrt(squares[:rank]), vectors[:, :rank]


def _cut(values: Floats, A: sp.csr_array) -> float:
    """Below it a singular value is rounding."""
    return float(np.sqrt(max(A.shape) * np.finfo(float).eps) * values.max(initial=0.0))
