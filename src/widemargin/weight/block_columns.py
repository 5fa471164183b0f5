"""The columns of several blocks side by side: one matrix, one vocabulary, one row that is normalized.

The columns of a block follow those of the block before it. Since column numbers ascend within a row, the
entries of one block in one row are neighbors, and a matrix of n rows and B blocks is also one of n x B rows:
one of the parts of every block. So a block is weighted and normalized as if it were alone.

Blocks of vectors come last. Their counts have a column for every word, their weights one for every dimension.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin.errors import DataError
from widemargin.text.vocabulary import Vocabulary
from widemargin.weight.blocks import Block
from widemargin.weight.corpus_vectors import CorpusVectors
from widemargin.weight.encoded_vectors import EncodedVectors
from widemargin.weight.smart import apply_factors, parse_scheme

Longs = NDArray[np.int64]

# Entries that are moved at a time, so that temporary arrays stay in the cache.
_AT_ONCE = 1 << 18
# Documents whose vectors are made at a time.
_ROWS_AT_ONCE = 1 << 13


def concatenated(parts: Sequence[Csr]) -> Csr:
    """The matrices of several blocks side by side, in this order."""
    if len(parts) == 1:
        return parts[0]
    indptr = np.sum([part.indptr for part in parts], axis=0)
    n_columns = sum(part.n_columns for part in parts)
    _check_size(n_columns, indptr[-1])
    indices = np.empty(indptr[-1], dtype=np.int32)
    data = np.empty(indptr[-1], dtype=parts[0].data.dtype)
    begins, before = indptr[:-1].copy(), 0
    for part in parts:
        lengths = np.diff(part.indptr)
        shifts = begins - part.indptr[:-1]
        for rows in _row_groups(part.indptr):
            first, last = part.indptr[rows.start], part.indptr[rows.stop]
            places = np.arange(first, last) + np.repeat(shifts[rows], lengths[rows])
            indices[places] = part.indices[first:last] + np.int32(before)
            data[places] = part.data[first:last]
        begins += lengths
        before += part.n_columns
    return Csr(indptr, indices, data, n_columns)


def _check_size(n_columns: int, n_entries: int) -> None:
    if n_columns >= 2**31 or n_entries >= 2**31:
        raise DataError(
            f"Too much for one matrix: {n_columns} columns with {n_entries} entries; both must stay below "
            f"2**31. Train on part of the documents, or use fewer blocks."
        )


def _row_groups(indptr: Longs) -> Iterator[slice]:
    """Rows of about `_AT_ONCE` entries."""
    first, n_rows = 0, len(indptr) - 1
    while first < n_rows:
        last = int(np.searchsorted(indptr, indptr[first] + _AT_ONCE, side="right")) - 1
        last = min(max(last, first + 1), n_rows)
        yield slice(first, last)
        first = last


def segments(counts: Csr, bounds: Sequence[int]) -> Longs:
    """Where the part of every block begins in every row: row pointers of a matrix of rows x blocks.

    Parameters
    ----------
    bounds : the first column of every block but the first
    """
    n_blocks = len(bounds) + 1
    found = np.empty(counts.n_rows * n_blocks + 1, dtype=np.int64)
    found[0::n_blocks] = counts.indptr
    begins = counts.indptr[:-1]
    for place, bound in enumerate(bounds, start=1):
        begins = _first_from(counts, begins, bound)
        found[place:-1:n_blocks] = begins
    return found


def taken_blocks(counts: Csr, widths: Sequence[int], places: Sequence[int]) -> Csr:
    """The columns of some blocks, in the order of `places`; `widths` are those of all blocks."""
    if len(places) == 0:
        return Csr(np.zeros_like(counts.indptr), counts.indices[:0], counts.data[:0], 0)
    begins = segments(counts, np.cumsum(widths)[:-1].tolist())
    parts = []
    for place in places:
        first = begins[place : -1 : len(widths)]
        lengths = begins[place + 1 :: len(widths)] - first
        parts.append(_block_at(counts, first, lengths, sum(widths[:place]), widths[place]))
    return concatenated(parts)


def _block_at(csr: Csr, begins: Longs, sizes: Longs, before: int, width: int) -> Csr:
    """Rows of so many entries from these places, in the columns of a block after `before` others."""
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.arange(indptr[-1]) + np.repeat(begins - indptr[:-1], sizes)
    return Csr(indptr, csr.indices[entries] - np.int32(before), csr.data[entries], width)


def _first_from(counts: Csr, begins: Longs, bound: int) -> Longs:
    """The first entry of every row, from `begins` on, in column `bound` or later: a binary search."""
    low, high = begins.copy(), counts.indptr[1:].copy()
    while True:
        open_rows = np.flatnonzero(low < high)
        if len(open_rows) == 0:
            return low
        middle = (low[open_rows] + high[open_rows]) // 2
        left = counts.indices[middle] < bound
        low[open_rows[left]] = middle[left] + 1
        high[open_rows[~left]] = middle[~left]


def weigh_blocks(
    counts: Csr,
    scheme: str,
    factors: NDArray[np.float64] | None,
    widths: Sequence[int],
    weights: Sequence[float],
    vectors: Sequence[CorpusVectors | EncodedVectors] = (),
    *,
    n_threads: int = 1,
    by_value: bool = False,
) -> Csr:
    """Weight and normalize every block alone, multiply it by its weight, and normalize the whole row.

    Every block that has a weight other than 0 is as long as its `weights` say, before the row is normalized.

    Parameters
    ----------
    widths : numbers of counted columns of the blocks
    vectors : those of the last blocks; encoded texts come last
    by_value : whether `factors` are those of the values, not of the columns; only without vectors
    """
    n_words = len(widths) - sum(isinstance(one, EncodedVectors) for one in vectors)
    of_texts = [taken_blocks(counts, widths, [place]) for place in range(n_words, len(widths))]
    if of_texts:
        counts, widths = taken_blocks(counts, widths, range(n_words)), widths[:n_words]
        factors = None if factors is None else factors[: counts.n_columns]
    bounds = np.cumsum(widths)[:-1].tolist()
    parts = Csr(segments(counts, bounds), counts.indices, counts.data, counts.n_columns)
    found = apply_factors(parts, scheme, factors, n_threads=n_threads, by_value=by_value).data
    lengths = np.diff(parts.indptr)
    used = np.flatnonzero(lengths)
    length = np.zeros((counts.n_rows, len(weights)))
    if len(used):
        some = np.logical_or.reduceat(found != 0, parts.indptr[used])
        own = np.where(some, np.tile(weights[:n_words], counts.n_rows)[used], 0.0)
        length[np.divmod(used, n_words)] = own
    normalization = parse_scheme(scheme).normalization
    if not vectors:
        scale = _scale(length, normalization)
        if not (scale[length > 0] == 1).all():
            found *= np.repeat(scale.ravel().astype(np.float32), lengths)
        return counts._replace(data=found)
    weighed, shape = counts._replace(data=found), (counts.n_rows, max(n_words, 1))
    begins, by_block = parts.indptr[:-1].reshape(shape), lengths.reshape(shape)
    sources = [
        _Source(weighed, begins[:, place], by_block[:, place], sum(widths[:place]), widths[place])
        for place in range(n_words)
    ]
    sources += [_Source(one, one.indptr[:-1], np.diff(one.indptr), 0, one.n_columns) for one in of_texts]
    return _with_vectors(sources, vectors, weights, length, normalization, n_threads)


class _Source(NamedTuple):
    """The entries of one block: where those of every row begin and how many they are; its columns."""

    csr: Csr
    begins: Longs
    sizes: Longs
    before: int
    width: int

    def rows(self, some: slice) -> Csr:
        """The rows of the block alone."""
        return _block_at(self.csr, self.begins[some], self.sizes[some], self.before, self.width)


def _with_vectors(
    sources: Sequence[_Source],
    vectors: Sequence[CorpusVectors | EncodedVectors],
    weights: Sequence[float],
    length: NDArray[np.float64],
    normalization: _core.Normalization,
    n_threads: int,
) -> Csr:
    """The rows with vectors in the last blocks, made a part at a time in the memory of the result.

    Parameters
    ----------
    sources : the weights of every block alone, before vectors are made of them
    length : rows x blocks, of blocks of terms
    """
    first = len(sources) - len(vectors)
    kept = [source.sizes for source in sources[:first]]
    kept += [
        np.where(source.sizes > 0, one.used, 0) for source, one in zip(sources[first:], vectors, strict=True)
    ]
    columns = np.cumsum([0, *(one.width for one in sources[:first]), *(one.dims for one in vectors)]).tolist()
    indptr = np.concatenate([[0], np.cumsum(np.sum(kept, axis=0))])
    _check_size(columns[-1], indptr[-1])
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    for begin in range(0, len(length), _ROWS_AT_ONCE):
        some = slice(begin, begin + _ROWS_AT_ONCE)
        parts: list[Any] = [source.rows(some) for source in sources]
        for place, one in enumerate(vectors, start=first):
            parts[place] = one.rows(parts[place], n_threads)
            length[some, place] = np.where(parts[place].any(axis=1), weights[place], 0.0)
        scale = _scale(length[some], normalization).astype(np.float32)
        to = indptr[:-1][some].copy()
        for place, part in enumerate(parts):
            size = kept[place][some]
            at = np.arange(size.sum()) + np.repeat(to - np.cumsum(size) + size, size)
            if place < first:
                indices[at] = part.indices + np.int32(columns[place])
                data[at] = part.data * np.repeat(scale[:, place], size)
            else:
                used = vectors[place - first].used
                rows = (part * scale[:, [place]])[size > 0, :used]
                indices[at] = np.tile(np.arange(used, dtype=np.int32), len(rows)) + np.int32(columns[place])
                data[at] = rows.ravel()
            to += size
    return Csr(indptr, indices, data, columns[-1])


def _scale(length: NDArray[np.float64], normalization: _core.Normalization) -> NDArray[np.float64]:
    """The factors of the blocks of every row, given their lengths."""
    total = _whole_length(length, normalization)
    return np.divide(length, total[:, None], out=np.zeros_like(length), where=total[:, None] > 0)


def learned_vectors(
    counts: Csr,
    scheme: str,
    factors: NDArray[np.float64] | None,
    widths: Sequence[int],
    blocks: Sequence[Block],
    *,
    n_threads: int = 1,
    known: Mapping[str, CorpusVectors | EncodedVectors | None] | None = None,
) -> list[CorpusVectors | EncodedVectors]:
    """The vectors of the blocks that have some, in order, from the counts of the training documents.

    Parameters
    ----------
    known : vectors of words by block, of which only the mean over documents is computed again
    """
    found: list[CorpusVectors | EncodedVectors] = []
    for place, block in enumerate(blocks):
        if block.dims is not None:
            own = taken_blocks(counts, widths, [place])
            if block.encodes:
                found.append(EncodedVectors.learned(own))
                continue
            columns = slice(sum(widths[:place]), sum(widths[: place + 1]))
            some = None if factors is None else factors[columns]
            weights = apply_factors(own, scheme, some, n_threads=n_threads)
            words = None if known is None else known.get(block.name)
            if isinstance(words, CorpusVectors):
                found.append(words.centered_at(weights, n_threads))
            else:
                found.append(CorpusVectors.learned(own, weights, block.dims, n_threads))
    return found


def _whole_length(lengths: NDArray[np.float64], kind: _core.Normalization) -> NDArray[np.float64]:
    """The length of every row, given those of its blocks."""
    if kind == _core.Normalization.length_2:
        return np.asarray(np.sqrt(np.square(lengths).sum(axis=1)))
    if kind == _core.Normalization.length_1:
        return np.asarray(lengths.sum(axis=1))
    return np.ones(len(lengths))


class BlockVocabulary:
    """The terms of several blocks, one after another, each after the prefix of its block.

    Examples
    --------
    >>> words, title = (Vocabulary.from_terms(terms) for terms in (["corn", "wheat"], ["wheat"]))
    >>> terms = BlockVocabulary([words, title], ["", "title:"])
    >>> list(terms), terms.index("title:wheat")
    (['corn', 'wheat', 'title:wheat'], 2)
    """

    def __init__(self, parts: Sequence[Vocabulary], prefixes: Sequence[str]) -> None:
        self.parts, self._prefixes = list(parts), list(prefixes)
        self._ends = np.cumsum([len(part) for part in parts]).tolist()

    @property
    def buffer(self) -> NDArray[np.uint8]:
        """The bytes of the terms without prefixes."""
        return np.concatenate([part.buffer for part in self.parts])

    @property
    def offsets(self) -> Longs:
        """Term i is ``buffer[offsets[i]:offsets[i + 1]]``."""
        sizes = np.concatenate([np.diff(part.offsets) for part in self.parts])
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __iter__(self) -> Iterator[str]:
        named = zip(self._prefixes, self.parts, strict=True)
        return chain.from_iterable(map(prefix.__add__, part) for prefix, part in named)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BlockVocabulary):
            return NotImplemented
        return self._prefixes == other._prefixes and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]  # equal vocabularies may be different arrays

    def __repr__(self) -> str:
        return f"BlockVocabulary({len(self)} terms in {len(self.parts)} blocks)"

    def term(self, i: int) -> str:
        """The name of column `i`."""
        if not 0 <= i < len(self):
            raise IndexError(f"column {i} of a vocabulary of {len(self)} terms")
        place = int(np.searchsorted(self._ends, i, side="right"))
        part = self.parts[place]
        return self._prefixes[place] + part.term(i - self._ends[place] + len(part))

    def index(self, term: str) -> int:
        """The column of `term`, or -1 if it is not in the vocabulary."""
        for prefix, part, end in zip(self._prefixes, self.parts, self._ends, strict=True):
            if term.startswith(prefix) and (found := part.index(term.removeprefix(prefix))) >= 0:
                return int(end - len(part) + found)
        return -1
