"""How much work tuning may do: predicted from the data, never measured by the clock.

A pass over the data of one label costs one unit per non-zero value. The rate below turns units into seconds
of one core, so that ``tune=10`` takes roughly ten seconds; the same budget always visits the same candidates,
whatever the load of the machine or the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from widemargin.errors import UsageError

# Units a second: a LinearSVM on one core of a 2023 server, Reuters-21578 and 20 Newsgroups, 3e8 to 2e9.
RATE = 4e8
# Passes of one label that counting and weighting texts takes as long as.
REPRESENTATION = 80
# Passes to a relative duality gap of 0.1 at C = 1; how they grow with C and with a smaller tolerance.
_PASSES, _WITH_C, _WITH_TOL = 6.0, 0.45, 0.3
_LARGEST_C = 1000.0


def predicted_passes(learner: Any, n: int) -> float:
    """How often training on `n` examples visits each of them, for every label.

    Online learners say so. A kernel machine computes up to `n` rows of its kernel matrix, each of which takes
    a pass. Others converge as a LinearSVM does.

    Examples
    --------
    >>> from widemargin import KernelSVM, LinearSVM
    >>> round(predicted_passes(LinearSVM(C=1), 100)), round(predicted_passes(LinearSVM(C=10), 100))
    (24, 67)
    >>> predicted_passes(KernelSVM(), 100)
    100.0
    """
    given = learner.get_params()
    if "kernel" in given:
        return float(n)
    if hasattr(learner, "partial_fit") and "max_iter" in given:
        return float(given["max_iter"])
    C = min(float(given.get("C", 1.0)), _LARGEST_C)
    return float(_PASSES * C**_WITH_C * (0.1 / max(float(given.get("tol") or 0.1), 1e-6)) ** _WITH_TOL)


def training_work(learner: Any, X: Any, n_columns: int) -> float:
    """The units that training on `X` is predicted to take."""
    size = X.nnz if hasattr(X, "nnz") else np.size(X)
    return float(size) * n_columns * predicted_passes(learner, X.shape[0])


@dataclass
class Budget:
    """Units of work that are left; without a limit unless `seconds` are given."""

    left: float = np.inf

    @classmethod
    def of(cls, effort: Any, name: str = "effort") -> Budget:
        """The budget of an effort: "fast" and "full" have no limit; `name` is what messages call it.

        Examples
        --------
        >>> Budget.of("fast").left, Budget.of(10).left
        (inf, 4000000000.0)
        """
        if effort in ("fast", "full"):
            return cls()
        if isinstance(effort, bool) or not isinstance(effort, Real) or not 0 < float(effort) < np.inf:
            raise UsageError(f'{name}={effort!r}: expected "fast", "full" or a positive number of seconds.')
        return cls(float(effort) * RATE)

    def pays(self, work: float) -> bool:
        """Whether `work` can still be done; if so, it is paid for."""
        if work > self.left:
            return False
        self.left -= work
        return True
