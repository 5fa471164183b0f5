"""The matrices of regularized least squares, for all targets at once.

The problem is to minimize ``|Z W - T|^2 + lambda |W|^2`` for rows Z (examples, scaled by the roots of their
weights, with the bias feature) and columns of targets T. With K = Z Z' (the dual form, dasgupta (4)-(6)) or
G = Z' Z (the primal form), whichever is smaller, the solution is

    W = Z' (K + lambda I)^-1 T = (G + lambda I)^-1 Z' T.

An unregularized threshold is projected out: with u the constant direction, P = I - u u', Z and T are replaced
by P Z and P T. In the dual form, the null direction u then gets a positive eigenvalue, so that the matrix
stays invertible; it is orthogonal to all targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr, canonical_csr, times
from widemargin._threads import thread_count
from widemargin.errors import DataError
from widemargin.learn.kernels import Kernel

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """The matrix Z and the direction u, if it is projected out."""

    csr: Csr
    constant: Floats | None
    n_threads: int

    @cached_property
    def transposed(self) -> Csr:
        csr = self.csr
        shape = csr.n_rows, csr.n_columns
        return canonical_csr(sp.csr_array((csr.data, csr.indices, csr.indptr), shape=shape).T)

    def project(self, V: Floats) -> Floats:
        """P V."""
        if self.constant is None:
            return V
        # einsum, since a product of this shape would start BLAS threads, which then spin.
        means = np.einsum("i,ij->j", self.constant, V)
        return np.asarray(V - self.constant[:, None] * means)


def make_rows(csr: Csr, bias: float | str | None, weights: Floats, n_jobs: int | None) -> tuple[Rows, Floats]:
    """Z with its bias feature, and the roots of the weights (empty: every weight is 1)."""
    roots = np.sqrt(weights) if len(weights) else np.ones(csr.n_rows)
    constant = roots / np.linalg.norm(roots) if isinstance(bias, str) else None
    if not len(weights) and (bias is None or constant is not None):
        return Rows(csr, constant, thread_count(n_jobs)), roots
    X: Any = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=(csr.n_rows, csr.n_columns))
    if len(weights):
        X = sp.csr_array(X.multiply(roots[:, None]))
    if bias is not None and constant is None:
        column: Any = sp.csr_array((float(bias) * roots)[:, None].astype(X.dtype))
        X = sp.hstack([X, column], format="csr")
    return Rows(canonical_csr(X), constant, thread_count(n_jobs)), roots


class Inverse(Protocol):
    """(M + lambda I)^-1 of a symmetric M, or its pseudo-inverse if lambda is 0 and M is singular."""

    @property
    def singular(self) -> bool: ...
    def solve(self, B: Floats) -> Floats: ...
    def diagonal(self) -> Floats: ...
    def quadratic(self, Z: Csr, n_threads: int) -> Floats:
        """z (M + lambda I)^-1 z of every row z."""


class Spectrum:
    """Any number of inverses from the eigenvalues and eigenvectors of M."""

    def __init__(self, M: Floats) -> None:
        values, self.vectors = scipy.linalg.eigh(M, overwrite_a=True, check_finite=False)
        self.values = np.maximum(values, 0.0)
        # Smaller eigenvalues are rounding errors.
        self.cut = len(M) * np.finfo(float).eps * float(self.values.max(initial=0.0))

    def at(self, regularization: float) -> Inverse:
        shifted = self.values + regularization
        used = shifted > self.cut
        factors = np.divide(1.0, shifted, out=np.zeros_like(shifted), where=used)
        return _Spectral(self.vectors, factors, not bool(used.all()))


@dataclass(frozen=True, eq=False)
class _Spectral:
    vectors: Floats
    factors: Floats
    singular: bool

    def solve(self, B: Floats) -> Floats:
        return np.asarray(self.vectors @ (self.factors[:, None] * (self.vectors.T @ B)))

    def diagonal(self) -> Floats:
        return np.asarray(np.square(self.vectors) @ self.factors)

    def quadratic(self, Z: Csr, n_threads: int) -> Floats:
        return np.asarray(np.square(times(Z, self.vectors, n_threads)) @ self.factors)

    def projection(self) -> Floats:
        """The diagonal of the projection on the range of M."""
        return np.asarray(np.square(self.vectors) @ (self.factors > 0).astype(float))


class Cholesky:
    """One inverse, for a lambda above 0."""

    singular = False

    def __init__(self, M: Floats, regularization: float) -> None:
        M[np.diag_indices_from(M)] += regularization
        try:
            self.lower = scipy.linalg.cholesky(M, lower=True, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError as error:
            raise DataError(
                f"regularization={regularization:g} is too small for these data: the equations are singular "
                f"to working precision. Raise it."
            ) from error

    def solve(self, B: Floats) -> Floats:
        return np.asarray(scipy.linalg.cho_solve((self.lower, True), B, check_finite=False))

    def diagonal(self) -> Floats:
        inverse, _ = scipy.linalg.lapack.dpotri(self.lower, lower=1)
        return np.asarray(np.diagonal(inverse).copy())

    def quadratic(self, Z: Csr, n_threads: int) -> Floats:
        dense = sp.csr_array((Z.data, Z.indices, Z.indptr), shape=(Z.n_rows, Z.n_columns)).T.toarray()
        half = scipy.linalg.solve_triangular(self.lower, dense.astype(np.float64), lower=True)
        return np.asarray(np.einsum("ij,ij->j", half, half))


Form = Literal["dual", "primal"]


class NormalEquations:
    """The smaller of the two matrices, ready to be inverted for one or many values of lambda."""

    def __init__(self, rows: Rows, form: Form) -> None:
        self.rows, self.form = rows, form
        self._own = 0.0
        csr, u = rows.csr, rows.constant
        if form == "dual":
            M = Kernel("linear").gram(csr, rows.n_threads)
            if u is not None:
                across = M @ u
                self._own = float(np.trace(M)) / len(M) or 1.0
                M -= np.outer(u, across) + np.outer(across, u)
                M += (float(u @ across) + self._own) * np.outer(u, u)
        else:
            Z: Any = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=(csr.n_rows, csr.n_columns))
            Z = Z.astype(np.float64)
            M = (Z.T @ Z).toarray()
            if u is not None:
                middle = Z.T @ u
                M -= np.outer(middle, middle)
        self.matrix = M

    def inverses(self, regularizations: Sequence[float]) -> list[Inverse]:
        """One inverse for every lambda; the matrix is overwritten."""
        if len(regularizations) == 1 and regularizations[0] > 0:
            return [Cholesky(self.matrix, float(regularizations[0]))]
        spectrum = Spectrum(self.matrix)
        return [spectrum.at(float(value)) for value in regularizations]

    def weights(self, inverse: Inverse, targets: Floats) -> Floats:
        """W for projected targets."""
        transposed = self.rows.transposed
        if self.form == "dual":
            return times(transposed, self.rows.project(inverse.solve(targets)), self.rows.n_threads)
        return inverse.solve(times(transposed, targets, self.rows.n_threads))

    def left_out(self, inverse: Inverse, regularization: float, targets: Floats, errors: Floats) -> Floats:
        """Errors T - Z W of examples left out, given their errors in training, (n, columns)."""
        u = self.rows.constant
        if self.form == "dual" and not inverse.singular:
            # errors = lambda a and 1 - h = lambda c, where a are the dual variables and c the diagonal.
            c = inverse.diagonal()
            if u is not None:
                c -= u**2 / (self._own + regularization)
            return np.asarray(inverse.solve(targets) / c[:, None])
        if self.form == "dual":
            assert isinstance(inverse, _Spectral)
            h = inverse.projection()
        else:
            h = self._primal_leverages(inverse)
        if (h > 1 - 1e-9).any():
            raise DataError(
                "Some examples have a leverage of 1, so their leave-one-out scores are not defined. "
                "Pass a regularization above 0."
            )
        return np.asarray(errors / (1 - h)[:, None])

    def _primal_leverages(self, inverse: Inverse) -> Floats:
        rows = self.rows
        h = inverse.quadratic(rows.csr, rows.n_threads)
        if rows.constant is None:
            return h
        # Rows of P Z are z - u_i m with m = Z'u.
        u = rows.constant
        m = times(rows.transposed, u[:, None], rows.n_threads)
        solved = inverse.solve(m)
        cross = times(rows.csr, solved, rows.n_threads)[:, 0]
        return np.asarray(h - 2 * u * cross + u**2 * float(m[:, 0] @ solved[:, 0]) + u**2)


class GramProduct:
    """V -> Z Z' V.

    A feature of one row alone adds to the diagonal of Z Z' only, and is left out of the products. The others
    are sorted by frequency, so that what is needed most often lies together in memory.

    Examples
    --------
    >>> from widemargin._arrays import canonical_csr
    >>> product = GramProduct(canonical_csr(np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])), 1)
    >>> product(np.eye(2)).tolist(), product.weights(np.eye(2)).tolist()
    ([[5.0, 1.0], [1.0, 10.0]], [[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]])
    """

    def __init__(self, rows: Csr, n_threads: int) -> None:
        frequencies = np.bincount(rows.indices, minlength=rows.n_columns)
        order = np.argsort(-frequencies, kind="stable")
        self._order = order.astype(np.int32)
        place = np.empty(rows.n_columns, dtype=np.int32)
        place[order] = np.arange(rows.n_columns, dtype=np.int32)
        n_shared = int(np.count_nonzero(frequencies > 1))
        n_values = int(frequencies[order[:n_shared]].sum())
        indptr = np.concatenate([[0], np.cumsum(frequencies[order], dtype=np.int64)])
        dtype: Any = rows.data.dtype
        self._across = Csr(
            np.empty(rows.n_rows + 1, dtype=np.int64),
            np.empty(n_values, dtype=np.int32),
            np.empty(n_values, dtype=dtype),
            n_shared,
        )
        values = len(rows.indices)
        self._down = Csr(indptr, np.empty(values, dtype=np.int32), np.empty(values, dtype), rows.n_rows)
        self._own = np.empty(rows.n_rows)
        self._n_threads = n_threads
        _core.shared_columns(rows.native(), place, n_shared, *self._across[:3], self._own)
        _core.columns_by_place(rows.native(), place, *self._down[:3])
        self._middle = np.empty((0, 0))  # Z' V, in memory that is used again
        self._shared = self._down._replace(indptr=indptr[: n_shared + 1])

    def __call__(self, V: Floats) -> Floats:
        if self._middle.shape[1] != V.shape[1]:
            self._middle = np.empty((self._shared.n_rows, V.shape[1]))
        times(self._shared, V, self._n_threads, out=self._middle)
        product = times(self._across, self._middle, self._n_threads)
        product += self._own[:, None] * V
        return product

    def weights(self, V: Floats) -> Floats:
        """Z' V."""
        return _core.product_lines(self._down.native(), np.ascontiguousarray(V), self._order, self._n_threads)
