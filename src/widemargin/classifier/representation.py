"""Texts or vectors to the rows that a fitted learner takes, and its columns back to terms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import widemargin._core as _core
from widemargin._arrays import Csr, canonical_csr, is_sparse
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataError, UsageError
from widemargin.features.kept_columns import KeptColumns
from widemargin.text.inputs import as_texts
from widemargin.weight.term_vectors import Located, TermVectors


def is_matrix(texts: Any) -> bool:
    return isinstance(texts, Vectors) or is_sparse(texts) or getattr(texts, "ndim", 1) == 2


class Representation(NamedTuple):
    """A fitted vectorizer, None for vectors; the columns kept behind it, None for all; its columns."""

    vectorizer: TermVectors | None
    kept: KeptColumns | None
    n_features: int

    def rows(self, texts: Any) -> Csr:
        """The rows of `texts`, with the columns that the learner sees."""
        csr = self.all_columns(texts)
        return csr if self.kept is None else self.kept.apply(csr)

    def all_columns(self, texts: Any) -> Csr:
        """The rows of `texts`, with `n_features` columns."""
        if self.vectorizer is not None:
            if is_matrix(texts):
                raise UsageError("This classifier was trained on texts, and these are vectors. Pass texts.")
            return _real(self.vectorizer.rows(texts.texts if isinstance(texts, Collection) else texts))
        if isinstance(texts, Vectors):
            # Files of vectors end at the last feature they use; features that were not in training are
            # ignored.
            X: Any = texts.X.copy()
            X.resize((X.shape[0], self.n_features))
        elif is_matrix(texts):
            X = texts
        else:
            raise UsageError("This classifier was trained on vectors, and these are texts. Pass vectors.")
        if X.shape[1] != self.n_features:
            raise DataError(f"X has {X.shape[1]} features, but the classifier learned {self.n_features}.")
        return canonical_csr(X)

    def read(self, texts: Any) -> tuple[_core.Texts, _core.TermIndex] | None:
        """`texts` and the terms to count in them, if the learner's rows are such counts; otherwise None."""
        if self.vectorizer is None or self.kept is not None or is_matrix(texts):
            return None
        terms = self.vectorizer.counted_terms
        if terms is None:
            return None
        return as_texts(texts.texts if isinstance(texts, Collection) else texts), terms

    def leaves_out_columns_of(self, vectors: Vectors) -> bool:
        """Whether these have features that no training document had, and none were left out on purpose."""
        whole = self.vectorizer is None and self.kept is None
        return whole and bool(vectors.X.shape[1] > self.n_features)

    def located_row(self, text: str) -> tuple[Csr, Located]:
        """The row of one text, and where the terms that the learner sees stand in it."""
        if self.vectorizer is None:
            raise UsageError("This classifier was trained on vectors: there is no text to explain.")
        row, found = self.vectorizer.located_row(text)
        if self.kept is None:
            return _real(row), found
        columns = self.kept.place[found.columns]
        seen = columns >= 0
        return self.kept.apply(_real(row)), Located(columns[seen], found.starts[seen], found.ends[seen])

    @property
    def has_terms(self) -> bool:
        """Whether columns have names: not those of vectors, nor those that terms were hashed to."""
        return getattr(self.vectorizer, "vocabulary_", None) is not None

    def term(self, column: int) -> str:
        """What the learner's `column` is called; without a name its number, as in an SVM-light file."""
        if self.kept is not None:
            column = int(self.kept.columns[column])
        if self.vectorizer is None or not self.has_terms:
            return str(column + 1)
        return str(self.vectorizer.vocabulary_.term(column))


def _real(csr: Csr) -> Csr:
    """Weights as they are, counts as float32."""
    return csr if csr.data.dtype.kind == "f" else csr._replace(data=csr.data.astype(np.float32))
