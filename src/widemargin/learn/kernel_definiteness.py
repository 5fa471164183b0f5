"""Whether a kernel is provably positive semi-definite; only then does the dual have a certifiable optimum.

By its parameters: the linear kernel is; so are polynomials of an integer degree with ``coef0 >= 0`` (sums of
products of such kernels), ``exp(-gamma |x - z|^2)``, and ``exp(-gamma chi2(x, z)^power)`` with
``0 < power <= 1`` (chi2 is conditionally negative definite, and so are these powers of it: Schoenberg, 1938),
each with ``gamma > 0``. Nothing is known of "sigmoid", of other parameters, or of a given matrix.

A given matrix K by a Cholesky factorization, n^3 / 3 multiplications and a copy of the matrix. If that of
``K + shift diag(K)`` runs to its end, ``K + shift diag(K) + E`` is positive semi-definite for some E with
``|E_ij| <= g sqrt(K_ii K_jj)``, g = gamma_(n + 1) / (1 - gamma_(n + 1)) (Higham, Accuracy and Stability of
Numerical Algorithms, 2002, Theorem 10.3), hence so is ``K + (shift + n g) diag(K)``. A shift of 2 n g is
enough for a matrix that is semi-definite but for its rounding, whatever its rank (Theorem 10.7).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from sklearn.exceptions import ConvergenceWarning

from widemargin._arrays import canonical_csr
from widemargin.learn.kernels import Kernel

Floats = NDArray[np.float64]

_UNIT = 2.0**-53
# Rows whose symmetry is checked at a time.
_ROWS = 256
# Support vectors whose kernel matrix is examined if the kernel may be indefinite.
_LOOKED_AT = 200
# A matrix that differs more from its transpose (of sqrt(K_ii K_jj)) is not a rounded symmetric one.
_MOST_ASYMMETRY = 1e-6


@dataclass(frozen=True)
class Definiteness:
    """The definiteness of a kernel on its examples, relative to ``sqrt(K_ii K_jj)``.

    Attributes
    ----------
    proven : whether the kernel matrix, with `ridge` times its diagonal added, is positive semi-definite
    ridge : 0 for kernels known by their parameters
    asymmetry : half the largest difference of a given matrix and its transpose
    """

    proven: bool
    ridge: float = 0.0
    asymmetry: float = 0.0


def is_semidefinite_by_parameters(kernel: Kernel) -> bool:
    """Whether the kernel is positive semi-definite on any examples.

    Examples
    --------
    >>> is_semidefinite_by_parameters(Kernel("poly", degree=2.0, coef0=1.0))
    True
    >>> is_semidefinite_by_parameters(Kernel("poly", degree=2.5, coef0=1.0))
    False
    """
    if kernel.name == "linear":
        return True
    if not kernel.gamma > 0:
        return False
    if kernel.name == "poly":
        return kernel.coef0 >= 0 and kernel.degree >= 0 and float(kernel.degree).is_integer()
    if kernel.name == "chi2":
        return 0 < kernel.power <= 1
    return kernel.name == "rbf"


def definiteness(kernel: Kernel, gram: Floats | None) -> Definiteness:
    """The definiteness of `kernel`, or of the given matrix.

    Examples
    --------
    >>> definiteness(Kernel("precomputed"), np.array([[1.0, 2.0], [2.0, 1.0]])).proven
    False
    """
    if gram is None:
        return Definiteness(is_semidefinite_by_parameters(kernel))
    n, diagonal = len(gram), gram.diagonal()
    if not (diagonal >= 0).all():
        return Definiteness(False)
    lengths = np.sqrt(diagonal)
    asymmetry = 0.0
    for first in range(0, n, _ROWS):
        some = slice(first, min(first + _ROWS, n))
        apart, sizes = np.abs(gram[some] - gram[:, some].T), lengths[some, None] * lengths
        # An example of length 0 has the kernel value 0 with all others.
        if (np.abs(gram[some])[sizes == 0] > 0).any() or (apart[sizes == 0] > 0).any():
            return Definiteness(False)
        share = np.divide(apart, sizes, out=np.zeros_like(apart), where=sizes > 0)
        asymmetry = max(asymmetry, 0.5 * float(share.max(initial=0.0)) * (1 + 8 * _UNIT))
    if not asymmetry <= _MOST_ASYMMETRY:
        return Definiteness(False)
    lost = (n + 2) * _UNIT / (1 - 2 * (n + 2) * _UNIT)
    shift = 2 * n * lost + 4 * _UNIT
    factor = np.array(gram, order="F")
    factor.flat[:: n + 1] += shift * diagonal
    empty = np.flatnonzero(diagonal == 0)
    factor[empty, empty] = 1.0  # rows of zeros: any number there is proven alike
    _, failed = lapack.dpotrf(factor, lower=1, clean=0, overwrite_a=1)
    # Only the lower half was read: the symmetric matrix with that half is within the asymmetry of the other.
    ridge = (1 + 1e-6) * (shift + n * lost + 2 * n * asymmetry)
    return Definiteness(failed == 0, ridge, asymmetry)


def warn_of_indefinite(
    kernel: Kernel, rows: Any, support: NDArray[np.intp], gram: Floats | None, stacklevel: int
) -> None:
    """Warn if some support vectors have a negative eigenvalue; then the whole kernel matrix has one.

    Parameters
    ----------
    rows : the support vectors; ignored if there is a matrix
    support : their numbers, in the given matrix
    gram : the given kernel matrix, or None
    stacklevel : of the caller of `fit`, so that the warning names its line
    """
    if is_semidefinite_by_parameters(kernel) or len(support) == 0:
        return
    some = np.linspace(0, len(support) - 1, min(len(support), _LOOKED_AT)).astype(np.intp)
    if gram is None:
        block = kernel.gram(canonical_csr(rows[some]), None)
    else:
        block = gram[np.ix_(support[some], support[some])]
    eigenvalues = np.linalg.eigvalsh(block)
    if eigenvalues[0] < -1e-6 * np.abs(eigenvalues).max():
        warnings.warn(
            f"The kernel matrix is not positive semi-definite (an eigenvalue of {eigenvalues[0]:.2g} "
            f"against {eigenvalues[-1]:.2g} among {len(some)} support vectors), so this solution is "
            f"only a local optimum. Choose other kernel parameters.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
