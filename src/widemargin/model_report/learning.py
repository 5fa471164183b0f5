"""The learning curve of a model: what fewer training documents would have given, measured on test "
"documents."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from widemargin.classifier.text_classifier import TextClassifier
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.cross_validation import stratified_folds
from widemargin.estimate.curves.growth import PARTS, decisions, measure_growth
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels, labeled_rows
from widemargin.labels.truth import truth_of
from widemargin.measure.contingency import contingency, f_measure, macro, micro
from widemargin.model_report.measuring import Measured
from widemargin.report.contents import Learned

_FEWEST = 16  # documents in an eighth of which anything can be learned


def learning_curve_of(
    classifier: TextClassifier, train: Collection | Vectors, found: Measured | None, seed: int = 0
) -> Learned | None:
    """F1 of the same learner after an eighth, a quarter, a half and all of the training documents.

    Terms and their weights are those of the model. Labels that are decided one by one are decided by
    thresholds for F1 chosen on the other test documents, for every size alike. Without test documents, the
    training documents are cross-validated.
    """
    learner, space = classifier.learner_, classifier.label_space_
    if hasattr(learner, "unlabeled") or not hasattr(learner, "get_params"):
        return None
    kept = labeled_rows(train.labels)
    train = train.subset(kept)
    if len(kept) < _FEWEST:
        return None
    tree = None if classifier.rule_.hierarchy is None else classifier.rule_.hierarchy.tree
    representation = classifier.scorer.representation
    X = representation.rows(train).matrix
    signs = truth_of(train.labels, space, tree)
    y = Labels(space, np.asfortranarray(signs))
    with warnings.catch_warnings():
        # Small parts have few examples of some labels, which is what the curve shows.
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            if found is None:
                return _cross_validated(learner, X, y, seed)
            return _on_test(learner, X, y, found, representation.rows(found.collection).matrix, seed)
        except UsageError:
            return None  # a learner that needs more than rows and labels


def _cross_validated(learner: Any, X: Any, y: Labels, seed: int) -> Learned:
    growth = measure_growth(learner, TrainingRows(X, y), random_state=seed)
    mean = [float(np.nanmean(np.where(growth.examples > 0, row, np.nan))) for row in growth.f1]
    return Learned(growth.sizes.tolist(), {"macro-F1": mean}, "cross-validation of the training documents")


def _on_test(learner: Any, X: Any, y: Labels, found: Measured, new: Any, seed: int) -> Learned:
    part = stratified_folds(y.signs, PARTS[-1], [seed, 0])
    sizes: list[int] = []
    measures: dict[str, list[float]] = {"micro-F1": [], "macro-F1": []}
    for parts in PARTS:
        learned = np.flatnonzero(part < parts)
        fitted = clone(learner).fit(X[learned], y.take(learned))
        scores = np.asarray(fitted.decision_function(new)).reshape(len(found.truth), -1)
        decided = decisions(y.space, scores, found.truth)
        table = contingency(found.by_class(found.truth), found.by_class(decided))
        sizes.append(len(learned))
        measures["micro-F1"].append(float(micro(f_measure, table)))
        measures["macro-F1"].append(float(macro(f_measure(table))))
    return Learned(sizes, measures, f"{len(found.truth):,} test documents")
