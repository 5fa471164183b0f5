"""The nearest documents among those that are kept, and their votes (joachims (2.24))."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._threads import thread_count
from widemargin.learn.neighbors.kept_documents import KeptDocuments

Floats = NDArray[np.float64]

_NONE = np.zeros(0, dtype=np.int32)


class Nearest(NamedTuple):
    """The nearest documents of each query, the nearest first.

    Attributes
    ----------
    documents : (n, most) their positions among the training documents; -1 where there are fewer
    cosines : (n, most)
    counts : (n, most) how often each counts: its weight, or what is left of the number of neighbors
    """

    documents: NDArray[np.int32]
    cosines: Floats
    counts: Floats


class Voters:
    """An index of the documents that are kept."""

    def __init__(self, documents: KeptDocuments) -> None:
        self.documents = documents
        self._index = _core.NeighborIndex(documents.rows.native(), documents.weights)

    def scores(
        self,
        queries: Csr,
        n_columns: int,
        *,
        k: float,
        by_cosine: bool,
        left_out: NDArray[np.int32] = _NONE,
        n_jobs: int | None = None,
    ) -> Floats:
        """(n, columns) votes for each label less those against it, divided by all: from -1 to 1.

        A query without neighbors gets the votes of all documents, each as often as it counts.

        Parameters
        ----------
        queries : rows of length 1
        k : how many documents vote; more than there are means all
        by_cosine : whether a vote counts as much as the cosine
        left_out : for each query a document that does not vote; empty for none
        """
        kept = self.documents
        found = np.empty((queries.n_rows, n_columns))
        options = _core.VoteOptions(k=float(k), by_cosine=by_cosine)
        labels = kept.label_indptr, kept.label_columns
        self._index.vote(queries.native(), left_out, *labels, options, found, self._threads(queries, n_jobs))
        alone = np.flatnonzero(np.isnan(found).any(axis=1))
        if len(alone):
            found[alone] = self._prior(n_columns, left_out[alone] if len(left_out) else None)
        return found

    def nearest(self, queries: Csr, *, k: float, n_jobs: int | None = None) -> Nearest:
        """The documents that vote."""
        weights = self.documents.weights
        least = float(weights[weights > 0].min()) if len(weights) else 1.0
        shape = queries.n_rows, int(min(np.ceil(k / min(least, 1.0)), self.documents.n))
        found = Nearest(np.full(shape, -1, np.int32), np.zeros(shape), np.zeros(shape))
        self._index.nearest(queries.native(), _NONE, float(k), *found, self._threads(queries, n_jobs))
        return found

    def _prior(self, n_columns: int, left_out: NDArray[np.int32] | None) -> Floats:
        """The score of every label if all documents vote; of each of those left out, if all others do."""
        kept = self.documents
        votes, total = kept.of_labels(n_columns), kept.total
        if left_out is None:
            return 2 * (votes / total) - 1
        own = kept.weight[left_out][:, None]
        votes = votes - own * (kept.signs(left_out, n_columns) > 0)
        rest = np.broadcast_to(total - own, votes.shape)
        # Undecided if nobody is left to vote.
        share = np.divide(votes, rest, out=np.full(votes.shape, 0.5), where=rest > 0)
        return np.asarray(2 * np.clip(share, 0, 1) - 1)

    @staticmethod
    def _threads(queries: Csr, n_jobs: int | None) -> int:
        return 1 if queries.n_rows == 1 else thread_count(n_jobs)
