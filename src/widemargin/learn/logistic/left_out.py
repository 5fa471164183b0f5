"""Leave-one-out of logistic regression: proven intervals, approximate scores, and exact ones by retraining.

Let K_t = x_t.x_t plus the square of the bias feature, m_t = y_t f(x_t) the margin of example t by the rule of
all examples, alpha_t = C_t sigma(-m_t) and D_t = alpha_t (1 - alpha_t / C_t).

Proven. Without t, the gradient of the objective at w is alpha_t y_t x_t. The objective is strongly convex, so
with delta the change of the weights, alpha_t y_t x_t.delta >= |delta|^2. Hence the margin of t falls, and by
no more than alpha_t K_t. A solution with the duality gap g is within sqrt(2 g) of the exact one.

One step. If the losses of the others are replaced by their second-order expansions, the margin of t falls by
alpha_t h_t with h_t = x_t' (1 + sum_{i != t} D_i x_i x_i')^-1 x_t: one Newton step of every problem without
an example, as in approximate leave-one-out (Rad, Maleki, JRSS B 82, 2020). Only examples with D_i K_i above a
limit are in the sum; the others are taken as fixed, which makes falls slightly larger. The result is kept
within the proven interval.

Exact. Examples whose interval is too wide, or contains 0, are left out and the others learned again from the
solution on all, 16 at a time in the lanes of core/linear/logistic.hpp. The duality gap of the result proves
its accuracy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state

import widemargin._core as _core
from widemargin._arrays import canonical_csr, row_squares, times
from widemargin._threads import thread_count
from widemargin.labels import Labels
from widemargin.learn.costs import sample_weights, training_costs, upper_bounds
from widemargin.learn.kernels import Kernel
from widemargin.learn.left_out.machines import LeaveOut
from widemargin.learn.left_out.one_step import clipped, falls, step_work
from widemargin.learn.left_out.winners import Finder, Parts
from widemargin.learn.linear_problem import linear_problem, train_logistic
from widemargin.measure.held_out_scores import LeftOutCost
from widemargin.progress import watch

Floats = NDArray[np.float64]

# Examples with less of D_i K_i are taken as fixed by one step.
_FIXED = 0.01
# Accuracies of retraining, each for the scores whose signs the one before does not prove.
_LEVELS = (0.05, 1e-3, 1e-6)
# To what accuracy the solution on all examples is known.
_OF_ALL = 0.01
_ROUNDING = 1e-9
_MOST_PASSES = 20_000
# Numbers in the weights of the rules that are retrained at one time.
_MOST_WEIGHTS = 8_000_000
_LANES = 16


def left_out_logistic(learner: Any, X: Any, y: Labels, sample_weight: Any, how: LeaveOut) -> Finder:
    """What scores every example by the rule of a `LogisticRegression` that is learned without it.

    Costs stay what they are when an example leaves, those of `balance` and
    ``class_weight="balanced"`` too.
    """
    return LogisticLeftOut(learner, X, y, sample_weight, how)


class LogisticLeftOut:
    """The scores of a `LogisticRegression`; see :class:`Finder` for what its methods return."""

    converges = True

    def __init__(self, learner: Any, X: Any, y: Labels, sample_weight: Any, how: LeaveOut) -> None:
        self._csr, self._truth = canonical_csr(X), y.signs
        self._weights = sample_weights(sample_weight, self._csr.n_rows)
        self._costs = training_costs(learner, learner.label_space_, self._truth, self._weights)
        self._bias = 0.0 if learner.bias is None else float(learner.bias)
        self._seed = int(check_random_state(how.random_state).randint(2**31 - 1))
        self._n_threads, self._accuracy, self._verbose = thread_count(how.n_jobs), how.accuracy, how.verbose
        self._own = row_squares(self._csr) + self._bias**2
        self._solve(learner)

    def _solve(self, learner: Any) -> None:
        """The solution on all examples, as accurate as intervals need it."""
        alpha = learner.alpha_.reshape(self._truth.shape).T
        objective = np.atleast_1d(learner.objective_)
        needed = self._gap_of(_OF_ALL * min(self._accuracy, 1.0), float(self._own.max(initial=0.0)))
        tol = float(np.min(needed / np.maximum(objective, 1e-300), initial=1.0))
        options = _core.LogisticOptions(
            bias=self._bias, tol=max(tol, 1e-12), max_passes=_MOST_PASSES, seed=self._seed
        )
        problem = linear_problem(self._truth.T, self._costs, self._weights, np.ascontiguousarray(alpha))
        found = train_logistic(self._csr, problem, options, self._n_threads)
        self._alpha, self._gap, self._objective = found.alpha, found.gap, found.objective
        self._upper = upper_bounds(np.ascontiguousarray(self._truth.T), self._costs, self._weights)
        scores = times(self._csr, found.coef, self._n_threads, plus=found.intercept)
        self._margins: Floats = np.ascontiguousarray((self._truth * scores).T)

    @staticmethod
    def _gap_of(accuracy: float, own: float) -> float:
        """The duality gap of a rule whose score of an example is this accurate."""
        return accuracy**2 / (2 * max(own, 1e-300))

    def _interval(self, j: int) -> tuple[Floats, Floats]:
        """The lowest and the highest margin of every example by the rule of label `j` without it."""
        m = self._margins[j]
        error = np.sqrt(2 * self._gap[j] * self._own) + _ROUNDING * (1 + np.abs(m))
        fall = self._upper[j] * expit(-(m - error)) * self._own
        return m - error - fall, m + error

    def bounds(self) -> Parts:
        n, n_labels = self._truth.shape
        scores, within = np.empty((n, n_labels)), np.empty((n, n_labels))
        for j in range(n_labels):
            low, high = self._interval(j)
            scores[:, j], within[:, j] = self._truth[:, j] * (low + high) / 2, (high - low) / 2
        return scores, within, *_counts(n_labels)

    def one_step(self) -> Parts:
        matrix, linear = self._csr.matrix, Kernel("linear")

        def values(a: NDArray[np.intp], b: NDArray[np.intp]) -> Floats:
            block = linear.between(canonical_csr(matrix[a]), canonical_csr(matrix[b]), self._n_threads)
            block += self._bias**2
            return block

        n, n_labels = self._truth.shape
        scores, within = np.empty((n, n_labels)), np.empty((n, n_labels))
        for j in range(n_labels):
            alpha = self._alpha[j]
            curvature, moves = _curvature(alpha, self._upper[j], self._own)
            fall = falls(
                values,
                self._own,
                np.divide(1.0, curvature, out=np.zeros(n), where=moves),
                alpha,
                np.where(moves, np.inf, alpha),
                equality=False,
            )
            margins, within[:, j] = clipped(self._margins[j] - fall, *self._interval(j))
            scores[:, j] = self._truth[:, j] * margins
        return scores, within, *_counts(n_labels)

    def __call__(self, asked: Floats | None = None) -> Parts:
        scores, within, retrained, unstable = self.bounds()
        wanted = np.full(scores.shape, self._accuracy) if asked is None else asked
        progress = np.zeros(1, np.int64)
        is_open = (wanted > 0) & ((within > wanted) | (within >= np.abs(scores)))
        enabled = None if self._verbose else False
        total = int(np.count_nonzero(is_open))
        with watch(progress, "Leaving out", total=total, unit="examples", enabled=enabled):
            for level in _LEVELS:
                for j in np.flatnonzero(is_open.any(axis=0)).tolist():
                    rows = np.flatnonzero(is_open[:, j])
                    targets = np.minimum(np.where(np.isfinite(wanted[rows, j]), wanted[rows, j], 1.0), level)
                    found, error = self._retrained(j, rows, float(targets.min()), progress)
                    better = error < within[rows, j]
                    scores[rows, j] = np.where(better, found, scores[rows, j])
                    within[rows, j] = np.where(better, error, within[rows, j])
                    retrained[j] += len(rows)
                is_open &= (within > wanted) | (within >= np.abs(scores))
        if asked is not None:
            scores[asked == 0] = within[asked == 0] = 0.0
        return scores, within, retrained, unstable

    def _retrained(
        self, j: int, rows: NDArray[np.intp], accuracy: float, progress: NDArray[np.int64]
    ) -> tuple[Floats, Floats]:
        """Scores of examples by the rules of label `j` without them, and how accurate they are."""
        scores, within = np.empty(len(rows)), np.empty(len(rows))
        gap = self._gap_of(accuracy, float(self._own[rows].max()))
        # A rule without an example has the smaller objective.
        tol = gap / max(float(self._objective[j]), 1e-300)
        options = _core.LogisticOptions(
            bias=self._bias, tol=min(max(tol, 1e-13), 1.0), max_passes=_MOST_PASSES, seed=self._seed
        )
        at_once = max(_MOST_WEIGHTS // max(self._csr.n_columns, 1) // _LANES, 1) * _LANES
        for first in range(0, len(rows), min(at_once, 16 * _LANES)):
            some = rows[first : first + min(at_once, 16 * _LANES)]
            place = np.arange(len(some))
            signs = np.repeat(self._truth[:, j][None, :], len(some), axis=0)
            start = np.repeat(self._alpha[j][None, :], len(some), axis=0)
            signs[place, some], start[place, some] = 0, 0.0
            costs = tuple(np.full(len(some), cost[j]) for cost in self._costs)
            problem = linear_problem(signs, (costs[0], costs[1]), self._weights, start)
            found = train_logistic(self._csr, problem, options, self._n_threads)
            own = self._csr.matrix[some]
            scores[first + place] = (own.multiply(found.coef.T)).sum(axis=1) + found.intercept
            error = np.sqrt(2 * found.gap * self._own[some])
            within[first + place] = error + _ROUNDING * (1 + np.abs(scores[first + place]))
            progress[0] += len(some)
        return scores, within


def _counts(n_labels: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.zeros(n_labels, np.int64), np.zeros(n_labels, np.int64)


def _curvature(alpha: Floats, upper: Floats, own: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """D of every example, and which of them one step does not take as fixed."""
    share = np.divide(alpha, upper, out=np.zeros_like(alpha), where=upper > 0)
    curvature = alpha * (1 - share)
    return curvature, curvature * own > _FIXED


# Units of work for a value of the data and a score that is found again, and for a score. On 800 documents of
# 20 Newsgroups and 1,000 of Reuters, C from 1 to 100, predictions are 0.8 to 2.1 times the CPU time.
_AGAIN, _SCORE = 6.0, 1e3


def logistic_cost(learner: Any, X: Any) -> LeftOutCost:
    """What leaving out every example of a `LogisticRegression` is predicted to take."""
    csr = canonical_csr(X)
    n, n_values = csr.n_rows, len(csr.indices)
    alpha, xi = (np.reshape(part, (n, -1)) for part in (learner.alpha_, learner.xi_))
    own = row_squares(csr)[:, None] + (0.0 if learner.bias is None else float(learner.bias) ** 2)
    half = alpha * own / 2
    # A margin above 1 is not known here, and is far from 0.
    again = (half > LeaveOut.accuracy) | (1 - xi - 2 * half <= 0)
    count = int(np.count_nonzero(again))
    work = count * (_AGAIN * n_values) + alpha.size * _SCORE
    upper = np.maximum(alpha.max(axis=0, initial=0.0), float(learner.C))
    moves = np.stack(
        [_curvature(a, np.full(n, u), own[:, 0])[1] for a, u in zip(alpha.T, upper, strict=True)]
    )
    free = moves.sum(axis=1)
    # However many examples move: each has a curvature of its own.
    step = step_work(free, n - free, n, n_values, np.inf)
    return LeftOutCost(float(work), f"{count:,} scores would be found by training again", step)
