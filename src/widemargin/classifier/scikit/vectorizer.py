"""A scikit-learn vectorizer as the vectorizer of a `TextClassifier`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from widemargin._arrays import Csr, canonical_csr
from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels
from widemargin.text.inputs import listed, taken
from widemargin.tune.other_estimators import plain_labels

_OURS = "Use widemargin.Vectorizer, or read a fitted pipeline by widemargin.from_sklearn."


class ScikitVectorizer(BaseEstimator):
    """Any transformer of texts, with what a classifier asks of a vectorizer.

    Parameters
    ----------
    transformer : such as a TfidfVectorizer, a HashingVectorizer, a Pipeline or a FeatureUnion; it is fitted
        with the labels, and again in every fold of an estimate
    """

    blocks = None
    fields = None
    fields_ = None
    has_vectors = False
    counted_terms = None
    vectors_: Mapping[str, Any] = {}

    def __init__(self, transformer: Any = None) -> None:
        self.transformer = transformer

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"scikit-learn's {type(self.transformer).__name__}"

    def fit_rows(self, texts: Any, y: Labels) -> Any:
        """Fit on texts and their labels, and return their rows."""
        self.transformer_ = clone(self.transformer)
        X = _checked(self.transformer_.fit_transform(_listed(texts), plain_labels(y)), self.name)
        self.n_columns = int(X.shape[1])
        return X

    def rows_without(self, texts: Any, y: Labels, out: NDArray[np.bool_]) -> Any:
        """The rows of all texts, by a transformer that is fitted without those `out`."""
        seen = np.flatnonzero(~out)
        fitted = clone(self.transformer).fit(_listed(taken(texts, seen)), plain_labels(y.take(seen)))
        return _checked(fitted.transform(_listed(texts)), self.name)

    def transform(self, texts: Any) -> Any:
        """The rows of texts."""
        return _checked(self.transformer_.transform(_listed(texts)), self.name)

    def documents(self, texts: Any) -> Any:
        """Refused: documents have one column."""
        raise UsageError(
            f"These documents have several columns, and {self.name} takes one. Pass one column, or use "
            f"widemargin.Vectorizer, which reads them as fields."
        )

    def rows(self, texts: Any) -> Csr:
        """The rows of texts, checked."""
        return canonical_csr(self.transform(texts))

    @property
    def vocabulary_(self) -> Self | None:
        """Where columns have names, what names them; otherwise None."""
        return self if hasattr(self.transformer_, "get_feature_names_out") else None

    def get_feature_names_out(self) -> NDArray[Any]:
        """The names of the columns."""
        names: NDArray[Any] = self.transformer_.get_feature_names_out()
        return names

    def column_name(self, column: int) -> str:
        """The name of a column."""
        return str(self.get_feature_names_out()[column])

    def located_row(self, text: str) -> Any:
        """Refused: there are no positions of terms."""
        raise UsageError(
            f"Explanations need the positions of terms, which {self.name} does not give. {_OURS} "
            f"top_terms shows the weights of linear models."
        )

    def get_state(self) -> Any:
        """Refused: a model file holds no code."""
        raise UsageError(
            f"{self.name} cannot be saved in a model file: that would need code in the file. {_OURS}"
        )


def as_vectorizer(vectorizer: Any) -> Any:
    """A vectorizer of this library as it is, any other transformer in a :class:`ScikitVectorizer`."""
    if hasattr(vectorizer, "fit_counts"):
        return vectorizer
    if not hasattr(vectorizer, "fit_transform") or not hasattr(vectorizer, "get_params"):
        raise UsageError(
            f"vectorizer={vectorizer!r} is not a vectorizer. Pass a widemargin.Vectorizer, or a scikit-learn "
            f"transformer of texts, such as a TfidfVectorizer."
        )
    return ScikitVectorizer(vectorizer)


def _listed(texts: Any) -> list[str]:
    """Texts as other libraries take them."""
    return list(texts.to_pylist() if hasattr(texts, "to_pylist") else listed(texts))


def _checked(X: Any, name: str) -> Any:
    """The rows as a matrix of numbers, without the names of columns of a data frame."""
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if getattr(X, "ndim", 0) != 2:
        raise DataError(f"{name} gives {type(X).__name__}, not a matrix with one row per text.")
    return X
