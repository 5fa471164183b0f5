"""When the solution of a `KernelSVM` is not to be relied upon: not found, or not the only one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from widemargin._arrays import canonical_csr
from widemargin.learn.svm.dual_problem import DualSolution
from widemargin.learn.svm.kernel_definiteness import is_semidefinite_by_parameters

Floats = NDArray[np.float64]

# Support vectors whose kernel matrix is examined when the kernel need not be positive definite.
_LOOKED_AT = 200
# Of `fit`, as seen from here: a warning names the line that called it.
_CALLER = 5


def warn_of_violation(machine: Any, solution: DualSolution) -> None:
    """Some machine did not converge: how far from it, and what may help."""
    cure = "Raise max_iter or tol, or lower C."
    if np.isinf(machine.C):
        cure = "The classes may not be separable: pass a finite C."
    elif not is_semidefinite_by_parameters(machine._kernel):
        cure += " This kernel may be indefinite, and then there is no global solution to converge to."
    worst = float(solution.violation[~solution.converged].max())
    failed = np.count_nonzero(~solution.converged)
    warnings.warn(
        f"{failed} of {len(solution.converged)} machines did not converge; the largest "
        f"violation of an optimality condition is {worst:.2g}. {cure}",
        ConvergenceWarning,
        stacklevel=_CALLER,
    )


def warn_of_indefinite_kernel(machine: Any, gram: Floats | None) -> None:
    """A negative eigenvalue among some support vectors proves that the whole matrix has one."""
    if is_semidefinite_by_parameters(machine._kernel) or len(machine.support_) == 0:
        return
    some = np.linspace(0, len(machine.support_) - 1, min(len(machine.support_), _LOOKED_AT)).astype(np.intp)
    if gram is None:
        supports = canonical_csr(machine.support_vectors_[some])
        block = machine._kernel.between(supports, supports, machine.n_jobs)
    else:
        block = gram[np.ix_(machine.support_[some], machine.support_[some])]
    eigenvalues = np.linalg.eigvalsh(block)
    if eigenvalues[0] < -1e-6 * np.abs(eigenvalues).max():
        warnings.warn(
            f"The kernel matrix is not positive semi-definite (an eigenvalue of {eigenvalues[0]:.2g} "
            f"against {eigenvalues[-1]:.2g} among {len(some)} support vectors), so this solution is one "
            f"that no small step improves, and others may be better. Choose other kernel parameters.",
            ConvergenceWarning,
            stacklevel=_CALLER,
        )
