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
from widemargin.learn.costs import sample_weights, training_costs, upper_bounds
from widemargin.learn.kernels import Kernel
from widemargin.learn.left_out.machines import LeaveOut, cost_of_retraining
from widemargin.learn.left_out.one_step import clipped, falls, step_work
from widemargin.learn.left_out.winners import DOUBT, FALL, Finder, Parts, rivals
from widemargin.learn.linear_problem import linear_problem, train_linear
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.learn.svm.left_out.kernel import left_out_kernel
from widemargin.measure.held_out_scores import LeftOutCost
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

    Costs stay what they are when an example leaves, those of `balance` and of
    ``class_weight="balanced"`` too. An
    unregularized threshold and a hard margin are left to the decomposition.
    """
    if learner.bias == "unregularized":
        return left_out_kernel(learner, X, y, sample_weight, how)
    if not np.isfinite(float(np.max(learner.C))):
        same = KernelSVM(
            learner.C,
            kernel="linear",
            bias=learner.bias,
            class_weight=learner.class_weight,
            balance=learner.balance,
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
        self._costs = training_costs(learner, learner.label_space_, self._truth, self._weights)
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

    def one_step(self) -> Parts:
        middles, half, retrained, unstable = self.bounds()
        matrix, signs = self._csr.matrix, self._truth
        linear, own = Kernel("linear"), row_squares(self._csr) + self._bias**2

        def values(a: NDArray[np.intp], b: NDArray[np.intp]) -> Floats:
            block = linear.between(canonical_csr(matrix[a]), canonical_csr(matrix[b]), self._n_threads)
            block += self._bias**2
            return block

        scores, within = middles.copy(), half.copy()
        for j in range(signs.shape[1]):
            alpha = _dense_column(self._solution, j)
            costs = self._costs[0][[j]], self._costs[1][[j]]
            upper = upper_bounds(signs[:, [j]].T, costs, self._weights)[0]
            diagonal = 0.5 / np.maximum(upper, 1e-300) if self._squared else np.zeros(len(upper))
            if self._squared:
                upper = np.where(upper > 0, np.inf, 0.0)
            there = alpha > 0
            w = matrix.T @ (alpha * signs[:, j])
            margins = signs[there, j] * (matrix[there] @ w + self._bias**2 * float(alpha @ signs[:, j]))
            margins -= falls(values, own, diagonal, alpha, upper, equality=False)[there]
            ends = signs[there, j] * middles[there, j]
            margins, error = clipped(margins, ends - half[there, j], ends + half[there, j])
            scores[there, j], within[there, j] = signs[there, j] * margins, error
        return scores, within, retrained, unstable

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


def _dense_column(alphas: Any, j: int) -> Floats:
    column = alphas[:, [j]]
    return np.asarray(column.toarray() if is_sparse(column) else column, dtype=np.float64).ravel()


def _in_turns(columns: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for first in range(0, len(columns), _LABELS_AT_ONCE):
        yield columns[first : first + _LABELS_AT_ONCE]


def needed_gap(csr: Csr, bias: float, wanted: float) -> float:
    """The duality gap of the solution on all examples that scores of this accuracy start from."""
    largest = float(row_squares(csr).max(initial=0.0)) + bias**2
    return (_SHARE * min(wanted, _SIGNS_ACCURACY)) ** 2 / max(largest, 1e-300)


# Units of work for two examples in the tableau and a free one; for a score that is found again, an example
# that takes part and a value of a row; for a score that is found again; for a non-zero of the data; and for a
# score. Fitted to the CPU time of 16 cases, where predictions are 0.5 to 1.6 times what it takes: six
# collections, 700 to 8,000 documents, C from 0.1 to 10, and shuffled labels.
_FACTORS = (0.06, 0.13, 2.3e4, 5.0, 1e3)
# Following a path takes as long as this many values of a row, however many it has.
_EVENTS = 10.0
# Where there is a tableau: as in core/left_out/linear_paths.hpp.
_LARGEST, _SPARE, _WORTH = 3000, 64, 24_000
_AT_BOUND = 1e-9
# Scores that no example moves are told apart at this distance.
_APART = 0.005
# How much longer a score takes where a label has too many free examples for a path: 50,000 noisy short texts
# take minutes.
_WITHOUT_PATH = 30


def linear_cost(learner: Any, X: Any) -> LeftOutCost:
    """What leaving out every example of a `LinearSVM` is predicted to take.

    The work depends on how many scores the bounds leave open (core/left_out/leave_one_out.hpp, (1) and (2)),
    or as the largest of several, and on how many examples take part when one leaves.
    """
    if learner.bias == "unregularized" or not np.isfinite(float(np.max(learner.C))):
        return cost_of_retraining(learner, X)
    terms, again, one_step = _counted(learner, X)
    why = f"{again:,} scores would be found by training again"
    return LeftOutCost(float(np.dot(terms, _FACTORS)), why, one_step)


def _counted(learner: Any, X: Any) -> tuple[list[float], int, float]:
    csr, squared = canonical_csr(X), learner.loss == "squared_hinge"
    n, n_values = csr.n_rows, len(csr.indices)
    alpha, xi = (
        (part.toarray() if is_sparse(part) else np.asarray(part)).reshape(n, -1)
        for part in (learner.alpha_, learner.xi_)
    )
    K = row_squares(csr)[:, None] + (0.0 if learner.bias is None else float(learner.bias) ** 2)
    diagonal = 0.5 / np.asarray(learner.C, dtype=np.float64) if squared else 0.0
    upper = np.inf if squared else alpha.max(axis=0, initial=1e-300)
    # (2), with an exact solution.
    c = np.maximum(alpha * xi + 0.5 * alpha**2 * (K - diagonal), 1e-300)
    step = np.minimum(np.sqrt(2 * c / np.maximum(K + diagonal, 1e-300)), upper)
    high = 1 - xi
    half = np.where(alpha > 0, 0.5 * (high - 1 + 0.5 * step * (K + diagonal) + c / step), 0.0)
    is_free = (alpha > 0) & (alpha < upper * (1 - _AT_BOUND))
    again = (alpha > 0) & ((half > _SIGNS_ACCURACY) | (np.abs(high - half) <= half))
    if learner.label_space_.kind == "multiclass":
        scores = learner.decision_function(X)
        again |= _likely_rivals(scores, high, half, again)
    left_out, free = again.sum(axis=0), is_free.sum(axis=0)
    size = np.minimum(free + (again & ~is_free).sum(axis=0) + free / 3 + _SPARE, n)
    paths = (size <= _LARGEST) & (size**2 <= _WORTH * left_out)
    row = n_values / max(n, 1)
    terms = [
        np.sum(free * size**2, where=paths),
        (row + _EVENTS)
        * np.sum(left_out * np.where(paths, size, np.where(size > _LARGEST, _WITHOUT_PATH, 1) * free)),
        left_out.sum(),
        n_values * len(free),
        n * len(free),
    ]
    one_step = step_work(free, (alpha > 0).sum(axis=0) - free, n, n_values, csr.n_columns)
    return [float(term) for term in terms], int(left_out.sum()), one_step


def _likely_rivals(scores: Floats, high: Floats, half: Floats, is_open: NDArray[np.bool_]) -> Any:
    """As in :mod:`widemargin.learn.left_out.winners`, from margins; half is 0 where alpha is."""
    # The side of an example shows in its score, since its margin is known.
    sign = np.sign(scores * high)
    guess = np.where(half > 0, sign * (high - np.where(is_open, 2 * FALL, 1.0) * half), scores)
    return rivals(guess, np.where(is_open, np.minimum(half, DOUBT), half + _APART))
