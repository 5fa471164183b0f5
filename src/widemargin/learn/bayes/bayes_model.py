"""The base of naive Bayes learners: parameters, probabilities, saving and loading."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from widemargin._parameters import POSITIVE, one_of, parameter
from widemargin._stored import Stored
from widemargin.labels import LabelSpace
from widemargin.learn.bayes.bayes_weights import BayesWeights
from widemargin.learn.bayes.event_models import EVENT_MODELS, PRIORS, EventModel
from widemargin.learn.class_counts import ClassCounts
from widemargin.learn.label_model import Arrays, State
from widemargin.learn.linear_model import LinearModel

Floats = NDArray[np.float64]


def _has_probabilities(learner: BayesModel) -> bool:
    return learner.event_model != "complement"


@dataclass(eq=False, repr=False)
class BayesModel(BayesWeights, LinearModel):
    """Base class of naive Bayes learners, with the parameters of :class:`~widemargin.NaiveBayes`.

    Subclasses fit, and `_keep` what they counted.
    """

    smoothing: float = parameter(1.0, POSITIVE)
    _: KW_ONLY
    event_model: EventModel = parameter("multinomial", one_of(*EVENT_MODELS))
    prior: Literal["documents", "uniform"] = parameter("documents", one_of(*PRIORS))
    n_jobs: int | None = None

    # What a Vectorizer should make of texts.
    text_options: ClassVar[dict[str, Any]] = {"weighting": "txx"}

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> Floats:
        """Pr(y|d) by (2.20), documents x `classes_`; not with complements, which are no probabilities.

        Terms are far from independent, so most of these are too close to 0 or 1. The `calibration` of a
        :class:`~widemargin.TextClassifier` gives probabilities to rely on.
        """
        scores = self.decision_function(X)
        if self.label_space_.kind == "multiclass":
            odds = np.exp(scores - scores.max(axis=1, keepdims=True))
            return np.asarray(odds / odds.sum(axis=1, keepdims=True))
        positive: Floats = np.exp(-np.logaddexp(0.0, -scores))
        if self.label_space_.kind == "multilabel":
            return positive
        return np.column_stack([np.exp(-np.logaddexp(0.0, scores)), positive])

    def get_state(self) -> State:
        """The state for prediction and further training: a configuration for JSON, and arrays."""
        config = self._described()
        return config, self.counts_.arrays()

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """A learner from the result of `get_state`; training can continue."""
        stored = Stored(config, arrays)
        learner: Self = stored.estimator(cls)
        learner._read_weights(stored)
        return learner

    def _linear_rule(self) -> tuple[Floats, Floats]:
        check_is_fitted(self, "label_space_")
        return super()._linear_rule()

    def _keep(self, space: LabelSpace, counts: ClassCounts) -> None:
        self.label_space_, self.counts_, self._rule = space, counts, None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # meant for counts
        return tags
