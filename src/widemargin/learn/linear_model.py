"""What learners of linear rules share: scores are X @ coef_.T + intercept_, labels.py decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

import widemargin._core as _core
from widemargin._arrays import checked_csr, is_sparse
from widemargin._one_fit import require_not_fitting
from widemargin._parameters import require_finite
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.labels import LabelSpace

State = tuple[dict[str, Any], dict[str, NDArray[Any]]]


class LinearModel(ClassifierMixin, BaseEstimator):
    """Base of the learners whose result is one weight vector and one threshold a column of labels.

    Subclasses set `label_space_`, `coef_` (columns x features, dense or sparse), `intercept_` and
    `n_features_in_`.
    """

    label_space_: LabelSpace
    coef_: Any
    intercept_: NDArray[np.float64]
    n_features_in_: int

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
        if is_sparse(self.coef_):
            by_feature: Any = sp.csr_array(self.coef_).T
            scores = (csr.matrix @ by_feature).toarray() + self.intercept_
        else:
            scores = np.empty((csr.n_rows, len(self.intercept_)))
            weights = np.ascontiguousarray(
                self.coef_.T
            )  # no copy: learners keep the weights features x labels
            n_threads = thread_count(getattr(self, "n_jobs", None))
            _core.score_rows(csr.indptr, csr.indices, csr.data, weights, self.intercept_, scores, n_threads)
        require_finite(self, csr, scores=scores)
        result: NDArray[np.float64] = scores[:, 0] if self.label_space_.kind == "binary" else scores
        return result

    def predict(self, X: Any) -> Any:
        """Labels of the documents, in the form in which `fit` got them."""
        scores = self.decision_function(X)
        return self.label_space_.decide(scores)

    def get_state(self) -> State:
        """What is needed to score and to decide: a configuration for JSON, and arrays."""
        check_is_fitted(self, "label_space_")
        config = {
            "parameters": self.get_params(),
            "labels": self.label_space_.to_dict(),
            "n_features": self.n_features_in_,
        }
        arrays: dict[str, NDArray[Any]] = {"intercept": self.intercept_}
        # Twelve bytes for a non-zero against eight for every weight.
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
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> LinearModel:
        """The fitted learner that `get_state` described, without its dual variables."""
        stored = Stored(config, arrays)
        learner: LinearModel = stored.estimator(cls)
        space = learner.label_space_ = LabelSpace.from_dict(stored.value("labels"))
        n_features = learner.n_features_in_ = stored.integer("n_features")
        learner.intercept_ = stored.array("intercept", (space.n_columns,))
        if stored.has_array("coef"):
            learner.coef_ = stored.array("coef", (n_features, space.n_columns)).T
            return learner
        csr = stored.csr("coef", (space.n_columns, n_features), np.float64)
        if stored.flag("sparse_coef"):
            learner.coef_ = csr
        else:
            stored.check_room("n_features", n_features, space.n_columns)
            learner.coef_ = np.ascontiguousarray(csr.T.toarray()).T
        return learner

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = False
        return tags
