"""Texts or vectors to the rows that a fitted learner takes, and its columns back to terms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import canonical_csr
from widemargin.classifier.training_input import is_matrix
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataError, UsageError
from widemargin.features.kept_columns import KeptColumns


class Representation(NamedTuple):
    """A fitted vectorizer, None for vectors; the selection behind it, None for all; its number of columns."""

    vectorizer: Any
    kept: KeptColumns | None
    n_features: int

    def rows(self, texts: Any) -> sp.csr_array:
        """The rows of `texts`, canonical, with the columns that the learner sees."""
        X = self.all_columns(texts)
        return X if self.kept is None else self.kept.apply(X)

    def all_columns(self, texts: Any) -> sp.csr_array:
        """The rows of `texts`, canonical, with `n_features` columns."""
        if self.vectorizer is not None:
            if is_matrix(texts):
                raise UsageError("This classifier was trained on texts, and these are vectors. Pass texts.")
            if isinstance(texts, Collection):
                texts = texts.texts
            X: sp.csr_array = self.vectorizer.transform(texts)
            return X if X.dtype.kind == "f" else X.astype(np.float32)
        if isinstance(texts, Vectors):
            # Files of vectors end at the last feature they use; features nobody trained on are ignored.
            rows: Any = texts.X.copy()
            rows.resize((rows.shape[0], self.n_features))
            X = rows
        elif is_matrix(texts):
            X = texts
        else:
            raise UsageError("This classifier was trained on vectors, and these are texts. Pass vectors.")
        if X.shape[1] != self.n_features:
            raise DataError(f"X has {X.shape[1]} features, but the classifier learned {self.n_features}.")
        csr = canonical_csr(X)
        return sp.csr_array((csr.data, csr.indices, csr.indptr), shape=X.shape)

    def leaves_out_columns_of(self, vectors: Vectors) -> bool:
        """Whether these have features that no training document had, and none were left out on purpose."""
        whole = self.vectorizer is None and self.kept is None
        return whole and bool(vectors.X.shape[1] > self.n_features)

    def locate(self, text: str) -> tuple[NDArray[Any], ...]:
        """Columns of the learner, beginnings and ends of every term of `text` that it sees."""
        found = self.vectorizer.locate(text)
        if self.kept is None:
            return tuple(found)
        columns = self.kept.place[found.columns]
        seen = columns >= 0
        return columns[seen], found.starts[seen], found.ends[seen]

    @property
    def has_terms(self) -> bool:
        """Whether columns have names: not those of vectors, nor those that terms were hashed to."""
        return getattr(self.vectorizer, "vocabulary_", None) is not None

    def term(self, column: int) -> str:
        """What the learner's `column` is called; without a name its number, as in an SVM-light file."""
        if self.kept is not None:
            column = int(self.kept.columns[column])
        return str(self.vectorizer.vocabulary_.term(column)) if self.has_terms else str(column + 1)
