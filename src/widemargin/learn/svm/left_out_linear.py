"""Leave-one-out of linear machines (core/left_out/leave_one_out.hpp)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

import widemargin._core as _core
from widemargin._arrays import Csr, canonical_csr, is_sparse, row_squares
from widemargin._threads import thread_count
from widemargin.labels import Labels
from widemargin.learn.costs import label_costs, sample_weights
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.learn.svm.left_out import LeaveOut
from widemargin.learn.svm.left_out_kernel import left_out_kernel
from widemargin.learn.svm.left_out_winners import Finder, Parts
from widemargin.learn.svm.linear_problem import linear_problem, train_linear
from widemargin.progress import watch

Floats = NDArray[np.float64]

# Labels whose dual variables are dense at one time.
_LABELS_AT_ONCE = 64
# Newton steps for one left-out example; a handful is usual.
_MOST_ROUNDS = 100
# To what share of the accuracy the solution on all examples has to be known.
_SHARE = 0.1
_SIGNS_ACCURACY = 0.3
_MOST_PASSES = 20_000


def left_out_linear(learner: Any, X: Any, y: Labels, sample_weight: Any, how: LeaveOut) -> Finder:
    """What scores every example by the rule of a `LinearSVM` that is learned without it.

    Costs stay what they are when an example leaves, those of ``class_weight="balanced"`` too. An
    unregularized threshold and a hard margin are left to the decomposition.
    """
    if learner.bias == "unregularized":
        return left_out_kernel(learner, X, y, sample_weight, how)
    if not np.isfinite(learner.C):
        same = KernelSVM(
            learner.C,
            kernel="linear",
            bias=learner.bias,
            class_weight=learner.class_weight,
            n_jobs=learner.n_jobs,
        )
        return left_out_kernel(same.fit(X, y, sample_weight), X, y, sample_weight, how)
    return LinearLeftOut(learner, X, y, sample_weight, how)


class LinearLeftOut:
    """The scores of a `LinearSVM` with a finite C; see :class:`Finder` for what its methods return."""

    converges = True

    def __init__(self, learner: Any, X: Any, y: Labels, sample_weight: Any, how: LeaveOut) -> None:
        self._csr, self._truth = canonical_csr(X), y.signs
        self._weights = sample_weights(sample_weight, self._csr.n_rows)
        self._costs = label_costs(
            learner.C, learner.class_weight, learner.label_space_, self._truth, self._weights
        )
        self._learner, self._verbose = learner, how.verbose
        self._bias = 0.0 if learner.bias is None else float(learner.bias)
        self._squared = learner.loss == "squared_hinge"
        self._seed = int(check_random_state(how.random_state).randint(2**31 - 1))
        self._n_threads = thread_count(how.n_jobs)
        self._accuracy, self._solution = how.accuracy, None

    def bounds(self) -> Parts:
        return self._find(None, retrain=False)

    def __call__(self, asked: Floats | None = None) -> Parts:
        return self._find(asked, retrain=True)

    def _find(self, asked: Floats | None, *, retrain: bool) -> Parts:
        n, n_labels = self._truth.shape
        columns = np.arange(n_labels) if asked is None else np.flatnonzero(asked.any(axis=0))
        if self._solution is None:
            self._solution = self._solved()
        options = _core.LeaveOneOutOptions(
            bias=self._bias,
            squared_loss=self._squared,
            accuracy=self._accuracy,
            retrain=retrain,
            max_rounds=_MOST_ROUNDS,
            seed=self._seed,
        )
        progress = np.zeros(1, np.int64)
        values, within = np.zeros((n_labels, n)), np.zeros((n_labels, n))
        retrained = np.zeros(n_labels, np.int64)
        with watch(
            progress,
            "Leaving out",
            total=n * len(columns),
            unit="examples",
            enabled=None if self._verbose and retrain else False,
        ):
            for some in _in_turns(columns):
                results = _core.LeaveOneOutResults.zeros(labels=len(some), examples=n, progress=progress)
                if asked is not None:
                    results.asked = np.ascontiguousarray(asked[:, some].T)
                problem = self._problem(some, self._solution)
                _core.leave_one_out_linear(self._csr.native(), problem, options, results, self._n_threads)
                values[some], within[some] = results.scores, results.accuracy
                retrained[some] = results.retrained
        return values.T, within.T, retrained, np.zeros_like(retrained)

    def _problem(self, some: NDArray[np.int64], alphas: Any) -> _core.LinearProblem:
        """Some labels, with their dual variables out of (n, labels)."""
        alpha = alphas[:, some]
        alpha = np.ascontiguousarray((alpha.toarray() if is_sparse(alpha) else alpha).T, dtype=np.float64)
        costs = self._costs[0][some], self._costs[1][some]
        return linear_problem(self._truth[:, some].T, costs, self._weights, alpha)

    def _solved(self) -> Any:
        """The dual variables of all examples (n, labels), solved as far as leaving one out needs."""
        learner = self._learner
        alphas: Any = learner.alpha_[:, None] if learner.alpha_.ndim == 1 else learner.alpha_
        needed = needed_gap(self._csr, self._bias, self._accuracy)
        gap, objective = (np.atleast_1d(value) for value in (learner.duality_gap_, learner.objective_))
        if learner.stop == "gap" and (gap <= needed).all():
            return alphas
        tol = min(float(np.min(needed / np.maximum(objective, 1e-300))), learner.tol)
        options = _core.LinearSvmOptions(
            bias=self._bias,
            squared_loss=self._squared,
            stop_on_gap=True,
            tol=max(tol, 1e-10),
            max_passes=_MOST_PASSES,
            seed=self._seed,
        )
        parts = [
            sp.csr_array(train_linear(self._csr, self._problem(some, alphas), options, self._n_threads).alpha)
            for some in _in_turns(np.arange(self._truth.shape[1]))
        ]
        return sp.csr_array(sp.vstack(parts)).T


def _in_turns(columns: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for first in range(0, len(columns), _LABELS_AT_ONCE):
        yield columns[first : first + _LABELS_AT_ONCE]


def needed_gap(csr: Csr, bias: float, wanted: float) -> float:
    """The duality gap of the solution on all examples that scores of this accuracy start from."""
    largest = float(row_squares(csr).max(initial=0.0)) + bias**2
    return (_SHARE * min(wanted, _SIGNS_ACCURACY)) ** 2 / max(largest, 1e-300)
