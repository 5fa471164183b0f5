"""Latent semantic indexing: documents in the space of the top singular vectors (joachims 2.3.2)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import checked_csr, checked_matrix
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import COUNT, check_declared, parameter, require_finite
from widemargin._stored import Stored
from widemargin.features.combined_columns import Projection, stored_components
from widemargin.features.kept_columns import unit_rows
from widemargin.features.svd import top_singular_vectors

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class LatentSemanticIndexing(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Replace the features by their projections on the top singular vectors of the training documents.

    Parameters
    ----------
    n_components : number of singular vectors, at most the rank of the matrix
    unit_length : scale the projections to length 1. Otherwise documents of which little is in the space of
        the singular vectors are short, which has the effect of a smaller C.
    random_state : random seed of the algorithm that is used for large matrices
    n_jobs : number of threads, None for all cores

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
    unit_length: bool = False
    random_state: Any = 0
    n_jobs: int | None = None

    # New columns have values below 0, and leaving out one document does not undo its effect on them.
    makes_negative_values: ClassVar[bool] = True
    combines_columns: ClassVar[bool] = True

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the singular vectors; `y` is ignored."""
        self._check_parameters()
        csr = checked_csr(self, X, first=True)
        A = csr.matrix.astype(np.float64, copy=False)
        found = top_singular_vectors(A, int(self.n_components), self.random_state, self.n_jobs)
        require_finite(self, csr, components_=found.vectors, singular_values_=found.values)
        self.components_, self.singular_values_ = found.vectors, found.values
        self.explained_ = float((found.values**2).sum() / A.power(2).sum())
        return self

    def transform(self, X: Any) -> Floats:
        """Project documents on the singular vectors, (n, components)."""
        check_is_fitted(self, "components_")
        found = np.asarray(checked_matrix(self, X, first=False) @ self.components_.T)
        return np.asarray(unit_rows(found)) if self.unit_length else found

    def inverse_transform(self, X: Any) -> Floats:
        """Documents in terms of the original features, dense: the best approximation by the components."""
        check_is_fitted(self, "components_")
        return np.asarray(np.asarray(X) @ self.components_)

    @property
    def reduction(self) -> Projection:
        """The projection as arrays, for a classifier."""
        check_is_fitted(self, "components_")
        return Projection.at(self.components_, unit_length=self.unit_length, n_jobs=self.n_jobs)

    @property
    def column_values(self) -> Floats:
        """What `inspect` shows of every component: its singular value."""
        check_is_fitted(self, "singular_values_")
        return self.singular_values_

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state for :meth:`from_state`: a configuration for JSON, and arrays in single precision."""
        check_is_fitted(self, "components_")
        config = {
            "parameters": self.get_params(),
            "n_features": self.n_features_in_,
            "explained": self.explained_,
        }
        components = np.ascontiguousarray(self.components_.T, dtype=np.float32)
        return config, {"components": components, "values": self.singular_values_}

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """A fitted transformer from the result of `get_state`."""
        stored = Stored(config, arrays)
        self: Self = stored.estimator(cls)
        components: Any = stored_components(stored).T
        self.components_ = components
        self.n_features_in_ = self.components_.shape[1]
        self.singular_values_ = stored.array("values", (len(self.components_),), least=0)
        self.explained_ = stored.number("explained", least=0)
        return self

    def _check_parameters(self) -> None:
        check_declared(self)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
