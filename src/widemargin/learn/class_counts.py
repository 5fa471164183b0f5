"""Sums of terms over the documents of each label and over all: what naive Bayes and Rocchio learn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._stored import Stored
from widemargin._threads import thread_count

Floats = NDArray[np.float64]

# Of a sum from which a part was taken away: what is left below this share of it is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Sums over documents, each times its weight.

    Attributes
    ----------
    terms : (columns, features) the values of the documents of each column of labels, added up: TF(w, y)
    all_terms : (features,) those of all documents
    documents : (columns,) the documents of each column
    n : all documents
    """

    terms: Csr
    all_terms: Floats
    documents: Floats
    n: float

    @classmethod
    def of(cls, csr: Csr, signs: NDArray[np.int8], weights: Floats, n_jobs: int | None) -> ClassCounts:
        """Count the terms of documents.

        Parameters
        ----------
        csr : the documents
        signs : (n, columns) of +1 and -1
        weights : (n,) of the documents; empty if each counts once

        Examples
        --------
        >>> from widemargin._arrays import canonical_csr
        >>> X = canonical_csr(np.array([[1.0, 0], [2, 1], [0, 3]]))
        >>> counts = ClassCounts.of(X, np.array([[1], [1], [-1]], np.int8), np.zeros(0), None)
        >>> counts.terms.matrix.toarray().tolist(), counts.all_terms.tolist(), counts.documents.tolist()
        ([[3.0, 1.0]], [3.0, 4.0], [2.0])
        """
        positive = np.ascontiguousarray(signs.T) > 0
        of_label = np.count_nonzero(positive, axis=1)
        indptr = np.concatenate([[0], np.cumsum(of_label)]).astype(np.int64)
        rows = (np.flatnonzero(positive) % max(1, csr.n_rows)).astype(np.int32)
        of_entry = csr.data if not len(weights) else csr.data * np.repeat(weights, np.diff(csr.indptr))
        return cls(
            label_sums(csr, indptr, rows, weights, n_jobs),
            np.bincount(csr.indices, of_entry, csr.n_columns).astype(np.float64),
            (positive @ weights if len(weights) else of_label).astype(np.float64),
            float(weights.sum() if len(weights) else csr.n_rows),
        )

    @classmethod
    def nothing(cls, n_columns: int, n_features: int) -> ClassCounts:
        """Before the first document."""
        empty = Csr(np.zeros(n_columns + 1, np.int64), np.zeros(0, np.int32), np.zeros(0), n_features)
        return cls(empty, np.zeros(n_features), np.zeros(n_columns), 0.0)

    def placed(self, kept: NDArray[np.intp], n_columns: int) -> ClassCounts:
        """The same in a larger label space, where the old columns stand at `kept`, in their order."""
        sizes = np.zeros(n_columns, dtype=np.int64)
        sizes[kept] = np.diff(self.terms.indptr)
        documents = np.zeros(n_columns)
        documents[kept] = self.documents
        terms = self.terms._replace(indptr=np.concatenate([[0], np.cumsum(sizes)]))
        return replace(self, terms=terms, documents=documents)

    def plus(self, other: ClassCounts) -> ClassCounts:
        """The counts of both collections together."""
        both = self.terms.matrix + other.terms.matrix
        both.sort_indices()
        terms = Csr(
            both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data, self.terms.n_columns
        )
        all_terms, documents = self.all_terms + other.all_terms, self.documents + other.documents
        return ClassCounts(terms, all_terms, documents, self.n + other.n)

    @property
    def sizes(self) -> Floats:
        """(columns,) the sum of the terms of each column."""
        sizes: Floats = np.bincount(self.columns, self.terms.data, self.terms.n_rows).astype(np.float64)
        return sizes

    @property
    def rest(self) -> Floats:
        """(columns,) the documents that do not belong to each column."""
        return less(np.full(len(self.documents), self.n), self.documents)

    @property
    def columns(self) -> NDArray[np.intp]:
        """The column of every stored sum."""
        return np.repeat(np.arange(self.terms.n_rows), np.diff(self.terms.indptr))

    @property
    def others(self) -> Floats:
        """For every stored sum, that of the same term in the documents of all other columns."""
        return less(self.all_terms[self.terms.indices], self.terms.data)

    def column(self, k: int) -> Floats:
        """(features,) the terms of one column."""
        terms = np.zeros(self.terms.n_columns)
        part = slice(self.terms.indptr[k], self.terms.indptr[k + 1])
        terms[self.terms.indices[part]] = self.terms.data[part]
        return terms

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is saved."""
        return {
            "terms_data": self.terms.data,
            "terms_indices": self.terms.indices,
            "terms_indptr": self.terms.indptr,
            "all_terms": self.all_terms,
            "documents": self.documents,
            "n": np.array([self.n]),
        }

    @classmethod
    def read(cls, stored: Stored, n_columns: int, n_features: int, *, signed: bool = False) -> ClassCounts:
        """What `arrays` saved; sums may be negative if `signed`."""
        least = None if signed else 0.0
        terms = stored.csr("terms", (n_columns, n_features), np.float64)
        stored.array("terms_data", terms.data.shape, least=least)
        n = float(stored.array("n", (1,), least=0.0)[0])
        all_terms = stored.array("all_terms", (n_features,), least=least)
        return cls(terms, all_terms, stored.array("documents", (n_columns,), least=0.0), n)


def less(sums: Floats, parts: Any) -> Floats:
    """Sums without a part of them, which leave nothing below 0 and no rounding of what was all there.

    Examples
    --------
    >>> less(np.array([0.1 + 0.2, 3.0]), np.array([0.3, 1.0])).tolist()
    [0.0, 2.0]
    """
    left: Floats = sums - parts
    left[left <= _ROUNDING * sums] = 0.0
    return left


def label_sums(
    csr: Csr, indptr: NDArray[np.int64], rows: NDArray[np.int32], weights: Floats, n_jobs: int | None
) -> Csr:
    """The sums of the rows of every column, without those that are 0: Y' X.

    Parameters
    ----------
    csr : X
    indptr, rows : the rows of each column of Y begin at `indptr` in `rows`
    weights : (n,) of the rows of X; empty if each counts once
    """
    sizes = np.concatenate([[0], np.cumsum(np.diff(csr.indptr)[rows])])
    room = np.concatenate([[0], np.cumsum(np.minimum(np.diff(sizes[indptr]), csr.n_columns))])
    places = np.column_stack([room[:-1], room[:-1]]).astype(np.int64)
    indices, values = np.empty(room[-1], dtype=np.int32), np.empty(room[-1])
    _core.sums_by_label(csr.native(), indptr, rows, weights, places, indices, values, thread_count(n_jobs))
    ends = np.concatenate([[0], np.cumsum(places[:, 1] - places[:, 0])])
    used = [slice(begin, end) for begin, end in places.tolist()]
    indices, values = (
        np.concatenate([array[:0], *(array[part] for part in used)]) for array in (indices, values)
    )
    return Csr(ends, indices, values, csr.n_columns)
