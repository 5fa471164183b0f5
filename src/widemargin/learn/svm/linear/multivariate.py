"""Linear SVMs that are trained for PRBEP or F1 of the whole collection (core/linear/multivariate/)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._threads import thread_count
from widemargin.errors import DataError, UsageError
from widemargin.learn.costs import costs_of
from widemargin.learn.svm.linear.linear_solution import LinearSolution
from widemargin.progress import watch

Floats = NDArray[np.float64]

MULTIVARIATE = ("prbep", "f1")
# Labels whose weights are dense at a time.
_LABELS_AT_ONCE = 64
# Copies of examples, for all of them together.
_MOST_COPIES = 2**31


def check_multivariate(learner: Any) -> None:
    """Refuse parameters that do not go with a loss of the whole collection."""
    if learner.penalty != "l2":
        raise UsageError(f'loss="{learner.loss}" requires penalty="l2".')
    if isinstance(learner.bias, str):
        raise UsageError(
            f'loss="{learner.loss}" requires a regularized bias: pass a size, such as bias=1.0, or None.'
        )
    if learner.class_weight is not None:
        raise UsageError(
            f'loss="{learner.loss}" is a measure of all examples together: class_weight does not apply. Omit '
            f"it."
        )
    if learner.stop != "gap":
        raise UsageError(f'stop={learner.stop!r} requires loss="hinge" or "squared_hinge".')


def solve_multivariate(
    learner: Any, csr: Csr, signs: NDArray[np.int8], costs: Any, weights: Floats, start: Any
) -> LinearSolution:
    """The machines of all labels.

    Parameters
    ----------
    learner : a `LinearSVM`
    signs : (n, labels)
    costs, start : not used
    weights : how often each example counts; empty for once
    """
    n_labels = signs.shape[1]
    cost = np.ascontiguousarray(costs_of(learner.C, n_labels), dtype=np.float64)
    options = _core.MultivariateOptions(
        bias=0.0 if learner.bias is None else float(learner.bias),
        f1=learner.loss == "f1",
        tol=float(learner.tol),
        max_rounds=int(learner.max_iter),
    )
    copies, done = _copies(learner, weights), np.zeros(1, np.int64)
    coefs: list[Any] = []
    found: list[tuple[NDArray[Any], ...]] = []
    with watch(done, "Training", total=n_labels, unit="labels", enabled=None if learner.verbose else False):
        for first in range(0, n_labels, _LABELS_AT_ONCE):
            some = slice(first, min(first + _LABELS_AT_ONCE, n_labels))
            problem = _core.MultivariateProblem(
                signs=np.ascontiguousarray(signs[:, some].T), cost=cost[some], copies=copies
            )
            results = _core.MultivariateResults.zeros(
                labels=some.stop - first, examples=csr.n_rows, columns=csr.n_columns, labels_done=done
            )
            _core.train_multivariate(csr.native(), problem, options, results, thread_count(learner.n_jobs))
            coefs.append(sp.csr_array(results.weights) if learner.sparse_coef else results.weights)
            found.append(
                (results.intercept, results.objective, results.gap, results.rounds, results.converged)
            )
    # Dense weights lie features x labels in memory, the order in which documents are scored.
    dense = None if learner.sparse_coef else np.ascontiguousarray(np.vstack(coefs).T).T
    coef = sp.csr_array(sp.vstack(coefs)) if dense is None else dense
    return LinearSolution(coef, *map(np.concatenate, zip(*found, strict=True)))


def _copies(learner: Any, weights: Floats) -> NDArray[np.int32] | None:
    if not len(weights):
        return None
    wrong = weights != np.floor(weights)
    if wrong.any() or weights.sum() >= _MOST_COPIES:
        at = int(wrong.argmax() if wrong.any() else weights.argmax())
        raise DataError(
            f'sample_weight[{at}] = {weights[at]:g}: with loss="{learner.loss}" a weight is the number of '
            f"copies of an example: a whole number, together fewer than 2**31. Round the weights."
        )
    return weights.astype(np.int32)
