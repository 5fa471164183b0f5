"""How F1 of every label grows with the number of training documents: held-out decisions at rising sizes.

The documents are divided into folds. Each fold is decided by rules that learned from an eighth, a quarter, a
half and all of the other documents, nested and with their share of every label. All sizes are measured on the
same documents, all of them, so that the differences between sizes are known far better than the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from widemargin.decide.goals import Goal
from widemargin.estimate.cross_validation import checked_folds, stratified_folds
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels, LabelSpace
from widemargin.progress import track

Floats = NDArray[np.float64]
FOLDS = 8
PARTS = (1, 2, 4, 8)  # eighths of the training documents of a fold
_DRAWS = 200
_LOOSE = 0.01  # tolerance of learners, where they have one: enough for decisions


@dataclass(frozen=True, eq=False)
class Growth:
    """F1 of every label at rising numbers of training documents.

    Attributes
    ----------
    labels : their names, one per column; for two classes both
    sizes : (sizes,) training documents
    documents : documents that each size was measured on
    examples : (labels,) how many of them have the label
    f1 : (sizes, labels)
    covariance : (labels, sizes, sizes) of the F1 over samples of documents that they are measured on
    """

    labels: list[Any]
    sizes: NDArray[np.int64]
    documents: int
    examples: NDArray[np.int64]
    f1: Floats
    covariance: Floats


def measure_growth(
    learner: Any,
    rows: TrainingRows,
    *,
    folds: int = FOLDS,
    random_state: int = 0,
    verbose: bool = False,
) -> Growth:
    """Measure F1 of every label at an eighth, a quarter, a half and all of the training documents of a fold.

    Labels that are decided one by one are decided as `train` does by default: by thresholds for F1, chosen on
    held-out scores without the document in question.

    Examples
    --------
    >>> from widemargin import LinearSVM
    >>> from widemargin.labels import Labels
    >>> X = np.random.default_rng(0).normal(size=(160, 4)) + np.repeat([[0.0], [1.5]], 80, axis=0)
    >>> growth = measure_growth(LinearSVM(), TrainingRows(X, Labels.of(["a"] * 80 + ["b"] * 80)))
    >>> growth.labels, growth.sizes.tolist(), bool((growth.f1[-1] > 0.9).all())
    (['a', 'b'], [18, 36, 72, 140], True)
    """
    y = rows.y
    n = len(y)
    folds = checked_folds(folds, n)
    learner = clone(learner)
    # Decisions need no exact solution.
    if "tol" in learner.get_params():
        learner.set_params(tol=max(learner.tol, _LOOSE))
    if hasattr(learner, "verbose"):
        learner.set_params(verbose=False)
    fold = stratified_folds(y.signs, folds, random_state)
    scores = np.empty((len(PARTS), n, y.space.n_columns), dtype=np.float32)
    sizes = np.zeros(len(PARTS))
    for number in track(range(folds), "Learning curve", unit="folds", enabled=None if verbose else False):
        out = fold == number
        rest = np.flatnonzero(~out)
        part = stratified_folds(y.signs[rest], PARTS[-1], [random_state, number])
        for k, parts in enumerate(PARTS):
            learned = rest[part < parts]
            sizes[k] += len(learned) / folds
            unseen = np.ones(n, dtype=bool)
            unseen[learned] = False
            told, X = rows.told_without(learner, unseen)
            found = clone(told).fit(X[learned], y.take(learned)).decision_function(X[out])
            scores[k, out] = np.asarray(found).reshape(np.count_nonzero(out), -1)
    return _measured(y, scores, np.round(sizes).astype(np.int64), random_state)


def _measured(y: Labels, scores: NDArray[np.float32], sizes: NDArray[np.int64], seed: int) -> Growth:
    """F1 of the decisions by these scores, and how far other documents would move it."""
    space = y.space
    truth = _of_every_class(space, y.signs > 0)
    weights = np.random.default_rng([seed, 1]).poisson(1.0, size=(_DRAWS, len(truth))).astype(np.float32)
    # The first draw is the documents as they are.
    weights = np.vstack([np.ones(len(truth), np.float32), weights])
    positive = _sums(weights, truth)
    drawn = np.empty((_DRAWS + 1, len(scores), truth.shape[1]))
    for k, table in enumerate(scores):
        decided = _of_every_class(space, decisions(space, table, y.signs) > 0)
        # F1 = 2 TP / (positive + decided): numerator and denominator are sums over documents.
        drawn[:, k] = _ratio(2 * _sums(weights, decided & truth), positive + _sums(weights, decided))
    apart = drawn[1:] - drawn[1:].mean(axis=0)
    covariance = np.einsum("dil,djl->lij", apart, apart) / (_DRAWS - 1)
    names = (space.classes if space.kind == "binary" else space.column_names).tolist()
    return Growth(names, sizes, len(truth), truth.sum(axis=0), drawn[0], covariance)


def decisions(space: LabelSpace, scores: NDArray[Any], truth: NDArray[Any]) -> NDArray[np.int8]:
    """Signs by held-out scores: the largest of exclusive classes, or thresholds for F1."""
    if space.kind == "multiclass":
        return np.asarray(space.choose(scores), dtype=np.int8)
    return Goal.read("f1").decisions(scores, truth)


def _of_every_class(space: LabelSpace, positive: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.hstack([~positive, positive]) if space.kind == "binary" else positive


def _sums(weights: NDArray[np.float32], cells: NDArray[np.bool_]) -> NDArray[Any]:
    return np.asarray(weights @ sp.csc_array(cells.astype(np.float32)))


def _ratio(numerator: NDArray[Any], denominator: NDArray[Any]) -> Floats:
    made: Floats = np.divide(numerator, denominator, out=np.zeros(numerator.shape), where=denominator > 0)
    return made
