"""A scikit-learn classifier as the learner of a `TextClassifier`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from widemargin._arrays import Csr
from widemargin.errors import UsageError
from widemargin.labels import Labels
from widemargin.learn.label_model import LabelModel
from widemargin.tune.other_estimators import plain_labels

Floats = NDArray[np.float64]


class ScikitLearner(LabelModel):
    """Any scikit-learn classifier, with the labels and scores of this library.

    Scores are those of `decision_function`, or else probabilities minus 1/2, or else +1 and -1 for the
    predicted class. A classifier that is not multi-label itself learns label sets one label at a time.

    Parameters
    ----------
    estimator : the classifier

    Attributes
    ----------
    estimator_ : the fitted classifier; a list of them, one per label, where each label is learned alone
    coef_, intercept_ : of linear classifiers
    """

    # Folds train on fewer rows, not on rows of weight 0, which not every estimator takes for absent.
    leaves_rows_out = True

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"scikit-learn's {type(self.estimator).__name__}"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on documents and their labels."""
        labels = Labels.of(y, X.shape[0])
        weights = {}
        if sample_weight is not None:
            if not has_fit_parameter(self.estimator, "sample_weight"):
                raise UsageError(f"{self.name} does not accept sample_weight. Omit it.")
            weights = {"sample_weight": np.asarray(sample_weight, dtype=np.float64)}
        plain = plain_labels(labels)
        if labels.space.kind == "multilabel" and not self._is_multilabel:
            self.estimator_ = [
                Constant(column[0]) if (column == column[0]).all() else self._fitted(X, column, weights)
                for column in plain.T
            ]
        else:
            self.estimator_ = self._fitted(X, plain, weights)
        self.label_space_, self.n_features_in_ = labels.space, int(X.shape[1])
        return self

    def _fitted(self, X: Any, y: Any, weights: dict[str, Any]) -> Any:
        return clone(self.estimator).fit(X, y, **weights)

    @property
    def _is_multilabel(self) -> bool:
        tags = get_tags(self.estimator).classifier_tags
        return bool(tags is not None and tags.multi_label)

    def decision_function(self, X: Any) -> Floats:
        """Scores of the documents: (n,) for two classes, otherwise (n, labels)."""
        if isinstance(self.estimator_, list):
            return np.column_stack([_scores(each, X) for each in self.estimator_])
        return _scores(self.estimator_, X, multilabel=self.label_space_.kind == "multilabel")

    def row_scores(self, csr: Csr) -> Floats:
        """Scores (n, columns) of rows that are checked."""
        return self.decision_function(csr.matrix).reshape(csr.n_rows, -1)

    @property
    def has_probabilities(self) -> bool:
        """Whether the classifier has probabilities of its own."""
        return hasattr(self.estimator, "predict_proba")

    def probabilities(self, X: Any) -> Floats:
        """The classifier's own probabilities, documents x labels."""
        if isinstance(self.estimator_, list):
            return np.column_stack([each.predict_proba(X)[:, -1] for each in self.estimator_])
        return _probabilities(self.estimator_, X)

    @property
    def coef_(self) -> Any:
        """Weights, labels x features; only of linear classifiers."""
        parts = self.estimator_ if isinstance(self.estimator_, list) else [self.estimator_]
        coef = np.vstack([_dense(part.coef_) for part in parts])
        pairwise = hasattr(self.estimator_, "support_vectors_") and self.label_space_.kind == "multiclass"
        if pairwise or coef.shape != (self.label_space_.n_columns, self.n_features_in_):
            raise AttributeError(f"{self.name} does not have one weight per label and feature")
        return coef

    @property
    def intercept_(self) -> Floats:
        """The constants of the scores, one per column of labels."""
        parts = self.estimator_ if isinstance(self.estimator_, list) else [self.estimator_]
        n = self.label_space_.n_columns
        found = np.concatenate([np.ravel(np.asarray(part.intercept_, dtype=np.float64)) for part in parts])
        return np.broadcast_to(found, (n,))

    @property
    def no_left_out(self) -> str:
        """Why examples cannot be left out one at a time."""
        return (
            f"{self.name} has to be trained again without each document. Use estimate='k-fold', or a "
            f"learner of this library, such as LinearSVM or LogisticRegression."
        )

    def get_state(self) -> Any:
        raise UsageError(
            f"{self.name} cannot be saved in a model file: that would need code in the file. Use a "
            f"learner of this library, such as LinearSVM or LogisticRegression, or read a fitted linear "
            f"pipeline by widemargin.from_sklearn."
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


class Constant:
    """What is learned of a label that all documents have, or none: nothing else to say."""

    def __init__(self, value: int) -> None:
        self.value = int(value)

    def decision_function(self, X: Any) -> Floats:
        return np.full(X.shape[0], 1.0 if self.value else -1.0)

    def predict_proba(self, X: Any) -> Floats:
        return np.tile([1.0 - self.value, float(self.value)], (X.shape[0], 1))

    @property
    def coef_(self) -> Any:
        raise AttributeError("a label that all documents have, or none, has no weights")


def as_learner(learner: Any) -> Any:
    """A learner of this library as it is, any other classifier in a :class:`ScikitLearner`.

    Examples
    --------
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from widemargin import LinearSVM
    >>> as_learner(MultinomialNB()), as_learner(LinearSVM(C=2.0))
    (ScikitLearner(estimator=MultinomialNB()), LinearSVM(C=2.0))
    """
    if isinstance(learner, LabelModel):
        return learner
    if not hasattr(learner, "fit") or not hasattr(learner, "get_params") or not is_classifier(learner):
        raise UsageError(
            f"learner={learner!r} is not a classifier. Pass a learner of this library, such as LinearSVM, or "
            f"a scikit-learn classifier."
        )
    return ScikitLearner(learner)


def _scores(estimator: Any, X: Any, *, multilabel: bool = False) -> Floats:
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    if hasattr(estimator, "predict_proba"):
        found = _probabilities(estimator, X)
        binary = not multilabel and found.shape[1] == 2
        return (found[:, 1] if binary else found) - 0.5
    decided = np.asarray(estimator.predict(X))
    if multilabel:
        return 2.0 * decided - 1.0
    classes = estimator.classes_
    if len(classes) == 2:
        return np.where(decided == classes[1], 1.0, -1.0)
    return np.where(decided[:, None] == classes[None, :], 1.0, -1.0)


def _probabilities(estimator: Any, X: Any) -> Floats:
    found = estimator.predict_proba(X)
    if isinstance(found, list):  # label by label: of no and yes, or of the only one there is
        every = zip(found, estimator.classes_, strict=True)
        return np.column_stack(
            [each[:, -1] if classes[-1] else np.zeros(len(each)) for each, classes in every]
        )
    return np.asarray(found, dtype=np.float64)


def _dense(coef: Any) -> Floats:
    found = coef.toarray() if hasattr(coef, "toarray") else coef
    return np.atleast_2d(np.asarray(found, dtype=np.float64))
