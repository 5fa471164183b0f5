"""The dual problems of several labels over the same examples, for core/kernel/decomposition.hpp."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._parameters import require_finite
from widemargin._threads import thread_count
from widemargin.learn.kernels import Kernel, refused_values
from widemargin.learn.linear_problem import linear_problem, train_linear
from widemargin.progress import watch_values

Floats = NDArray[np.float64]

SELECTIONS = {
    "steepest": _core.Selection.steepest,
    "second-order": _core.Selection.second_order,
    "random": _core.Selection.random,
}
# Variables in a step of a linear machine, and the most that `working_set_of` makes of them.
_LINEAR_STEP, _LARGEST_STEP = 20, 600
# No condition can be met more exactly in double precision.
SMALLEST_TOL = 1e-12
# What the core's counters hold.
MOST_ITERATIONS, _MOST_BYTES = 2**62, 2**62
# Relative error of a sum of alphas that is tolerated without moving an alpha.
_ROUNDING = 1e-12
# How well the problem with a bias feature is solved before the biased one.
_START_TOL, _START_PASSES = 1e-3, 300
# From so many examples on; smaller problems are solved in no time as they are.
_START_FROM = 1000


def cache_bytes(megabytes: float) -> int:
    """Bytes as the core counts them."""
    return int(min(megabytes * 2**20, _MOST_BYTES))


@dataclass(frozen=True)
class Method:
    """How the decomposition works, as chosen by a learner's parameters.

    `working_set` None: of a linear machine, chosen by :func:`working_set_of`.
    """

    tol: float
    working_set: int | None
    selection: Literal["steepest", "second-order", "random"]
    shrinking: bool
    shrink_history: int
    shrink_threshold: float
    cache_megabytes: float
    max_iter: int
    seed: int
    n_jobs: int | None
    verbose: bool


@dataclass
class DualSolution:
    """Of each label: alpha and s = sum_j alpha_j y_j K(x_i, x_j) (labels, examples), and the threshold.

    `selections` counts how often each example was in a working set. `artificial` holds the alphas of the
    stabilized hyperplane's two artificial examples, otherwise nothing.
    """

    alpha: Floats
    s: Floats
    intercept: Floats
    violation: Floats
    iterations: NDArray[np.int64]
    converged: NDArray[np.bool_]
    kernel_rows: int
    selections: NDArray[np.int64]
    artificial: Floats

    def of(self, labels: slice) -> DualSolution:
        """The part of some labels."""
        return DualSolution(
            self.alpha[labels],
            self.s[labels],
            self.intercept[labels],
            self.violation[labels],
            self.iterations[labels],
            self.converged[labels],
            self.kernel_rows,
            self.selections[labels],
            self.artificial[labels],
        )


def solve_dual(
    csr: Csr,
    gram: Floats | None,
    kernel: Kernel,
    signs: NDArray[np.int8],
    upper: Floats,
    method: Method,
    *,
    equality: bool,
    offset: float = 0.0,
    kappa: float = 0.0,
    start: Floats | None = None,
) -> DualSolution:
    """Minimize OP 11 (with kappa: OP 6) for every row of `signs`.

    Parameters
    ----------
    signs, upper : (labels, examples); an example of upper bound 0 takes no part
    equality : whether sum_i y_i alpha_i = 0 (the biased hyperplane)
    start : (labels, examples) alphas to begin with; they are made feasible first
    """
    n_labels, n = signs.shape
    size = n + (2 if kappa > 0 else 0)
    as_linear = kernel.name == "linear"
    if start is None and as_linear and equality and n >= _START_FROM and np.isfinite(upper).all():
        begin = _bias_feature_start(csr, signs, upper, method)
        solution = solve_dual(
            csr, gram, kernel, signs, upper, method, equality=True, offset=offset, kappa=kappa, start=begin
        )
        if solution.converged.all():
            return solution
    single = False
    if gram is None:
        kernel.refuse_overflow(csr, offset)
        single = not as_linear and kernel.precision(csr, offset, method.n_jobs) is np.float32
    problem = _core.KernelProblem(
        signs=signs,
        upper=upper,
        gram=gram,
        start=None if start is None else feasible_start(start, signs, upper, kappa, equality=equality),
    )
    options = _core.KernelSvmOptions(
        equality=equality,
        working_set=min(method.working_set or working_set_of(csr.n_columns, equality=equality), max(size, 2)),
        selection=SELECTIONS[method.selection],
        prefer_cached=method.selection == "steepest" and not as_linear,
        shrinking=method.shrinking,
        shrink_history=method.shrink_history,
        shrink_threshold=method.shrink_threshold,
        tol=method.tol,
        max_iterations=min(method.max_iter, MOST_ITERATIONS),
        seed=method.seed,
        kappa=kappa,
        as_linear=as_linear,
        single_precision=single,
        cache_bytes=cache_bytes(method.cache_megabytes),
    )
    results = _core.KernelSvmResults.zeros(labels=n_labels, variables=size)
    shown: Any = watch_values(results.progress, _describe) if method.verbose else contextlib.nullcontext()
    with shown, refused_values():
        kernel_rows = _core.train_kernel_svm(
            csr.native(), kernel.native(offset), problem, options, results, thread_count(method.n_jobs)
        )
    alpha, s, intercept, violation = results.alpha, results.s, results.intercept, results.violation
    require_finite("The machine", csr, alpha=alpha, s=s, intercept=intercept, violation=violation)
    return DualSolution(
        alpha[:, :n],
        s[:, :n],
        intercept,
        violation,
        results.iterations,
        results.converged.astype(bool),
        kernel_rows,
        results.selections[:, :n],
        alpha[:, n:],
    )


def working_set_of(n_features: int, *, equality: bool) -> int:
    """How many variables of a linear machine to move in one step.

    About as many examples as there are features can be unbounded support vectors independently of each
    other. Where features are few, one step can move all of these and as many that may join them; dozens of
    them creep, since their kernel values are nearly dependent. Text has many features, and
    there small steps are best.

    Examples
    --------
    >>> working_set_of(300, equality=True), working_set_of(30_000, equality=True)
    (600, 20)
    """
    size = 2 * n_features
    return max(size, _LINEAR_STEP) if equality and size <= _LARGEST_STEP else _LINEAR_STEP


def feasible(alpha: Floats, signs: NDArray[np.int8], upper: Floats, *, equality: bool) -> Floats:
    """`alpha` within its bounds and, if asked for, with sum_i y_i alpha_i = 0 of each label.

    The side that has too much gives it up, first what is between its bounds: who is at a bound of a solution
    belongs there.

    Examples
    --------
    >>> signs, upper = np.array([[1, -1, -1]], np.int8), np.ones((1, 3))
    >>> feasible(np.array([[2.0, 0.5, 0.5]]), signs, upper, equality=True).tolist()
    [[1.0, 0.5, 0.5]]
    >>> feasible(np.array([[1.0, 1.0, 0.5]]), signs, upper, equality=True).tolist()
    [[1.0, 1.0, 0.0]]
    """
    result: Floats = np.clip(alpha, 0.0, upper)
    if not equality:
        return result
    for row, y, most in zip(result, signs, upper, strict=True):
        excess = float(row @ y)
        if abs(excess) <= _ROUNDING * row.sum():
            continue
        side = (y > 0) == (excess > 0)
        excess = abs(excess)
        for some in (side & (row < most), side & (row >= most)):
            total = row[some].sum()
            given_up = min(excess, total)
            if given_up > 0:
                row[some] *= 1 - given_up / total
                excess -= given_up
    return result


def feasible_start(
    start: Floats, signs: NDArray[np.int8], upper: Floats, kappa: float, *, equality: bool
) -> Floats:
    """Where to begin: `start` made feasible; with kappa, the artificial examples of OP 6 behind it."""
    alpha = feasible(start, signs, upper, equality=equality and kappa == 0)
    if kappa > 0:
        alpha = np.hstack([alpha, artificial_start(alpha, signs, kappa)])
    return np.ascontiguousarray(alpha)


def artificial_start(alpha: Floats, signs: NDArray[np.int8], kappa: float) -> Floats:
    """The best alphas of the two artificial examples of OP 6 beside these, (labels, 2).

    Constraint (3.28) fixes their difference, and what (3.27) asks of their sum is at most 2 / kappa^2.

    Examples
    --------
    >>> artificial_start(np.array([[0.5, 0.0]]), np.array([[1, -1]], np.int8), 1.0).tolist()
    [[0.75, 1.25]]
    """
    difference = -(alpha * signs).sum(axis=1)
    total = np.maximum(2 / kappa**2, np.abs(difference))
    return np.column_stack([total + difference, total - difference]) / 2


def _bias_feature_start(csr: Csr, signs: NDArray[np.int8], upper: Floats, method: Method) -> Floats:
    """The solution with a regularized bias feature: quickly found, and near the biased one.

    From there the decomposition needs a fraction of the iterations (an eighth of the time on the largest
    web set); what it converges to is the same.
    """
    n_labels, n = signs.shape
    positive = np.where(signs > 0, upper, 0.0).max(axis=1)
    negative = np.where(signs < 0, upper, 0.0).max(axis=1)
    alpha = np.zeros((n_labels, n))
    if (upper == np.where(signs > 0, positive[:, None], negative[:, None])).all():
        groups = [(slice(0, n_labels), positive, negative, np.zeros(0))]
    else:
        # Costs of single examples are the weights of a problem of their own for each label.
        groups = [(slice(k, k + 1), np.ones(1), np.ones(1), upper[k]) for k in range(n_labels)]
    options = _core.LinearSvmOptions(
        bias=1.0,
        squared_loss=False,
        stop_on_gap=True,
        tol=_START_TOL,
        max_passes=_START_PASSES,
        seed=method.seed,
    )
    for labels, cost_positive, cost_negative, weights in groups:
        problem = linear_problem(signs[labels], (cost_positive, cost_negative), weights)
        alpha[labels] = train_linear(csr, problem, options, thread_count(method.n_jobs)).alpha
    return alpha


def _describe(progress: Floats) -> str:
    """The label with the largest violation stands for all."""
    violation, active, iterations = progress[int(progress[:, 0].argmax())]
    return f"violation {violation:.4g}, {int(active):,} active examples, iteration {int(iterations):,}"
