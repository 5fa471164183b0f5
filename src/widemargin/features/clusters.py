"""Term clustering: terms of the same documents become one feature (joachims 2.3.2)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import checked_csr, checked_matrix
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import COUNT, check_declared, parameter
from widemargin.errors import DataError

Floats = NDArray[np.float64]

# Similarities of terms and clusters in memory at a time.
_ENTRIES_AT_ONCE = 2**23


@dataclass(eq=False, repr=False)
class TermClusters(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Cluster terms by the documents they occur in, and sum the values of each cluster.

    A term is the vector of its values in the training documents, scaled to length 1. Clusters are found by
    spherical k-means (cosine similarity to the mean direction). An empty cluster gets the term that is
    farthest from its own cluster.

    Parameters
    ----------
    n_clusters : number of clusters, at most the number of terms
    max_iter : maximum number of passes over the terms
    random_state : random seed of the initial clusters

    Attributes
    ----------
    labels_ : (features,) the cluster of each term, -1 for terms that occur in no training document
    n_iter_ : number of passes

    Examples
    --------
    >>> X = np.array([[1, 2, 0, 0], [1, 1, 0, 0], [0, 0, 1, 3], [0, 0, 2, 5]])
    >>> clusters = TermClusters(2).fit(X)
    >>> np.sort(clusters.transform(X), axis=1).tolist()
    [[0.0, 3.0], [0.0, 2.0], [0.0, 4.0], [0.0, 7.0]]
    """

    n_clusters: int = parameter(500, COUNT)
    _: KW_ONLY
    max_iter: int = parameter(30, COUNT)
    random_state: Any = 0

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the terms; `y` is ignored."""
        check_declared(self)
        X = checked_csr(self, X, first=True).matrix
        terms = sp.csr_array(X.astype(np.float64).T)
        lengths = np.sqrt(np.asarray(terms.power(2).sum(axis=1)).reshape(-1))
        known = np.flatnonzero(lengths > 0)
        if len(known) == 0:
            raise DataError("Every feature is 0 in every document: there is nothing to cluster.")
        vectors = sp.csr_array(sp.diags_array(1 / lengths[known]) @ terms[known])
        found, self.n_iter_ = self._group(vectors, min(int(self.n_clusters), len(known)))
        self.labels_ = np.full(X.shape[1], -1, dtype=np.int64)
        self.labels_[known] = found
        self._n_features_out = int(found.max()) + 1
        return self

    def _group(self, vectors: sp.csr_array, k: int) -> tuple[NDArray[np.int64], int]:
        random = check_random_state(self.random_state)
        centers = vectors[np.sort(random.permutation(vectors.shape[0])[:k])].toarray()
        labels = np.full(vectors.shape[0], -1, dtype=np.int64)
        for n_iter in range(1, int(self.max_iter) + 1):  # noqa: B007 - returned
            before = labels
            labels, fits = _nearest(vectors, centers)
            labels = _without_gaps(labels, fits, k)
            if (labels == before).all():
                break
            members = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), (k, len(labels)))
            sums: Any = members @ vectors
            centers = sums.toarray()
            norms = np.linalg.norm(centers, axis=1, keepdims=True)
            centers = np.divide(centers, norms, out=centers, where=norms > 0)
        return labels, n_iter

    def transform(self, X: Any) -> Any:
        """The sum of the values of each cluster, (n, clusters); sparse if X is."""
        check_is_fitted(self, "labels_")
        X = checked_matrix(self, X, first=False)
        known = np.flatnonzero(self.labels_ >= 0)
        places = known, self.labels_[known]
        shape = len(self.labels_), self._n_features_out
        groups = sp.csr_array((np.ones(len(known), dtype=X.dtype), places), shape=shape)
        return X @ groups

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _nearest(vectors: sp.csr_array, centers: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The nearest center of every vector, and its cosine."""
    n = vectors.shape[0]
    labels, fits = np.empty(n, dtype=np.int64), np.empty(n)
    columns = np.ascontiguousarray(centers.T)
    chunk = max(1, _ENTRIES_AT_ONCE // len(centers))
    for first in range(0, n, chunk):
        cosines = vectors[first : first + chunk] @ columns
        best = cosines.argmax(axis=1)
        labels[first : first + chunk] = best
        fits[first : first + chunk] = cosines[np.arange(len(best)), best]
    return labels, fits


def _without_gaps(labels: NDArray[np.int64], fits: Floats, k: int) -> NDArray[np.int64]:
    """Give every empty cluster the term with the smallest cosine, from clusters of several terms."""
    sizes = np.bincount(labels, minlength=k)
    worst = iter(np.argsort(fits, kind="stable").tolist())
    for empty in np.flatnonzero(sizes == 0).tolist():
        term = next(term for term in worst if sizes[labels[term]] > 1)
        sizes[labels[term]] -= 1
        labels[term] = empty
        sizes[empty] = 1
    return labels
