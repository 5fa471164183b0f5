"""Scores of the training documents by rules that did not learn from them, whichever way they are found."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from widemargin.estimate.cross_validation import out_of_fold
from widemargin.estimate.leave_one_out import leave_one_out

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What :func:`held_out` found.

    Attributes
    ----------
    scores : (n, columns)
    method : "leave-one-out" or "k-fold"
    folds : how many, for "k-fold"
    unstable : for every column, how many scores hang on a convention because the solution without the
        document determines no threshold
    """

    scores: Floats
    method: str
    folds: int | None
    unstable: NDArray[np.int64]


def held_out(
    learner: Any,
    X: Any,
    y: Any,
    *,
    method: Literal["leave-one-out", "k-fold"],
    random_state: Any = 0,
    verbose: bool = False,
) -> HeldOut:
    """Score every example that `learner` was fitted on by a rule learned without it.

    Examples
    --------
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
        folded = out_of_fold(learner, X, y, random_state=random_state, verbose=verbose)
        stable = np.zeros(folded.scores.shape[1], np.int64)
        return HeldOut(folded.scores, "k-fold", folded.folds, stable)
    threads = getattr(learner, "n_jobs", None)
    found = leave_one_out(learner, X, y, n_jobs=threads, random_state=random_state, verbose=verbose)
    return HeldOut(found.scores, found.method, found.folds, found.unstable)
