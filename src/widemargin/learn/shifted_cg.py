"""Conjugate gradients for many right-hand sides and many shifts at the price of the hardest one.

Solves ``(A + shift I) x = b`` for every column b and every shift. A shift does not change the Krylov space,
so one sequence of products with A serves all of them: the residuals of the shifted systems are multiples
(zeta) of those of the system that is iterated, the one with the smallest shift. (B. Jegerlehner, *Krylov
space solvers for shifted linear systems*, 1996, the CG-M algorithm.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Shifted(NamedTuple):
    """Solutions (shifts, rows, columns), the largest relative residual of each shift, products with A."""

    solutions: Floats
    residuals: Floats
    n_iter: int


def shifted_cg(
    product: Callable[[Floats], Floats], b: Floats, shifts: Sequence[float], tol: float, max_iter: int
) -> Shifted:
    """Solve until every residual is at most `tol` times its right-hand side.

    Parameters
    ----------
    product : V -> A V, for a symmetric A without negative eigenvalues
    b : (rows, columns)
    shifts : at least 0
    max_iter : most products with A

    Examples
    --------
    >>> A = np.diag([1.0, 2.0, 3.0])
    >>> found = shifted_cg(lambda V: A @ V, np.ones((3, 1)), [1.0, 0.0], 1e-12, 10)
    >>> found.solutions[..., 0].round(4).tolist()
    [[0.5, 0.3333, 0.25], [1.0, 0.5, 0.3333]]
    """
    lowest = float(min(shifts))
    extra = np.array([float(shift) - lowest for shift in shifts])[:, None]
    n_columns = b.shape[1]
    r, p = b.copy(), b.copy()
    x = np.zeros((len(shifts), *b.shape))
    others = np.flatnonzero(extra[:, 0] > 0)  # the rest is the iterated system itself
    directions = {int(k): b.copy() for k in others}
    squares = _squares(r)
    start = np.sqrt(squares)
    wanted = tol * start
    zeta_before, zeta = np.ones((len(shifts), n_columns)), np.ones((len(shifts), n_columns))
    step_before, growth = np.ones(n_columns), np.zeros(n_columns)
    left = np.broadcast_to(start, zeta.shape)
    done = left <= wanted
    n_iter = 0
    while n_iter < max_iter and not done.all():
        n_iter += 1
        Ap = product(p) + lowest * p
        curvature = np.einsum("ij,ij->j", p, Ap)
        active = (squares > 0) & (curvature > 0)
        step = np.divide(squares, curvature, out=np.zeros(n_columns), where=active)
        # zeta of the paper, with its beta = -step and alpha = growth
        below = step * growth * (zeta_before - zeta) + zeta_before * step_before * (1 + extra * step)
        moves = active & (below > 0)
        new = np.divide(zeta * zeta_before * step_before, below, out=zeta.copy(), where=moves)
        ratio = np.divide(new, zeta, out=np.zeros_like(zeta), where=moves & (zeta > 0))
        for k in range(len(shifts)):
            if not done[k].all():
                x[k] += (step * ratio[k]) * directions.get(k, p)
        r -= step * Ap
        squares_before, squares = squares, _squares(r)
        growth = np.divide(squares, squares_before, out=np.zeros(n_columns), where=active)
        p *= growth
        p += r
        for k, direction in directions.items():
            if not done[k].all():
                direction *= growth * ratio[k] ** 2
                direction += new[k] * r
        zeta_before, zeta, step_before = zeta, new, np.where(active, step, step_before)
        left = zeta * np.sqrt(squares)
        done = (left <= wanted) | ~active
    shares = np.divide(left, start, out=np.zeros_like(zeta), where=start > 0)
    return Shifted(x, shares.max(axis=1, initial=0.0), n_iter)


def _squares(v: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->j", v, v))
