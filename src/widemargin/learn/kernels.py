"""Kernels k(x, z): names and parameters, values between rows, and the precision they need."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr, row_squares
from widemargin._threads import thread_count
from widemargin.errors import DataError, UsageError, WidemarginError

Floats = NDArray[np.float64]

KERNELS = {
    "linear": _core.KernelKind.linear,
    "poly": _core.KernelKind.polynomial,
    "rbf": _core.KernelKind.rbf,
    "sigmoid": _core.KernelKind.sigmoid,
    "chi2": _core.KernelKind.chi2,
    "precomputed": _core.KernelKind.linear,  # the core is given the matrix, and computes no values
}
# Kernel values of up to this many examples are kept in double precision.
DOUBLE_UP_TO = 2048
# So are those of more examples, if half the mean squared distance (in kernel space) between some of them is
# less than this fraction of the largest value: single precision would keep few digits of the differences.
_LEAST_SPREAD, _LOOKED_AT = 1e-3, 64
# Limit on kernel values, so that sums of them stay finite; the second one for single precision.
_LARGEST_VALUE, _LARGEST_SINGLE = 1e290, 1e30
# Limit on the bias feature: beside a larger one, double precision keeps few digits of a kernel value.
_DROWNED = 1e10


@dataclass(frozen=True)
class Kernel:
    """A kernel function; `offset` (the square of a bias feature) is added to its values in training."""

    name: str
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 1.0
    power: float = 1.0

    def native(self, offset: float = 0.0) -> _core.KernelParameters:
        """The same for the core."""
        return _core.KernelParameters(
            kind=KERNELS[self.name],
            gamma=float(self.gamma),
            degree=float(self.degree),
            coef0=float(self.coef0),
            power=float(self.power),
            offset=offset,
        )

    def between(self, a: Csr, b: Csr, n_jobs: int | None) -> Floats:
        """The kernel values between the rows of `a` and the rows of `b`."""
        out = np.empty((a.n_rows, b.n_rows))
        with refused_values():
            _core.kernel_block(a.native(), b.native(), self.native(), out, thread_count(n_jobs))
        return out

    def gram(self, csr: Csr, n_jobs: int | None) -> Floats:
        """The kernel values between all rows of a matrix, symmetric to the last digit.

        Examples
        --------
        >>> from widemargin._arrays import canonical_csr
        >>> Kernel("chi2").gram(canonical_csr(np.array([[1.0, 0.0], [0.5, 0.5]])), 1).round(3)
        array([[1.   , 0.264],
               [0.264, 1.   ]])
        """
        out = np.empty((csr.n_rows, csr.n_rows))
        with refused_values():
            _core.kernel_gram(csr.native(), self.native(), out, thread_count(n_jobs))
        return out

    def refuse_overflow(self, csr: Csr, offset: float = 0.0) -> None:
        """Raise an error if a kernel value may be too large for double precision.

        Parameters
        ----------
        offset : the square of a bias feature

        Examples
        --------
        >>> from widemargin._arrays import canonical_csr
        >>> Kernel("poly", degree=3).refuse_overflow(canonical_csr(np.array([[1.0], [1e100]])))
        Traceback (most recent call last):
            ...
        widemargin.errors.UsageError: kernel="poly", ...
        """
        if csr.n_rows == 0:
            return
        with np.errstate(over="ignore"):
            squares = row_squares(csr)
            row = int(squares.argmax())
            if not squares[row] < _LARGEST_VALUE:
                raise DataError(
                    f"Row {row} of X is too long for a kernel: |x|^2 is {squares[row]:.3g}. "
                    f"Scale the values of X."
                )
            # |x.z| is at most the largest |x|^2.
            reach = np.float64(self.gamma) * squares[row] + abs(self.coef0)
            value = reach**self.degree if self.name == "poly" else np.float64(squares[row])
        if not value < _LARGEST_VALUE:
            raise UsageError(
                f'kernel="poly", gamma={self.gamma:g}, coef0={self.coef0:g}, degree={self.degree:g}: kernel '
                f"values of row {row} of X may reach {value:.3g}. Scale the values of X, "
                f"or lower the parameters."
            )
        if offset > _DROWNED * max(self.largest(squares), 1.0):
            raise UsageError(
                f"bias={math.sqrt(offset):g}: too large; kernel values would lose their precision. "
                f'Pass a smaller number, or "unregularized".'
            )

    def precision(self, csr: Csr, offset: float, n_jobs: int | None) -> type[np.floating[Any]]:
        """The data type of rows of the kernel matrix: single precision if that is enough."""
        if csr.n_rows <= DOUBLE_UP_TO:
            return np.float64
        some = _some_rows(csr, _LOOKED_AT)
        values = self.gram(some, n_jobs)
        diagonal = values.diagonal()
        distances = diagonal[:, None] + diagonal - 2 * values
        spread = 0.5 * float(distances.sum()) / (len(values) * (len(values) - 1))
        largest = float(np.abs(values).max()) + offset
        is_enough = spread >= _LEAST_SPREAD * largest and largest < _LARGEST_SINGLE
        return np.float32 if is_enough and self.largest(row_squares(csr)) < _LARGEST_SINGLE else np.float64

    def largest(self, squared_norms: Floats) -> float:
        """The largest K(x, x) over examples of these squared lengths."""
        largest = float(squared_norms.max(initial=0.0))
        if self.name == "poly":
            values = (self.gamma * squared_norms + self.coef0) ** self.degree
            return float(values.max(initial=0.0))
        if self.name == "sigmoid":
            return float(np.tanh(self.gamma * squared_norms + self.coef0).max(initial=0.0))
        return largest if self.name == "linear" else 1.0


@contextlib.contextmanager
def refused_values() -> Iterator[None]:
    """Turn an error of the core about an invalid kernel value into one that names the parameter."""
    try:
        yield
    except WidemarginError:
        raise
    except ValueError as error:
        raise UsageError(str(error)) from None


def _some_rows(csr: Csr, count: int) -> Csr:
    """At most this many rows, evenly spaced."""
    rows = np.unique(np.linspace(0, csr.n_rows - 1, count).astype(np.int64))
    begin, end = csr.indptr[rows], csr.indptr[rows + 1]
    places = np.concatenate([np.arange(a, b) for a, b in zip(begin, end, strict=True)])
    indptr = np.concatenate([[0], np.cumsum(end - begin)])
    return Csr(indptr, csr.indices[places], csr.data[places], csr.n_columns)
