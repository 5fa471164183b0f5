"""The steps from runs to blocks, as functions of arrays: renumber, cut by keys, sort, cut into blocks.

On one machine they work on files (:func:`~widemargin.on_disk.build_store`), on a cluster each on a part of
the collection. Documents with the same key are always in the same range of keys, so every range is sorted by
itself; and blocks are cut by the room that all documents before one take, which is known as soon as every
range knows its own. So the blocks are the same however runs and ranges were made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin.on_disk.merging import Merged
from widemargin.on_disk.rows import Keys, Longs, Numbers, RowEncoder, Rows, below, decode, encode
from widemargin.on_disk.terms import Terms, columns_among

BLOCK_ENTRIES = 1 << 16
"""Entries per block of rows, about."""
RANGE_ENTRIES = 4_000_000
"""Entries per range of keys, about, where the memory does not ask for fewer."""


class Renumbering(NamedTuple):
    """From the columns and labels of one run to those of all."""

    columns: Numbers | None  # None: they are the same
    n_columns: int
    labels: Numbers
    n_labels: int
    has_weights: bool

    @classmethod
    def of(cls, terms: Sequence[Terms], labels: Sequence[Any], merged: Merged) -> Renumbering:
        """For a run with these terms and labels."""
        columns = None
        if merged.vocabularies is not None:
            parts, first = [], 0
            for own, known in zip(terms, merged.vocabularies, strict=True):
                found = columns_among(own, known)
                parts.append(np.where(found >= 0, found + np.int32(first), np.int32(-1)))
                first += len(known)
            columns = np.concatenate(parts)
        place = {label: i for i, label in enumerate(merged.space.column_names.tolist())}
        numbers = np.array([place.get(label, -1) for label in labels], dtype=np.int32)
        return cls(columns, merged.n_columns, numbers, merged.space.n_columns, merged.has_weights)

    def apply(self, rows: Rows) -> Rows:
        """The same rows with other columns and labels. Arrays may be changed in place."""
        csr = rows.csr._replace(n_columns=self.n_columns)
        if self.columns is not None:
            kept = _core.renumber_rows(*csr[:3], self.columns)
            csr = csr._replace(indices=csr.indices[:kept], data=csr.data[:kept])
        indptr, labels = rows.label_indptr.copy(), rows.labels.copy()
        n_labels = _core.renumber_rows(indptr, labels, labels.copy(), self.labels)
        weights = rows.weights
        if self.has_weights and weights is None:
            weights = np.ones(rows.n_rows)
        return Rows(rows.keys, csr, indptr, labels[:n_labels], self.n_labels, weights)


def key_bounds(n_ranges: int) -> Keys:
    """The first keys of all ranges but the first, if there are so many."""
    return np.array([(i << 64) // n_ranges for i in range(1, n_ranges)], dtype=np.uint64)


def cut_by_keys(rows: Rows, bounds: Keys) -> list[NDArray[np.uint8]]:
    """The rows of every range of keys, encoded; ranges may be empty."""
    order = np.argsort(rows.keys, kind="stable")
    cuts = np.searchsorted(rows.keys[order], bounds, side="left")
    return [encode(rows, some) for some in np.split(order, cuts)]


def sorted_order(rows: Rows) -> NDArray[np.intp]:
    """The order of rows by key; rows with the same key, which only copies should have, by their content."""
    order = np.argsort(rows.keys, kind="stable")
    ordered = rows.keys[order]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    return order if len(same) == 0 else np.lexsort((_contents(rows), rows.keys))


def _contents(rows: Rows) -> Keys:
    """Hashes of rows, labels and weights."""
    content = np.zeros(rows.n_rows, dtype=np.uint64)
    _core.hash_lists(*rows.csr[:2], content)
    _core.hash_lists(rows.csr.indptr, rows.csr.data, content)
    _core.hash_lists(rows.label_indptr, rows.labels, content)
    if rows.weights is not None:
        _core.hash_lists(np.arange(rows.n_rows + 1, dtype=np.int64), rows.weights, content)
    return content


def gather_rows(parts: Iterable[Rows], most_bytes: int) -> tuple[Rows, NDArray[np.intp]]:
    """The rows of a range of keys and their order, in which a row stands as often as it occurs.

    Ranges of keys have about the same number of documents, unless very many are copies of each other. Then
    the rows would not fit: beyond `most_bytes`, copies are kept once.
    """
    held: list[Rows] = []
    copies: list[NDArray[np.int64]] = []
    limit = most_bytes
    for part in parts:
        held.append(part)
        copies.append(np.ones(part.n_rows, dtype=np.int64))
        if sum(each.n_bytes for each in held) > limit:
            rows, numbers = _without_copies(below(held), np.concatenate(copies))
            held, copies = [rows], [numbers]
            limit = max(most_bytes, 2 * rows.n_bytes)  # if there are few copies, this is rarely repeated
    rows, numbers = below(held), np.concatenate(copies)
    held.clear()
    order = sorted_order(rows)
    return rows, np.repeat(order, numbers[order])


def _without_copies(rows: Rows, copies: Longs) -> tuple[Rows, Longs]:
    """Every row once, and how often it occurs."""
    content = _contents(rows)
    order = np.lexsort((content, rows.keys))
    keys, content = rows.keys[order], content[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]) | (content[1:] != content[:-1])
    numbers = np.add.reduceat(copies[order], np.flatnonzero(new))
    return decode(encode(rows, order[new])), numbers


class BlockPlan(NamedTuple):
    """How the rows of a collection are divided into blocks.

    Attributes
    ----------
    room : the entries of all rows, and 8 for every row
    n_blocks : how many blocks that takes, if no row is larger than a block
    """

    room: int
    n_blocks: int

    @classmethod
    def of(cls, room: int, block_entries: int = BLOCK_ENTRIES) -> BlockPlan:
        """For rows that take so much room together (:attr:`~widemargin.on_disk.Rows.sizes`)."""
        return cls(room, max(1, -(-room // block_entries)))

    def blocks_of(self, sizes: Longs, before: int) -> Longs:
        """The block of every row of some that follow each other, after others that take the room `before`."""
        begins = before + np.cumsum(sizes) - sizes
        found: Longs = begins * self.n_blocks // max(self.room, 1)
        return found


def cut_into_blocks(
    rows: Rows, order: NDArray[Any], plan: BlockPlan, before: int
) -> Iterator[tuple[int, NDArray[Any]]]:
    """The blocks that sorted rows are in, with the rows of each: parts of `order`.

    The first and the last block may have more rows, in the ranges of keys before and after these.

    Parameters
    ----------
    order : of the rows, see :func:`sorted_order`
    before : the room of all rows in ranges before these
    """
    blocks = plan.blocks_of(rows.sizes[order], before)
    for some in np.split(np.arange(len(order)), np.flatnonzero(np.diff(blocks)) + 1):
        if len(some):
            yield int(blocks[some[0]]), order[some]


def sort_pieces(pieces: Sequence[Any]) -> tuple[Rows, NDArray[np.intp]]:
    """The rows of a range of keys, from those of all runs, and their order."""
    rows = below([decode(piece) for piece in pieces])
    return rows, sorted_order(rows)


def join_pieces(pieces: Sequence[Any]) -> NDArray[np.uint8]:
    """A block of rows from its parts, which are sorted and in order."""
    if len(pieces) == 1:
        return np.frombuffer(pieces[0], dtype=np.uint8)
    parts = [decode(piece) for piece in pieces]
    encoder = RowEncoder.like(parts[0])
    for part in parts:
        encoder.add(part)
    return encoder.finish()
