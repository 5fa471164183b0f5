"""Documents in batches: as many as have arrived together, but never so many that they fill the memory.

A batch ends when the next document has not arrived yet, so that a program that writes to a pipe gets answers
at once, or when it is large enough to keep the compiled core busy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from widemargin.documents.collection import Collection
from widemargin.documents.record import Document
from widemargin.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Enough to keep the compiled core busy, few enough to stay small in memory.
BATCH = 8192
_CHARACTERS = 1_000_000
# The longest wait for a slow source, such as a terminal.
_SECONDS = 0.5


@dataclass
class Batch(Collection):
    """Documents that arrived together.

    `lines` are their line numbers in JSON Lines, `bad` the errors of skipped lines.
    """

    lines: list[int] = field(default_factory=list)
    bad: list[DataError] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.ids or self.bad)

    def add(self, other: Batch) -> None:
        """Add the documents of `other`, which came later."""
        self.extend(other)
        self.lines += other.lines
        self.bad += other.bad

    def subset(self, indices: Sequence[int] | NDArray[np.integer]) -> Batch:
        """The documents at `indices`, in that order."""
        some, lines = super().subset(indices), [self.lines[i] for i in indices]
        return Batch(some.ids, some.texts, some.labels, lines, self.bad)

    def part(self, start: int, stop: int | None = None) -> Batch:
        """Some of the documents; the errors of skipped lines stay with the first part."""
        some = slice(start, stop)
        bad = self.bad if start == 0 else []
        return Batch(self.ids[some], self.texts[some], self.labels[some], self.lines[some], bad)


def gathered(documents: Iterable[Document]) -> Iterator[Batch]:
    """Group documents that are read one by one."""
    batch, characters, begun = Batch(), 0, 0.0
    try:
        for document in documents:
            begun = begun or time.monotonic()
            batch.append(document)
            characters += len(document.text)
            if len(batch) >= BATCH or characters >= _CHARACTERS or time.monotonic() - begun >= _SECONDS:
                yield batch
                batch, characters, begun = Batch(), 0, 0.0
    except DataError:
        if batch:
            yield batch  # the documents before the error
        raise
    if batch:
        yield batch


def joined(blocks: Iterable[Batch], ready: Callable[[], bool], size: int = BATCH) -> Iterator[Batch]:
    """The documents of `blocks` in batches of at most `size`.

    Parameters
    ----------
    blocks : documents that were read together
    ready : returns whether the next block can be read without waiting
    """
    waiting, characters = Batch(), 0
    try:
        for block in blocks:
            waiting.add(block)
            characters += sum(map(len, block.texts))
            if len(waiting) >= size or characters >= 4 * _CHARACTERS or not ready():
                yield from _pieces(waiting, size)
                waiting, characters = Batch(), 0
    except DataError:
        yield from _pieces(waiting, size)
        raise
    yield from _pieces(waiting, size)


def _pieces(batch: Batch, size: int) -> Iterator[Batch]:
    if len(batch) <= size:
        if batch:
            yield batch
        return
    for start in range(0, len(batch), size):
        yield batch.part(start, start + size)


def whole_first(batches: Iterable[Batch], n: int) -> Iterator[Batch]:
    """The batches, the first one with exactly `n` documents (or all, if there are fewer).

    So what a learner fixes with its first batch does not depend on the speed of a pipe.
    """
    first: Batch | None = Batch() if n > 1 else None
    for batch in batches:
        if first is None:
            yield batch
            continue
        first.add(batch)
        if len(first) >= n:
            yield first.part(0, n)
            if rest := first.part(n):
                yield rest
            first = None
    if first:
        yield first
