"""Texts or vectors to the rows that a fitted learner takes, and its columns back to terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr, canonical_csr, is_sparse
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataError, UsageError
from widemargin.features.combined_columns import Reduction
from widemargin.features.kept_columns import KeptColumns
from widemargin.text.fields import has_text_columns
from widemargin.text.inputs import as_texts, is_column_of_texts, listed
from widemargin.weight.block_counting import Located
from widemargin.weight.encoded_vectors import EncodedVectors
from widemargin.weight.term_vectors import TermVectors
from widemargin.weight.text_scores import TextScores

Floats = NDArray[np.float64]

# Terms that name a column that is made of many.
_SHOWN = 3


def is_matrix(texts: Any) -> bool:
    """Whether documents are vectors: a matrix, an array or a table of numbers."""
    if isinstance(texts, Vectors) or is_sparse(texts):
        return True
    if len(getattr(texts, "shape", ())) != 2 or has_text_columns(texts):
        return False
    return not is_column_of_texts(texts) and getattr(getattr(texts, "dtype", None), "kind", "f") not in "UST"


class MadeFeature(NamedTuple):
    """A feature that is made of terms.

    Attributes
    ----------
    value : its singular value, or the number of terms in its cluster
    terms : its strongest terms with their weights in it; 1 for members of a cluster
    """

    value: float
    terms: list[tuple[str, float]]


def makes_features(features: Any) -> bool:
    """Whether features are made of several terms each."""
    return bool(getattr(features, "combines_columns", False))


class LocatedRow(NamedTuple):
    """One text: all its columns, those that the learner sees, and the places of its terms, by column."""

    before: Csr
    row: Csr
    located: Located


class Representation(NamedTuple):
    """A fitted vectorizer, None for vectors; what reduces its columns, None for nothing; their number."""

    vectorizer: TermVectors | None
    reduction: Reduction | None
    n_features: int

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the columns of texts that have several."""
        return None if self.vectorizer is None else self.vectorizer.fields_

    def documents(self, texts: Any) -> Any:
        """Texts that can be read again, those of columns joined; vectors as they are."""
        if isinstance(texts, Collection):
            return texts.texts
        if self.vectorizer is None or is_matrix(texts):
            return texts
        if has_text_columns(texts):
            texts = self.vectorizer.documents(texts)
        return listed(texts)

    def rows(self, texts: Any, counts: Csr | None = None) -> Csr:
        """The rows of `texts`, with the columns that the learner sees; from their `counts`, if known."""
        if counts is None or self.vectorizer is None:
            csr = self.all_columns(texts)
        else:
            csr = _real(self.vectorizer.weighed(counts))
        return csr if self.reduction is None else self.reduction.apply(csr)

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
            one = getattr(getattr(texts, "dtype", None), "kind", "O") in "biuf"
            cure = "Reshape your data: one row per document" if one else "Pass vectors"
            raise UsageError(f"This classifier was trained on vectors, and these are texts. {cure}.")
        if X.shape[1] != self.n_features:
            raise DataError(
                f"X has {X.shape[1]} features, but TextClassifier is expecting {self.n_features} features as "
                f"input."
            )
        return canonical_csr(X)

    def read(self, texts: Any) -> tuple[_core.Texts, _core.TermIndex] | None:
        """`texts` and the terms to count in them, if the learner's rows are such counts; otherwise None."""
        if self.vectorizer is None or self.reduction is not None or is_matrix(texts):
            return None
        terms = self.vectorizer.counted_terms
        if terms is None:
            return None
        return as_texts(texts.texts if isinstance(texts, Collection) else texts), terms

    def text_scores(self, weights: Floats, intercept: Floats) -> TextScores | None:
        """Scores of texts by linear rules, columns x labels, in one call of the core; None if it takes a
        matrix, since columns are made of several terms."""
        n_columns = self.n_features if self.reduction is None else self.reduction.n_columns
        if self.vectorizer is None or not hasattr(self.vectorizer, "index") or len(weights) != n_columns:
            return None
        if self.reduction is None:
            return TextScores.of(self.vectorizer, weights, intercept)
        if not isinstance(self.reduction, KeptColumns) or self.reduction.unit_length:
            return None
        rules = weights, intercept, self.reduction.place, self.reduction.factors
        return TextScores.of(self.vectorizer, *rules)

    def leaves_out_columns_of(self, vectors: Vectors) -> bool:
        """Whether these have features that no training document had, and none were left out on purpose."""
        whole = self.vectorizer is None and self.reduction is None
        return whole and bool(vectors.X.shape[1] > self.n_features)

    def located_row(self, text: str) -> LocatedRow:
        """One text before and after the reduction, and where the terms that matter stand in it."""
        if self.vectorizer is None:
            raise UsageError("This classifier was trained on vectors: there is no text to explain.")
        before, found = self.vectorizer.located_row(text)
        before = _real(before)
        if self.reduction is None:
            return LocatedRow(before, before, found)
        seen = self.vectorizer.layout.reached(found.columns, self.reduction.reaches)
        located = Located(found.columns[seen], *(part[seen] for part in found[1:]))
        return LocatedRow(before, self.reduction.apply(before), located)

    def carried_back(self, found: LocatedRow, row: Csr, parts: Floats) -> tuple[NDArray[Any], Floats]:
        """What every term of a text adds to a score, given what the learner's columns of `row` add."""
        columns, values = row.indices, parts
        if self.reduction is not None:
            columns, values = self.reduction.carried_back(found.before, row, parts)
        if self.vectorizer is None:
            return columns, values
        return self.vectorizer.carried_to_terms(found.located, found.before, columns, values)

    def weights_of_terms(self, weights: Floats) -> tuple[Floats, Callable[[int], str]]:
        """Weights to show, given those of the learner's columns, and their names.

        Columns that are sums over all terms are shown by the weights that terms have in them, and so are the
        dimensions of vectors.
        """
        spread = None if self.reduction is None else self.reduction.spread(weights)
        shown, name = (weights, self.term) if spread is None else (spread, self.word)
        if self.vectorizer is None or not self.vectorizer.vectors_ or len(shown) != self.vectorizer.n_columns:
            return shown, name
        return self.vectorizer.layout.weights_of_terms(shown), self.counted_term

    @property
    def has_terms(self) -> bool:
        """Whether columns have names: not those of vectors, nor those that terms were hashed to."""
        return getattr(self.vectorizer, "vocabulary_", None) is not None

    def word(self, column: int) -> str:
        """What the `column` of documents is called; without a name its number, as in an SVM-light file."""
        if self.vectorizer is None or not self.has_terms:
            return str(column + 1)
        return self.vectorizer.column_name(column)

    def counted_term(self, column: int) -> str:
        """The term of a `column` of counts. Documents have other columns only if some are of vectors."""
        assert self.vectorizer is not None
        block = self.vectorizer.layout.block(column)
        if isinstance(self.vectorizer.vectors_.get(block), EncodedVectors):
            return block  # a text is encoded as a whole
        return str(self.vectorizer.vocabulary_.term(column))

    @property
    def has_blocks(self) -> bool:
        """Whether terms are of several blocks."""
        return self.vectorizer is not None and self.vectorizer.blocks is not None

    def block(self, column: int) -> str:
        """The block of a `column` of counts."""
        assert self.vectorizer is not None
        return self.vectorizer.layout.block(column)

    def term(self, column: int) -> str:
        """What the learner's `column` is called; if it is made of several terms, by the strongest ones."""
        if self.reduction is None:
            return self.word(column)
        made = self.reduction.made_of(column)
        parts = zip(made.columns[:_SHOWN].tolist(), made.weights[:_SHOWN].tolist(), strict=True)
        name = "".join(("+" if weight > 0 else "-") + self.word(part) for part, weight in parts)
        return name.removeprefix("+") + ("+..." if len(made.columns) > _SHOWN else "")

    def selected_terms(self, features: Any) -> list[tuple[str, float]]:
        """The selected terms with their selection scores, the best first."""
        if features is None:
            raise UsageError("This classifier uses all its features. Pass features to select some.")
        if makes_features(features):
            raise UsageError("This classifier has features that are made of all terms: see made_features.")
        scores = getattr(features, "scores_", None)
        scores = features.probabilities_ if scores is None else scores
        scores = scores[features.get_support()]
        return [(self.term(i), float(scores[i])) for i in np.argsort(-scores, kind="stable").tolist()]

    def made_features(self, features: Any, count: int) -> list[MadeFeature]:
        """The features that are made of terms, with their `count` strongest terms."""
        if not makes_features(features) or self.reduction is None:
            raise UsageError(
                "This classifier has no features that are made of several terms. Pass "
                "LatentSemanticIndexing, TermClusters or LabelClusters."
            )
        found = []
        for column, value in enumerate(features.column_values.tolist()):
            made = self.reduction.made_of(column)
            parts = zip(made.columns[:count].tolist(), made.weights[:count].tolist(), strict=True)
            found.append(MadeFeature(value, [(self.word(part), weight) for part, weight in parts]))
        return found


def _real(csr: Csr) -> Csr:
    """Weights as they are, counts as float32."""
    return csr if csr.data.dtype.kind == "f" else csr._replace(data=csr.data.astype(np.float32))
