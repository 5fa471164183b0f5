"""Term clustering: terms of the same documents become one feature (joachims 2.3.2)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from widemargin._arrays import checked_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import COUNT, parameter
from widemargin._threads import thread_count
from widemargin.errors import DataError
from widemargin.features.grouping import GroupingOfTerms, group_sums, largest_products, without_gaps


@dataclass(eq=False, repr=False)
class TermClusters(GroupingOfTerms):
    """Cluster terms by the documents they occur in, and sum the values of each cluster.

    A term is the vector of its values in the training documents, scaled to length 1. Clusters are found by
    spherical k-means (cosine similarity to the mean direction). An empty cluster gets the term that is
    farthest from its own cluster.

    Parameters
    ----------
    n_clusters : number of clusters, at most the number of terms
    max_iter : maximum number of passes over the terms
    unit_length : scale the documents to length 1 afterwards
    random_state : random seed of the initial clusters
    n_jobs : number of threads, None for all cores; the result does not depend on it

    Attributes
    ----------
    labels_ : (features,) the cluster of each term, -1 for terms that occur in no training document
    strengths_ : (features,) the sum of each term's values
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
    unit_length: bool = False
    random_state: Any = 0
    n_jobs: int | None = None

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the terms; `y` is ignored."""
        self._check_parameters()
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
        self.strengths_ = np.asarray(terms.sum(axis=1), dtype=np.float64).reshape(-1)
        return self

    def _group(self, vectors: sp.csr_array, k: int) -> tuple[NDArray[np.int64], int]:
        random = check_random_state(self.random_state)
        centers = vectors[np.sort(random.permutation(vectors.shape[0])[:k])].toarray()
        labels = np.full(vectors.shape[0], -1, dtype=np.int64)
        for n_iter in range(1, int(self.max_iter) + 1):  # noqa: B007 - returned
            before = labels
            labels, fits = largest_products(vectors, centers, thread_count(self.n_jobs))
            labels = without_gaps(labels, -fits, k)
            if (labels == before).all():
                break
            centers = group_sums(vectors, labels, k)
            norms = np.linalg.norm(centers, axis=1, keepdims=True)
            centers = np.divide(centers, norms, out=centers, where=norms > 0)
        return labels, n_iter
