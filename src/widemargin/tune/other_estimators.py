"""Estimators of other libraries in a comparison: the labels that they take, and their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.labels import Labels
from widemargin.learn.costs import weights_for

Floats = NDArray[np.float64]


def plain_labels(labels: Labels) -> NDArray[Any]:
    """Labels as other estimators take them: one class per document, or an indicator matrix.

    Examples
    --------
    >>> plain_labels(Labels.of([["corn"], [], ["corn", "oil"]])).tolist()
    [[1, 0], [0, 0], [1, 1]]
    """
    if labels.space.kind == "multilabel":
        return (labels.signs > 0).astype(np.int64)
    found: NDArray[Any] = labels.space.classes[labels.codes]
    return found


class ByProbability:
    """An estimator without `decision_function`, scored by its probabilities."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ByProbability:
        self.estimator.fit(X, y, **weights_for(self.estimator, sample_weight))
        return self

    def decision_function(self, X: Any) -> Floats:
        found = self.estimator.predict_proba(X)
        if isinstance(found, list):  # a pair of columns for every label
            return np.column_stack([each[:, -1] for each in found]) - 0.5
        found = np.asarray(found, dtype=np.float64)
        if (
            len(self.estimator.classes_) == 2
            and found.shape[1] == 2
            and np.ndim(self.estimator.classes_) == 1
        ):
            found = found[:, 1]
        return found - 0.5


def with_scores(estimator: Any) -> Any:
    """The estimator itself, or one that scores by its probabilities."""
    return estimator if hasattr(estimator, "decision_function") else ByProbability(estimator)
