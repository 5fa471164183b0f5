"""A least-squares problem for some columns of labels: solutions for any lambda, and leave-one-out scores.

The equations are those of :mod:`widemargin.learn.squares.normal_equations`. The errors
follow from the dual variables a: they are ``lambda a + r`` with the residual r of the equations, which is
orthogonal to a. So the objective is ``lambda a.t + r.r``, and no scores have to be computed.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from widemargin._arrays import Csr, times
from widemargin.errors import DataError
from widemargin.learn.squares.conjugate_gradients import Shifted, solve_shifted
from widemargin.learn.squares.normal_equations import Form, GramProduct, NormalEquations, make_rows

Floats = NDArray[np.float64]
Solver = Literal["auto", "dual", "primal", "iterative"]

# Matrices of this many rows are factorized by solver="auto": for one lambda, and for many (eigenvectors).
_FACTORIZED, _DECOMPOSED = 2000, 700
# Limit for exact leave-one-out, which needs the factors: 1.2 gigabytes.
LARGEST_MATRIX = 12_000


class Solution(NamedTuple):
    """Weights (features, columns), thresholds, dual variables (n, columns; None at lambda 0), objectives."""

    coef: Floats
    intercept: Floats
    alpha: Floats | None
    objective: Floats
    n_iter: int


class LeastSquaresProblem:
    """Examples with their weights (empty: all 1), columns of +1 and -1, and the kind of threshold."""

    def __init__(
        self,
        csr: Csr,
        signs: NDArray[np.int8],
        weights: Floats,
        bias: float | str | None,
        solver: Solver,
        n_jobs: int | None,
    ) -> None:
        self.csr, self.signs, self.bias, self.solver = csr, signs, bias, solver
        self.rows, self.roots = make_rows(csr, bias, weights, n_jobs)
        self.targets = self.rows.project(self.roots[:, None] * signs)
        self._of_constant: tuple[Floats, Floats, float] | None = None
        self.smaller = min(self.rows.csr.n_rows, self.rows.csr.n_columns)

    @property
    def form(self) -> Form:
        if self.solver == "dual" or self.solver == "primal":
            return self.solver
        return "dual" if self.rows.csr.n_rows <= self.rows.csr.n_columns else "primal"

    def solve(self, values: Sequence[float], tol: float, max_iter: int) -> list[Solution]:
        """One solution for every lambda, all from one factorization or iteration."""
        most = _FACTORIZED if len(values) == 1 and values[0] > 0 else _DECOMPOSED
        if self.solver == "iterative" or (self.solver == "auto" and self.smaller > most):
            return self._iterate(values, tol, max_iter)
        system = NormalEquations(self.rows, self.form)
        inverses = system.inverses(values)
        if self.form == "primal":
            return [
                self._of_weights(value, system.weights(inverse, self.targets), 1)
                for value, inverse in zip(values, inverses, strict=True)
            ]
        gram, exact = GramProduct(self.rows.csr, self.rows.n_threads), np.zeros(self.signs.shape[1])
        return [
            self._of_duals(value, self.rows.project(inverse.solve(self.targets)), gram, exact, 1)
            for value, inverse in zip(values, inverses, strict=True)
        ]

    def left_out(self, values: Sequence[float]) -> list[Floats]:
        """Leave-one-out scores of the examples, (n, columns), in closed form."""
        if self.smaller > LARGEST_MATRIX:
            raise DataError(
                f"Exact leave-one-out needs a matrix of {self.smaller} rows; at most {LARGEST_MATRIX} are "
                f"factorized. Select features, or cross-validate."
            )
        system, roots = NormalEquations(self.rows, self.form), self.roots[:, None]
        found: list[Floats] = []
        for value, inverse in zip(values, system.inverses(values), strict=True):
            _, _, errors = self._rule(system.weights(inverse, self.targets))
            without = system.left_out(inverse, value, self.targets, roots * errors)
            # An example of weight 0 has no influence.
            unscaled = np.divide(without, roots, out=errors.copy(), where=roots > 0)
            found.append(np.asarray(self.signs - unscaled, dtype=np.float64))
        return found

    def _iterate(self, values: Sequence[float], tol: float, max_iter: int) -> list[Solution]:
        rows, n_threads = self.rows, self.rows.n_threads
        if rows.csr.n_rows <= rows.csr.n_columns:
            gram = GramProduct(rows.csr, n_threads)

            def across(V: Floats) -> Floats:
                return rows.project(gram(rows.project(V)))

            found = solve_shifted(across, self.targets, values, tol, max_iter)
            self._check(found, self.targets, tol)
            return [
                self._of_duals(value, a, gram, residuals, found.n_iter)
                for value, a, residuals in zip(values, found.solutions, found.residuals, strict=True)
            ]

        def down(V: Floats) -> Floats:
            return times(rows.transposed, rows.project(times(rows.csr, V, n_threads)), n_threads)

        b = times(rows.transposed, self.targets, n_threads)
        found = solve_shifted(down, b, values, tol, max_iter)
        self._check(found, b, tol)
        return [
            self._of_weights(value, W, found.n_iter) for value, W in zip(values, found.solutions, strict=True)
        ]

    def _check(self, found: Shifted, b: Floats, tol: float) -> None:
        sizes = np.linalg.norm(b, axis=0)
        left = np.divide(found.residuals, sizes, out=np.zeros_like(found.residuals), where=sizes > 0)
        if (left > tol).any():
            warnings.warn(
                f"Conjugate gradients left a residual of {left.max():.2g} after {found.n_iter} passes. Raise "
                f"max_iter, tol or regularization.",
                ConvergenceWarning,
                stacklevel=7,
            )

    def _of_duals(
        self, value: float, a: Floats, gram: GramProduct, residuals: Floats, n_iter: int
    ) -> Solution:
        """From the dual variables and the sizes of the residuals of their equations."""
        W = gram.weights(a)
        if value == 0:
            return self._of_weights(value, W, n_iter)
        coef = np.ascontiguousarray(W[: self.csr.n_columns])
        intercept = self._intercept(W) if self.rows.constant is None else self._mean_error(a, gram)
        objective = value * np.einsum("ij,ij->j", a, self.targets) + residuals**2
        return Solution(coef, intercept, self.roots[:, None] * a, objective, n_iter)

    def _mean_error(self, a: Floats, gram: GramProduct) -> Floats:
        """u.(T - Z Z' a) / |roots|, of targets T before the projection, with what all lambdas share kept."""
        u = self.rows.constant
        assert u is not None
        if self._of_constant is None:
            targets = np.einsum("i,ij->j", u * self.roots, self.signs)
            self._of_constant = gram(u[:, None])[:, 0], targets, float(np.linalg.norm(self.roots))
        products, targets, length = self._of_constant
        # einsum, as in Rows.project.
        return np.asarray((targets - np.einsum("i,ij->j", products, a)) / length)

    def _of_weights(self, value: float, W: Floats, n_iter: int) -> Solution:
        coef, intercept, errors = self._rule(W)
        weighted = self.roots[:, None] ** 2 * errors
        objective = np.einsum("ij,ij->j", weighted, errors) + value * np.einsum("ij,ij->j", W, W)
        return Solution(coef, intercept, weighted / value if value > 0 else None, objective, n_iter)

    def _rule(self, W: Floats) -> tuple[Floats, Floats, Floats]:
        """Weights (features, columns), thresholds and errors; the last row may be the weights of the bias."""
        coef = np.ascontiguousarray(W[: self.csr.n_columns])
        errors = self.signs - times(self.csr, coef, self.rows.n_threads)
        if isinstance(self.bias, str):
            intercept = np.asarray(self.roots**2 / (self.roots @ self.roots) @ errors)
        else:
            intercept = self._intercept(W)
        errors -= intercept
        return coef, intercept, errors

    def _intercept(self, W: Floats) -> Floats:
        if self.bias is None:
            return np.zeros(W.shape[1])
        return np.asarray(float(self.bias) * W[self.csr.n_columns])
