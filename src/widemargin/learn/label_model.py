"""The base of learners of labels: classes, predictions, and what every saved learner has."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from widemargin._parameters import check_declared
from widemargin._stored import Stored
from widemargin.labels import LabelSpace

Arrays = dict[str, NDArray[Any]]
State = tuple[dict[str, Any], Arrays]


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
