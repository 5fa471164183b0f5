"""Leave-one-out of linear machines (core/left_out/leave_one_out.hpp)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

import widemargin._core as _core
from widemargin._arrays import Csr, canonical_csr, is_sparse, row_squares
from widemargin._threads import thread_count
from widemargin.labels import Labels
from widemargin.learn.costs import label_costs, sample_weights
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.learn.svm.left_out import LeaveOut, Parts
from widemargin.learn.svm.left_out_kernel import left_out_kernel
from widemargin.learn.svm.linear_problem import linear_problem, train_linear
from widemargin.progress import watch

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]

# Labels whose dual variables are dense at one time.
_LABELS_AT_ONCE = 64
# Newton steps for one left-out example; a handful is usual.
_MOST_ROUNDS = 100
# To what share of the accuracy the solution on all examples has to be known.
_SHARE = 0.1
_SIGNS_ACCURACY = 0.3
_MOST_PASSES = 20_000


def left_out_linear(learner: Any, X: Any, y: Labels, sample_weight: Any, how: LeaveOut) -> Parts:
    """The score of every example by the rule of a `LinearSVM` that is learned without it.

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
    csr, truth = canonical_csr(X), y.signs
    weights = sample_weights(sample_weight, csr.n_rows)
    seed = int(check_random_state(how.random_state).randint(2**31 - 1))
    n_threads = thread_count(how.n_jobs)
    parts = _linear(learner, csr, truth, weights, how.accuracy, seed, n_threads, how.verbose)
    values, within = (np.concatenate(part).T for part in list(zip(*parts, strict=True))[:2])
    retrained = np.concatenate([part[2] for part in parts])
    _warn_of_uncertain(values, within)
    return values, within, retrained, np.zeros(len(retrained), np.int64)


def _linear(
    learner: Any,
    csr: Csr,
    truth: Signs,
    weights: Floats,
    wanted: float,
    seed: int,
    n_threads: int,
    verbose: bool,
) -> list[tuple[Floats, Floats, NDArray[np.int64]]]:
    """Scores, their accuracy (labels x examples) and how many were retrained, some labels at a time."""
    n, n_labels = truth.shape
    positive, negative = label_costs(learner.C, learner.class_weight, learner.label_space_, truth, weights)
    bias = 0.0 if learner.bias is None else float(learner.bias)
    alphas = learner.alpha_[:, None] if learner.alpha_.ndim == 1 else learner.alpha_
    options = _core.LeaveOneOutOptions(
        bias=bias,
        squared_loss=learner.loss == "squared_hinge",
        accuracy=wanted,
        max_rounds=_MOST_ROUNDS,
        seed=seed,
    )
    progress = np.zeros(1, np.int64)
    parts = []
    with watch(
        progress, "Leaving out", total=n * n_labels, unit="examples", enabled=None if verbose else False
    ):
        for first in range(0, n_labels, _LABELS_AT_ONCE):
            some = slice(first, min(first + _LABELS_AT_ONCE, n_labels))
            signs = np.ascontiguousarray(truth[:, some].T)
            costs = positive[some], negative[some]
            alpha = alphas[:, some]
            alpha = np.ascontiguousarray((alpha.toarray() if is_sparse(alpha) else alpha).T, dtype=np.float64)
            alpha = _refined(learner, csr, signs, costs, weights, alpha, bias, wanted, seed, n_threads)
            results = _core.LeaveOneOutResults.zeros(labels=len(signs), examples=n, progress=progress)
            problem = linear_problem(signs, costs, weights, alpha)
            _core.leave_one_out_linear(csr.native(), problem, options, results, n_threads)
            parts.append((results.scores, results.accuracy, results.retrained))
    return parts


def _refined(
    learner: Any,
    csr: Csr,
    signs: Signs,
    costs: tuple[Floats, Floats],
    weights: Floats,
    alpha: Floats,
    bias: float,
    wanted: float,
    seed: int,
    n_threads: int,
) -> Floats:
    """The solution on all examples, solved as far as leaving one out of it needs."""
    needed = needed_gap(csr, bias, wanted)
    gap, objective = (np.atleast_1d(value) for value in (learner.duality_gap_, learner.objective_))
    if learner.stop == "gap" and (gap <= needed).all():
        return alpha
    tol = min(float(np.min(needed / np.maximum(objective, 1e-300))), learner.tol)
    options = _core.LinearSvmOptions(
        bias=bias,
        squared_loss=learner.loss == "squared_hinge",
        stop_on_gap=True,
        tol=max(tol, 1e-10),
        max_passes=_MOST_PASSES,
        seed=seed,
    )
    return train_linear(csr, linear_problem(signs, costs, weights, alpha), options, n_threads).alpha


def needed_gap(csr: Csr, bias: float, wanted: float) -> float:
    """The duality gap of the solution on all examples that scores of this accuracy start from."""
    largest = float(row_squares(csr).max(initial=0.0)) + bias**2
    return (_SHARE * min(wanted, _SIGNS_ACCURACY)) ** 2 / max(largest, 1e-300)


def _warn_of_uncertain(scores: Floats, accuracy: Floats) -> None:
    uncertain = np.count_nonzero(accuracy >= np.maximum(np.abs(scores), 1e-7))
    if uncertain:
        warnings.warn(
            f"The signs of {uncertain} of {scores.size} leave-one-out scores are not proven: retraining did "
            f"not converge, or they are nearer to 0 than rounding allows to tell. Lower C, or scale X.",
            ConvergenceWarning,
            stacklevel=6,
        )
