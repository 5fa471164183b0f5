"""Count every block of terms over the same texts, and put their columns side by side."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin.errors import DataWarning, UsageError
from widemargin.text.counting import Counted, Index, WordRule, count_collection
from widemargin.text.fields import Views, find_field
from widemargin.text.inputs import as_texts
from widemargin.text.pairs import parse_pairs
from widemargin.text.pruning import NoTermsError, Pruning
from widemargin.text.stemming import check_stemmer
from widemargin.text.stop_lists import stop_list
from widemargin.text.thesaurus import Thesaurus
from widemargin.text.tokens import TextRule
from widemargin.text.vocabulary import Vocabulary
from widemargin.text.word_source import WordSource
from widemargin.weight.block_columns import concatenated
from widemargin.weight.blocks import Block, parse_blocks
from widemargin.weight.encoded_vectors import EncoderIndex, numbered
from widemargin.weight.given_vectors import FittedGiven, GivenVectors, sized
from widemargin.weight.given_words import count_given_words
from widemargin.weight.smart import canonical, check_idf_power


class Located(NamedTuple):
    """The occurrences of known terms in one text: column, start and end (in characters).

    Between the words of a pair is a gap, which does not belong to the term; in other terms it is empty.
    """

    columns: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    gap_starts: NDArray[np.int64]
    gap_ends: NDArray[np.int64]


class BlockRule(NamedTuple):
    """How one block is counted."""

    block: Block
    text: TextRule
    words: WordRule
    pruning: Pruning


def block_rules(
    of: Any, columns: tuple[str, ...] | None, given: Mapping[str, FittedGiven]
) -> list[BlockRule]:
    """How a vectorizer counts each block, checked; without blocks, the rule of all terms.

    Parameters
    ----------
    of : the parameters of the vectorizer
    columns : of its documents
    given : what it learned of given vectors, by block
    """
    if of.blocks is None:
        blocks: tuple[Block, ...] = (Block("words", of.units, of.ngram_range),)
    else:
        if of.units != "words" or tuple(of.ngram_range) != (1, 1):
            raise UsageError("Use either blocks or units and ngram_range: a block has its own.")
        for name in ("phrases", "pairs"):
            if getattr(of, name) is not None:
                raise UsageError(f"{name} does not apply to blocks. Use either {name} or blocks.")
        blocks = sized(parse_blocks(of.blocks, columns), given)
    pairs, source = parse_pairs(of.pairs), WordSource.of(of)
    check_stemmer(of.stemmer)
    stop_words = stop_list(of.stop_words)
    rules = []
    for block in blocks:
        rule = TextRule(block.units, of.tokens, block.ngram_range, of.min_token_length, pairs, source)
        if of.blocks is None:
            for name in ("stop_words", "stemmer", "phrases", "pairs", "thesaurus"):
                if of.units != "words" and getattr(of, name) is not None:
                    raise UsageError(f"{name} does not apply to units={of.units!r}. Use units='words'.")
        if of.phrases is not None and of.ngram_range[1] < 2:
            # Phrases of two words, if nothing is said about longer ones.
            rule = replace(rule, ngram_range=(of.ngram_range[0], 2))
        words = WordRule()
        if block.units == "words":
            thesaurus = None
            if of.thesaurus is not None:
                thesaurus = Thesaurus.of(of.thesaurus, rule, of.stemmer)
            words = WordRule(stop_words, of.stemmer, thesaurus)
        few = of.n_hashed is not None and (pairs is None or pairs.min_df is None)
        fewest = 1 if pairs is None or few else pairs.fewest
        min_df = of.min_df if block.min_df is None else block.min_df
        pruning = Pruning(min_df, of.max_df, of.min_count, of.max_features, of.phrases, fewest)
        rules.append(BlockRule(block, rule, words, pruning))
    check_hashing(of.n_hashed, rules)
    canonical(of.weighting)  # checks it
    check_idf_power(of.idf_power)
    return rules


class CountedBlocks(NamedTuple):
    """The terms of every block, the document frequencies of all columns, and the counts if wanted; by name,
    blocks of given vectors."""

    vocabularies: list[Vocabulary]
    document_frequencies: NDArray[np.int64]
    counts: Csr | None
    given: dict[str, FittedGiven]


def count_blocks(
    views: Views, rules: Sequence[BlockRule], n_threads: int, *, by_document: bool
) -> CountedBlocks:
    """Find the terms of every block and count them; `by_document=False` skips the rows.

    A block without terms has no columns, with a warning, unless all blocks are without.
    """
    found: list[Counted] = []
    empty: list[NoTermsError] = []
    given: dict[str, FittedGiven] = {}
    for rule in rules:
        if isinstance(rule.block, GivenVectors):
            counted, given[rule.block.name] = _given(views, rule.block, rule, n_threads)
            found.append(counted)
            continue
        texts = views.of(rule.block.field)
        try:
            counted = count_collection(
                texts, rule.text, rule.words, rule.pruning, n_threads, by_document=by_document
            )
        except NoTermsError as error:
            empty.append(error)
            if len(empty) == len(rules):
                raise empty[0] from None
            warnings.warn(f"Block {rule.block.name!r} is empty: {error}", DataWarning, stacklevel=5)
            counted = nothing_counted(rule.text, len(texts))
        found.append(counted)
    counts = [counted.counts for counted in found if counted.counts is not None]
    return CountedBlocks(
        [counted.vocabulary for counted in found],
        np.concatenate([counted.document_frequencies for counted in found]),
        concatenated(counts) if by_document else None,
        given,
    )


def _given(views: Views, block: GivenVectors, rule: BlockRule, n_threads: int) -> tuple[Counted, FittedGiven]:
    """The words of given vectors and their counts, or the vectors of texts in the form of counts."""
    if not block.encodes:
        return count_given_words(views.of(block.field), block, rule.text, rule.words, n_threads)
    counts = EncoderIndex(block.source, block.name, None).count(views.strings(block.field))
    dims = counts.n_columns
    counted = Counted(numbered(dims), np.full(dims, len(views), dtype=np.int64), counts)
    return counted, FittedGiven(replace(block, dims=dims))


def nothing_counted(rule: TextRule, n_documents: int) -> Counted:
    """Documents without terms."""
    vocabulary = rule.vocabulary(np.empty(0, np.uint8), np.zeros(1, np.int64))
    return Counted(vocabulary, np.empty(0, np.int64), _empty_rows(n_documents))


def _empty_rows(n_rows: int) -> Csr:
    return Csr(np.zeros(n_rows + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32), 0)


def check_hashing(n_hashed: Any, rules: Sequence[BlockRule]) -> None:
    """Refuse a number of columns that terms cannot be hashed to, and what hashed terms cannot have."""
    if n_hashed is None:
        return
    if isinstance(n_hashed, bool) or not isinstance(n_hashed, int) or n_hashed < 1:
        raise UsageError(f"n_hashed={n_hashed!r}: expected a number of columns, such as 2**18.")
    if any(rule.block.dims is not None for rule in rules):
        raise UsageError("Hashed terms have no vectors. Omit n_hashed, or the block of vectors.")
    if n_hashed * len(rules) >= 2**31:
        raise UsageError(f"n_hashed={n_hashed}: columns must stay below 2**31.")
    if any(rule.pruning.prunes for rule in rules):
        raise UsageError(
            "Hashed terms cannot be pruned. Omit min_df, max_df, min_count, max_features, phrases "
            "and the min of pairs, or omit n_hashed."
        )


def _index(rule: BlockRule, terms: Vocabulary | None, n_hashed: int | None) -> Index | EncoderIndex | None:
    """What counts one block. A block that has nothing after pruning needs no index."""
    block = rule.block
    if isinstance(block, GivenVectors) and block.encodes:
        return EncoderIndex(block.source, block.name, block.dims)
    return Index(rule.text, rule.words, terms, n_hashed) if terms is None or len(terms) else None


class BlockIndex:
    """Counts the known terms of every block.

    Parameters
    ----------
    vocabularies : of the blocks; None if terms are hashed
    n_hashed : the number of columns of a block with hashed terms
    """

    def __init__(
        self, rules: Sequence[BlockRule], vocabularies: Sequence[Vocabulary | None], n_hashed: int | None
    ) -> None:
        self._fields = [rule.block.field for rule in rules]
        self._parts = [_index(rule, terms, n_hashed) for rule, terms in zip(rules, vocabularies, strict=True)]

    @property
    def terms(self) -> _core.TermIndex | None:
        """The terms for a reader of texts in the core, if there is one block of words as they are."""
        return self._parts[0].terms if len(self._parts) == 1 and isinstance(self._parts[0], Index) else None

    def count(self, views: Views, n_threads: int) -> Csr:
        """The counts of known terms, one row per document."""
        found = []
        for field, index in zip(self._fields, self._parts, strict=True):
            if isinstance(index, EncoderIndex):
                found.append(index.count(views.strings(field)))
            else:
                none = _empty_rows(len(views))
                found.append(none if index is None else index.count(views.of(field), n_threads))
        return concatenated(found)

    @property
    def has_terms(self) -> bool:
        """Whether any block has terms, which are found in texts; not so if texts are encoded."""
        parts = [index for index in self._parts if index is not None]
        return bool(parts) and all(isinstance(index, Index) for index in parts)

    def first_terms(self, widths: Sequence[int]) -> NDArray[np.int64]:
        """The first column of counts of every block that has terms, given the widths of all blocks."""
        first = np.cumsum([0, *widths[:-1]], dtype=np.int64)
        return first[[index is not None for index in self._parts]]

    def of_blocks(self, values: Sequence[float]) -> NDArray[np.float64]:
        """The values of the blocks that have terms, given those of all blocks."""
        kept = [value for value, index in zip(values, self._parts, strict=True) if index is not None]
        return np.array(kept, dtype=np.float64)

    def blocks(self, views: Views, n_threads: int) -> list[_core.TextBlock]:
        """The texts and terms of every block that has terms, for :class:`~widemargin._core.TextScorer`."""
        found = zip(self._fields, self._parts, strict=True)
        return [index.block(views.of(field), n_threads) for field, index in found if isinstance(index, Index)]

    def locate(
        self, text: str, columns: Sequence[str] | None, source: WordSource
    ) -> tuple[NDArray[Any], ...]:
        """Column, start and end (in characters) of every known term in one text, and of the gap in it.

        Parameters
        ----------
        columns : the names of the columns of the text, if it has several
        source : where words come from
        """
        found, before = [], 0
        for field, index in zip(self._fields, self._parts, strict=True):
            if index is None:
                continue
            start, end = find_field(text, field, columns)
            part = text[start:end]
            if isinstance(index, EncoderIndex):
                numbers, *places = index.locate(part)
            elif source.prepare is None:
                numbers, *places = index.locate(as_texts([part]))
            else:
                prepared = source.prepare(part)
                numbers, *places = index.locate(as_texts([prepared]))
                places = list(source.original(part, prepared, places))
            found.append((numbers + np.int32(before), *(place + start for place in places)))
            before += index.n_columns
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))
