"""Small collections on disk for tests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import widemargin._core as _core
from widemargin import Vectorizer
from widemargin._arrays import Csr
from widemargin.errors import DataError
from widemargin.on_disk import Merged, RowStore, RunInfo, build_store, count_run, merge_runs, write_run
from widemargin.on_disk.rows import HEADER, block_size

MEMORY = 1 << 26


class Built(NamedTuple):
    """A store, and what was known when it was built."""

    store: RowStore
    merged: Merged
    files: dict[str, bytes]


def write_runs(folder: Path, vectorizer: Vectorizer, chunks: Sequence[Any]) -> list[RunInfo]:
    """One run per chunk of (text, labels, weight)."""
    runs = []
    for number, chunk in enumerate(chunks):
        weights = [weight for *_, weight in chunk]
        given = (
            None if all(weight is None for weight in weights) else [1.0 if w is None else w for w in weights]
        )
        run = count_run(vectorizer, [text for text, *_ in chunk], [labels for _, labels, _ in chunk], given)
        runs.append(write_run(run, folder / f"run-{number}"))
    return runs


def build(
    folder: Path,
    vectorizer: Vectorizer | None,
    runs: Sequence[RunInfo],
    *,
    memory: int = MEMORY,
    block_entries: int = 50,
    **options: Any,
) -> Built:
    merged = merge_runs(runs, vectorizer, folder, memory=memory, **options)
    store = build_store(runs, merged, folder / "store", memory=memory, block_entries=block_entries)
    files = {path.name: path.read_bytes() for path in sorted(store.directory.iterdir())}
    return Built(store, merged, files)


def all_rows(store: RowStore) -> Csr:
    """The rows of all blocks, in order."""
    return reduce(Csr.below, (store.rows(block) for block in range(store.n_blocks)))


def all_keys(store: RowStore) -> np.ndarray:
    return np.concatenate([store.keys(block) for block in range(store.n_blocks)])


def keys_of(vectorizer: Vectorizer, documents: Sequence[Any]) -> np.ndarray:
    """The keys of (text, labels, weight)."""
    texts, labels = [text for text, *_ in documents], [labels for _, labels, _ in documents]
    weights = [1.0 if weight is None else weight for *_, weight in documents]
    return count_run(vectorizer, texts, labels, weights).rows.keys


def resealed(block: np.ndarray) -> np.ndarray:
    """The block with checksums that match what it holds."""
    sealed = block.copy()
    try:
        head, _ = block_size(sealed[:HEADER])
    except DataError:
        return sealed
    seed = 0x5DEECE66D
    if not HEADER <= head <= len(sealed):
        return sealed
    sealed[HEADER - 16 : HEADER - 8] = np.frombuffer(
        _core.hash_bytes(sealed[head:].copy(), seed).to_bytes(8, "little"), np.uint8
    )
    first = _core.hash_bytes(sealed[: HEADER - 8].copy(), seed)
    checksum = _core.hash_bytes(sealed[HEADER:head].copy(), first)
    sealed[HEADER - 8 : HEADER] = np.frombuffer(checksum.to_bytes(8, "little"), np.uint8)
    return sealed
