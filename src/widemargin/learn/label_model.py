"""The base of learners of labels: classes, predictions, and what every saved learner has."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import Csr, checked_csr
from widemargin._one_fit import require_not_fitting
from widemargin._parameters import check_declared, require_finite
from widemargin._stored import Stored
from widemargin.labels import LabelSpace

Arrays = dict[str, NDArray[Any]]
State = tuple[dict[str, Any], Arrays]
Floats = NDArray[np.float64]


class LabelModel(ClassifierMixin, BaseEstimator):
    """Base class of learners whose scores a label space turns into labels.

    Subclasses set `label_space_` and `n_features_in_`, and have a `decision_function`.
    """

    label_space_: LabelSpace
    n_features_in_: int

    @property
    def classes_(self) -> NDArray[Any]:
        """All labels, sorted."""
        check_is_fitted(self, "label_space_")
        return self.label_space_.classes

    def predict(self, X: Any) -> Any:
        """Predicted labels, in the form of the training labels."""
        scores = self.decision_function(X)
        return self.label_space_.decide(scores)

    def _check_parameters(self) -> None:
        check_declared(self)

    def _described(self) -> dict[str, Any]:
        """The part of the configuration that every learner saves."""
        check_is_fitted(self, "label_space_")
        return {
            "parameters": {
                name: value.tolist() if isinstance(value, np.ndarray) else value
                for name, value in self.get_params().items()
            },
            "labels": self.label_space_.to_dict(),
            "n_features": self.n_features_in_,
        }

    @classmethod
    def _from_description(cls, stored: Stored) -> Self:
        """A learner with what `_described` saved."""
        learner: Self = stored.estimator(cls)
        learner.label_space_ = LabelSpace.from_dict(stored.value("labels"))
        learner.n_features_in_ = stored.integer("n_features")
        return learner

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = False
        return tags


class ScoresRows(LabelModel):
    """Base class of learners that score checked rows by `row_scores`."""

    def decision_function(self, X: Any) -> Floats:
        """Scores of the documents: (n,) for a binary task, otherwise (n, labels).

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        """
        check_is_fitted(self, "label_space_")
        require_not_fitting(self)
        csr = checked_csr(self, X, first=False)
        scores: Floats = self.row_scores(csr)
        require_finite(self, csr, scores=scores)
        return scores[:, 0] if self.label_space_.kind == "binary" else scores


class RowModel(ScoresRows):
    """Base class of learners whose weights, the next base class, score rows as they are.

    What :class:`~widemargin.learn.linear_model.LinearModel` is for one weight of each label and feature.
    """

    def row_scores(self, csr: Csr) -> Floats:
        """Scores (n, columns) of rows that are checked."""
        check_is_fitted(self, "label_space_")
        scores: Floats = super().row_scores(csr)
        return scores

    def score_parts(self, row: Csr) -> tuple[Floats, Floats]:
        """What each value of a row adds to the scores: the intercepts, and values x columns."""
        check_is_fitted(self, "label_space_")
        parts: tuple[Floats, Floats] = super().score_parts(row)
        return parts
