"""Linear SVMs with an unregularized threshold: OP 11 with its equality constraint."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from widemargin._arrays import Csr
from widemargin._parameters import at_least, check_parameters
from widemargin.learn.costs import upper_bounds
from widemargin.learn.kernels import Kernel
from widemargin.learn.svm.dual_problem import SMALLEST_TOL, Method, solve_dual
from widemargin.learn.svm.linear.linear_solution import LinearSolution, dense

Floats = NDArray[np.float64]


def solve_unregularized(
    learner: Any, csr: Csr, signs: NDArray[np.int8], costs: tuple[Floats, Floats], weights: Floats, start: Any
) -> LinearSolution:
    """The machines of all labels of a `LinearSVM`, solved like those of a `KernelSVM`.

    Parameters
    ----------
    signs : (n, labels)
    costs : of positive and of negative examples, for each label
    weights : of the examples; empty for none
    start : (labels, n) dual variables to begin at, or None
    """
    signs = np.ascontiguousarray(signs.T)
    upper = upper_bounds(signs, costs, weights)
    check_parameters(learner, tol=at_least(SMALLEST_TOL))
    method = Method(
        tol=float(learner.tol),
        working_set=None,
        selection="steepest",
        shrinking=True,
        shrink_history=10,
        shrink_threshold=0.0,
        cache_megabytes=1.0,
        max_iter=min(int(learner.max_iter) * csr.n_rows, 2**62),
        seed=int(check_random_state(learner.random_state).randint(2**31 - 1)),
        n_jobs=learner.n_jobs,
        verbose=learner.verbose,
    )
    begin = None if start is None else dense(start)
    found = solve_dual(csr, None, Kernel("linear"), signs, upper, method, equality=True, start=begin)
    signed = found.alpha * signs
    xi = np.maximum(0.0, 1.0 - signs * (found.s + found.intercept[:, None]))
    ww = (signed * found.s).sum(axis=1)
    objective = 0.5 * ww + (np.where(np.isfinite(upper), upper, 0.0) * xi).sum(axis=1)
    gap = np.maximum(objective - (found.alpha.sum(axis=1) - 0.5 * ww), 0.0)
    X = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=(csr.n_rows, csr.n_columns))
    coef: Any = np.ascontiguousarray(X.T @ signed.T).T
    parts: tuple[Any, Any, Any] = (coef, found.alpha, xi)
    if learner.sparse_coef:
        parts = (sp.csr_array(coef), sp.csr_array(found.alpha), sp.csr_array(xi))
    converged = found.converged.astype(np.uint8)
    return LinearSolution(parts[0], found.intercept, objective, gap, found.iterations, converged, *parts[1:])
