"""What a model sees of documents, apart from their words: the same for new documents and left-out ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Observed(NamedTuple):
    """Arrays with one row per document; None for what a model cannot see.

    Attributes
    ----------
    decided : (n, columns) bool, the labels that were decided
    score : (n,) the score of the best label: how near the document is to the nearest class
    confidence : (n,) how clear the decision is: how far the best label is ahead of the second one, or, where
        each label is decided by itself, how far the nearest score is from its threshold
    unknown : (n,) the share of terms that are not known; 1 for a document without terms
    no_terms : (n,) bool, whether no term is known
    """

    decided: NDArray[np.bool_] | None = None
    score: NDArray[np.float64] | None = None
    confidence: NDArray[np.float64] | None = None
    unknown: NDArray[np.float64] | None = None
    no_terms: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        """How many documents there are."""
        return len(next((part for part in self if part is not None), ()))

    def part(self, start: int, end: int) -> Observed:
        """Some successive documents."""
        parts: list[Any] = [None if values is None else values[start:end] for values in self]
        return Observed(*parts)
