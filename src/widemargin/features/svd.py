"""The top singular vectors of a sparse matrix: exact for small ones, randomized for large ones.

Only the vectors of the shorter side are computed; the others are products with them. For small matrices they
are the eigenvectors of the Gram matrix of that side. For large ones, subspace iteration multiplies a random
block of vectors by that Gram matrix (through the sparse data) and orthogonalizes it, a few times, and takes
the best vectors within its span (Halko, Martinsson and Tropp, SIAM Review 53, 2011).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from widemargin._arrays import Csr, canonical_csr, times
from widemargin._threads import thread_count
from widemargin.errors import DataError

Floats = NDArray[np.float64]

# Vectors multiplied at a time: so many stay in the cache, and limit the dense products of the longer side.
COLUMNS_AT_ONCE = 32
# Up to this many rows or columns all singular vectors are computed.
EXACT = 1500
# Subspace iteration: additional vectors, and passes.
_SPARE_VECTORS, _PASSES = 20, 4


class Singular(NamedTuple):
    """Singular values in decreasing order, and right singular vectors, one per row."""

    values: Floats
    vectors: Floats


def top_singular_vectors(
    A: sp.csr_array, n_components: int, random_state: Any = 0, n_jobs: int | None = None
) -> Singular:
    """The top `n_components`, or as many as the rank; the largest entry of each vector is positive.

    Examples
    --------
    >>> found = top_singular_vectors(sp.csr_array(np.diag([1.0, 3.0])), 1)
    >>> found.values.tolist(), np.abs(found.vectors).round(6).tolist()
    ([3.0], [[0.0, 1.0]])
    """
    values, short = short_side_vectors(A, n_components, random_state, n_jobs)
    values, short = values[:n_components], short[:, :n_components]
    vectors = short.T
    if A.shape[0] <= A.shape[1]:
        vectors = (times(canonical_csr(A.T), short, thread_count(n_jobs)) / values).T
    largest = np.abs(vectors).argmax(axis=1)
    signs = np.sign(vectors[np.arange(len(vectors)), largest])
    return Singular(values, vectors * signs[:, None])


def short_side_vectors(
    A: sp.csr_array, n_components: int | None, random_state: Any = 0, n_jobs: int | None = None
) -> tuple[Floats, Floats]:
    """Positive singular values in decreasing order, and singular vectors of the shorter side, one per column.

    At least the top `n_components`, or all of them for None.
    """
    A = canonical_csr(A).matrix
    half: Any = A if A.shape[0] <= A.shape[1] else A.T
    side = half.shape[0]
    if n_components is not None and side > EXACT and n_components + _SPARE_VECTORS < side // 2:
        both = canonical_csr(half), canonical_csr(half.T)
        squares, vectors = _iterated(*both, n_components, random_state, thread_count(n_jobs))
    else:
        squares, vectors = scipy.linalg.eigh((half @ half.T).toarray(), overwrite_a=True)
    squares, vectors = np.maximum(squares[::-1], 0.0), vectors[:, ::-1]
    rank = int(np.count_nonzero(squares > side * np.finfo(float).eps * squares.max(initial=0.0)))
    if rank == 0:
        raise DataError("Every feature is 0 in every document: there are no singular vectors.")
    return np.sqrt(squares[:rank]), vectors[:, :rank]


def _iterated(
    half: Csr, transposed: Csr, n_components: int, random_state: Any, n_threads: int
) -> tuple[Floats, Floats]:
    """The top n_components eigenvalues and eigenvectors of half half', in increasing order."""
    block = check_random_state(random_state).standard_normal((half.n_rows, n_components + _SPARE_VECTORS))
    image = block
    for done in range(_PASSES):
        # Before the last pass, approximate orthogonality is enough.
        block = _orthogonal(image, rounds=2 if done == _PASSES - 1 else 1)
        image = _gram_times(half, transposed, block, n_threads)
    squares, turned = scipy.linalg.eigh(block.T @ image)
    return squares[-n_components:], block @ turned[:, -n_components:]


def _orthogonal(block: Floats, rounds: int) -> Floats:
    """An orthonormal basis of the columns, by Cholesky factors of their Gram matrix, faster than by
    reflections.

    The error of one round grows with the squared condition number; two rounds are exact. Nearly singular
    blocks fall back to reflections.
    """
    try:
        for _ in range(rounds):
            # The upper half of block.T @ block, which takes half the time.
            gram = scipy.linalg.blas.dsyrk(1.0, block.T)
            upper = scipy.linalg.cholesky(gram, check_finite=False)
            solved = scipy.linalg.solve_triangular(upper, block.T, trans="T", check_finite=False)
            block = np.asarray(solved.T, dtype=np.float64)
    except scipy.linalg.LinAlgError:
        block = np.asarray(scipy.linalg.qr(block, mode="economic", check_finite=False)[0], dtype=np.float64)
    return np.asarray(block)


def _gram_times(half: Csr, transposed: Csr, block: Floats, n_threads: int) -> Floats:
    result = np.empty_like(block)
    for first in range(0, block.shape[1], COLUMNS_AT_ONCE):
        some = slice(first, first + COLUMNS_AT_ONCE)
        result[:, some] = times(half, times(transposed, block[:, some], n_threads), n_threads)
    return result
