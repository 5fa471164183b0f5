"""From runs to a store of rows, with bounded memory: cut by ranges of keys, then sort every range."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from widemargin.on_disk.cutting import (
    BLOCK_ENTRIES,
    BlockPlan,
    Renumbering,
    cut_by_keys,
    cut_into_blocks,
    gather_rows,
    key_bounds,
)
from widemargin.on_disk.merging import Merged
from widemargin.on_disk.row_files import append_block, read_blocks
from widemargin.on_disk.row_store import RowStore
from widemargin.on_disk.rows import Keys, encode
from widemargin.on_disk.runs import RunInfo
from widemargin.on_disk.scratch import writing_to
from widemargin.on_disk.store_writer import StoreWriter
from widemargin.on_disk.terms import joined

# Bytes in memory of an entry and of a row while they are sorted: twice, and the block that is being written.
_ENTRY_BYTES, _ROW_BYTES = 20, 120
# The share of the memory that the rows of one range of keys may take.
_SHARE = 4


def build_store(
    runs: Sequence[RunInfo],
    merged: Merged,
    directory: Path,
    *,
    memory: int,
    block_entries: int = BLOCK_ENTRIES,
    keep_runs: bool = False,
) -> RowStore:
    """Write the rows of all runs to a store.

    Parameters
    ----------
    merged : the result of :func:`~widemargin.on_disk.merge_runs`
    directory : the folder of the store, which is made
    memory : bytes that this may take, beside `merged`
    keep_runs : keep the files of the runs, which are otherwise removed as soon as possible
    """
    needed = sum(run.row_bytes for run in runs) * (2 if keep_runs else 1)
    with writing_to(directory.parent, needed):
        try:
            _build(runs, merged, directory, memory, block_entries, keep_runs)
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise
    return RowStore(directory)


def _build(
    runs: Sequence[RunInfo],
    merged: Merged,
    directory: Path,
    memory: int,
    block_entries: int,
    keep_runs: bool,
) -> None:
    parts = directory / "parts"
    parts.mkdir(parents=True)
    decoded = sum(_ENTRY_BYTES * run.n_entries + _ROW_BYTES * run.n_rows for run in runs)
    bounds = key_bounds(max(1, -(-decoded * _SHARE // memory)))
    room = 0
    for run in runs:
        room += _cut_run(run, merged, parts, bounds)
        if not keep_runs:
            shutil.rmtree(run.directory)
    plan = BlockPlan.of(room, block_entries)
    writer = StoreWriter(directory, merged)
    before = 0
    for number in range(len(bounds) + 1):
        path = parts / str(number)
        if not path.exists():
            continue
        rows, order = gather_rows(read_blocks(path), memory // _SHARE)
        path.unlink()
        for block, which in cut_into_blocks(rows, order, plan, before):
            writer.add(block, encode(rows, which))
        before += int(rows.sizes[order].sum())
        del rows, order
    writer.close()
    parts.rmdir()


def _cut_run(run: RunInfo, merged: Merged, parts: Path, bounds: Keys) -> int:
    """Append the rows of a run to the files of the ranges of keys; returns the room of the rows."""
    room = 0
    terms = [joined(list(run.terms(block))) for block in range(len(run.n_terms))]
    renumbering = Renumbering.of(terms, run.labels, merged)
    del terms
    for rows in run.rows():
        rows = renumbering.apply(rows)
        room += int(rows.sizes.sum())
        for number, piece in enumerate(cut_by_keys(rows, bounds)):
            with (parts / str(number)).open("ab") as file:
                append_block(file, piece)
    return room
