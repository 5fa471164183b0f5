"""Blocks: kinds of terms with vocabularies of their own, side by side in one matrix.

Words, bigrams, characters and fields such as the title differ in number and frequency. Each is counted,
weighted and normalized alone, so that none drowns the others, and multiplied by its weight. The blocks of
a document stand next to each other in one row, which is normalized again.

A block is written as its name, optionally with lengths of n-grams, a weight and the fewest documents of a
term, divided by colons: ``"words"``, ``"bigrams:0.5"``, ``"chars:2-4:0.5"``, ``"bigrams:0.5:min=2"``.

The block ``"vectors"`` is of another kind: it counts words, but its columns are the dimensions of document
vectors (:mod:`widemargin.weight.corpus_vectors`), ``"vectors:dims=200:0.5"``. Blocks of vectors stand after
all others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from widemargin._stored import Stored
from widemargin.errors import DataError, UsageError
from widemargin.text.fields import FOUND
from widemargin.text.pruning import Pruning
from widemargin.text.tokens import TextRule

_NAME = re.compile(r"[^\s:,<]+")
_LENGTHS = re.compile(r"([0-9]+)-([0-9]+)")
_FEWEST = re.compile(r"min=([0-9]+)")
_DIMS = re.compile(r"dims=([0-9]+)")
_LARGEST_WEIGHT = 1e6
_MOST_DIMS = 2000


@dataclass(frozen=True)
class Block:
    """One kind of terms.

    Parameters
    ----------
    name : str
        What the block is called in results. It stands before its terms ("title:wheat"), except for blocks
        of words of whole documents.
    units : str
        The units of n-grams, see :mod:`widemargin.text.tokens`.
    ngram_range : tuple of two int
        The shortest and the longest n-gram.
    field : str, optional
        The part of documents that is counted, see :mod:`widemargin.text.fields`; None for all of it.
    weight : float
        The length of the block in a row, relative to the other blocks.
    min_df : int or float, optional
        The fewest documents that may contain a term; None: as in the other blocks.
    dims : int, optional
        The dimensions of document vectors, made of vectors of the terms; None: every term is a column.

    Examples
    --------
    >>> Block("chars", units="chars_in_words", ngram_range=(3, 5), weight=0.5) == parse_block("chars:0.5")
    True
    """

    name: str
    units: str = "words"
    ngram_range: tuple[int, int] = (1, 1)
    field: str | None = None
    weight: float = 1.0
    min_df: float | None = None
    dims: int | None = None

    @property
    def encodes(self) -> bool:
        """Whether the block is of vectors that are made of whole texts, not of counted terms."""
        return False

    def require_storable(self) -> None:
        """Refuse to save a block that a model file cannot contain."""

    @property
    def counts_plain_words(self) -> bool:
        """Whether the block counts words of whole documents, which are named without the block."""
        return self.units == "words" and self.field is None

    def plain(self) -> dict[str, Any]:
        """Plain values for JSON; `dims` of vectors only."""
        found = {**asdict(self), "ngram_range": list(self.ngram_range)}
        if self.dims is None:
            del found["dims"]
        return found

    def check(self, columns: tuple[str, ...] | None = None) -> None:
        """Raise an error that names the wrong parameter; `columns` are those of the documents."""
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise UsageError(
                f"A block cannot be called {self.name!r}: "
                f"use a name without white space, colons, commas and <."
            )
        try:
            TextRule(self.units, ngram_range=self.ngram_range)
            if self.min_df is not None:
                Pruning(self.min_df)
        except UsageError as error:
            raise UsageError(f"Block {self.name!r}: {error}") from None
        number = isinstance(self.weight, int | float) and not isinstance(self.weight, bool)
        if not number or not 0 < self.weight <= _LARGEST_WEIGHT:  # NaN is neither
            raise UsageError(
                f"Block {self.name!r} has the weight {self.weight!r}: expected a number above 0, at most "
                f"{_LARGEST_WEIGHT:g}. Omit a block that should not count."
            )
        if self.dims is not None and (type(self.dims) is not int or not 1 <= self.dims <= _MOST_DIMS):
            raise UsageError(
                f"Block {self.name!r} has dims={self.dims!r}: expected a whole number from 1 to {_MOST_DIMS}."
            )
        known = (*FOUND, *(columns or ()))
        if self.field is not None and self.field not in known:
            raise UsageError(
                f"Block {self.name!r} has the field {self.field!r}: expected {', '.join(known)}, or the name "
                f"of a column of the documents (fields)."
            )


_KNOWN = {
    block.name: block
    for block in (
        Block("words"),
        Block("bigrams", ngram_range=(2, 2)),
        Block("chars", units="chars_in_words", ngram_range=(3, 5)),
        *(Block(field, field=field) for field in FOUND),
        Block("vectors", min_df=3, dims=100),
    )
}


def parse_block(text: str, columns: Iterable[str] | None = None) -> Block:
    """The block that a word such as ``"chars:2-4:0.5"`` stands for.

    A name of `columns` is the block of that column.

    Examples
    --------
    >>> parse_block("bigrams:0.5")
    Block(name='bigrams', units='words', ngram_range=(2, 2), field=None, weight=0.5, min_df=None, dims=None)
    >>> parse_block("bigrams:min=2").min_df
    2
    >>> parse_block("vectors:dims=200").dims
    200
    """
    name, *options = text.strip().split(":")
    known = {**_KNOWN, **{column: Block(column, field=column) for column in columns or ()}}
    if name not in known:
        raise UsageError(f"There is no block {name!r}. Blocks are {', '.join(known)}.")
    block = known[name]
    if options and (lengths := _LENGTHS.fullmatch(options[0])):
        block = replace(block, ngram_range=(int(lengths[1]), int(lengths[2])))
        options = options[1:]
    if options and block.dims is not None and (dims := _DIMS.fullmatch(options[0])):
        block = replace(block, dims=int(dims[1]))
        options = options[1:]
    if options and (fewest := _FEWEST.fullmatch(options[-1])):
        block = replace(block, min_df=int(fewest[1]))
        options = options[:-1]
    if options:
        try:
            weight = float(options[0])
        except ValueError:
            weight = math.nan
        if len(options) > 1 or math.isnan(weight):
            raise UsageError(f"Block {text!r}: expected {_written(block)}.")
        block = replace(block, weight=weight)
    return block


def _written(block: Block) -> str:
    """How blocks are written, by the example of one."""
    name = block.name
    if block.dims is not None:
        return (
            f"a name, optionally with dimensions, a weight and the fewest documents of a word, such as "
            f"{name}, {name}:0.5, {name}:dims=200:0.5 or {name}:0.5:min=2"
        )
    return (
        f"a name, optionally with lengths of n-grams, a weight and the fewest documents, such as {name}, "
        f"{name}:0.5, {name}:2-4:0.5 or {name}:0.5:min=2"
    )


def parse_blocks(blocks: Any, columns: tuple[str, ...] | None = None) -> tuple[Block, ...]:
    """The checked blocks of a vectorizer, given as a sequence of blocks and words, or as one line.

    Blocks of vectors come last, those that encode whole texts at the very end.

    Examples
    --------
    >>> [block.name for block in parse_blocks("vectors,words,title:0.5")]
    ['words', 'title', 'vectors']
    """
    given = blocks.split(",") if isinstance(blocks, str) else blocks
    try:
        given = list(given)
    except TypeError:
        raise UsageError(f"blocks={blocks!r}: expected a list such as ['words', 'bigrams:0.5'].") from None
    if not given:
        raise UsageError("There are no blocks. Pass at least one, such as 'words'.")
    found: list[Block] = []
    for part in given:
        if not isinstance(part, str | Block):
            raise UsageError(f"Block {part!r}: expected a name such as 'bigrams:0.5', or a Block.")
        block = parse_block(part, columns) if isinstance(part, str) else part
        block.check(columns)
        if any(block.name == other.name for other in found):
            raise UsageError(f"There are two blocks {block.name!r}. Omit one, or rename it: Block(name=...).")
        found.append(block)
    return tuple(sorted(found, key=lambda block: (block.dims is not None) + block.encodes))


def prefixes(blocks: Iterable[Block]) -> list[str]:
    """What stands before the terms of each block, so that every column has its own name.

    Words of whole documents have no prefix, unless an earlier block may have the same ones.
    """
    taken: list[tuple[int, int]] = []
    found = []
    for block in blocks:
        low, high = block.ngram_range
        plain = block.counts_plain_words and all(high < first or low > last for first, last in taken)
        plain &= block.dims is None
        if plain:
            taken.append((low, high))
        found.append("" if plain else f"{block.name}:")
    return found


def block_from_plain(value: Any) -> Block:
    """The block that :meth:`Block.plain` described; a damaged description is a data error."""
    stored = Stored(value, path="blocks.")
    for part in fields(Block):
        if part.name != "dims":  # of vectors only
            stored.value(part.name)
    lengths = stored.items("ngram_range")
    if len(lengths) != 2 or not all(type(length) is int for length in lengths):
        raise DataError(f"'blocks.ngram_range' in manifest.json is {lengths!r}; expected two whole numbers")
    made: Block = Stored({**value, "ngram_range": tuple(lengths)}, path="blocks.").made(Block)
    return made
