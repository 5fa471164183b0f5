"""What a solver of linear support vector machines returns, for all labels of a task."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import is_sparse


class LinearSolution(NamedTuple):
    """One weight vector for each label.

    Attributes
    ----------
    coef : (labels, features), dense or sparse
    intercept : (labels,)
    objective, gap : of the primal problem, and how far from the optimum it is at most, for each label
    passes : how often the solver went over the data, for each label
    converged : 0 for labels that were not solved to the tolerance
    alpha, xi : (labels, examples) dual variables and slacks; None if the problem has none per example
    """

    coef: Any
    intercept: NDArray[np.float64]
    objective: NDArray[np.float64]
    gap: NDArray[np.float64]
    passes: NDArray[Any]
    converged: NDArray[Any]
    alpha: Any = None
    xi: Any = None


def dense(matrix: Any) -> NDArray[np.float64]:
    """A dense array of 64-bit numbers from a dense or sparse one."""
    return np.ascontiguousarray(matrix.toarray() if is_sparse(matrix) else matrix, dtype=np.float64)
