"""Leave-one-out of the machines that the decomposition solves (core/left_out/leave_one_out_kernel.hpp)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

import widemargin._core as _core
from widemargin._arrays import Csr, canonical_csr, is_sparse
from widemargin._parameters import require_finite
from widemargin._threads import thread_count
from widemargin.errors import UsageError
from widemargin.labels import Labels
from widemargin.learn.costs import sample_weights, training_costs, upper_bounds
from widemargin.learn.kernel_definiteness import definiteness
from widemargin.learn.kernels import Kernel, refused_values
from widemargin.learn.left_out.machines import LeaveOut, kernel_range
from widemargin.learn.left_out.one_step import clipped, falls
from widemargin.learn.left_out.winners import Finder, Parts
from widemargin.learn.svm.dual_problem import (
    MOST_ITERATIONS,
    SELECTIONS,
    cache_bytes,
    feasible_start,
    working_set_of,
)
from widemargin.progress import watch

Floats = NDArray[np.float64]

# Megabytes for rows of the kernel matrix of a LinearSVM, which has no `cache` of its own.
_CACHE = 500.0
# Variables in a step where nothing has to be exchanged, as in KernelSVM.
_STEP = 10
_SHRINK_HISTORY = 10


def left_out_kernel(learner: Any, X: Any, y: Labels, sample_weight: Any, how: LeaveOut) -> Finder:
    """What scores every example by the rule that is learned without it, with a proven accuracy.

    An example that is left out keeps the costs of the others as they are, those of `balance` and of
    ``class_weight="balanced"`` too. Where the rule without it has no unbounded support vector, and an
    interval of thresholds is equally good, the threshold is the middle of it; when only one class is left,
    the threshold is that class: 1 or -1.

    Parameters
    ----------
    learner : a KernelSVM, one against the rest, or a LinearSVM with ``bias="unregularized"``, fitted on `X`,
        `y` and `sample_weight`
    how : its seed is not used, since that of `learner` orders the steps

    Examples
    --------
    >>> from widemargin import KernelSVM
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    >>> found = KernelSVM(kernel="linear", C=10).fit(X, y).left_out_scores(X, y, accuracy=1e-4)
    >>> found.scores[:, 0].round(2).tolist(), found.retrained.tolist(), found.unstable.tolist()
    ([-2.0, -0.33, 0.33, 2.0], [2], [0])
    """
    task = _Task.of(learner, X, y, sample_weight)
    if task.gram is None:
        task.kernel.refuse_overflow(task.csr, task.offset)
    return KernelLeftOut(learner, task, how)


class KernelLeftOut:
    """The scores of a machine that the decomposition solves; see :class:`Finder` for what it returns.

    Accuracies are infinite where nothing is proven but the sign, and for kernels that are not proven to be
    positive semi-definite (:mod:`widemargin.learn.kernel_definiteness`): those need not have one
    solution. Unstable are the scores that have a threshold from the middle of an interval. Where only signs
    are asked for, a sign that no threshold of the interval changes is not counted.
    """

    converges = False

    def __init__(self, learner: Any, task: _Task, how: LeaveOut) -> None:
        self._learner, self._task, self._how = learner, task, how
        self._known = definiteness(task.kernel, task.gram)

    def bounds(self) -> None:
        return None

    def one_step(self) -> Parts:
        task, learner, n_jobs = self._task, self._learner, self._how.n_jobs
        if task.kappa > 0:
            raise UsageError('bias="stabilized": scores by one step are not offered. Use leave-one-out.')
        matrix, (n_labels, n) = task.csr.matrix, task.signs.shape

        def values(a: NDArray[np.intp], b: NDArray[np.intp]) -> Floats:
            if task.gram is not None:
                block = task.gram[np.ix_(a, b)]
            else:
                block = task.kernel.between(canonical_csr(matrix[a]), canonical_csr(matrix[b]), n_jobs)
            block += task.offset
            return block

        X = matrix if task.gram is None else task.gram
        own = kernel_range(task.kernel, X)[0] + task.offset
        risk = learner.left_out_risk(X).reshape(n, -1).T
        xi = (learner.xi_.toarray() if is_sparse(learner.xi_) else learner.xi_).reshape(n, -1).T
        scores = np.array(learner.decision_function(X)).reshape(n, -1)
        for j in range(n_labels):
            there, sign = task.alpha[j] > 0, task.signs[j]
            fall = falls(values, own, np.zeros(n), task.alpha[j], task.upper[j], equality=task.equality)
            high = 1 - xi[j]
            margins = clipped(high - fall, np.minimum(1 - risk[j], high), high)[0]
            scores[there, j] = (sign * margins)[there]
        none = np.zeros(n_labels, np.int64)
        # The limits hold between exact solutions, which nothing here proves.
        return scores, np.full(scores.shape, np.inf), none, none

    def __call__(self, asked: Floats | None = None) -> Parts:
        task, learner, known = self._task, self._learner, self._known
        n_labels, n = task.signs.shape
        if asked is not None and not known.proven:
            # Learning again would prove nothing.
            none = np.zeros(n_labels, np.int64)
            return np.zeros((n, n_labels)), np.full((n, n_labels), np.inf), none, none
        columns = np.arange(n_labels) if asked is None else np.flatnonzero(asked.any(axis=0))
        signs, upper = task.signs[columns], task.upper[columns]
        cache, as_linear, selection, step = task.method(learner)
        problem = _core.KernelProblem(
            signs=signs,
            upper=upper,
            gram=task.gram,
            start=feasible_start(task.alpha[columns], signs, upper, task.kappa, equality=task.equality),
        )
        options = _core.KernelSvmOptions(
            equality=task.equality,
            working_set=step,
            selection=SELECTIONS[selection],
            # What is cached must not steer the path: it depends on which examples came before.
            prefer_cached=False,
            # Shrinking pays where rows cost nothing and looking at all examples does.
            shrinking=as_linear,
            shrink_history=_SHRINK_HISTORY,
            shrink_threshold=0.0,
            tol=float(learner.tol),
            max_iterations=min(task.max_iterations, MOST_ITERATIONS),
            seed=int(check_random_state(learner.random_state).randint(2**31 - 1)),
            kappa=task.kappa,
            as_linear=as_linear,
            single_precision=False,
            cache_bytes=cache_bytes(cache),
        )
        wanted = _core.LeftOutAccuracy(
            accuracy=self._how.accuracy,
            certify=known.proven,
            asymmetry=known.asymmetry,
            ridge=known.ridge,
        )
        results = _core.LeftOutResults.zeros(labels=len(columns), examples=n)
        if asked is not None:
            results.asked = np.ascontiguousarray(asked[:, columns].T)
        with (
            watch(
                results.progress,
                "Leaving one out",
                total=len(columns) * n,
                unit="examples",
                enabled=None if self._how.verbose else False,
            ),
            refused_values(),
        ):
            _core.leave_one_out_kernel(
                task.csr.native(),
                task.kernel.native(task.offset),
                problem,
                options,
                wanted,
                results,
                thread_count(self._how.n_jobs),
            )
        require_finite("Leave-one-out", task.csr, scores=results.scores.T)
        values, within = np.zeros((n, n_labels)), np.zeros((n, n_labels))
        retrained, unstable = np.zeros((2, n_labels), np.int64)
        values[:, columns], within[:, columns] = results.scores.T, results.accuracy.T
        retrained[columns], unstable[columns] = results.retrained, results.unstable
        return values, within, retrained, unstable


@dataclass(frozen=True)
class _Task:
    """A fitted learner as the dual problems of its columns: signs, upper and alpha are (columns, n)."""

    csr: Csr
    gram: Floats | None
    kernel: Kernel
    signs: NDArray[np.int8]
    upper: Floats
    alpha: Floats
    equality: bool
    offset: float
    kappa: float
    max_iterations: int

    @classmethod
    def of(cls, learner: Any, X: Any, y: Labels, sample_weight: Any) -> _Task:
        space = learner.label_space_
        signs = y.signs
        weights = sample_weights(sample_weight, len(signs))
        alpha = learner.alpha_.toarray() if is_sparse(learner.alpha_) else learner.alpha_
        alpha = np.ascontiguousarray(alpha.reshape(len(signs), -1).T, dtype=np.float64)
        if not hasattr(learner, "kernel"):  # a LinearSVM
            costs = training_costs(learner, space, signs, weights)
            by_label = np.ascontiguousarray(signs.T)
            upper = upper_bounds(by_label, costs, weights)
            limit = int(learner.max_iter) * len(signs)
            return cls(
                canonical_csr(X), None, Kernel("linear"), by_label, upper, alpha, True, 0.0, 0.0, limit
            )
        by_label, upper = learner._columns(space, signs, weights)
        gram = np.ascontiguousarray(X, dtype=np.float64) if learner.kernel == "precomputed" else None
        return cls(
            canonical_csr(sp.csr_array((len(signs), 1)) if gram is not None else X),
            gram,
            learner._kernel,
            by_label,
            upper,
            alpha,
            isinstance(learner.bias, str),
            float(learner.bias) ** 2 if isinstance(learner.bias, Real) else 0.0,
            float(learner.stabilizer_size) if learner.bias == "stabilized" else 0.0,
            int(learner.max_iter),
        )

    def method(self, learner: Any) -> tuple[float, bool, str, int]:
        """Megabytes, whether to work with a weight vector, selection, and variables in a step.

        Where not all rows fit `cache`, those of a kernel are computed again when they are wanted again.
        The few steps from one solution to the next are on pairs, whose rows stay in memory for all examples
        and labels. A weight vector is for linear machines whose rows would not fit.
        """
        cache = float(getattr(learner, "cache", _CACHE))
        n = self.signs.shape[1]
        fits = 8 * n * n <= cache * 2**20
        linear = self.kernel.name == "linear"
        as_linear = linear and not fits
        few_features = linear and working_set_of(self.csr.n_columns, equality=self.equality) > working_set_of(
            2**31, equality=self.equality
        )
        if as_linear or few_features:
            return cache, as_linear, "steepest", working_set_of(self.csr.n_columns, equality=self.equality)
        return cache, False, *(("second-order", 2) if self.equality else ("steepest", _STEP))
