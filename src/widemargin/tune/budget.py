"""The work that tuning may do: predicted from the data, never measured by the clock.

A pass over the data for one label costs one unit per non-zero value (:mod:`widemargin._work`). A rate turns
units to seconds on one core, so that ``tune=10`` takes roughly ten seconds. The same budget always visits the
same candidates, whatever the load of the machine or the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from widemargin._work import RATE
from widemargin.errors import UsageError

# Counting and weighting texts takes as long as this number of passes for one label.
REPRESENTATION = 80
# The same for counting words and characters alone, and for weighting counts.
COUNTING, COUNTING_CHARS, WEIGHTING = 60, 20, 10
# The same for learning vectors of words from counts, and making those of documents.
VECTORS = 1000
# Passes to a relative duality gap of 0.1 at C = 1, and their growth with C and with smaller tolerances.
_PASSES, _WITH_C, _WITH_TOL = 6.0, 0.45, 0.3
_LARGEST_C = 1000.0
# "fast" over a product may spend, on the race and on the estimates each, the larger of these: units, and
# trainings.
_LEAST, _TRAININGS = 5 * RATE, 6
# "fast" over axes may spend the larger of these: seconds, and trainings of the starting point from texts.
FAST_SECONDS, FAST_TRAININGS = 2.0, 10
# A race on documents takes this number of passes over them: 12 representations, each with 2 or 3 values of C.
_RACE = 284.0


def predicted_passes(learner: Any, n: int) -> float:
    """The predicted number of passes over `n` training examples, per label.

    Online learners have a fixed number. A kernel machine computes up to `n` rows of its kernel matrix, one
    pass each. Other learners are assumed to converge like a LinearSVM.

    Examples
    --------
    >>> from widemargin import KernelSVM, LinearSVM
    >>> round(predicted_passes(LinearSVM(C=1), 100)), round(predicted_passes(LinearSVM(C=10), 100))
    (24, 67)
    >>> predicted_passes(KernelSVM(), 100)
    100.0
    """
    members = getattr(learner, "members", None)
    if members is not None:
        return sum(predicted_passes(member, n) for _, member in members)
    given = learner.get_params()
    if "kernel" in given:
        return float(n)
    if hasattr(learner, "partial_fit") and "max_iter" in given:
        return float(given["max_iter"])
    C = min(float(given.get("C", 1.0)), _LARGEST_C)
    # Weights for each label make a pass twice as long.
    passes = 2 * _PASSES if "mix" in given else _PASSES
    return float(passes * C**_WITH_C * (0.1 / max(float(given.get("tol") or 0.1), 1e-6)) ** _WITH_TOL)


def training_work(learner: Any, X: Any, n_columns: int) -> float:
    """The predicted units of training on `X`."""
    size = X.nnz if hasattr(X, "nnz") else np.size(X)
    return predicted_work(learner, float(size), X.shape[0], n_columns)


def predicted_work(learner: Any, values: float, n: int, n_columns: int) -> float:
    """The predicted units of training on `n` rows with so many values."""
    return values * n_columns * predicted_passes(learner, n)


def sparing(once: float) -> float:
    """The units that "fast" may spend on the race, and on estimates, if one training takes `once` units."""
    return max(_LEAST, _TRAININGS * once)


def affordable_rows(X: Any, n_columns: int, once: float) -> float:
    """On how many rows of `X`, over all splits, the race of "fast" may train every candidate."""
    size = X.nnz if hasattr(X, "nnz") else np.size(X)
    return sparing(once) / (_RACE * max(float(size) * n_columns / int(X.shape[0]), 1.0))


@dataclass
class Budget:
    """The units of work that are left; unlimited unless `seconds` are given."""

    left: float = np.inf

    @classmethod
    def of(cls, effort: Any, name: str = "effort") -> Budget:
        """The budget of an effort: "fast" and "full" have no limit; `name` is used in messages.

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

    def at_most(self, once: float) -> Budget:
        """What "fast" over axes may spend if one training takes `once` units."""
        return Budget(min(self.left, max(FAST_SECONDS * RATE, FAST_TRAININGS * once)))

    def pays(self, work: float) -> bool:
        """Whether there is budget for `work`; if so, it is deducted."""
        if work > self.left:
            return False
        self.left -= work
        return True
