"""The base of transformers that sum the values of groups of features."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import canonical_csr, checked_matrix, times
from widemargin._parameters import check_declared
from widemargin._stored import Stored
from widemargin.features.combined_columns import GroupSums, stored_groups
from widemargin.features.kept_columns import unit_rows

# So many columns stay in the cache while all terms are multiplied by them.
_CLUSTERS_AT_ONCE = 32


class GroupingOfTerms(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of clusterings of terms: `labels_` and `strengths_` are what `fit` finds.

    Attributes
    ----------
    labels_ : (features,) the cluster of each term, -1 for terms that occur in no training document
    strengths_ : (features,) the sum of each term's values, by which the members of a cluster are listed
    """

    unit_length: bool
    labels_: NDArray[np.int64]
    strengths_: NDArray[np.float64]
    n_features_in_: int

    # Leaving out one document does not undo its effect on the columns.
    combines_columns: ClassVar[bool] = True

    def transform(self, X: Any) -> Any:
        """The sum of the values of each cluster, (n, clusters); sparse if X is."""
        check_is_fitted(self, "labels_")
        X = checked_matrix(self, X, first=False)
        known = np.flatnonzero(self.labels_ >= 0)
        places = known, self.labels_[known]
        shape = len(self.labels_), self._n_features_out
        groups = sp.csr_array((np.ones(len(known), dtype=X.dtype), places), shape=shape)
        return unit_rows(X @ groups) if self.unit_length else X @ groups

    @property
    def reduction(self) -> GroupSums:
        """The clusters as arrays, for a classifier."""
        check_is_fitted(self, "labels_")
        place = self.labels_.astype(np.int32)
        return GroupSums(place, self.strengths_, self._n_features_out, self.unit_length)

    @property
    def column_values(self) -> NDArray[Any]:
        """What `inspect` shows of every cluster: the number of its terms."""
        check_is_fitted(self, "labels_")
        return np.bincount(self.labels_[self.labels_ >= 0], minlength=self._n_features_out)

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state for :meth:`from_state`: a configuration for JSON, and arrays."""
        groups = self.reduction
        config = {
            "parameters": self.get_params(),
            "n_features": self.n_features_in_,
            "n_columns": groups.n_columns,
        }
        return config, {"place": groups.place, "strengths": groups.strengths}

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """A fitted transformer from the result of `get_state`."""
        stored = Stored(config, arrays)
        self: Self = stored.estimator(cls)
        place, self.strengths_, _ = stored_groups(stored)
        self.labels_ = place.astype(np.int64)
        self.n_features_in_ = len(place)
        return self

    def _check_parameters(self) -> None:
        check_declared(self)

    @property
    def _n_features_out(self) -> int:
        return int(self.labels_.max()) + 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def largest_products(
    rows: sp.csr_array, clusters: NDArray[np.float64], n_threads: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The cluster with the largest inner product for every row, the first one among equals, and the product.

    Parameters
    ----------
    rows : (terms, columns)
    clusters : (clusters, columns)

    Examples
    --------
    >>> rows = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0]]))
    >>> [part.tolist() for part in largest_products(rows, np.array([[0.0, 1.0], [3.0, 1.0]]), 1)]
    [[1, 0], [3.0, 2.0]]
    """
    csr = canonical_csr(rows)
    best, largest = np.zeros(csr.n_rows, dtype=np.int64), np.full(csr.n_rows, -np.inf)
    for first in range(0, len(clusters), _CLUSTERS_AT_ONCE):
        products = times(csr, clusters[first : first + _CLUSTERS_AT_ONCE].T, n_threads)
        own = products.argmax(axis=1)
        found = products[np.arange(len(own)), own]
        better = found > largest
        best[better], largest[better] = own[better] + first, found[better]
    return best, largest


def without_gaps(labels: NDArray[np.int64], misfit: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Give every empty cluster the term with the largest misfit, from clusters of several terms.

    Examples
    --------
    >>> without_gaps(np.array([0, 0, 2, 2]), np.array([0.1, 0.3, 0.9, 0.2]), 3).tolist()
    [0, 0, 1, 2]
    """
    sizes = np.bincount(labels, minlength=k)
    worst = iter(np.argsort(-misfit, kind="stable").tolist())
    for empty in np.flatnonzero(sizes == 0).tolist():
        term = next(term for term in worst if sizes[labels[term]] > 1)
        sizes[labels[term]] -= 1
        labels[term] = empty
        sizes[empty] = 1
    return labels


def group_sums(rows: sp.csr_array, labels: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """The sums of the rows of each group, dense (k, columns)."""
    members = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), (k, len(labels)))
    sums: Any = members @ rows
    return np.asarray(sums.toarray())
