"""The terms of a text as a list, for the parameter `analyzer` of scikit-learn's vectorizers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from widemargin.text.counting import WordRule, count_collection
from widemargin.text.fields import find_field
from widemargin.text.inputs import as_texts
from widemargin.text.pruning import NoTermsError, Pruning
from widemargin.text.tokens import TextRule


@dataclass(frozen=True)
class TermAnalyzer:
    """Called with a text, returns its terms as a :class:`~widemargin.Vectorizer` counts them.

    Parameters
    ----------
    text : how a text becomes terms
    words : stop words, stemmer and concepts
    field : the part of documents that is read, see :mod:`widemargin.text.fields`; None for all of it

    Examples
    --------
    >>> TermAnalyzer(TextRule(ngram_range=(1, 2)), WordRule())("Wheat up 3%")
    ['<number>', 'up', 'up <number>', 'wheat', 'wheat up']
    """

    text: TextRule
    words: WordRule
    field: str | None = None

    def __call__(self, document: Any) -> list[str]:
        """The terms, each as often as it occurs."""
        if self.field is not None:
            start, end = find_field(document, self.field)
            document = document[start:end]
        if self.text.source.prepare is not None:
            document = self.text.source.prepare(document)
        try:
            found = count_collection(as_texts([document]), self.text, self.words, Pruning(), 1)
        except NoTermsError:
            return []
        counts = found.counts
        assert counts is not None
        terms = list(found.vocabulary)
        return [terms[i] for i in np.repeat(counts.indices, counts.data).tolist()]
