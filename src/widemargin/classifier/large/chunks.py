"""Documents in chunks that fit into memory, as they are read or from files that they were put aside in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr, canonical_csr
from widemargin.errors import DataError
from widemargin.on_disk.rows import damaged
from widemargin.on_disk.scratch import writing_to
from widemargin.progress import track

if TYPE_CHECKING:
    from widemargin.documents.collection import Vectors
    from widemargin.documents.reader import DocumentReader

# Values of vectors in a chunk, at least and at most, and the bytes of memory for each.
_LEAST, _MOST, _BYTES = 100_000, 4_000_000, 200


@dataclass
class Chunk:
    """Labeled documents: `texts`, or `rows` of vectors; `weights` are factors on the costs of errors."""

    ids: list[str]
    texts: list[str]
    labels: list[tuple[str, ...]]
    rows: Csr | None = None
    weights: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.ids)


@dataclass
class Seen:
    """How many documents were read, how many of them had no label, and whether all others have one."""

    documents: int = 0
    unlabeled: int = 0
    one_label_each: bool = True

    @property
    def labeled(self) -> int:
        """How many documents are learned from."""
        return self.documents - self.unlabeled


def text_chunks(reader: DocumentReader, seen: Seen, *, verbose: bool) -> Iterator[Chunk]:
    """The labeled documents of a reader, as they are read together."""
    for batch in track(reader.batches(), "Reading", size=len, enabled=None if verbose else False):
        known = [place for place, labels in enumerate(batch.labels) if labels is not None]
        seen.documents += len(batch)
        seen.unlabeled += len(batch) - len(known)
        chunk = batch if len(known) == len(batch) else batch.subset(known)
        labels = [tuple(labels or ()) for labels in chunk.labels]
        seen.one_label_each &= all(len(each) == 1 for each in labels)
        if known:
            yield Chunk(chunk.ids, chunk.texts, labels)


def vector_chunks(
    batches: Callable[[int], Iterable[Vectors]], memory: int, seen: Seen, *, verbose: bool
) -> Iterator[Chunk]:
    """The labeled rows of files of vectors, as many at a time as fit into the memory.

    Parameters
    ----------
    batches : from a number of values to rows with about so many at a time
    """
    found = batches(min(max(memory // _BYTES, _LEAST), _MOST))
    for vectors in track(found, "Reading", size=len, enabled=None if verbose else False):
        seen.documents += len(vectors)
        kept = [place for place, labels in enumerate(vectors.labels) if labels is not None]
        seen.unlabeled += len(vectors) - len(kept)
        if not kept:
            continue
        some = vectors if len(kept) == len(vectors) else vectors.subset(kept)
        labels = [tuple(known or ()) for known in some.labels]
        seen.one_label_each &= all(len(known) == 1 for known in labels)
        weights = None if some.weights is None else np.asarray(some.weights, dtype=np.float64)
        yield Chunk(some.ids, [], labels, canonical_csr(some.X), weights)


class PutAside:
    """Chunks of texts in files, until it is known how they are counted."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._number = folder, 0

    def add(self, chunk: Chunk) -> None:
        """Write a chunk."""
        text = json.dumps([chunk.ids, chunk.texts, chunk.labels]).encode()
        with writing_to(self._folder), self._path(self._number).open("wb") as file:
            file.write(text)
        self._number += 1

    def chunks(self, *, verbose: bool) -> Iterator[Chunk]:
        """Read them again, and remove them."""
        numbers = range(self._number)
        for number in track(numbers, "Counting", unit="parts", enabled=None if verbose else False):
            path = self._path(number)
            try:
                found: Any = json.loads(path.read_bytes())
                ids, texts, labels = found
            except (OSError, ValueError) as error:
                raise DataError(damaged(str(path), str(error))) from error
            os.unlink(path)
            yield Chunk(ids, texts, [tuple(known) for known in labels])

    def _path(self, number: int) -> Path:
        return self._folder / f"texts-{number}.json"
