"""Scores of the training documents by rules that did not learn from them: which way, and the way itself."""

from __future__ import annotations

import copy
from numbers import Real
from typing import Any

import numpy as np

from widemargin._executors import Executor
from widemargin._work import RATE
from widemargin.errors import UsageError
from widemargin.estimate.cross_validation import hold_out, out_of_fold, warn_of_weak_labels
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels
from widemargin.learn.left_out.one_step import MOST_FREE
from widemargin.measure.held_out_scores import HeldOutScores, LeftOutCost

# What "auto" may spend on leave-one-out: the work of so many seconds of one core, or of so many trainings.
# (A unit of training takes about a quarter of the time of one of leave-one-out.)
SECONDS, TRAININGS = 2.0, 2
# In folds, duality gaps may be so many times as large: scores move by a few thousandths, in three quarters of
# the time.
LARGER_GAPS = 10
# Folds of cross-validation. More of them leave out less, and estimate the model of all documents with less
# bias; they are taken where the work of so many trainings is small.
FOLDS, MORE_FOLDS = 10, (40, 20)
_SMALL_WORK = 10 * RATE
# Documents x labels whose scores, their accuracies and what corrects them fit into the memory of a laptop.
MOST_LEFT_OUT = 10_000_000
# Scores of so many documents x labels (16 bytes each) are kept while leave-one-out runs.
MOST_SCORES = 100_000_000


def choose_method(
    asked: str | None, learner: Any, X: Any = None, *, cells: int = 0, fitted_features: bool = False
) -> str | None:
    """How to estimate: as asked, and for "auto" the best way that neither takes long nor fills the memory.

    Parameters
    ----------
    asked : "auto", or a method, which is not questioned; None for no estimate
    X : what `learner` was fitted on. Before that its own cost is not known, and "auto" may stay "auto".
    cells : documents x labels, to limit the time and the memory
    fitted_features : whether features were selected by labels or made of all documents; only folds do that
        again without the held-out documents

    Examples
    --------
    >>> from widemargin import LinearSVM, Perceptron
    >>> [choose_method("auto", LinearSVM(), cells=cells) for cells in (10**6, 10**8, 10**9)]
    ['auto', 'k-fold', 'xi-alpha']
    >>> choose_method("auto", Perceptron()), choose_method("leave-one-out", Perceptron())
    ('k-fold', 'leave-one-out')
    """
    if asked != "auto":
        if asked in ("leave-one-out", "one-step", "xi-alpha"):
            check_left_out(learner)
        return asked
    if cells > MOST_SCORES and hasattr(learner, "left_out_risk"):
        return "xi-alpha"
    if fitted_features or cells > MOST_LEFT_OUT or not hasattr(learner, "left_out_scores"):
        return "k-fold"
    if X is None:
        return "auto"
    cost, allowed = learner.left_out_cost(X), allowed_work(learner, X)
    if cost.work <= allowed:
        return "leave-one-out"
    return "one-step" if cost.one_step <= allowed else "k-fold"


def check_left_out(learner: Any) -> None:
    """Refuse a learner that cannot do without a document unless it is fitted again."""
    why = getattr(learner, "no_left_out", None)
    if why is not None:
        raise UsageError(why)


def allowed_work(learner: Any, X: Any) -> float:
    """What "auto" may spend on leave-one-out after `learner` was fitted on `X`, in units of work.

    It is counted, not timed, so that the same documents get the same estimate on a busy machine and with any
    number of threads.
    """
    return max(SECONDS * RATE, TRAININGS * _work_of_training(learner, X))


def _work_of_training(learner: Any, X: Any) -> float:
    """What it took to fit `learner` on `X`, where it predicts that or counts its passes."""
    if hasattr(learner, "training_work"):
        return float(learner.training_work(X))
    size = X.nnz if hasattr(X, "nnz") else np.size(X)
    return float(np.sum(getattr(learner, "n_iter_", 0))) * size


def held_out(
    learner: Any,
    X: Any,
    y: Any,
    *,
    method: str,
    sample_weight: Any = None,
    random_state: Any = 0,
    verbose: bool = False,
    rows: TrainingRows | None = None,
    executor: Executor | None = None,
) -> HeldOutScores:
    """Score every example that `learner` was fitted on, with these weights, by a rule learned without it.

    `rows` says how `X` was made from documents, which are then held out as new documents. `executor` runs
    folds elsewhere.

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
    how: dict[str, Any] = {"sample_weight": sample_weight, "random_state": random_state}
    how |= {"verbose": verbose, "rows": rows}
    if method == "k-fold":
        scored: HeldOutScores | None = getattr(learner, "scored", None)
        if scored is not None:
            return scored
        most = min(_SMALL_WORK / max(_work_of_training(learner, X), 1.0), X.shape[0])
        # Features that are made again in every fold take longer than a small training.
        known = hasattr(learner, "n_iter_") and not (rows is not None and rows.makes_features)
        folds = next((folds for folds in MORE_FOLDS if known and folds <= most), FOLDS)
        by_gap = hasattr(learner, "duality_gap_") and learner.tol is not None
        tol = LARGER_GAPS * learner.tol if by_gap else None
        return out_of_fold(learner, X, y, folds=folds, tol=tol, executor=executor, **how)
    if method == "hold-out":
        del how["verbose"]
        return hold_out(learner, X, y, **how)
    how["one_step"] = method == "one-step"
    return leave_one_out(learner, X, y, n_jobs=getattr(learner, "n_jobs", None), **how)


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
    rows: TrainingRows | None = None,
    one_step: bool = False,
) -> HeldOutScores:
    """Score every example by the rule that is learned without it.

    Support vector machines, logistic regression and least squares do so exactly, from their solution on all
    examples. Other learners are cross-validated, as are machines that no longer know their examples, and all
    learners on vectors that were learned from the documents (see :mod:`widemargin.weight.corpus_vectors`). A
    :class:`~widemargin.LabelWeightedSVM` is refused: use k-fold.

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
    rows : how `X` was made from documents. Then every document is scored as a new one: terms that no other
        document has are dropped, document frequencies are those of the others, and the row is normalized
        again. The rows of the others stay as they are.
    one_step : approximate scores of a support vector machine or a logistic regression, in a fraction of the
        time, as if no other example changed sides when one leaves
        (:mod:`widemargin.learn.left_out.one_step`)

    Examples
    --------
    >>> from widemargin import LinearSVM
    >>> X, y = np.array([[0.0], [0.2], [1.4], [1.0], [2.2], [2.4]]), list("aaabbb")
    >>> found = leave_one_out(LinearSVM().fit(X, y), X, y)
    >>> found.signs.ravel().tolist(), found.method
    ([-1, -1, 1, -1, 1, 1], 'leave-one-out')
    """
    if not isinstance(accuracy, Real) or not float(accuracy) > 0:
        raise UsageError(f"accuracy={accuracy!r}: expected a positive number.")
    if not hasattr(learner, "label_space_"):
        raise UsageError("leave_one_out takes a learner that is fitted. Call fit first.")
    check_left_out(learner)
    y = Labels.of(y, X.shape[0], space=learner.label_space_)
    how: dict[str, Any] = {"random_state": random_state, "verbose": verbose}
    cost = learner.left_out_cost(X) if hasattr(learner, "left_out_scores") else LeftOutCost(np.inf)
    if rows is not None and rows.learns_vectors:
        return out_of_fold(learner, X, y, folds=folds, sample_weight=sample_weight, rows=rows, **how)
    if one_step:
        if np.isinf(cost.one_step):
            raise UsageError(
                "Leave-one-out by one step is for a LinearSVM, KernelSVM or LogisticRegression of which no "
                f"label has more free support vectors than {MOST_FREE:,}, or than half the features. Use "
                f"leave-one-out or k-fold."
            )
        how["one_step"] = True
    if np.isinf(cost.work):
        return out_of_fold(learner, X, y, folds=folds, sample_weight=sample_weight, rows=rows, **how)
    warn_of_weak_labels(*y.space_and_signs)
    how["as_new"] = None if rows is None else rows.as_new()
    found: HeldOutScores = learner.left_out_scores(
        X, y, sample_weight, scores=scores, accuracy=float(accuracy), n_jobs=n_jobs, **how
    )
    return found
