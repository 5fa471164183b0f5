"""Count the terms of texts, with a new vocabulary or a given one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin.errors import DataError
from widemargin.text.pruning import NoTermsError, Pruning
from widemargin.text.stemming import stem
from widemargin.text.thesaurus import Thesaurus, distinct_tokens
from widemargin.text.tokens import TextRule
from widemargin.text.vocabulary import Vocabulary, pack

Longs = NDArray[np.int64]


@dataclass(frozen=True)
class WordRule:
    """Stop words and stemmer, applied to each distinct token, and entries that become concepts."""

    stop_words: frozenset[str] = frozenset()
    stemmer: str | None = None
    thesaurus: Thesaurus | None = None

    @property
    def replaces(self) -> bool:
        """Whether tokens become something else before they are counted."""
        return self.stemmer is not None or self.thesaurus is not None

    def stems(self, tokens: list[str]) -> list[str]:
        """The stem of each token; the token itself without a stemmer."""
        return tokens if self.stemmer is None else stem(tokens, self.stemmer)


@dataclass(frozen=True)
class Counted:
    """The terms of a collection and their counts."""

    vocabulary: Vocabulary
    document_frequencies: NDArray[np.int64]
    counts: Csr | None


def count_collection(
    texts: _core.Texts,
    rule: TextRule,
    words: WordRule,
    pruning: Pruning,
    n_threads: int,
    *,
    by_document: bool = True,
) -> Counted:
    """Find the terms of `texts` and count them; `by_document=False` skips the rows."""
    native = rule.native()
    try:
        if rule.units == "words" and words.replaces:
            counts = _count_replaced(texts, native, words, pruning.needs_totals, n_threads)
        else:
            skipped = Vocabulary.from_terms(words.stop_words)
            counts = _core.count_terms(
                texts, native, skipped.buffer, skipped.offsets, pruning.needs_totals, n_threads
            )
        if counts.n_terms == 0:
            raise NoTermsError(
                f"The {len(texts)} documents contain no terms: they are empty, too short, "
                f"or all their words are stop words."
            )
        _prune(counts, rule, pruning, len(texts))
        frequencies = np.empty(counts.n_terms, dtype=np.int32)
        counts.document_frequencies(frequencies)
        vocabulary = _terms(counts, rule)
        rows = _to_csr(counts.rows(), counts.n_terms) if by_document else None
    except OverflowError as error:
        raise _too_large(error) from None
    return Counted(vocabulary, frequencies.astype(np.int64), rows)


class Index:
    """Counts known terms: those of a vocabulary, or hashed ones.

    It is built once and then used for every text.
    """

    def __init__(
        self,
        rule: TextRule,
        words: WordRule,
        vocabulary: Vocabulary | None = None,
        n_hashed: int | None = None,
    ) -> None:
        self._rule = rule.native()
        self._words = words
        self._index: _core.TermIndex | _core.HashIndex
        if vocabulary is not None:
            self._index = _core.TermIndex(vocabulary.buffer, vocabulary.offsets, self._rule)
            self.n_columns = len(vocabulary)
        else:
            assert n_hashed is not None
            self._index = _core.HashIndex(n_hashed, self._rule)
            self.n_columns = n_hashed
        # With a stemmer, stop words are looked for among the tokens, before they become stems.
        self._stems = rule.units == "words" and words.stemmer is not None
        if rule.units == "words" and words.stop_words and not self._stems:
            stop = Vocabulary.from_terms(words.stop_words)
            self._index.skip(stop.buffer, stop.offsets)
        self._concepts: _core.ConceptMap | None = None
        if words.thesaurus is not None and not self._stems:
            self._concepts = self._concept_map(Vocabulary.from_terms(words.thesaurus.words))

    @property
    def terms(self) -> _core.TermIndex | None:
        """The terms for a reader of texts in the core; None if they are hashed, or if words are replaced."""
        own = isinstance(self._index, _core.TermIndex) and not self._words.replaces
        return self._index if own else None  # type: ignore[return-value]  # own says which it is

    def count(self, texts: _core.Texts, n_threads: int) -> Csr:
        """The counts of `texts`, one row each; unknown terms are ignored."""
        try:
            rows = self._index.count(texts, *self._maps(texts, n_threads), n_threads)
            return _to_csr(rows, self.n_columns)
        except OverflowError as error:
            raise _too_large(error) from None

    def block(self, texts: _core.Texts, n_threads: int) -> _core.TextBlock:
        """The terms and `texts`, for :class:`~widemargin._core.TextScorer`."""
        return _core.TextBlock(self._index, texts, *self._maps(texts, n_threads))

    def locate(self, texts: _core.Texts) -> tuple[NDArray[np.int32], Longs, Longs, Longs, Longs]:
        """Column, start and end (in characters) of every known term in one text, and of the gap in it."""
        found = self._index.locate(texts, *self._maps(texts, 1))
        columns = np.empty(len(found), dtype=np.int32)
        begins, ends, gap_begins, gap_ends = (np.empty(len(found), dtype=np.int64) for _ in range(4))
        found.read(columns, begins, ends, gap_begins, gap_ends)
        return columns, begins, ends, gap_begins, gap_ends

    def _maps(
        self, texts: _core.Texts, n_threads: int
    ) -> tuple[_core.TokenMap | None, _core.ConceptMap | None]:
        """The units that the tokens of these texts stand for, where stems have to be looked up first, and
        the concepts that entries of a thesaurus stand for."""
        if not self._stems:
            return None, self._concepts
        tokens = distinct_tokens(_core.TokenPass(texts, self._rule, n_threads))
        strings = list(tokens)
        stems = self._words.stems(strings)
        values = self._units(stems)
        for i, token in enumerate(strings):
            if token in self._words.stop_words or not stems[i]:
                values[i] = _core.SKIP
        of_tokens = _core.TokenMap(tokens.buffer, tokens.offsets, values)
        return of_tokens, None if self._words.thesaurus is None else self._concept_map(tokens, stems)

    def _concept_map(self, tokens: Vocabulary, stems: list[str] | None = None) -> _core.ConceptMap:
        """The concepts, by the tokens (or their stems) that occur in entries."""
        assert self._words.thesaurus is not None
        numbers = self._words.thesaurus.numbers(list(tokens) if stems is None else stems)
        known = [token.encode() for token, number in zip(tokens, numbers, strict=True) if number >= 0]
        return _core.ConceptMap(
            self._words.thesaurus.entries,
            *pack(known),
            numbers[numbers >= 0].astype(np.uint64),
            self._units(self._words.thesaurus.concepts),
        )

    def _units(self, words: list[str]) -> NDArray[np.uint64]:
        """The values of words as units, known or not."""
        values = np.empty(len(words), dtype=np.uint64)
        self._index.units(*pack([word.encode() for word in words]), values)
        return values


def _count_replaced(
    texts: _core.Texts, native: _core.TextRule, words: WordRule, totals: bool, n_threads: int
) -> _core.CollectionCounts:
    """Each distinct token is stemmed once, between finding the tokens and counting what they became."""
    found = _core.TokenPass(texts, native, n_threads)
    tokens = list(distinct_tokens(found))
    stems = words.stems(tokens)
    kept = [
        s if s and token not in words.stop_words else None for token, s in zip(tokens, stems, strict=True)
    ]
    concepts = [] if words.thesaurus is None else words.thesaurus.concepts
    units = Vocabulary.from_terms([*(unit for unit in kept if unit is not None), *concepts])
    place = {unit: i for i, unit in enumerate(units)}
    unit_of = np.array([-1 if unit is None else place[unit] for unit in kept], dtype=np.int32)
    map = _core.UnitMap(units.buffer, units.offsets, unit_of)
    if words.thesaurus is not None:
        meanings = np.array([place[concept] for concept in concepts], dtype=np.int32)
        map.set_concepts(words.thesaurus.entries, words.thesaurus.numbers(stems), meanings)
    return _core.count_units(found, map, native, totals, n_threads)


def _prune(counts: _core.CollectionCounts, rule: TextRule, pruning: Pruning, n_documents: int) -> None:
    if not pruning.prunes:
        return
    frequencies = np.empty(counts.n_terms, dtype=np.int32)
    counts.document_frequencies(frequencies)
    totals = None
    if pruning.needs_totals:
        totals = np.empty(counts.n_terms, dtype=np.int64)
        counts.totals(totals)
    kept = pruning.keep(frequencies, totals, n_documents, _ties(counts, pruning), _pairs(counts, rule))
    counts.keep(kept.view(np.uint8))


def _ties(counts: _core.CollectionCounts, pruning: Pruning) -> NDArray[np.float64] | None:
    """The log-likelihood ratios of the terms, if phrases are wanted."""
    if pruning.phrases is None:
        return None
    ties = np.empty(counts.n_terms, dtype=np.float64)
    counts.associations(ties)
    return ties


def _pairs(counts: _core.CollectionCounts, rule: TextRule) -> NDArray[np.bool_] | None:
    """Which terms are pairs of words, if any are."""
    if rule.pairs is None:
        return None
    marked = np.empty(counts.n_terms, dtype=np.uint8)
    counts.mark_pairs(marked)
    return marked.view(np.bool_)


def _terms(counts: _core.CollectionCounts, rule: TextRule) -> Vocabulary:
    offsets = np.empty(counts.n_terms + 1, dtype=np.int64)
    buffer = np.empty(counts.term_offsets(offsets), dtype=np.uint8)
    counts.term_bytes(offsets, buffer)
    return rule.vocabulary(buffer, offsets)


def _to_csr(rows: _core.CountRows, n_columns: int) -> Csr:
    indptr = np.empty(rows.n_rows + 1, dtype=np.int64)
    indices = np.empty(rows.non_zeros, dtype=np.int32)
    counts = np.empty(rows.non_zeros, dtype=np.int32)
    rows.release(indptr, indices, counts)
    return Csr(indptr, indices, counts, n_columns)


def _too_large(error: Any) -> DataError:
    return DataError(
        f"Too much for one matrix: {error}. Train on part of the documents, or use shorter n-grams."
    )
