"""Joachims (2000), 8.6: the two solvers beside SVM-light in Tables 8.4 to 8.7, over the same core.

SMO: working sets of two, the pair that violates the optimality conditions most, without shrinking and without
a cache of kernel rows, from alpha = 0. Platt (1998) chooses pairs by a heuristic instead.

Chunking: solve over the support vectors so far and the examples that violate the conditions most, from the
last solution, until nothing violates them (Boser, Guyon and Vapnik, 1992). The published times are of a
projected conjugate gradient solver for the chunks, ours of the decomposition.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import canonical_csr
from widemargin.learn.kernels import Kernel
from widemargin.learn.svm.dual_problem import DualSolution, Method, solve_dual
from widemargin.papers.joachims.thesis_svm import CACHE, EPSILON

Floats = NDArray[np.float64]

# Violators that join the support vectors in a chunk; the published number is not known.
CHUNK = 500
# As good as no cache: the two rows of a pair.
NO_CACHE = 1e-3
MAX_ITER = 10_000_000
# Rows of kernel values at a time.
_BLOCK = 1000


def smo(X: sp.csr_array, y: NDArray[np.bool_], kernel: Kernel, C: float) -> DualSolution:
    """The biased machine by working sets of two.

    Examples
    --------
    >>> X, y = sp.csr_array([[0.0], [1.0], [3.0], [4.0]]), np.array([False, False, True, True])
    >>> smo(X, y, Kernel("linear"), 10.0).alpha.round(3).tolist()
    [[0.0, 0.5, 0.5, 0.0]]
    """
    return _solve(X, y, kernel, C, np.zeros(len(y)), _method(2, shrinking=False, cache=NO_CACHE))


def chunking(
    X: sp.csr_array, y: NDArray[np.bool_], kernel: Kernel, C: float, size: int = CHUNK, seed: int = 0
) -> tuple[Floats, float, int]:
    """The biased machine by chunks: alpha, the threshold, and how many chunks were solved.

    Examples
    --------
    >>> X, y = sp.csr_array([[0.0], [1.0], [3.0], [4.0]]), np.array([False, False, True, True])
    >>> alpha, threshold, _ = chunking(X, y, Kernel("linear"), 10.0, size=2)
    >>> alpha.round(3).tolist(), round(threshold, 3)
    ([0.0, 0.5, 0.5, 0.0], -2.0)
    """
    n, signs = len(y), np.where(y, 1.0, -1.0)
    alpha, s = np.zeros(n), np.zeros(n)
    order = np.random.default_rng(seed).permutation(n)
    # One of each class first, so that the first chunk has both.
    first = np.array([order[y[order]][0], order[~y[order]][0]])
    chunk = np.concatenate([first, order[~np.isin(order, first)]])[: max(size, 2)]
    count = 0
    while True:
        count += 1
        solution = _solve(X[chunk], y[chunk], kernel, C, alpha[chunk], _method(None, True, CACHE))
        before = alpha.copy()
        alpha[chunk] = solution.alpha[0]
        threshold = float(solution.intercept[0])
        s += _scores(X, kernel, signs * (alpha - before))
        violation = np.where(alpha > 0, 0.0, 1 - signs * (s + threshold))
        violation[chunk] = 0.0  # these are solved to the same accuracy
        worst = np.argsort(-violation, kind="stable")[:size]
        worst = worst[violation[worst] > EPSILON]
        if len(worst) == 0:
            return alpha, threshold, count
        chunk = np.union1d(np.flatnonzero(alpha), worst)


def _solve(
    X: sp.csr_array, y: NDArray[np.bool_], kernel: Kernel, C: float, start: Floats, method: Method
) -> DualSolution:
    signs = np.where(y, 1, -1).astype(np.int8)[None]
    upper = np.full(signs.shape, C)
    return solve_dual(
        canonical_csr(X), None, kernel, signs, upper, method, equality=True, start=np.atleast_2d(start)
    )


def _method(working_set: int | None, shrinking: bool, cache: float) -> Method:
    return Method(
        tol=EPSILON,
        working_set=working_set or 10,
        selection="steepest",
        shrinking=shrinking,
        shrink_history=100,
        shrink_threshold=0.0,
        cache_megabytes=cache,
        max_iter=MAX_ITER,
        seed=0,
        n_jobs=1,
        verbose=False,
    )


def _scores(X: sp.csr_array, kernel: Kernel, signed: Floats) -> Floats:
    """sum_j signed_j K(x_i, x_j) of every row i."""
    changed = np.flatnonzero(signed)
    if kernel.name == "linear":
        weights: Floats = X[changed].T @ signed[changed]
        linear: Floats = X @ weights
        return linear
    support = canonical_csr(X[changed])
    scores = np.zeros(X.shape[0])
    for begin in range(0, X.shape[0], _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        scores[rows] = kernel.between(canonical_csr(X[rows]), support, 1) @ signed[changed]
    return scores
