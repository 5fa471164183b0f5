"""Scores of the training documents by rules that did not learn from them, whichever way they are found."""

from __future__ import annotations

import copy
from typing import Any, Literal

from widemargin.estimate.cross_validation import out_of_fold
from widemargin.estimate.leave_one_out import LeaveOneOut, leave_one_out


def held_out(
    learner: Any,
    X: Any,
    y: Any,
    *,
    method: Literal["leave-one-out", "k-fold"],
    random_state: Any = 0,
    verbose: bool = False,
) -> LeaveOneOut:
    """Score every example that `learner` was fitted on by a rule learned without it.

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
        return LeaveOneOut.of_folds(out_of_fold(learner, X, y, random_state=random_state, verbose=verbose))
    threads = getattr(learner, "n_jobs", None)
    return leave_one_out(learner, X, y, n_jobs=threads, random_state=random_state, verbose=verbose)
