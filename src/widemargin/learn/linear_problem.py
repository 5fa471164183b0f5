"""Linear machines of several labels over the same examples, handed to the core (core/linear/)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr

Floats = NDArray[np.float64]


def linear_problem(
    signs: NDArray[np.int8], costs: tuple[Floats, Floats], weights: Floats, start: Floats | None = None
) -> _core.LinearProblem:
    """What the core is to solve, or to leave examples out of.

    Parameters
    ----------
    signs : (labels, examples)
    costs : of positive and of negative examples, for each label
    weights : of the examples; empty for none
    start : (labels, examples) alphas to start from, or the solution to leave examples out of
    """
    positive, negative = (np.ascontiguousarray(cost) for cost in costs)
    return _core.LinearProblem(
        signs=np.ascontiguousarray(signs),
        cost_positive=positive,
        cost_negative=negative,
        sample_weights=weights,
        start=start,
    )


def train_linear(
    csr: Csr,
    problem: _core.LinearProblem,
    options: _core.LinearSvmOptions,
    n_threads: int,
    labels_done: NDArray[np.int64] | None = None,
) -> _core.LinearSvmResults:
    """The machines of all labels of the problem.

    Parameters
    ----------
    labels_done : a counter, which rises by one with every label that is done
    """
    n_labels, n = problem.signs.shape
    results = _core.LinearSvmResults.zeros(labels=n_labels, examples=n, columns=csr.n_columns)
    if labels_done is not None:
        results.labels_done = labels_done
    _core.train_linear_svm(csr.native(), problem, options, results, n_threads)
    return results


def train_logistic(
    csr: Csr,
    problem: _core.LinearProblem,
    options: _core.LogisticOptions,
    n_threads: int,
    labels_done: NDArray[np.int64] | None = None,
) -> _core.LogisticResults:
    """The same for logistic regression; an example with the sign 0 takes no part."""
    n_labels, n = problem.signs.shape
    results = _core.LogisticResults.zeros(labels=n_labels, examples=n, columns=csr.n_columns)
    if labels_done is not None:
        results.labels_done = labels_done
    _core.train_logistic(csr.native(), problem, options, results, n_threads)
    return results
