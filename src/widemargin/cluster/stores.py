"""A store of rows made on a cluster: shards are counted, merged, renumbered, cut and sorted by workers.

The steps are those of one machine (:mod:`widemargin.on_disk`), each a pure function of a part of the
collection. The store is the same, byte for byte, for any number of workers and shards.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin.cluster.tasks import Tasks
from widemargin.on_disk.chunk_counting import counting_rules
from widemargin.on_disk.cutting import (
    BLOCK_ENTRIES,
    RANGE_ENTRIES,
    BlockPlan,
    Renumbering,
    cut_by_keys,
    cut_into_blocks,
    key_bounds,
    sort_pieces,
)
from widemargin.on_disk.merging import Merged, hashed_frequencies, merged_facts, merged_terms
from widemargin.on_disk.row_store import RowStore
from widemargin.on_disk.rows import decode, encode
from widemargin.on_disk.runs import Run, RunInfo
from widemargin.on_disk.scratch import writing_to
from widemargin.on_disk.store_writer import StoreWriter
from widemargin.on_disk.terms import Terms, joined, merge_terms

Bytes = NDArray[np.uint8]
# Lists of terms that are merged by one task.
_AT_ONCE = 8
# Bytes on disk for each entry, about, by the type of the values.
_ENTRY_BYTES = {"counts": 3, "float32": 6, "float64": 10}


class PackedRun(NamedTuple):
    """A run that can be sent: its terms, its rows in encoded parts, and its figures."""

    terms: tuple[Terms, ...]
    parts: list[Bytes]
    info: RunInfo

    @classmethod
    def of(cls, run: Run) -> PackedRun:
        """A run in memory."""
        return cls(run.terms, [encode(run.rows)], run.info)

    @classmethod
    def read(cls, run: RunInfo) -> PackedRun:
        """A run on disk."""
        terms = tuple(joined(list(run.terms(block))) for block in range(len(run.n_terms)))
        return cls(terms, [encode(rows) for rows in run.rows()], replace(run, directory=""))


@dataclass
class ClusterStore:
    """A store on this machine, and what workers elsewhere copy it from.

    Attributes
    ----------
    store : the copy of this process
    ranges : for each range of keys, the future of its parts of blocks: numbers of blocks, and encoded rows
    merged : what the collection is, without its terms
    """

    store: RowStore
    ranges: list[Any]
    merged: Merged


def merge_on_cluster(
    tasks: Tasks, counted: Sequence[Any], vectorizer: Any, *, multilabel: bool = False
) -> tuple[Merged, int]:
    """What the runs of all shards have together, and their entries.

    Parameters
    ----------
    counted : futures of lists of :class:`PackedRun`, one for each shard
    vectorizer : that of the runs; None for vectors
    """
    infos = [
        info for some in tasks.results([tasks.submit(_infos, each) for each in counted]) for info in some
    ]
    facts = merged_facts(infos, multilabel=multilabel)
    entries = sum(info.n_entries for info in infos)
    if vectorizer is None:
        return facts, entries
    rules = counting_rules(vectorizer, facts.columns)
    if vectorizer.n_hashed is not None:
        n_columns = vectorizer.n_hashed * len(rules)
        frequencies = np.zeros(n_columns, dtype=np.int64)
        for found in tasks.results([tasks.submit(_hashed, each, n_columns) for each in counted]):
            frequencies += found
        return facts._replace(frequencies=frequencies, n_columns=n_columns), entries
    level = [tasks.submit(_terms, each, len(rules)) for each in counted]
    while len(level) > 1:
        groups = [level[start : start + _AT_ONCE] for start in range(0, len(level), _AT_ONCE)]
        level = [tasks.submit(_merged, *group) for group in groups]
    lists: tuple[Terms, ...] = tasks.result(level[0])
    return merged_terms(facts, rules, [partial(_alone, terms) for terms in lists]), entries


def store_on_cluster(
    tasks: Tasks,
    counted: Sequence[Any],
    merged: Merged,
    entries: int,
    directory: Path,
    *,
    block_entries: int = BLOCK_ENTRIES,
    range_entries: int = RANGE_ENTRIES,
) -> ClusterStore:
    """Sort the rows of all shards into blocks on the workers, and write them to a folder of this machine.

    Parameters
    ----------
    counted : as for :func:`merge_on_cluster`
    merged, entries : its result
    directory : the folder of the store, which is made
    """
    bounds = key_bounds(max(1, -(-entries // range_entries)))
    numbers = range(len(bounds) + 1)
    known = tasks.keep(merged)
    cuts = [tasks.submit(_cut, each, known, bounds) for each in counted]
    rooms = np.zeros(len(numbers), dtype=np.int64)
    for room in tasks.results([tasks.submit(_rooms, cut) for cut in cuts]):
        rooms += room
    plan = BlockPlan.of(int(rooms.sum()), block_entries)
    before = np.cumsum(rooms) - rooms
    ranges = []
    for number in numbers:
        pieces = [tasks.submit(_piece, cut, number) for cut in cuts]
        ranges.append(tasks.submit(_parts, plan, int(before[number]), *pieces))
    del cuts, pieces
    bare = merged._replace(vocabularies=None, frequencies=None)
    with writing_to(directory.parent, _ENTRY_BYTES[merged.values] * entries):
        write_parts(directory, bare, tasks.results(ranges))
    return ClusterStore(RowStore(directory), ranges, bare)


def write_parts(directory: Path, merged: Merged, ranges: Iterable[list[tuple[int, Bytes]]]) -> None:
    """Write a store from the parts of blocks of all ranges of keys, in their order."""
    directory.mkdir()
    try:
        writer = StoreWriter(directory, merged)
        for parts in ranges:
            for block, part in parts:
                writer.add(block, part)
        writer.close()
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


# ---------------------------------------------------------------------- tasks


def _alone(terms: Terms) -> list[Terms]:
    return [terms]


def _infos(runs: list[PackedRun]) -> list[RunInfo]:
    return [run.info for run in runs]


def _terms(runs: list[PackedRun], n_blocks: int) -> tuple[Terms, ...]:
    """The terms of a shard, of every block of terms."""
    return tuple(merge_terms([run.terms[block] for run in runs]) for block in range(n_blocks))


def _merged(*lists: tuple[Terms, ...]) -> tuple[Terms, ...]:
    return tuple(merge_terms(some) for some in zip(*lists, strict=True))


def _hashed(runs: list[PackedRun], n_columns: int) -> NDArray[np.int64]:
    total = np.zeros(n_columns, dtype=np.int64)
    for run in runs:
        for part in run.parts:
            total += hashed_frequencies(decode(part))
    return total


def _cut(runs: list[PackedRun], merged: Merged, bounds: Any) -> tuple[list[list[Bytes]], NDArray[np.int64]]:
    """The rows of a shard in the columns of all, by ranges of keys; and the room of every range."""
    cut: list[list[Bytes]] = [[] for _ in range(len(bounds) + 1)]
    rooms = np.zeros(len(cut), dtype=np.int64)
    for run in runs:
        renumbering = Renumbering.of(run.terms, run.info.labels, merged)
        for part in run.parts:
            rows = renumbering.apply(decode(part))
            places = np.searchsorted(bounds, rows.keys, side="right")
            rooms += np.bincount(places, rows.sizes, minlength=len(cut)).astype(np.int64)
            for number, piece in enumerate(cut_by_keys(rows, bounds)):
                cut[number].append(piece)
    return cut, rooms


def _rooms(cut: tuple[list[list[Bytes]], NDArray[np.int64]]) -> NDArray[np.int64]:
    return cut[1]


def _piece(cut: tuple[list[list[Bytes]], NDArray[np.int64]], number: int) -> list[Bytes]:
    return cut[0][number]


def _parts(plan: BlockPlan, before: int, *pieces: list[Bytes]) -> list[tuple[int, Bytes]]:
    """The parts of blocks that a range of keys has, sorted."""
    every = [piece for some in pieces for piece in some]
    if not every:
        return []
    rows, order = sort_pieces(every)
    return [(block, encode(rows, which)) for block, which in cut_into_blocks(rows, order, plan, before)]


def packed(runs: Iterable[Run]) -> list[PackedRun]:
    """Runs in memory, to be sent."""
    return [PackedRun.of(run) for run in runs]
