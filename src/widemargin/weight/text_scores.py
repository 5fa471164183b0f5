"""Texts to scores of linear rules in one call of the core, without a matrix between them.

It computes what counting, weighting, selecting columns and multiplying by the weights compute one after
another. For one short text, their calls take longer than the work.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._threads import thread_count
from widemargin.weight.block_counting import BlockIndex
from widemargin.weight.blocks import parse_blocks
from widemargin.weight.smart import parse_scheme
from widemargin.weight.term_vectors import TermVectors

Floats = NDArray[np.float64]


class TextScores:
    """Scores of texts by the rules that a linear learner made of the rows of `vectorizer`.

    Parameters
    ----------
    weights : columns x labels
    place : the column of every column of the vectorizer, -1 if it is dropped; None if all are kept
    factors : of the columns that are kept, or None
    """

    def __init__(
        self,
        vectorizer: TermVectors,
        weights: Floats,
        intercept: Floats,
        place: NDArray[np.int32] | None = None,
        factors: Floats | None = None,
    ) -> None:
        self._vectorizer, self._index = vectorizer, vectorizer.index
        self._factors, self._n_labels = vectorizer.factors, len(intercept)
        widths = vectorizer.layout.counted_widths
        block_weights = None
        if vectorizer.blocks is not None:
            sizes = [block.weight for block in parse_blocks(vectorizer.blocks, vectorizer.fields_)]
            block_weights = self._index.of_blocks(sizes)
        # Counts are not weighted; the scheme is then of no account.
        scheme = parse_scheme(vectorizer.scheme or "txx")
        rules = _core.TextRules(
            document=scheme.document,
            normalization=scheme.normalization,
            counts_only=vectorizer.scheme is None,
            collection=self._factors,
            first=self._index.first_terms(widths),
            block_weights=block_weights,
            place=place,
            place_factors=factors,
            weights=weights,
            intercept=intercept,
        )
        self._scorer = _core.TextScorer(rules, sum(widths))

    @classmethod
    def of(cls, vectorizer: TermVectors, *rules: Any) -> Self | None:
        """As the constructor; None where terms are made into vectors, which takes a matrix."""
        index: BlockIndex = vectorizer.index
        if vectorizer.vectors_ or vectorizer.has_vectors or not index.has_terms:
            return None
        return cls(vectorizer, *rules)

    @property
    def is_current(self) -> bool:
        """Whether the vectorizer still has the same terms and weights: it may have learned since."""
        return self._vectorizer.index is self._index and self._vectorizer.factors is self._factors

    def __call__(self, texts: Any) -> Floats:
        """Scores of `texts`, one row each."""
        n_threads = thread_count(self._vectorizer.n_jobs)
        views = self._vectorizer.views(texts)
        scores = np.empty((len(views), self._n_labels))
        self._scorer.score(self._index.blocks(views, n_threads), scores, n_threads)
        return scores
