"""Scores of examples by rules that did not learn from them: k-fold cross-validation, and hold-out.

A learner whose `fit` takes weights trains on all examples with those of one fold weighing nothing, so that
its labels, its columns and the place of every dual variable stay what they are, and the solution on all
examples is where each fold starts from. Other learners train on the remaining examples.
"""

from __future__ import annotations

import heapq
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from widemargin._arrays import is_sparse
from widemargin._executors import Executor, called, kept
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.costs import weights_for
from widemargin.measure.held_out_scores import HeldOutScores
from widemargin.progress import track

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]


def out_of_fold(
    learner: Any,
    X: Any,
    y: Any,
    *,
    folds: int = 10,
    sample_weight: Any = None,
    tol: float | None = None,
    random_state: Any = 0,
    verbose: bool = False,
    rows: TrainingRows | None = None,
    executor: Executor | None = None,
) -> HeldOutScores:
    """Score every example by a rule that was learned without the example's fold.

    Parameters
    ----------
    learner : an estimator. One that is fitted on `X` and `y` lends its dual variables to every fold as a
        start, if it has a `warm_start`; it does not change.
    X : sparse or dense matrix (n, features), or a kernel matrix (n, n) for a learner on one
    y : labels in any form that :mod:`widemargin.labels` takes
    folds : how many parts, each with its share of every label's examples
    sample_weight : (n,) factors on the costs of the examples
    tol : tolerance of the learner in the folds, where it has one; None for its own
    random_state : seed of the division into folds
    verbose : show a progress bar when stderr is a terminal
    rows : how `X` was made, so that vocabulary, weights and features are made again without every fold
    executor : runs folds elsewhere, see :mod:`widemargin._executors`; scores do not depend on it

    Examples
    --------
    >>> from widemargin import LinearSVM
    >>> X, y = np.array([[0.0], [0.2], [0.4], [2.0], [2.2], [2.4]]), list("aaabbb")
    >>> found = out_of_fold(LinearSVM(), X, y, folds=3)
    >>> found.signs.ravel().tolist(), found.folds
    ([-1, -1, -1, 1, 1, 1], 3)
    """
    n = X.shape[0]
    y = Labels.of(y, n)
    space, truth = y.space_and_signs
    folds = checked_folds(folds, n)
    warn_of_weak_labels(space, truth)
    fold = stratified_folds(truth, folds, random_state)
    weights_for(learner, sample_weight)
    parameters = {} if tol is None or "tol" not in learner.get_params() else {"tol": tol}
    scores = np.empty((n, space.n_columns))
    shared = learner, X if rows is None else None, y, rows, fold, sample_weight, parameters
    given = kept(executor, shared)
    found = called(executor, _scores_of_fold, ((given, number) for number in range(folds)))
    shown = None if verbose else False
    for number, each in enumerate(track(found, "Cross-validating", total=folds, unit="folds", enabled=shown)):
        scores[fold == number] = each
    return HeldOutScores.of_folds(scores, truth, fold)


def _scores_of_fold(given: tuple[Any, ...], number: int) -> Floats:
    learner, X, y, rows, fold, sample_weight, parameters = given
    out = fold == number
    told, rows_of_fold = (learner, X) if rows is None else rows.told_without(learner, out)
    return scores_of_rule(told, rows_of_fold, y, (~out).astype(np.int64), out, sample_weight, parameters)


def hold_out(
    learner: Any,
    X: Any,
    y: Any,
    *,
    share: float = 0.2,
    sample_weight: Any = None,
    random_state: Any = 0,
    rows: TrainingRows | None = None,
) -> HeldOutScores:
    """Score a random part of the examples by a rule that was learned from the others.

    It costs one training. The error on k examples is that of the rule of the others without bias, and so on
    average above that of the rule of all examples (joachims 5.8); its standard deviation is at most
    1 / (2 sqrt(k)) (5.9).

    Parameters
    ----------
    share : of the examples that are held out, with about that share of every label's examples
    learner, X, y, sample_weight, random_state, rows : as for :func:`out_of_fold`

    Examples
    --------
    >>> from widemargin import LinearSVM
    >>> X, y = np.array([[0.0], [0.2], [0.4], [2.0], [2.2], [2.4]]), list("aaabbb")
    >>> found = hold_out(LinearSVM(), X, y, share=1 / 3)
    >>> found.documents.tolist(), found.signs.ravel().tolist()
    ([2, 3], [-1, 1])
    """
    n = X.shape[0]
    y = Labels.of(y, n)
    space, truth = y.space_and_signs
    if not 0 < share <= 0.5 or n < 2:
        raise UsageError(f"share={share!r} of {n} examples: expected two examples, and a share up to 0.5.")
    out = stratified_folds(truth, min(round(1 / share), n), random_state) == 0
    weights_for(learner, sample_weight)
    warn_of_weak_labels(space, truth)
    told, rows_of_fold = (learner, X) if rows is None else rows.told_without(learner, out)
    scores = scores_of_rule(told, rows_of_fold, y, (~out).astype(np.int64), out, sample_weight)
    return HeldOutScores.of_part(scores, truth[out], np.flatnonzero(out))


def scores_of_rule(
    learner: Any,
    X: Any,
    y: Labels,
    times: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    sample_weight: Any = None,
    parameters: dict[str, Any] | None = None,
) -> Floats:
    """Scores of the examples `wanted` by a rule that learns from every example as often as `times` says.

    Parameters
    ----------
    learner : as for :func:`out_of_fold`
    times : (n,) 0 for examples that are left out
    parameters : those of the learner that are to differ
    """
    space, truth = y.space_and_signs
    if not has_fit_parameter(learner, "sample_weight") or getattr(learner, "leaves_rows_out", False):
        drawn = np.repeat(np.arange(len(times)), times)
        model = clone(learner).set_params(**(parameters or {}))
        some = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)[drawn]
        return scores_without(model, X[drawn], X[wanted], space, truth[drawn], some)
    weights = times * (1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64))
    model = _started(learner, times == 0).set_params(**(parameters or {})).fit(X, y, sample_weight=weights)
    scores: Floats = model.decision_function(X[wanted]).reshape(np.count_nonzero(wanted), -1)
    return scores


def stratified_folds(truth: Signs, folds: int, random_state: Any = 0) -> NDArray[np.int32]:
    """Divide examples into folds of about the same size, with about the same share of every label.

    Labels are dealt out one after the other, the rarest first, each example to the fold that has the fewest
    of its label (after Sechidis, Tsoumakas and Vlahavas, ECML 2011, with the order of the labels fixed).

    Parameters
    ----------
    truth : signs (n, columns)

    Returns
    -------
    (n,) numbers below `folds`

    Examples
    --------
    >>> truth = np.array([[1], [1], [1], [1], [-1], [-1]], np.int8)
    >>> fold = stratified_folds(truth, 2)
    >>> np.bincount(fold).tolist(), np.bincount(fold[:4]).tolist()
    ([3, 3], [2, 2])
    """
    n = len(truth)
    generator = np.random.default_rng(random_state)
    order = generator.permutation(n)
    shuffled = truth[order] > 0
    positives = np.count_nonzero(shuffled, axis=0)
    rarer = np.minimum(positives, n - positives)
    fold = np.full(n, -1, dtype=np.int32)
    for column in np.argsort(rarer, kind="stable"):
        members = np.flatnonzero(shuffled[:, column] == (positives[column] <= n - positives[column]))
        _deal(fold, members, folds)
    _deal(fold, np.arange(n), folds)
    result = np.empty(n, dtype=np.int32)
    result[order] = fold
    return result


def _deal(fold: NDArray[np.int32], members: NDArray[np.intp], folds: int) -> None:
    """Give those of `members` that have no fold yet to the folds that have the fewest members."""
    taken = fold[members]
    counts = np.bincount(taken[taken >= 0], minlength=folds).tolist()
    sizes = np.bincount(fold[fold >= 0], minlength=folds).tolist()
    heap = list(zip(counts, sizes, range(folds), strict=True))
    heapq.heapify(heap)
    for example in members[taken < 0].tolist():
        count, size, number = heap[0]
        fold[example] = number
        heapq.heapreplace(heap, (count + 1, size + 1, number))


def checked_folds(folds: Any, n: int) -> int:
    """`folds`, or as many as there are examples, with a warning."""
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise UsageError(f"folds={folds!r}: expected a whole number of at least 2.")
    if n < folds:
        warnings.warn(
            f"There are {n} examples for {folds} folds: each example is a fold of its own, and an estimate "
            f"from so few is weak. Label more documents.",
            DataWarning,
            stacklevel=3,
        )
    return min(int(folds), n)


def warn_of_weak_labels(space: LabelSpace, truth: Signs) -> None:
    """Say which labels have too few examples for every rule to have seen one."""
    positives = np.count_nonzero(truth > 0, axis=0)
    rarer = np.minimum(positives, len(truth) - positives)
    for few, why in (
        (rarer == 0, "have no example, or no counter-example: there is nothing to estimate"),
        (
            rarer == 1,
            "have one example: the rule that has to find it never saw one, so the estimate is that it is "
            "missed",
        ),
    ):
        if few.any():
            names = space.column_names[few].tolist()
            warnings.warn(
                f"{len(names)} of {len(truth[0])} labels ({', '.join(map(repr, names[:3]))}"
                f"{', ...' if len(names) > 3 else ''}) {why}. Label more documents.",
                DataWarning,
                stacklevel=3,
            )


def _started(learner: Any, out: NDArray[np.bool_]) -> Any:
    """A copy of `learner` that begins at its solution without the examples that are left out."""
    model = clone(learner)
    alpha = getattr(learner, "alpha_", None)
    if alpha is None or alpha.shape[0] != len(out):
        return model
    if is_sparse(alpha):
        start = sp.csc_array(alpha.multiply(np.where(out, 0.0, 1.0)[:, None]))
    else:
        start = alpha.copy()
        start[out] = 0.0
    start_from(model, start, learner.label_space_)
    return model


def start_from(model: Any, alpha: Any, space: LabelSpace | None) -> None:
    """Let `model` begin at the dual variables of another solution, if it takes them and there are some."""
    if alpha is not None and "warm_start" in model.get_params():
        model.set_params(warm_start=True)
        model.alpha_, model.label_space_ = alpha, space


def scores_without(
    learner: Any, X_seen: Any, X_unseen: Any, space: LabelSpace, seen: Signs, sample_weight: Any = None
) -> Floats:
    """Fit `learner` on some examples and score others, in the columns of `space`.

    Parameters
    ----------
    seen : the signs of the examples in `X_seen`; a label may be missing among them
    sample_weight : the weights of the examples in `X_seen`
    """
    weights = weights_for(learner, sample_weight)
    scores = np.empty((X_unseen.shape[0], space.n_columns))
    if space.kind == "multilabel":
        if (seen == seen[0]).all():
            # Every example has the same labels, so there is no rule but to name them.
            scores[:] = seen[0]
            return scores
        scores[:] = learner.fit(X_seen, (seen > 0).astype(np.int64), **weights).decision_function(X_unseen)
        return scores
    places = (seen[:, 0] > 0).astype(np.intp) if space.kind == "binary" else seen.argmax(axis=1)
    known = np.unique(places)
    if len(known) == 1:
        # One class remains, so there is no rule but to name it.
        positive = known[0] if space.kind == "multiclass" else known[0] - 1
        scores[:] = np.where(np.arange(space.n_columns) == positive, 1.0, -1.0)
        return scores
    fitted = learner.fit(X_seen, space.classes[places], **weights)
    found = fitted.decision_function(X_unseen).reshape(len(scores), -1)
    if space.kind == "binary":
        scores[:] = found
        return scores
    # A class that nobody has seen is never the answer.
    scores[:] = min(found.min(initial=0.0), -1.0)
    scores[:, known] = np.hstack([-found, found]) if len(known) == 2 else found
    return scores
