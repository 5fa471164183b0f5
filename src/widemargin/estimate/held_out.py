"""Scores of the training documents by rules that did not learn from them, whichever way they are found."""

from __future__ import annotations

import copy
from typing import Any, Literal

import numpy as np

from widemargin.estimate.cross_validation import out_of_fold
from widemargin.estimate.leave_one_out import LeaveOneOut, leave_one_out
from widemargin.learn.squares.least_squares import RegularizedLeastSquares
from widemargin.learn.svm.kernel_svm import KernelSVM

Method = Literal["leave-one-out", "k-fold"]

# Examples x support vectors x steps of training up to which a kernel machine's leave-one-out takes seconds:
# 0.1 to 0.6 ns each, measured on documents and on noise, between 500 and 2,000 of them.
MOST_WORK = 10_000_000_000
# Rows of the matrix that least squares factorize, cubed, up to which it takes seconds: 5,800 rows.
MOST_FACTORIZED = 200_000_000_000


def affordable(learner: Any, n: int) -> Method:
    """Leave-one-out, unless `learner` is a kernel machine or least squares that would be long at it.

    Of a machine, every one of the support vectors may have to leave and the machine be trained again, which
    takes many steps where the first training took many: on labels that the examples do not explain, at a
    high cost.
    """
    if isinstance(learner, RegularizedLeastSquares):
        matrices = 1 if learner.class_weight is None else learner.label_space_.n_columns
        size = matrices * float(min(n, learner.n_features_in_)) ** 3
        return "leave-one-out" if size <= MOST_FACTORIZED else "k-fold"
    if not isinstance(learner, KernelSVM):
        return "leave-one-out"
    work = n * np.sum(np.asarray(learner.n_support_, dtype=np.float64) * learner.n_iter_)
    return "leave-one-out" if work <= MOST_WORK else "k-fold"


def cost_in_words(learner: Any, n: int) -> str:
    """Why leaving out every one of `n` examples takes long, of a learner for which `affordable` says so."""
    if isinstance(learner, RegularizedLeastSquares):
        rows = min(n, learner.n_features_in_)
        return f"least squares would factorize a matrix of {rows:,} rows"
    return f"{len(learner.support_):,} of {n:,} are support vectors"


def held_out(
    learner: Any,
    X: Any,
    y: Any,
    *,
    method: Method,
    sample_weight: Any = None,
    random_state: Any = 0,
    verbose: bool = False,
) -> LeaveOneOut:
    """Score every example that `learner` was fitted on, with these weights, by a rule learned without it.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin import LinearSVM
    >>> X, y = np.array([[0.0], [0.2], [0.4], [2.0], [2.2], [2.4]]), list("aaabbb")
    >>> found = held_out(LinearSVM().fit(X, y), X, y, method="leave-one-out")
    >>> (found.scores > 0).ravel().tolist()
    [False, False, False, True, True, True]
    """
    if hasattr(learner, "verbose"):
        # One bar is enough, and two at a time are more than some terminals can show.
        learner = copy.copy(learner)
        learner.verbose = False
    if method == "k-fold":
        folded = out_of_fold(
            learner, X, y, sample_weight=sample_weight, random_state=random_state, verbose=verbose
        )
        return LeaveOneOut.of_folds(folded)
    return leave_one_out(
        learner,
        X,
        y,
        sample_weight=sample_weight,
        n_jobs=getattr(learner, "n_jobs", None),
        random_state=random_state,
        verbose=verbose,
    )
