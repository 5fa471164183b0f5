"""Exact leave-one-out: the score of every training example by the rule that is learned without it.

A support vector machine needs little retraining for it (thesis, 5.3): most examples are proven harmless by
the solution on all of them, and the others are retrained from that solution until the score is certain
(core/left_out/leave_one_out.hpp; kernels and unregularized thresholds: leave_one_out_kernel.hpp there). Least
squares have a closed form (learn/squares/normal_equations.py). Other learners are cross-validated.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

import widemargin._core as _core
from widemargin._arrays import Csr, canonical_csr, is_sparse, row_squares
from widemargin._threads import thread_count
from widemargin.errors import UsageError
from widemargin.estimate.cross_validation import OutOfFold, out_of_fold, warn_of_weak_labels
from widemargin.estimate.left_out_kernel import kernel_leave_one_out
from widemargin.labels import Labels
from widemargin.learn.costs import label_costs, sample_weights
from widemargin.learn.squares import least_squares, squares_problem
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.measure.contingency import Contingency, contingency
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


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """What :func:`leave_one_out` found; arrays have one row an example and one column a label.

    Attributes
    ----------
    signs : decisions, +1 where the score is above 0
    scores : decision values by the rule learned without the example
    accuracy : how far each may be from the exact one: a proof, and far from tight. Where it is not below
        the size of a score, the sign is not proven.
    truth : the labels as +1 and -1
    method : "leave-one-out", or "k-fold" for a learner whose structure does not help
    folds : how many, for "k-fold"
    retrained : (columns,) examples without which the rule had to be learned again
    unstable : (columns,) scores whose threshold is the middle of an interval, because the rule without the
        example has no unbounded support vector
    """

    signs: Signs
    scores: Floats
    accuracy: Floats
    truth: Signs
    method: Literal["leave-one-out", "k-fold"]
    folds: int | None
    retrained: NDArray[np.int64]
    unstable: NDArray[np.int64]

    @classmethod
    def of_folds(cls, found: OutOfFold) -> LeaveOneOut:
        """What cross-validation found, of which nothing is proven."""
        nothing, unknown = np.zeros(found.truth.shape[1], np.int64), np.full(found.truth.shape, np.inf)
        return cls(found.signs, found.scores, unknown, found.truth, "k-fold", found.folds, nothing, nothing)

    @property
    def table(self) -> Contingency:
        """The decisions against the truth, one entry a column."""
        return contingency(self.truth, self.signs)


def leave_one_out(
    learner: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    scores: bool = True,
    accuracy: float = 0.3,
    folds: int = 10,
    n_jobs: int | None = None,
    random_state: Any = 0,
    verbose: bool = False,
) -> LeaveOneOut:
    """Score every example by the rule that is learned without it.

    Costs stay what they are when an example leaves, those of ``class_weight="balanced"`` too.

    Parameters
    ----------
    learner : fitted on `X`, `y` and `sample_weight`
    X : sparse or dense matrix (n, features)
    y : labels in any form that :mod:`widemargin.labels` takes
    scores : whether the values matter. Otherwise only their signs are made certain, which is faster: the
        contingency table is the same, the values are the middle of what is known.
    accuracy : how far from the exact one a score may be, by proof. Most scores are far nearer.
    folds : for learners that have to be cross-validated
    n_jobs : native threads, None for every core; the result does not depend on it
    random_state : seed of the order of retraining, and of folds
    verbose : show a progress bar when stderr is a terminal

    Examples
    --------
    >>> X, y = np.array([[0.0], [0.2], [1.4], [1.0], [2.2], [2.4]]), list("aaabbb")
    >>> found = leave_one_out(LinearSVM().fit(X, y), X, y)
    >>> found.signs.ravel().tolist(), found.method
    ([-1, -1, 1, -1, 1, 1], 'leave-one-out')
    """
    if not isinstance(accuracy, Real) or not float(accuracy) > 0:
        raise UsageError(f"accuracy={accuracy!r}: expected a positive number.")
    if not hasattr(learner, "label_space_"):
        raise UsageError("leave_one_out takes a learner that is fitted. Call fit first.")
    truth = Labels.of(y, X.shape[0], space=learner.label_space_).signs
    if not _knows_its_examples(learner, X):
        found = out_of_fold(
            learner,
            X,
            y,
            folds=folds,
            sample_weight=sample_weight,
            random_state=random_state,
            verbose=verbose,
        )
        return LeaveOneOut.of_folds(found)
    warn_of_weak_labels(learner.label_space_, truth)
    if isinstance(learner, least_squares.RegularizedLeastSquares):
        values = learner.left_out_scores(X, y, sample_weight)
        within, nothing = np.zeros(truth.shape), np.zeros(truth.shape[1], np.int64)
        decided = np.where(values > 0, 1, -1).astype(np.int8)
        return LeaveOneOut(decided, values, within, truth, "leave-one-out", None, nothing, nothing)
    if isinstance(learner, LinearSVM) and not isinstance(learner.bias, str) and np.isfinite(learner.C):
        csr = canonical_csr(X)
        weights = sample_weights(sample_weight, csr.n_rows)
        wanted = float(accuracy) if scores else np.inf
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        parts = _linear(learner, csr, truth, weights, wanted, seed, thread_count(n_jobs), verbose)
        values, within = (np.concatenate(part).T for part in list(zip(*parts, strict=True))[:2])
        retrained = np.concatenate([part[2] for part in parts])
        unstable = np.zeros(len(retrained), np.int64)
        _warn_of_uncertain(values, within)
    else:
        values, within, retrained, unstable = kernel_leave_one_out(
            _as_kernel_machine(learner, X, y, sample_weight),
            X,
            y,
            sample_weight,
            scores=scores,
            accuracy=float(accuracy),
            n_jobs=n_jobs,
            verbose=verbose,
        )
    decided = np.where(values > 0, 1, -1).astype(np.int8)
    return LeaveOneOut(decided, values, within, truth, "leave-one-out", None, retrained, unstable)


def _knows_its_examples(learner: Any, X: Any) -> bool:
    """Whether the learner is a support vector machine with a rule a label, just fitted on `X`.

    Or least squares, whose rules without an example have a closed form.
    """
    if isinstance(learner, least_squares.RegularizedLeastSquares):
        return bool(min(X.shape) < squares_problem.LARGEST_MATRIX)
    if not isinstance(learner, LinearSVM | KernelSVM):
        return False
    if getattr(learner, "scheme", "one-vs-rest") != "one-vs-rest" and learner.label_space_.kind != "binary":
        return False
    alpha = getattr(learner, "alpha_", None)
    return alpha is not None and alpha.shape[0] == X.shape[0]


def _as_kernel_machine(learner: LinearSVM | KernelSVM, X: Any, y: Any, sample_weight: Any) -> Any:
    """The learner itself, or the same hard margin as the decomposition solves it."""
    if isinstance(learner, KernelSVM) or learner.bias == "unregularized":
        return learner
    same = KernelSVM(
        learner.C,
        kernel="linear",
        bias=learner.bias,
        class_weight=learner.class_weight,
        n_jobs=learner.n_jobs,
    )
    return same.fit(X, y, sample_weight)


def _linear(
    learner: LinearSVM,
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
    progress = np.zeros(1, np.int64)
    parts = []
    with watch(
        progress, "Leaving out", total=n * n_labels, unit="examples", enabled=None if verbose else False
    ):
        for first in range(0, n_labels, _LABELS_AT_ONCE):
            some = slice(first, min(first + _LABELS_AT_ONCE, n_labels))
            signs = np.ascontiguousarray(truth[:, some].T)
            costs = np.ascontiguousarray(positive[some]), np.ascontiguousarray(negative[some])
            alpha = alphas[:, some]
            alpha = np.ascontiguousarray((alpha.toarray() if is_sparse(alpha) else alpha).T, dtype=np.float64)
            alpha = _refined(learner, csr, signs, costs, weights, alpha, bias, wanted, seed, n_threads)
            values, within = np.zeros(signs.shape), np.zeros(signs.shape)
            retrained = np.zeros(len(signs), np.int64)
            _core.leave_one_out_linear(
                csr.indptr, csr.indices, csr.data, csr.n_columns, signs, *costs, weights, alpha, bias,
                learner.loss == "squared_hinge", wanted, _MOST_ROUNDS, seed, n_threads, values, within,
                retrained, progress,
            )  # fmt: skip
            parts.append((values, within, retrained))
    return parts


def _refined(
    learner: LinearSVM,
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
    n_labels, n = signs.shape
    result = np.zeros((n_labels, n))
    _core.train_linear_svm(
        csr.indptr, csr.indices, csr.data, csr.n_columns, signs, *costs, weights, alpha, bias,
        learner.loss == "squared_hinge", True, max(tol, 1e-10), _MOST_PASSES, seed, n_threads,
        np.zeros((csr.n_columns, n_labels)), np.zeros(n_labels), result, np.zeros((n_labels, n)),
        np.zeros(n_labels), np.zeros(n_labels), np.zeros(n_labels, np.int64), np.zeros(n_labels, np.uint8),
        np.zeros(1, np.int64),
    )  # fmt: skip
    return result


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
            stacklevel=3,
        )
