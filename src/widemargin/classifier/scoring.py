"""Rows to scores: straight through the core where the learner has dense weights, else by the learner."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import canonical_csr
from widemargin._threads import thread_count
from widemargin.classifier.representation import Representation
from widemargin.decide.votes import class_scores
from widemargin.documents.collection import Vectors
from widemargin.errors import DataError


def decision_scores(learner: Any, representation: Representation, texts: Any) -> NDArray[Any]:
    """Scores of `texts`: (n,) for two classes, otherwise documents x labels."""
    by_distance = getattr(learner, "kernel", None) in ("rbf", "chi2")
    if by_distance and isinstance(texts, Vectors) and representation.leaves_out_columns_of(texts):
        # Features that no training document has still lengthen a vector, and all its distances.
        found: NDArray[Any] = _widened(learner, texts.X.shape[1]).decision_function(texts.X)
        return found
    return score_rows(learner, as_scored(learner, representation.rows(texts)))


def as_scored(learner: Any, X: sp.csr_array) -> sp.csr_array:
    """The rows as the learner's weights see them; as they are for a learner that scores without any.

    Its `decision_function` scales them itself, and a square root must not be taken twice.
    """
    scaled: Any = X
    if hasattr(learner, "as_scored") and _dense_weights(learner) is not None:
        scaled = learner.as_scored(X)
    return scaled  # type: ignore[no-any-return]


def is_pairwise(learner: Any) -> bool:
    """Whether the learner's machines are for pairs of classes."""
    one_each = getattr(learner, "scheme", "one-vs-rest") == "one-vs-rest"
    return not one_each and learner.label_space_.kind == "multiclass"


def score_rows(learner: Any, X: sp.csr_array) -> NDArray[Any]:
    """What ``learner.decision_function(X)`` returns, for rows that `as_scored` made.

    scikit-learn's checks would take longer than a short document, so dense weights go to the core at once.
    """
    weights = _dense_weights(learner)
    if weights is None:
        found: NDArray[Any] = learner.decision_function(X)
        return found
    csr = canonical_csr(X)
    if csr.n_columns != len(weights):
        raise DataError(f"X has {csr.n_columns} features, but the classifier learned {len(weights)}.")
    n_documents = csr.n_rows
    scores = np.empty((n_documents, weights.shape[1]))
    _core.score_rows(
        csr.indptr,
        csr.indices,
        csr.data,
        weights,
        learner.intercept_,
        scores,
        1 if n_documents == 1 else thread_count(getattr(learner, "n_jobs", None)),
    )
    if learner.label_space_.kind == "binary":
        return scores[:, 0]
    if is_pairwise(learner):
        return class_scores(scores, len(learner.label_space_.classes), learner.scheme)
    return scores


def _dense_weights(learner: Any) -> NDArray[np.float64] | None:
    """The weights feature by feature, as the core takes them; None for a learner without dense ones."""
    coef = getattr(learner, "coef_", None)
    weights = coef.T if isinstance(coef, np.ndarray) else None
    return weights if weights is not None and weights.flags.c_contiguous else None


def _widened(learner: Any, n_features: int) -> Any:
    """The same kernel machine for vectors with more features, which its support vectors do not have."""
    wide = copy.copy(learner)
    wide.support_vectors_ = learner.support_vectors_.copy()
    wide.support_vectors_.resize((learner.support_vectors_.shape[0], n_features))
    wide.n_features_in_ = n_features
    return wide
