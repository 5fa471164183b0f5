"""The base of linear learners: scores are X @ coef_.T + intercept_."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import checked_csr, is_sparse
from widemargin._one_fit import require_not_fitting
from widemargin._parameters import require_finite
from widemargin._stored import Stored
from widemargin.learn.label_model import Arrays, LabelModel, State
from widemargin.learn.linear_weights import LinearWeights, linear_scores


class LinearModel(LabelModel, LinearWeights):
    """Base class of learners with one weight vector and one intercept per column of labels.

    Subclasses set `label_space_`, `coef_` (columns x features, dense or sparse), `intercept_` and
    `n_features_in_`.
    """

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of the documents: (n,) for a binary task, otherwise (n, labels).

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        """
        check_is_fitted(self, "label_space_")
        require_not_fitting(self)
        csr = self.as_scored(checked_csr(self, X, first=False))
        scores = linear_scores(self, csr)
        require_finite(self, csr, scores=scores)
        result: NDArray[np.float64] = scores[:, 0] if self.label_space_.kind == "binary" else scores
        return result

    def get_state(self) -> State:
        """The state for prediction: a configuration for JSON, and arrays."""
        config = self._described()
        arrays: Arrays = {"intercept": self.intercept_, **coef_arrays(self.coef_)}
        config["sparse_coef"] = bool(is_sparse(self.coef_))
        return config, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """A fitted learner from the result of `get_state`, without its dual variables."""
        stored = Stored(config, arrays)
        learner: Self = stored.estimator(cls)
        learner._read_weights(stored)
        return learner


def coef_arrays(coef: Any) -> Arrays:
    """Weights of columns x features as they are saved: sparse where that is smaller."""
    # A sparse entry takes 12 bytes, a dense one 8.
    if not is_sparse(coef) and np.count_nonzero(coef) >= 0.6 * coef.size:
        return {"coef": np.ascontiguousarray(coef.T)}
    csr = sp.csr_array(coef)
    return {
        "coef_data": csr.data,
        "coef_indices": csr.indices.astype(np.int32, copy=False),
        "coef_indptr": csr.indptr.astype(np.int64, copy=False),
    }
