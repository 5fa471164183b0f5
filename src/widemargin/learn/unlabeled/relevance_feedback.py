"""Relevance feedback: rank documents by a query, mark some, rank the others again (joachims, 7 and 10.5).

The query is a prior. It has two parts in the ranking:

- it is one relevant document more, so that there is always a positive example;
- the learned rule and the query's are averaged. With n marked documents,

      score = k / (k + n) cosine(document, query) + n / (k + n) learned score,

  the learned scores shifted and scaled to the mean and the standard deviation of the cosines over all
  documents. `query_weight` is k: the query counts as much as k marked documents. Without marks the
  ranking is the query's; with k = 5, a mark moves it by a sixth, ten marks by two thirds.

Marked documents are the first ones of a ranking, not a sample of the collection. So some documents of the
lower half, which nobody would mark, are assumed not to be relevant. Hence it is enough to mark relevant
documents only. It is also enough to mark documents that are not relevant, but then "transductive" is the
inductive SVM: the query alone is too little to spread to documents that are not marked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import canonical_csr, is_sparse, row_squares
from widemargin._parameters import (
    AT_LEAST_0,
    BETWEEN_0_AND_1,
    POSITIVE,
    check_declared,
    one_of,
    or_none,
    parameter,
)
from widemargin.errors import DataError, UsageError
from widemargin.learn.rocchio.rocchio import Rocchio
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.learn.svm.transductive import TransductiveSVM

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]

# Documents of the lower half that are assumed not to be relevant. 10 to 100 were alike on training documents
# of Reuters-21578.
ASSUMED = 20


@dataclass(frozen=True)
class Ranking:
    """Documents in the order of their scores.

    Attributes
    ----------
    scores : (n,) higher is more relevant; the cosine with the query as long as nothing is marked
    order : (n,) numbers of the documents: those marked relevant, the others by their scores, those marked not
        relevant. Equal scores stay in the order of the documents
    next : numbers of the documents that are not marked, best first
    method : how they were ranked; "query" if nothing could be learned
    assumed : numbers of the documents that were assumed not to be relevant
    """

    scores: Floats
    order: Numbers
    next: Numbers
    method: str
    assumed: Numbers


@dataclass(frozen=True)
class RelevanceFeedback:
    """Rank documents by a query and by what has been marked relevant and not relevant.

    Parameters
    ----------
    method : "transductive" learns from the documents that are not marked too
        (:class:`~widemargin.TransductiveSVM`); "svm" and "rocchio" do not; "query" ignores the marks
    query_weight : the query counts as much as so many marked documents. 5 and 10 did equally well on training
        documents of Reuters-21578
    C, C_unlabeled : as for :class:`~widemargin.TransductiveSVM`
    positives : the relevant share of the documents that are not marked ("transductive"). None: those on the
        positive side of the inductive SVM, and at least as many as are marked
    n_jobs : as for :class:`~widemargin.LinearSVM`

    Examples
    --------
    >>> from widemargin import Vectorizer
    >>> texts = ["oil prices rise", "crude oil", "opec and crude", "food prices", "wheat and corn", "corn"]
    >>> vectorizer = Vectorizer()
    >>> X, query = vectorizer.fit_transform(texts), vectorizer.transform(["oil prices"])
    >>> RelevanceFeedback().rank(X, query).order.tolist()
    [0, 1, 3, 2, 4, 5]
    >>> RelevanceFeedback().rank(X, query, {1: True, 3: False}).order.tolist()
    [1, 0, 2, 4, 5, 3]
    """

    method: Literal["transductive", "svm", "rocchio", "query"] = parameter(
        "transductive", one_of("transductive", "svm", "rocchio", "query")
    )
    _: KW_ONLY
    query_weight: float = parameter(5.0, AT_LEAST_0)
    C: float = parameter(1.0, POSITIVE)
    C_unlabeled: float | None = parameter(None, or_none(AT_LEAST_0))
    positives: float | None = parameter(None, or_none(BETWEEN_0_AND_1))
    n_jobs: int | None = None

    def rank(self, X: Any, query: Any, marks: Mapping[int, bool] | None = None) -> Ranking:
        """Rank the rows of `X`.

        Parameters
        ----------
        X : sparse or dense matrix (n, features); documents are scaled to length 1
        query : one row of the same features
        marks : from numbers of documents to whether they are relevant
        """
        check_declared(self)
        documents, row = _unit_rows(X), _query_row(query, X.shape[1])
        n = documents.shape[0]
        cosines = np.asarray((documents @ row.T).todense(), dtype=np.float64)[:, 0]
        relevant, other = _numbers(marks or {}, n)
        unmarked = np.setdiff1d(np.arange(n), np.concatenate([relevant, other]))
        n_marked, scores, assumed = n - len(unmarked), cosines, np.zeros(0, dtype=np.intp)
        method: str = self.method if n_marked and len(unmarked) > 1 else "query"
        if method != "query":
            examples = sp.csr_array(sp.vstack([row, documents], format="csr"))
            assumed = _assumed(examples, relevant, unmarked)
            signs = np.zeros(n + 1, dtype=np.int8)
            signs[0] = 1
            signs[1 + relevant], signs[1 + other], signs[1 + assumed] = 1, -1, -1
            method = "svm" if method == "transductive" and not len(relevant) else method
            learned = self._learned(examples, signs, method, len(unmarked))[1:]
            share = n_marked / (n_marked + self.query_weight)
            scores = (1 - share) * cosines + share * _on_scale_of(cosines, learned)
        after = unmarked[np.argsort(-scores[unmarked], kind="stable")]
        by_score = [part[np.argsort(-scores[part], kind="stable")] for part in (relevant, other)]
        return Ranking(scores, np.concatenate([by_score[0], after, by_score[1]]), after, method, assumed)

    def _learned(
        self, examples: sp.csr_array, signs: NDArray[np.int8], method: str, n_unmarked: int
    ) -> Floats:
        """Scores of all examples by the rule learned from those with a sign."""
        known = signs != 0
        learner: Any = (
            Rocchio(n_jobs=self.n_jobs)
            if method == "rocchio"
            else LinearSVM(self.C, bias="unregularized", n_jobs=self.n_jobs)
        )
        scores = learner.fit(examples[known], signs[known]).decision_function(examples)
        if method != "transductive":
            return np.asarray(scores, dtype=np.float64)
        machine = TransductiveSVM(
            self.C,
            C_unlabeled=self.C_unlabeled,
            positives=self._count(scores, signs, n_unmarked),
            unlabeled=0,
            # The tests of 7.5 suppose that marked documents are a sample of the collection.
            alarm_level=0.0,
            n_jobs=self.n_jobs,
        )
        return np.asarray(machine.fit(examples, signs).scores_, dtype=np.float64).reshape(-1)

    def _count(self, scores: Floats, signs: NDArray[np.int8], n_unmarked: int) -> int | None:
        """The number of documents without a sign that become relevant; None for a single one."""
        unknown = signs == 0
        k = int(np.count_nonzero(unknown))
        if k < 2:
            return None
        if self.positives is not None:
            return int(np.clip(round(self.positives * n_unmarked), 1, k - 1))
        marked = int(np.count_nonzero(signs > 0)) - 1  # without the query
        found = int(np.count_nonzero(scores[unknown] > 0))
        return min(max(found, marked), k // 2)


def _unit_rows(X: Any) -> sp.csr_array:
    """The rows of a matrix scaled to length 1."""
    csr = canonical_csr(X)
    lengths = np.sqrt(row_squares(csr))
    scale = np.repeat(1 / np.where(lengths > 0, lengths, 1.0), np.diff(csr.indptr))
    return csr._replace(data=(csr.data * scale).astype(csr.data.dtype)).matrix


def _query_row(query: Any, n_features: int) -> sp.csr_array:
    rows: Any = query if is_sparse(query) else np.atleast_2d(query)
    if rows.shape != (1, n_features):
        raise UsageError(f"The query has shape {rows.shape}; expected one row of {n_features} features.")
    row = _unit_rows(rows)
    if not row.count_nonzero():
        raise DataError(
            "No word of the query tells documents apart: they occur in none, or in all. Use others."
        )
    return row


def _numbers(marks: Mapping[int, bool], n: int) -> tuple[Numbers, Numbers]:
    """The numbers of the documents that are marked relevant, and of those marked not relevant."""
    outside = [number for number in marks if not 0 <= number < n]
    if outside:
        raise UsageError(f"Document {outside[0]} is marked, but documents have numbers from 0 to {n - 1}.")
    both = [sorted(number for number, mark in marks.items() if bool(mark) == side) for side in (True, False)]
    return np.array(both[0], dtype=np.intp), np.array(both[1], dtype=np.intp)


def _assumed(examples: sp.csr_array, relevant: Numbers, unmarked: Numbers) -> Numbers:
    """Documents spread evenly over the half that is farther from the query and the relevant documents.

    The first of the `examples` is the query.
    """
    center = np.asarray(examples[np.concatenate([[0], 1 + relevant])].sum(axis=0), dtype=np.float64)
    near = (examples @ center.ravel())[1 + unmarked]
    lower = unmarked[np.argsort(near, kind="stable")[: len(unmarked) // 2]]
    chosen = np.linspace(0, len(lower) - 1, min(ASSUMED, len(lower))).astype(np.intp)
    result: Numbers = lower[chosen]
    return result


def _on_scale_of(cosines: Floats, learned: Floats) -> Floats:
    """The learned scores with the mean and the standard deviation of the cosines."""
    spread = float(learned.std())
    factor = float(cosines.std()) / spread if spread > 0 else 0.0
    scaled: Floats = (learned - learned.mean()) * factor + cosines.mean()
    return scaled
