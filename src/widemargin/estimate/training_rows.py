"""The rows that a learner was fitted on, and how they were made from documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from widemargin._arrays import Csr, is_sparse
from widemargin.labels import Labels
from widemargin.learn.averages.columns import told_blocks
from widemargin.text.inputs import together
from widemargin.weight.as_new.unknown_terms import KnownTerms
from widemargin.weight.left_out import AsNew, rows_and_blocks_without, rows_as_new


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What has to be made again without a document that is held out: its vocabulary, weights and features.

    Attributes
    ----------
    X : the rows of all documents, as the learner saw them
    y : their labels
    documents : what came in: texts, or vectors, which new documents are too
    vectorizer, counts : what was fitted on texts, and the counts that it weighted
    features : what made the columns of `X` from those of the vectorizer; None where nothing did
    beside : unlabeled documents that the vectorizer was fitted on too, which are never held out; `counts`
        has their rows after those of `documents`. Vectors have rows as they are. None if there are none
    known : how many of their terms are known when they are new, where the documents are not in memory
    """

    X: Any
    y: Labels
    documents: Any = None
    vectorizer: Any = None
    counts: Csr | None = None
    features: Any = None
    beside: Any = None
    known: KnownTerms | None = None

    @property
    def fitted_features(self) -> bool:
        """Whether features were selected by labels or made of all documents, which leaving out one document
        does not undo."""
        return bool(getattr(self.features, "uses_labels", False)) or self.makes_features or self._fits_again

    @property
    def _fits_again(self) -> bool:
        """Whether the vectorizer is of another library, and has to be fitted again in every fold."""
        return hasattr(self.vectorizer, "rows_without")

    @property
    def makes_features(self) -> bool:
        """Whether features were made of all terms, which takes about as long as training."""
        return bool(getattr(self.features, "combines_columns", False)) or self.learns_vectors

    @property
    def learns_vectors(self) -> bool:
        """Whether the vectorizer learned vectors from all documents, so that no one document can be left
        out: only folds are."""
        return self.counts is not None and bool(self.vectorizer.has_vectors)

    def without(self, out: NDArray[np.bool_]) -> Any:
        """The rows of all documents, by a vectorizer and features that were fitted without those `out`."""
        return self.made_without(out)[0]

    def told_without(self, learner: Any, out: NDArray[np.bool_]) -> tuple[Any, Any]:
        """The learner, told the blocks of these columns if it needs them, and the rows of :meth:`without`.

        A learner of unlabeled documents too (`with_unlabeled`) gets those of `beside`, in the same columns.
        """
        if self.beside is None or not hasattr(learner, "with_unlabeled"):
            X, blocks = self.made_without(out)
            return told_blocks(learner, blocks), X
        X, blocks = self._all_without(out)
        n = len(self.y)
        return learner.with_unlabeled(X[n:], blocks), X[:n]

    def made_without(self, out: NDArray[np.bool_]) -> tuple[Any, dict[str, slice] | None]:
        """The rows of :meth:`without`, and the columns of every block; None if they were not texts."""
        X, blocks = self._all_without(out)
        return X if X.shape[0] == len(self.y) else X[: len(self.y)], blocks

    def unlabeled_rows(self) -> Any:
        """The rows of `beside` as the learner sees them."""
        if self.counts is None:
            X = self.beside
        else:
            counts = self.counts.rows(len(self.y), self.counts.n_rows)
            X = real_values(self.vectorizer.weighed(counts).matrix)
        return X if self.features is None else self.features.transform(X)

    def _all_without(self, out: NDArray[np.bool_]) -> tuple[Any, dict[str, slice] | None]:
        """The rows of all documents and of those beside them, by parts that were fitted without those `out`,
        and the columns of every block."""
        blocks: dict[str, slice] | None = None
        seen = np.flatnonzero(~out)
        if self.counts is not None:
            texts = together(self.documents, self.beside)
            every = np.concatenate([out, np.zeros(self.counts.n_rows - len(out), dtype=bool)])
            rows, blocks = rows_and_blocks_without(self.vectorizer, self.counts, texts, every)
            X = real_values(rows.matrix)
        elif self._fits_again:
            X = self.vectorizer.rows_without(self.documents, self.y, out)
        else:
            X = self.X if self.features is None else self.documents
            if self.beside is not None:
                X = (sp.vstack if is_sparse(X) else np.vstack)([X, self.beside])
        if self.features is None:
            return X, blocks
        features = clone(self.features).fit(X[seen], self.y.take(seen))
        return features.transform(X), kept_blocks(blocks, features)

    def as_new(self) -> AsNew | None:
        """Every document by a vectorizer that was fitted without it; None where that changes nothing."""
        if self.counts is None:
            return None
        new = rows_as_new(self.vectorizer, self.counts, None if self.beside is None else len(self.y))
        rows, shared = real_values(new.rows), real_values(new.shared)
        if self.features is not None:
            rows, shared = self.features.transform(rows), self.features.transform(shared)
        return AsNew(rows, shared, new.scale)


def kept_blocks(blocks: dict[str, slice] | None, features: Any) -> dict[str, slice] | None:
    """The columns of every block among those that `features` keep; none has a name if they make new ones."""
    if blocks is None or features is None:
        return blocks
    if not hasattr(features, "get_support"):
        return {}
    kept = np.flatnonzero(features.get_support())
    return {
        name: slice(*np.searchsorted(kept, [part.start, part.stop]).tolist()) for name, part in blocks.items()
    }


def real_values(X: Any) -> Any:
    """Weights as they are, counts as float32."""
    return X if X.dtype.kind == "f" else X.astype(np.float32)
