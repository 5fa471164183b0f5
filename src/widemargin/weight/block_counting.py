"""Count every block of terms over the same texts, and put their columns side by side."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin.errors import DataWarning, UsageError
from widemargin.text.counting import Counted, Index, WordRule, count_collection
from widemargin.text.fields import Views, find_field
from widemargin.text.inputs import as_texts
from widemargin.text.pruning import NoTermsError, Pruning
from widemargin.text.tokens import TextRule
from widemargin.text.vocabulary import Vocabulary
from widemargin.weight.block_columns import concatenated
from widemargin.weight.blocks import Block


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


class CountedBlocks(NamedTuple):
    """The terms of every block, the document frequencies of all columns, and the counts if wanted."""

    vocabularies: list[Vocabulary]
    document_frequencies: NDArray[np.int64]
    counts: Csr | None


def count_blocks(
    views: Views, rules: Sequence[BlockRule], n_threads: int, *, by_document: bool
) -> CountedBlocks:
    """Find the terms of every block and count them; `by_document=False` skips the rows.

    A block without terms has no columns, with a warning, unless all blocks are without.
    """
    found: list[Counted] = []
    empty: list[NoTermsError] = []
    for rule in rules:
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
            counted = _nothing(rule.text, len(texts))
        found.append(counted)
    counts = [counted.counts for counted in found if counted.counts is not None]
    return CountedBlocks(
        [counted.vocabulary for counted in found],
        np.concatenate([counted.document_frequencies for counted in found]),
        concatenated(counts) if by_document else None,
    )


def _nothing(rule: TextRule, n_documents: int) -> Counted:
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
        # A block that has nothing after pruning needs no index.
        self._parts = [
            Index(rule.text, rule.words, terms, n_hashed) if terms is None or len(terms) else None
            for rule, terms in zip(rules, vocabularies, strict=True)
        ]

    @property
    def terms(self) -> _core.TermIndex | None:
        """The terms for a reader of texts in the core, if there is one block of words as they are."""
        return None if len(self._parts) > 1 or self._parts[0] is None else self._parts[0].terms

    def count(self, views: Views, n_threads: int) -> Csr:
        """The counts of known terms, one row per document."""
        return concatenated(
            [
                _empty_rows(len(views)) if index is None else index.count(views.of(field), n_threads)
                for field, index in zip(self._fields, self._parts, strict=True)
            ]
        )

    def locate(self, text: str, columns: Sequence[str] | None) -> tuple[NDArray[Any], ...]:
        """Column, start and end (in characters) of every known term in one text, and of the gap in it.

        Parameters
        ----------
        columns : the names of the columns of the text, if it has several
        """
        found, before = [], 0
        for field, index in zip(self._fields, self._parts, strict=True):
            if index is None:
                continue
            start, end = find_field(text, field, columns)
            numbers, *places = index.locate(as_texts([text[start:end]]))
            found.append((numbers + np.int32(before), *(part + start for part in places)))
            before += index.n_columns
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))
