"""Latent semantic indexing: documents in the space of the top singular vectors (joachims 2.3.2)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import checked_csr, checked_matrix
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import COUNT, check_declared, parameter, require_finite
from widemargin.features.svd import top_singular_vectors

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class LatentSemanticIndexing(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Replace the features by their projections on the top singular vectors of the training documents.

    Parameters
    ----------
    n_components : number of singular vectors, at most the rank of the matrix
    random_state : random seed of the algorithm that is used for large matrices

    Attributes
    ----------
    components_ : (components, features) right singular vectors; the largest entry of each is positive
    singular_values_ : (components,)
    explained_ : their share of the squared Frobenius norm

    Examples
    --------
    >>> X = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> LatentSemanticIndexing(1).fit_transform(X).round(3).ravel().tolist()
    [2.121, 2.121, 0.0]
    """

    n_components: int = parameter(100, COUNT)
    _: KW_ONLY
    random_state: Any = 0

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the singular vectors; `y` is ignored."""
        check_declared(self)
        csr = checked_csr(self, X, first=True)
        A = csr.matrix.astype(np.float64, copy=False)
        found = top_singular_vectors(A, int(self.n_components), self.random_state)
        require_finite(self, csr, components_=found.vectors, singular_values_=found.values)
        self.components_, self.singular_values_ = found.vectors, found.values
        self.explained_ = float((found.values**2).sum() / A.power(2).sum())
        return self

    def transform(self, X: Any) -> Floats:
        """Project documents on the singular vectors, (n, components)."""
        check_is_fitted(self, "components_")
        return np.asarray(checked_matrix(self, X, first=False) @ self.components_.T)

    def inverse_transform(self, X: Any) -> Floats:
        """Documents in terms of the original features, dense: the best approximation by the components."""
        check_is_fitted(self, "components_")
        return np.asarray(np.asarray(X) @ self.components_)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
