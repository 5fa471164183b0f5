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
    score : (n,) the score of the best label
    confidence : (n,) how clear the decision is; comparable between documents only
    nearness : (n,) how near the document is to the nearest class of several
    unknown : (n,) the share of terms that are not known; 1 for a document without terms
    no_terms : (n,) bool, whether no term is known
    """

    decided: NDArray[np.bool_] | None = None
    score: NDArray[np.float64] | None = None
    confidence: NDArray[np.float64] | None = None
    nearness: NDArray[np.float64] | None = None
    unknown: NDArray[np.float64] | None = None
    no_terms: NDArray[np.bool_] | None = None

    @property
    def documents(self) -> int:
        """How many there are."""
        return len(next((part for part in self if part is not None), ()))

    def part(self, start: int, end: int) -> Observed:
        """Some successive documents."""
        parts: list[Any] = [None if values is None else values[start:end] for values in self]
        return Observed(*parts)
