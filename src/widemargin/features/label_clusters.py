"""Clusters of terms that say the same about the labels (Baker and McCallum, SIGIR 1998).

A term is described by the distribution of its occurrences over the labels, p(C|w). Replacing terms by
clusters loses mutual information with the labels, and the loss is the distance of the terms from their
clusters:

    I(C; W) - I(C; clusters) = sum_w p(w) KL(p(C|w) || p(C|cluster of w)),

where p(C|cluster) is the mean of p(C|w) over its terms, weighted by p(w). It is the information bottleneck of
Slonim and Tishby (SIGIR 2000) with every term in one cluster. The divisive algorithm of Dhillon, Mallela and
Kumar (JMLR 3, 2003) works like k-means: terms move to the cluster with the least divergence, then the
distributions of the clusters are computed again. Neither step can raise the loss.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import canonical_csr, documents_with_value_check
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import AT_LEAST_0, COUNT, parameter
from widemargin._threads import thread_count
from widemargin.errors import DataError
from widemargin.features.grouping import GroupingOfTerms, group_sums, largest_products, without_gaps
from widemargin.labels import Labels, LabelSpace

Floats = NDArray[np.float64]

# Stands for log 0. A cluster without a label that a term has costs the term more than any other cluster.
_LOG_OF_ZERO = -1e6


class Terms(NamedTuple):
    """The joint distribution of terms and labels.

    Attributes
    ----------
    known : the terms that occur
    shares : (known terms,) p(w)
    labels : (known terms, labels) p(C|w), sparse
    """

    known: NDArray[np.intp]
    shares: Floats
    labels: sp.csr_array


@dataclass(eq=False, repr=False)
class LabelClusters(GroupingOfTerms):
    """Cluster terms by the labels of the documents they occur in, and sum the values of each cluster.

    The value of a term in a document counts for the label of the document. With several labels it is divided
    equally among them; documents without any form a label of their own.

    Parameters
    ----------
    n_clusters : number of clusters, at most the number of terms
    max_iter : maximum number of passes over the terms
    tol : stop when a pass reduces the loss by no more than this fraction of it
    unit_length : scale the documents to length 1 afterwards
    n_jobs : number of threads, None for all cores; the result does not depend on it

    Attributes
    ----------
    labels_ : (features,) the cluster of each term, -1 for terms that occur in no training document
    strengths_ : (features,) the sum of each term's values
    information_ : mutual information of labels and terms, in nats
    losses_ : (n_iter_ + 1,) what the clusters lose of it, at the beginning and after each pass
    n_iter_ : number of passes

    Examples
    --------
    >>> X = np.array([[1, 0, 2, 0], [2, 1, 0, 0], [0, 0, 0, 3], [0, 1, 0, 1]])
    >>> clusters = LabelClusters(3).fit(X, ["grain", "grain", "money", "money"])
    >>> clusters.labels_.tolist(), clusters.losses_[-1].round(6).item()
    ([2, 1, 2, 0], 0.0)
    """

    n_clusters: int = parameter(500, COUNT)
    _: KW_ONLY
    max_iter: int = parameter(30, COUNT)
    tol: float = parameter(1e-4, AT_LEAST_0)
    unit_length: bool = False
    n_jobs: int | None = None

    uses_labels: ClassVar[bool] = True

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any) -> Self:
        """Cluster the terms.

        Parameters
        ----------
        X : sparse or dense matrix (n, features) without negative values
        y : labels in any form that :mod:`widemargin.labels` accepts
        """
        self._check_parameters()
        csr, values = documents_with_value_check(self, X, first=True)
        if values.least < 0:
            raise DataError(
                "Negative values in data passed to LabelClusters: values are counted, so they must be at "
                "least 0. Use TermClusters, or weights without negative values."
            )
        labels = Labels.of(y, csr.n_rows)
        matrix = csr.matrix.astype(np.float64, copy=False)
        self.strengths_ = np.asarray(matrix.sum(axis=0), dtype=np.float64).reshape(-1)
        terms = joint_distribution(matrix, *labels.space_and_signs)
        k = min(int(self.n_clusters), len(terms.known))
        self.labels_ = np.full(csr.n_columns, -1, dtype=np.int64)
        self.labels_[terms.known] = self._group(terms, k)
        return self

    def _group(self, terms: Terms, k: int) -> NDArray[np.int64]:
        weighted = sp.csr_array(sp.diags_array(terms.shares) @ terms.labels)
        # sum_c p(c|w) log p(c|w), the part of the divergence that is the same for all clusters.
        own = _row_sums(terms.labels, terms.labels.data * np.log(terms.labels.data))
        of_label = np.asarray(weighted.sum(axis=0)).reshape(-1)
        with np.errstate(divide="ignore"):
            rarity = np.where(of_label > 0, np.log(of_label), 0.0)
        self.information_ = float(terms.shares @ own - of_label @ rarity)
        labels = initial_groups(terms, k)
        clusters = group_sums(weighted, labels, k)
        losses = [self._loss(clusters, float(terms.shares @ own))]
        for n_iter in range(1, int(self.max_iter) + 1):  # noqa: B007 - kept
            before = labels
            logs = _log_distributions(clusters)
            labels, gained = largest_products(terms.labels, logs, thread_count(self.n_jobs))
            labels = without_gaps(labels, terms.shares * (own - gained), k)
            clusters = group_sums(weighted, labels, k)
            losses.append(self._loss(clusters, float(terms.shares @ own)))
            if (labels == before).all() or losses[-2] - losses[-1] <= self.tol * losses[-2]:
                break
        self.n_iter_, self.losses_ = n_iter, np.array(losses)
        return labels

    def _loss(self, clusters: Floats, own: float) -> float:
        """sum_w p(w) KL(p(C|w) || p(C|cluster)), from the joint distribution of clusters and labels."""
        return max(own - float((clusters * _log_distributions(clusters)).sum()), 0.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.positive_only = True
        return tags


def joint_distribution(X: sp.csr_array, space: LabelSpace, signs: NDArray[np.int8]) -> Terms:
    """How the values of every term are distributed over the labels.

    Parameters
    ----------
    X : without negative values
    signs : (n, columns)

    Examples
    --------
    >>> space, signs = Labels.of([("a",), ("a", "b"), ()]).space_and_signs
    >>> found = joint_distribution(sp.csr_array(np.array([[2.0, 0], [2, 0], [0, 4]])), space, signs)
    >>> found.shares.tolist(), found.labels.toarray().tolist()
    ([0.5, 0.5], [[0.75, 0.25, 0.0], [0.0, 0.0, 1.0]])
    """
    classes = sp.csr_array(signs > 0, dtype=np.float64)
    each: Floats = np.asarray(classes.sum(axis=1), dtype=np.float64).reshape(-1)
    # Of two classes, the first is the column without a sign; of label sets, documents without a label.
    none = sp.csr_array((each == 0).astype(np.float64)[:, None])
    of_documents = sp.csr_array(sp.diags_array(1 / np.maximum(each, 1)) @ sp.hstack([classes, none]))
    together = sp.csr_array(X.T @ of_documents)
    together.eliminate_zeros()
    totals = np.asarray(together.sum(axis=1)).reshape(-1)
    known = np.flatnonzero(totals > 0)
    if len(known) == 0:
        raise DataError("Every feature is 0 in every document: there is nothing to cluster.")
    labels = sp.csr_array(sp.diags_array(1 / totals[known]) @ together[known])
    return Terms(known, totals[known] / totals.sum(), labels)


def initial_groups(terms: Terms, k: int) -> NDArray[np.int64]:
    """Terms in the order of their most probable label and its probability, cut into k groups.

    A term counts by the root of its share, between all terms alike and all occurrences alike: frequent terms
    matter more, and rare ones are more different.
    """
    n = len(terms.shares)
    labels = canonical_csr(terms.labels)
    rows = np.repeat(np.arange(n), np.diff(labels.indptr))
    # The last entry of each row is now its most probable label, the first one among equals.
    order = np.lexsort((-labels.indices, labels.data, rows))
    best = order[labels.indptr[1:] - 1]
    order = np.lexsort((np.arange(n), -labels.data[best], labels.indices[best]))
    weight = np.sqrt(terms.shares[order])
    middle = (np.cumsum(weight) - weight / 2) / weight.sum()
    found = np.empty(n, dtype=np.int64)
    found[order] = np.minimum(middle * k, k - 1)
    return without_gaps(found, terms.shares, k)


def _log_distributions(clusters: Floats) -> Floats:
    """log p(C|cluster), from the joint distribution of clusters and labels."""
    totals = clusters.sum(axis=1, keepdims=True)
    logs = np.full(clusters.shape, _LOG_OF_ZERO)
    np.divide(clusters, totals, out=logs, where=clusters > 0)
    np.log(logs, out=logs, where=clusters > 0)
    return logs


def _row_sums(rows: sp.csr_array, values: Floats) -> Floats:
    """Sums of `values`, which belong to the entries of `rows`; no row is empty."""
    return np.asarray(np.add.reduceat(values, rows.indptr[:-1]))
