"""Markov models of n-grams, the baseline of Teytaud and Jalam's section 7 (Dunning 1994)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import documents_with_value_check
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import POSITIVE, parameter, require_finite
from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels
from widemargin.learn.linear_model import LinearModel
from widemargin.text.vocabulary import ByteVocabulary


@dataclass(eq=False, repr=False)
class MarkovClassifier(LinearModel):
    """The class whose Markov model gives a text the largest probability; all classes are equally likely.

    The counts of n-grams are those of transitions from n - 1 units, the context, to the next unit. A
    transition has the probability (T(w) + alpha) / sum (T(w') + alpha) over the known w' of the same context,
    where T counts in the texts of the class.

    Parameters
    ----------
    contexts : array of int (n-grams), optional
        The number of the context of each n-gram, from :func:`contexts_of`. None: one context, a model of
        order 0.
    alpha : float
        Added to every count.
    n_jobs : as in :class:`~widemargin.LinearSVM`

    Attributes
    ----------
    coef_ : logarithms of the transition probabilities, labels x n-grams (two classes: their difference)
    intercept_ : zeros

    Examples
    --------
    >>> from widemargin import Vectorizer
    >>> trigrams = Vectorizer(units="chars", ngram_range=(3, 3), weighting=None)
    >>> X = trigrams.fit_transform(["the weather in the north", "das Wetter in der Nacht"])
    >>> model = MarkovClassifier(contexts_of(trigrams.vocabulary_)).fit(X, ["en", "de"])
    >>> model.predict(trigrams.transform(["the weather", "der Schacht"])).tolist()
    ['en', 'de']
    """

    contexts: Any = None
    _: KW_ONLY
    alpha: float = parameter(1.0, POSITIVE)
    n_jobs: int | None = None

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any) -> Self:
        """Count the transitions of every class.

        Parameters
        ----------
        X : sparse or dense matrix (n, n-grams) of counts, not negative
        y : one label per row, in any form that :mod:`widemargin.labels` accepts
        """
        self._check_parameters()
        csr, found = documents_with_value_check(self, X, first=True)
        if found.least < 0:
            raise DataError(
                f"Negative values in data passed to MarkovClassifier: X holds {found.least:g}. Pass counts."
            )
        space, signs = Labels.of(y, csr.n_rows).space_and_signs
        if space.kind == "multilabel":
            raise UsageError(
                "A MarkovClassifier chooses one of several classes, but y has label sets. Use a LinearSVM."
            )
        contexts = self._contexts(csr.n_columns)
        members = np.hstack([signs < 0, signs > 0]) if space.kind == "binary" else signs > 0
        counts = csr.matrix.T @ members.astype(np.float64) + float(self.alpha)  # n-grams x classes
        totals = np.zeros((int(contexts.max()) + 1, counts.shape[1]))
        np.add.at(totals, contexts, counts)
        logs = np.log(counts) - np.log(totals[contexts])
        weights = logs[:, 1:] - logs[:, :1] if space.kind == "binary" else logs
        require_finite(self, csr, coef_=weights)
        self.label_space_, self.coef_ = space, np.ascontiguousarray(weights).T
        self.intercept_ = np.zeros(space.n_columns)
        return self

    def _contexts(self, n_columns: int) -> NDArray[np.intp]:
        if self.contexts is None:
            return np.zeros(n_columns, dtype=np.intp)
        contexts = np.asarray(self.contexts)
        if contexts.shape != (n_columns,) or contexts.dtype.kind not in "iu" or contexts.min() < 0:
            raise UsageError(
                f"contexts: expected {n_columns} whole numbers from 0, one per column of X. "
                f"contexts_of(vocabulary) makes them."
            )
        return contexts.astype(np.intp)

    def _described(self) -> dict[str, Any]:
        described = super()._described()
        # Only training uses them.
        return {**described, "parameters": {**described["parameters"], "contexts": None}}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.multi_label = False
        tags.classifier_tags.poor_score = True  # meant for counts
        return tags


def contexts_of(terms: Iterable[str]) -> NDArray[np.intp]:
    """Numbers of the contexts of character n-grams: all their characters but the last.

    Examples
    --------
    >>> contexts_of(["the", "tha", "her"]).tolist()
    [0, 0, 1]
    """
    if isinstance(terms, ByteVocabulary):
        raise UsageError('Names of bytes cannot be cut by characters. Use Vectorizer(units="chars").')
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(term[:-1], len(numbers)) for term in terms], dtype=np.intp)
