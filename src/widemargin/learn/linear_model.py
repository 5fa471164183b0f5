"""The base of linear learners: scores are X @ coef_.T + intercept_."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import checked_csr, is_sparse
from widemargin._one_fit import require_not_fitting
from widemargin._parameters import require_finite
from widemargin._stored import Stored
from widemargin.learn.linear_weights import LinearWeights, linear_scores

State = tuple[dict[str, Any], dict[str, NDArray[Any]]]


class LinearModel(ClassifierMixin, BaseEstimator, LinearWeights):
    """Base class of learners with one weight vector and one intercept per column of labels.

    Subclasses set `label_space_`, `coef_` (columns x features, dense or sparse), `intercept_` and
    `n_features_in_`.
    """

    @property
    def classes_(self) -> NDArray[Any]:
        """All labels, sorted."""
        check_is_fitted(self, "label_space_")
        return self.label_space_.classes

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of the documents: (n,) for a binary task, otherwise (n, labels).

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        """
        check_is_fitted(self, "label_space_")
        require_not_fitting(self)
        csr = checked_csr(self, X, first=False)
        scores = linear_scores(self, csr)
        require_finite(self, csr, scores=scores)
        result: NDArray[np.float64] = scores[:, 0] if self.label_space_.kind == "binary" else scores
        return result

    def predict(self, X: Any) -> Any:
        """Predicted labels, in the form of the training labels."""
        scores = self.decision_function(X)
        return self.label_space_.decide(scores)

    def get_state(self) -> State:
        """The state for prediction: a configuration for JSON, and arrays."""
        check_is_fitted(self, "label_space_")
        config = {
            "parameters": self.get_params(),
            "labels": self.label_space_.to_dict(),
            "n_features": self.n_features_in_,
        }
        arrays: dict[str, NDArray[Any]] = {"intercept": self.intercept_}
        # A sparse entry takes 12 bytes, a dense one 8.
        if is_sparse(self.coef_) or np.count_nonzero(self.coef_) < 0.6 * self.coef_.size:
            csr = sp.csr_array(self.coef_)
            arrays |= {
                "coef_data": csr.data,
                "coef_indices": csr.indices.astype(np.int32, copy=False),
                "coef_indptr": csr.indptr.astype(np.int64, copy=False),
            }
        else:
            arrays["coef"] = np.ascontiguousarray(self.coef_.T)
        config["sparse_coef"] = bool(is_sparse(self.coef_))
        return config, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """A fitted learner from the result of `get_state`, without its dual variables."""
        stored = Stored(config, arrays)
        learner: Self = stored.estimator(cls)
        learner._read_weights(stored)
        return learner

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = False
        return tags
