"""Conjugate gradients for many right-hand sides and many shifts.

Solves ``(A + shift I) x = b`` for every column b and every shift. All columns share each product with A. All
shifts share a column's Krylov space: their residuals are multiples of the residual at the smallest shift, by
factors that follow without another product (B. Jegerlehner, *Krylov space solvers for shifted linear
systems*, 1996). With alpha the steps and beta the ratios of squared residuals at the smallest shift, the
factors zeta of a shift that is larger by s are

    zeta' = zeta r,  r = zeta_ alpha_ / (alpha beta_ (zeta_ - zeta) + zeta_ alpha_ (1 + s alpha))

(_: one iteration earlier), its steps alpha r, and its ratios beta r^2. No factor exceeds 1, so a column is
done when it is done at the smallest shift.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Columns are solved in groups whose solutions and directions take at most this many bytes.
GROUP_BYTES = 2**28


class Shifted(NamedTuple):
    """Solutions (rows, columns) and sizes of the residuals (columns) of every shift; most products with A."""

    solutions: list[Floats]
    residuals: Floats
    n_iter: int


def solve_shifted(
    product: Callable[[Floats], Floats], B: Floats, shifts: Sequence[float], tol: float, max_iter: int
) -> Shifted:
    """Solve until every residual is at most `tol` times its right-hand side.

    Parameters
    ----------
    product : V -> A V, for a symmetric A without negative eigenvalues
    B : (rows, columns)
    shifts : at least 0
    max_iter : most products with A for a group of columns

    Examples
    --------
    >>> A = np.diag([1.0, 2.0, 3.0])
    >>> found = solve_shifted(lambda V: A @ V, np.ones((3, 1)), [1.0, 0.0], 1e-12, 10)
    >>> [solution[:, 0].round(4).tolist() for solution in found.solutions]
    [[0.5, 0.3333, 0.25], [1.0, 0.5, 0.3333]]
    """
    width = max(1, GROUP_BYTES // max(1, 2 * len(shifts) * len(B) * B.itemsize))
    ends = range(width, B.shape[1], width)
    groups = [
        _solve_group(product, np.ascontiguousarray(part), np.array(shifts, dtype=np.float64), tol, max_iter)
        for part in np.split(B, ends, axis=1)
    ]
    solutions = [np.hstack(parts) for parts in zip(*(group.solutions for group in groups), strict=True)]
    residuals = np.hstack([group.residuals for group in groups])
    return Shifted(solutions, residuals, max(group.n_iter for group in groups))


def _solve_group(
    product: Callable[[Floats], Floats], B: Floats, shifts: Floats, tol: float, max_iter: int
) -> Shifted:
    first = int(np.argmin(shifts))
    X, P, R = [np.zeros_like(B) for _ in shifts], [B.copy() for _ in shifts], B.copy()
    squared = _dots(R, R)
    wanted = tol * np.sqrt(squared)
    zeta, zeta_before = np.ones((2, len(shifts), B.shape[1]))
    alpha_before, beta = np.ones(B.shape[1]), np.zeros(B.shape[1])
    residuals = np.tile(np.sqrt(squared), (len(shifts), 1))
    n_iter = 0
    while n_iter < max_iter and (residuals[first] > wanted).any():
        n_iter += 1
        W = product(P[first]) + shifts[first] * P[first]
        curvature = _dots(P[first], W)
        # Without curvature the system is singular to working precision: what there is has to do.
        moves = (residuals[first] > wanted) & (curvature > 0)
        if not moves.any():
            break
        alpha = np.divide(squared, curvature, out=np.zeros_like(squared), where=moves)
        W *= alpha
        R -= W
        squared_before, squared = squared, _dots(R, R)
        beta_before, beta = beta, np.divide(squared, squared_before, out=np.zeros_like(squared), where=moves)
        for k in np.flatnonzero((residuals > wanted).any(axis=1)).tolist():
            extra, scale = shifts[k] - shifts[first], zeta_before[k] * alpha_before
            r = scale / (alpha * beta_before * (zeta_before[k] - zeta[k]) + scale * (1 + extra * alpha))
            X[k] += alpha * r * P[k]
            P[k] *= beta * r**2
            zeta_before[k], zeta[k] = zeta[k], zeta[k] * r
            P[k] += zeta[k] * R
            residuals[k] = zeta[k] * np.sqrt(squared)
        alpha_before = np.where(moves, alpha, 1.0)
    return Shifted(X, residuals, n_iter)


def _dots(V: Floats, W: Floats) -> Floats:
    # einsum: a product of this shape would wake the threads of BLAS, which then wait in a loop.
    return np.asarray(np.einsum("ij,ij->j", V, W))
