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

# Columns are solved in groups whose solutions, directions and residuals take at most this many bytes.
GROUP_BYTES = 2**28
# So many residuals are kept before the solutions of all shifts catch up with them, so many rows at a time.
KEPT, ROWS = 16, 512


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
    width = max(1, GROUP_BYTES // max(1, (2 * len(shifts) + KEPT) * len(B) * B.itemsize))
    ends = range(width, B.shape[1], width)
    groups = [
        _solve_group(product, np.ascontiguousarray(part), np.array(shifts, dtype=np.float64), tol, max_iter)
        for part in np.split(B, ends, axis=1)
    ]
    if len(groups) == 1:
        return groups[0]
    solutions = [np.hstack(parts) for parts in zip(*(group.solutions for group in groups), strict=True)]
    residuals = np.hstack([group.residuals for group in groups])
    return Shifted(solutions, residuals, max(group.n_iter for group in groups))


def _solve_group(
    product: Callable[[Floats], Floats], B: Floats, shifts: Floats, tol: float, max_iter: int
) -> Shifted:
    first = int(np.argmin(shifts))
    extra = (shifts - shifts[first])[:, None]
    R, P, squared = B, B.copy(), _dots(B, B)
    wanted = tol * np.sqrt(squared)
    zeta, zeta_before = np.ones((2, len(shifts), B.shape[1]))
    alpha_before, beta = np.ones(B.shape[1]), np.zeros(B.shape[1])
    residuals = np.tile(np.sqrt(squared), (len(shifts), 1))
    late = _LateSolutions(B, len(shifts))
    n_iter = 0
    while n_iter < max_iter and (residuals[first] > wanted).any():
        n_iter += 1
        W = product(P)
        W += shifts[first] * P
        curvature = _dots(P, W)
        # Without curvature the system is singular to working precision: what there is has to do.
        moves = (residuals[first] > wanted) & (curvature > 0)
        if not moves.any():
            break
        alpha = np.divide(squared, curvature, out=np.zeros_like(squared), where=moves)
        W *= alpha
        R = R - W
        squared_before, squared = squared, _dots(R, R)
        beta_before, beta = beta, np.divide(squared, squared_before, out=np.zeros_like(squared), where=moves)
        P *= beta
        P += R
        going = np.flatnonzero((residuals > wanted).any(axis=1))
        now, scale = zeta[going], zeta_before[going] * alpha_before
        r = scale / (alpha * beta_before * (zeta_before[going] - now) + scale * (1 + extra[going] * alpha))
        zeta_before[going], zeta[going] = now, now * r
        residuals[going] = zeta[going] * np.sqrt(squared)
        late.add(R, going, alpha * r, beta * r**2, zeta[going])
        alpha_before = np.where(moves, alpha, 1.0)
    return Shifted(late.solutions(), residuals, n_iter)


class _LateSolutions:
    """The solutions x of all shifts, ``x += step p; p = ratio p + zeta r`` in each iteration with residual r.

    Factors are noted at once, and vectors of many iterations are added up in one pass over memory.
    """

    def __init__(self, B: Floats, n_shifts: int) -> None:
        self._x, self._p = ([np.zeros_like(B) for _ in range(n_shifts)] for _ in range(2))
        self._residuals: list[Floats] = []
        self._factors = np.zeros((3, KEPT, n_shifts, B.shape[1]))  # steps, ratios, zetas
        nothing = np.zeros((n_shifts, B.shape[1]))
        self.add(B, np.arange(n_shifts), nothing, nothing, np.ones_like(nothing))

    def add(self, residual: Floats, shifts: NDArray[np.intp], *factors: Floats) -> None:
        """An iteration, with the factors of the shifts that are not finished."""
        if len(self._residuals) == KEPT:
            self._catch_up(go_on=True)
        self._factors[:, len(self._residuals), shifts] = factors
        self._residuals.append(residual)

    def solutions(self) -> list[Floats]:
        self._catch_up(go_on=False)
        return self._x

    def _catch_up(self, *, go_on: bool) -> None:
        steps, ratios, zetas = self._factors
        of_x, of_p = np.zeros_like(zetas), np.zeros_like(zetas)
        x, p = np.zeros_like(zetas[0]), np.ones_like(zetas[0])  # factors of the directions, from the end on
        for t in reversed(range(len(self._residuals))):
            of_x[t], of_p[t] = zetas[t] * x, zetas[t] * p
            x, p = steps[t] + ratios[t] * x, ratios[t] * p
        lengths = np.count_nonzero(zetas.any(axis=2), axis=0).tolist()
        for begin in range(0, len(self._residuals[0]), ROWS):
            rows = slice(begin, begin + ROWS)
            some = np.stack([residual[rows] for residual in self._residuals])
            for k, n in enumerate(lengths):
                if n == 0:
                    continue
                solution, direction = self._x[k][rows], self._p[k][rows]
                solution += x[k] * direction
                solution += np.einsum("tij,tj->ij", some[:n], of_x[:n, k])
                if go_on:
                    direction *= p[k]
                    direction += np.einsum("tij,tj->ij", some[:n], of_p[:n, k])
        self._residuals.clear()
        self._factors[:] = 0


def _dots(V: Floats, W: Floats) -> Floats:
    # einsum: a product of this shape would wake the threads of BLAS, which then wait in a loop.
    return np.asarray(np.einsum("ij,ij->j", V, W))
