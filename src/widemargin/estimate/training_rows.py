"""The rows that a learner was fitted on, and how they were made from documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from widemargin._arrays import Csr
from widemargin.labels import Labels
from widemargin.weight.left_out import AsNew, rows_as_new, rows_without


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
    """

    X: Any
    y: Labels
    documents: Any = None
    vectorizer: Any = None
    counts: Csr | None = None
    features: Any = None

    @property
    def fitted_features(self) -> bool:
        """Whether features were selected by labels or made of all documents, which leaving out one document
        does not undo."""
        return bool(getattr(self.features, "uses_labels", False)) or self.makes_features

    @property
    def makes_features(self) -> bool:
        """Whether features were made of all terms, which takes about as long as training."""
        return bool(getattr(self.features, "combines_columns", False))

    def without(self, out: NDArray[np.bool_]) -> Any:
        """The rows of all documents, by a vectorizer and features that were fitted without those `out`."""
        if self.counts is not None:
            X = real_values(rows_without(self.vectorizer, self.counts, self.documents, out).matrix)
        else:
            X = self.X if self.features is None else self.documents
        if self.features is None:
            return X
        seen = np.flatnonzero(~out)
        return clone(self.features).fit(X[seen], self.y.take(seen)).transform(X)

    def as_new(self) -> AsNew | None:
        """Every document by a vectorizer that was fitted without it; None where that changes nothing."""
        if self.counts is None:
            return None
        new = rows_as_new(self.vectorizer, self.counts)
        rows, shared = real_values(new.rows), real_values(new.shared)
        if self.features is not None:
            rows, shared = self.features.transform(rows), self.features.transform(shared)
        return AsNew(rows, shared, new.scale)


def real_values(X: Any) -> Any:
    """Weights as they are, counts as float32."""
    return X if X.dtype.kind == "f" else X.astype(np.float32)
