"""Count the terms of texts, with a new vocabulary or a given one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin.errors import DataError
from widemargin.text.phrases import associations
from widemargin.text.pruning import Pruning
from widemargin.text.stemming import stem
from widemargin.text.tokens import TextRule
from widemargin.text.vocabulary import Vocabulary, pack


@dataclass(frozen=True)
class WordRule:
    """Stop words and stemmer, applied to each distinct token."""

    stop_words: frozenset[str] = frozenset()
    stemmer: str | None = None


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
        if rule.units == "words" and words.stemmer is not None:
            counts = _count_stems(texts, native, words, pruning.needs_totals, n_threads)
        else:
            skipped = Vocabulary.from_terms(words.stop_words)
            counts = _core.count_terms(
                texts, native, skipped.buffer, skipped.offsets, pruning.needs_totals, n_threads
            )
        if counts.n_terms == 0:
            raise DataError(
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

    @property
    def terms(self) -> _core.TermIndex | None:
        """The terms for a reader of texts in the core; None if they are hashed or made of stems."""
        return self._index if isinstance(self._index, _core.TermIndex) and not self._stems else None

    def count(self, texts: _core.Texts, n_threads: int) -> Csr:
        """The counts of `texts`, one row each; unknown terms are ignored."""
        try:
            rows = self._index.count(texts, self._token_map(texts, n_threads), n_threads)
            return _to_csr(rows, self.n_columns)
        except OverflowError as error:
            raise _too_large(error) from None

    def locate(self, texts: _core.Texts) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """Column, start and end (in characters) of every known term in one text."""
        found = self._index.locate(texts, self._token_map(texts, 1))
        columns = np.empty(len(found), dtype=np.int32)
        begins = np.empty(len(found), dtype=np.int64)
        ends = np.empty(len(found), dtype=np.int64)
        found.read(columns, begins, ends)
        return columns, begins, ends

    def _token_map(self, texts: _core.Texts, n_threads: int) -> _core.TokenMap | None:
        """The units that the tokens of these texts stand for, where stems have to be looked up first."""
        if not self._stems:
            return None
        tokens = _distinct(_core.TokenPass(texts, self._rule, n_threads))
        assert self._words.stemmer is not None
        strings = list(tokens)
        stems = [text.encode() for text in stem(strings, self._words.stemmer)]
        values = np.empty(len(strings), dtype=np.uint64)
        self._index.units(*pack(stems), values)
        for i, token in enumerate(strings):
            if token in self._words.stop_words or not stems[i]:
                values[i] = _core.SKIP
        return _core.TokenMap(tokens.buffer, tokens.offsets, values)


def _count_stems(
    texts: _core.Texts, native: _core.TextRule, words: WordRule, totals: bool, n_threads: int
) -> _core.CollectionCounts:
    """Each distinct token is stemmed once, between finding the tokens and counting what they became."""
    assert words.stemmer is not None
    found = _core.TokenPass(texts, native, n_threads)
    tokens = list(_distinct(found))
    kept = [token for token in tokens if token not in words.stop_words]
    stem_of = {a: b for a, b in zip(kept, stem(kept, words.stemmer), strict=True) if b}
    units = Vocabulary.from_terms(stem_of.values())
    place = {unit: i for i, unit in enumerate(units)}
    places = (place[stem_of[token]] if token in stem_of else -1 for token in tokens)
    unit_of = np.fromiter(places, dtype=np.int32, count=len(tokens))
    return _core.count_units(found, native, unit_of, units.buffer, units.offsets, totals, n_threads)


def _distinct(found: _core.TokenPass) -> Vocabulary:
    buffer = np.empty(found.n_bytes, dtype=np.uint8)
    offsets = np.empty(found.n_distinct + 1, dtype=np.int64)
    found.distinct(buffer, offsets)
    return Vocabulary(buffer, offsets)


def _prune(counts: _core.CollectionCounts, rule: TextRule, pruning: Pruning, n_documents: int) -> None:
    if not pruning.prunes:
        return
    frequencies = np.empty(counts.n_terms, dtype=np.int32)
    counts.document_frequencies(frequencies)
    totals = ties = None
    if pruning.needs_totals:
        totals = np.empty(counts.n_terms, dtype=np.int64)
        counts.totals(totals)
        if pruning.phrases is not None:
            ties = associations(_terms(counts, rule), totals)
    counts.keep(pruning.keep(frequencies, totals, n_documents, ties).view(np.uint8))


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
