"""Rocchio's classifier: the difference of two centroids, compared by the cosine (joachims, 2.5.2)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import checked_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import AT_LEAST_0, parameter, require_finite
from widemargin.labels import Labels
from widemargin.learn.linear_model import LinearModel
from widemargin.learn.linear_weights import CosineWeights


@dataclass(eq=False, repr=False)
class Rocchio(CosineWeights, LinearModel):
    """The centroid of the positive documents minus `negative_weight` times that of the negative ones.

    Documents are scaled to length 1, negative weights are cut to 0 (2.22), and a score is the cosine of the
    document and the weights. The threshold is midway between the mean cosines of the positive and
    the negative training documents. Scores of different labels are not
    comparable.

    Parameters
    ----------
    negative_weight : weight of the negative documents, at least 0
    n_jobs : as in :class:`~widemargin.LinearSVM`

    Attributes
    ----------
    coef_ : weights of length 1, labels x features
    intercept_ : minus the threshold

    Examples
    --------
    >>> X, y = np.array([[1, 0, 1], [2, 1, 0], [0, 1, 0], [0, 3, 1]]), ["a", "a", "b", "b"]
    >>> Rocchio().fit(X, y).predict(X).tolist()
    ['a', 'a', 'b', 'b']
    """

    negative_weight: float = parameter(0.25, AT_LEAST_0)
    _: KW_ONLY
    n_jobs: int | None = None

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the centroids.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` accepts
        """
        self._check_parameters()
        csr = checked_csr(self, X, first=True)
        space, signs = Labels.of(y, csr.n_rows).space_and_signs
        rows = self.as_scored(csr).matrix
        positive, negative = _means(signs > 0), _means(signs < 0)
        # Features x labels, the order in which documents are scored.
        weights = np.maximum(rows.T @ positive - float(self.negative_weight) * (rows.T @ negative), 0.0)
        lengths = np.linalg.norm(weights, axis=0)
        weights = np.ascontiguousarray(weights / np.where(lengths > 0, lengths, 1.0))
        cosines = rows @ weights
        intercept = -(np.sum(cosines * positive, axis=0) + np.sum(cosines * negative, axis=0)) / 2
        require_finite(self, csr, coef_=weights, intercept_=intercept)
        self.label_space_, self.coef_, self.intercept_ = space, weights.T, intercept
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # negative weights are cut to 0: meant for term counts
        return tags


def _means(members: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(n, labels): the weight of each member in the mean of all members."""
    means: NDArray[np.float64] = members / np.maximum(members.sum(axis=0), 1)
    return means
