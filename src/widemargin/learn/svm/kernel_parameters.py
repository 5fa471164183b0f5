"""The parameters that all support vector machines with a kernel have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from widemargin._parameters import FINITE, POSITIVE, at_least, parameter
from widemargin.learn.svm.dual_problem import SMALLEST_TOL


@dataclass(eq=False, repr=False, kw_only=True)
class KernelParameters:
    """The parameters of every learner with a kernel, as in :class:`~widemargin.KernelSVM`."""

    gamma: float = parameter(0.1, POSITIVE)
    degree: float = parameter(3, POSITIVE)
    coef0: float = parameter(1.0, FINITE)
    class_weight: Literal["balanced"] | dict[Any, float] | None = None
    tol: float = parameter(1e-3, at_least(SMALLEST_TOL))
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False
