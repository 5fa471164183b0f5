"""Scores and probabilities as scikit-learn asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.classifier.scikit.learner import ScikitLearner
from widemargin.errors import DataError
from widemargin.labels import LabelSpace
from widemargin.labels.forms import Indicator, read_form
from widemargin.learn.costs import sample_weights
from widemargin.learn.label_model import LabelModel


def no_probabilities(classifier: Any) -> str | None:
    """Why a `TextClassifier` has no probabilities; None if it has some."""
    learner = classifier.learner
    if classifier.calibration is not None or classifier.costs is not None:
        return None
    own = hasattr(type(learner), "calibration_")
    if isinstance(learner, ScikitLearner) or not isinstance(learner, LabelModel | None):
        own = hasattr(getattr(learner, "estimator", learner), "predict_proba") or own
    if own:
        return None
    name = "LinearSVM" if learner is None else type(learner).__name__
    return (
        f'scores of a {name} are not probabilities. Pass calibration="platt" or "isotonic" and fit again, or '
        f"use a learner that has probabilities, such as LogisticRegression."
    )


def no_partial_fit(classifier: Any) -> str | None:
    """Why a `TextClassifier` has no `partial_fit`; None if it has it."""
    learner = getattr(classifier, "learner_", classifier.learner)
    if hasattr(learner, "partial_fit") and isinstance(learner, LabelModel):
        return None
    name = "LinearSVM" if learner is None else type(getattr(learner, "estimator", learner)).__name__
    return f"a {name} requires all documents at once. Use fit, or an online learner such as Arow."


def exact_matches(predicted: Any, y: Any, space: LabelSpace, sample_weight: Any = None) -> float:
    """The share of documents of which all predicted labels are right; of label sets.

    Examples
    --------
    >>> from widemargin.labels import Labels
    >>> space = Labels.of([["a"], ["b"], ["a", "b"]]).space
    >>> exact_matches([("a",), ("a", "b"), ()], [["a"], ["b"], ["c"]], space)
    0.3333333333333333
    """
    found, truth = (_cells(labels, space) for labels in (predicted, y))
    if len(found) != len(truth):
        raise DataError(f"There are {len(found)} documents and {len(truth)} labels. Pass one label set each.")
    right = (found == truth).all(axis=1)
    weights = sample_weights(sample_weight, len(right))
    return float(np.average(right, weights=weights if len(weights) else None))


def _cells(y: Any, space: LabelSpace) -> NDArray[np.bool_]:
    """Documents x labels, and one column more for labels that are not in `space`."""
    form = read_form(y, rows_are_sets=True)
    if isinstance(form, Indicator):
        raise DataError("y is an indicator matrix, and the classifier learned label sets. Pass label sets.")
    n_labels = len(space.classes)
    codes = form.codes({label: code for code, label in enumerate(space.classes.tolist())})
    cells = np.zeros((form.n, n_labels + 1), dtype=bool)
    cells[form.rows(), np.where(codes < 0, n_labels, codes)] = True
    return cells
