"""Many right-hand sides and many shifts from one block Krylov space.

Solves ``(A + shift I) X = B`` for every column of B and every shift. Columns share their Krylov spaces, so a
few products with A serve all of them (for 20 labels of text some 60 % of the products that each needs for
itself), and a shift does not change the space. With orthonormal blocks V_j, V_1 R = B, the block Lanczos
recurrence (G. Golub, R. Underwood, *The block Lanczos method for computing eigenvalues*, 1977)

    A V_j = V_(j+1) S_j + V_j D_j + V_(j-1) S_(j-1)'

makes A a block tridiagonal matrix T, and X = V Y with (T + shift I) Y = E_1 R. Its block factors L, pivots
and intermediate results z = -L z follow as the blocks come; the residual is V_(j+1) z_(j+1), so its size is
known without forming X. That is the conjugate gradient method for blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

import widemargin._core as _core

Floats = NDArray[np.float64]

# Columns that share a space: more save products, but work on blocks grows with their square.
WIDEST = 32
# Blocks are kept until they take this many bytes; then they are folded into every solution.
KEPT_BYTES = 2**28
# Directions of a block within this ratio of the largest are made orthonormal together.
_SIMILAR = 1e-4
# Within this ratio once is enough.
_ALIKE = 1e-2
# New blocks this much smaller than the product are made orthogonal to the ones before twice.
_SMALL = 0.1


class Shifted(NamedTuple):
    """Solutions (rows, columns) and sizes of the residuals (columns) of every shift; most products with A."""

    solutions: list[Floats]
    residuals: Floats
    n_iter: int


def solve_shifted(
    product: Callable[[Floats], Floats],
    B: Floats,
    shifts: Sequence[float],
    tol: float,
    max_iter: int,
    n_threads: int = 1,
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
    n_groups = max(1, -(-B.shape[1] // WIDEST))
    groups = [_Group(product, part, shifts, n_threads) for part in np.array_split(B, n_groups, axis=1)]
    n_iter = max(group.run(tol, max_iter) for group in groups)
    solutions = [
        np.hstack([group.solutions[k][:, : group.n_columns] for group in groups])
        if n_groups > 1
        else groups[0].solutions[k][:, : B.shape[1]]
        for k in range(len(shifts))
    ]
    return Shifted(solutions, np.hstack([group.residuals for group in groups]), n_iter)


class _Step(NamedTuple):
    """What a block has in the factors of every shift that was active: L to the next block, and g."""

    which: NDArray[np.intp]
    L: Floats
    g: Floats


class _Group:
    """Columns that share their space; one tall array for each block and each solution."""

    def __init__(
        self, product: Callable[[Floats], Floats], B: Floats, shifts: Sequence[float], n_threads: int
    ) -> None:
        self.product, self.n_threads = product, n_threads
        self.shifts = np.array(shifts, dtype=np.float64)
        self.B = _padded(B)
        self.n_columns = B.shape[1]
        self.solutions = [np.zeros_like(self.B) for _ in shifts]
        self.directions: list[Floats | None] = [None for _ in shifts]  # P of the last block folded
        self.blocks: list[Floats] = []
        self.steps: list[_Step] = []
        self.joint: dict[int, Floats] = {}  # L between the last block folded and the first one kept
        start = np.linalg.norm(B, axis=0)
        self.residuals = np.tile(start, (len(shifts), 1))

    def run(self, tol: float, max_iter: int) -> int:
        """Until all are done; how many products it took."""
        wanted = tol * self.residuals[0]
        V, R = self._orthonormal(self.B, self.n_columns, float(self.residuals.max(initial=0.0)))
        active = np.arange(len(self.shifts))
        z = np.tile(R, (len(active), 1, 1))
        before: tuple[Floats, Floats] | None = None
        L = np.zeros((len(active), len(R), 0))
        n_iter = 0
        while n_iter < max_iter and len(active) and len(R):
            n_iter += 1
            width = len(R)
            W = self.product(V)
            scale = float(np.linalg.norm(W, axis=0).max())
            D = self._cross(V, W)[:width, :width]
            self._add(W, V, -D)
            pivots = D + self.shifts[active, None, None] * np.eye(width)
            if before is not None:
                self._add(W, before[0], -before[1].T)
                pivots = pivots - L @ before[1].T
            neighbors = (V,) if before is None else (V, before[0])
            if float(np.linalg.norm(W, axis=0).min()) < _SMALL * scale:
                for block in neighbors:
                    self._add(W, block, -self._cross(block, W))
            following, S = self._orthonormal(W, width, scale, neighbors)
            fine = _positive(pivots)
            if not fine.all():  # singular to working precision: what there is has to do
                self._finish(active[~fine])
                active, pivots, z = active[fine], pivots[fine], z[fine]
            self.blocks.append(V)
            both = np.linalg.solve(pivots, np.concatenate([z, np.tile(S.T, (len(active), 1, 1))], axis=2))
            g, L = both[..., : self.n_columns], both[..., self.n_columns :].transpose(0, 2, 1)
            z = -(L @ z)
            self.steps.append(_Step(active, L, g))
            self.residuals[active] = np.linalg.norm(z, axis=1)
            done = (self.residuals[active] <= wanted).all(axis=1)
            self._finish(active[done])
            active, L, z = active[~done], L[~done], z[~done]
            if len(active) and len(self.blocks) * V.nbytes > KEPT_BYTES:
                self._fold(active)
            before, V, R = (V, S), following, S
        self._finish(active)
        return n_iter

    def _finish(self, which: NDArray[np.intp]) -> None:
        for k in which.tolist():
            self._gather(k, final=True)

    def _fold(self, which: NDArray[np.intp]) -> None:
        """Bring all that is kept into the solutions and directions, and forget it."""
        for k in which.tolist():
            self._gather(k, final=False)
        last = self.steps[-1]
        self.joint = {int(k): last.L[place] for place, k in enumerate(last.which) if k in which}
        self.blocks, self.steps = [], []

    def _gather(self, k: int, final: bool) -> None:
        """Solution k: blocks times the coefficients that substitution backwards gives.

        X = sum P_j g_j with P_(j+1) = V_(j+1) - P_j L_j', so V_j has the coefficient
        h_j = g_j - L_j' h_(j+1).
        """
        mine = [step for step in self.steps if k in step.which]
        if not mine:
            return
        rows = [int(np.searchsorted(step.which, k)) for step in mine]
        width = mine[-1].g.shape[1]
        h, C = mine[-1].g[rows[-1]], np.eye(width)
        direction = None if final else np.zeros((len(self.B), _round_up(width)))
        for j in range(len(mine) - 1, -1, -1):
            if j < len(mine) - 1:
                across = mine[j].L[rows[j]].T
                h, C = mine[j].g[rows[j]] - across @ h, -across @ C
            self._add(self.solutions[k], self.blocks[j], h)
            if direction is not None:
                self._add(direction, self.blocks[j], C)
        P = self.directions[k]
        if P is not None:
            self._add(self.solutions[k], P, -self.joint[k].T @ h)
            if direction is not None:
                self._add(direction, P, -self.joint[k].T @ C)
        self.directions[k] = direction

    def _cross(self, V: Floats, W: Floats) -> Floats:
        sums = np.empty((V.shape[1], W.shape[1]))
        _core.cross_products(V, W, sums, self.n_threads)
        return sums

    def _add(self, W: Floats, V: Floats, small: Floats) -> None:
        """W += V small, with `small` filled up to the widths."""
        filled = np.zeros((V.shape[1], W.shape[1]))
        filled[: small.shape[0], : small.shape[1]] = small
        _core.add_products(V, filled, W, self.n_threads)

    def _orthonormal(
        self, W: Floats, width: int, scale: float, neighbors: Sequence[Floats] = ()
    ) -> tuple[Floats, Floats]:
        """V and S with W = V S and orthonormal V, as many columns as W has directions above rounding.

        By the eigenvectors of the Gram matrix, which is far faster than by reflections but squares the
        condition: directions of very different sizes take the reflections. The small ones are then made
        orthogonal to the neighbors once more: rounding is large by comparison.
        """
        least = (64 + len(W)) * np.finfo(float).eps * scale
        squares, directions = np.linalg.eigh(self._cross(W, W)[:width, :width])
        kept = squares > max(_SIMILAR**2 * squares[-1], least**2)
        roots, directions = np.sqrt(squares[kept]), directions[:, kept]
        V = np.zeros((len(W), _round_up(len(roots))))
        self._add(V, W, directions / roots)
        if kept.all() and roots[0] > _ALIKE * roots[-1]:
            return V, roots[:, None] * directions.T
        if kept.all():  # V is orthonormal up to the square of the condition: once more
            V, small = self._orthonormal(V, width, 1.0)
            return V, small @ (roots[:, None] * directions.T)
        S = self._cross(V, W)
        rest = W.copy()
        self._add(rest, V, -S)
        if np.linalg.norm(rest, axis=0).max() <= least:
            return V, S[: len(roots), :width]
        Q, R, order = scipy.linalg.qr(W[:, :width], mode="economic", pivoting=True, check_finite=False)
        rank = int(np.count_nonzero(np.abs(np.diagonal(R)) > least))
        V, S = _padded(np.asarray(Q[:, :rank], dtype=np.float64)), np.empty((rank, width))
        S[:, order] = R[:rank]
        for block in neighbors:
            self._add(V, block, -self._cross(block, V))
        Q, R = scipy.linalg.qr(V[:, :rank], mode="economic", check_finite=False)
        return _padded(np.asarray(Q, dtype=np.float64)), np.asarray(R @ S)


def _positive(pivots: Floats) -> NDArray[np.bool_]:
    """Which of the symmetric matrices are positive definite."""
    try:
        np.linalg.cholesky(pivots)
        return np.ones(len(pivots), dtype=bool)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.eigvalsh(pivots)[:, 0] > 0)


def _round_up(width: int) -> int:
    """The core takes tall matrices whose width is a multiple of 4."""
    return -(-width // 4) * 4


def _padded(V: Floats) -> Floats:
    filled = np.zeros((len(V), _round_up(V.shape[1])))
    filled[:, : V.shape[1]] = V
    return filled
