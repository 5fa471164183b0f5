"""Training and test sets of equal size at random, as chapter 5 of Joachims (2000) draws them.

All documents of a collection are one pool, divided anew for every run. Words as in 2.7.2 that occur in at
least three training documents, weighted `tfc`, on all three collections: no stop list, no stemming.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin.papers.joachims.text_tasks import (
    Documents,
    Report,
    ohsumed_documents,
    reuters_documents,
    webkb_documents,
)
from widemargin.weight.smart import weigh
from widemargin.weight.vectorizer import Vectorizer

MIN_DOCUMENTS = 3


@dataclass(frozen=True)
class Pool:
    """How often every term occurs in every document of a collection, and which categories it belongs to.

    `member` has one column a category; `names` maps the names that a published table uses to columns.
    """

    title: str
    counts: sp.csr_array
    member: NDArray[np.bool_]
    names: dict[str, int]
    notes: list[str]

    @property
    def half(self) -> int:
        """The size of the largest training set that leaves a test set of the same size."""
        return len(self.member) // 2


@dataclass(frozen=True)
class Split:
    """Weighted training and test documents; which of them belong to the categories, one column each."""

    X_train: sp.csr_array
    X_test: sp.csr_array
    in_train: NDArray[np.bool_]
    in_test: NDArray[np.bool_]

    @property
    def y_train(self) -> sp.csr_array:
        """`in_train` for a learner: sparse, as a dense matrix of one column would count as a vector."""
        return sp.csr_array(self.in_train)


def random_split(pool: Pool, seed: int, columns: list[int] | None = None, size: int | None = None) -> Split:
    """`size` documents to train with and as many others to test with; half of all unless given.

    The same `seed` gives smaller sets that are parts of the larger ones. Terms and their document frequencies
    come from the training documents.
    """
    size = pool.half if size is None else size
    assert size <= pool.half
    order = np.random.default_rng(seed).permutation(len(pool.member))
    train, test = order[:size], order[len(order) - size :]
    counts = pool.counts[train]
    frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
    kept = np.flatnonzero(frequencies >= MIN_DOCUMENTS)
    frequencies = frequencies[kept]
    member = pool.member if columns is None else pool.member[:, columns]
    return Split(
        weigh(counts[:, kept], "tfc", frequencies, size),
        weigh(pool.counts[test][:, kept], "tfc", frequencies, size),
        member[train],
        member[test],
    )


def reuters_pool(report: Report) -> Pool:
    """Reuters-21578: the training and the test documents of the ModApte split together."""
    return _pool(reuters_documents(report))


def webkb_pool(report: Report) -> Pool:
    """WebKB: the pages of all universities in the four classes."""
    note = "Pages that only redirect are omitted; the thesis does not state how it removed HTML."
    return _pool(webkb_documents(report), note)


def ohsumed_pool(report: Report) -> Pool:
    """Ohsumed: abstracts in the 23 disease categories."""
    documents = ohsumed_documents(report)
    return _pool(documents, *documents.notes)


def _pool(documents: Documents, *notes: str) -> Pool:
    counted = documents.counted(Vectorizer(tokens="alnum", weighting=None))
    return Pool(documents.title, *counted, documents.columns(), list(notes))
