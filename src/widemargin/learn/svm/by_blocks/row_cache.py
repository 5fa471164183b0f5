"""Rows ready for the solver: read ahead by another thread, and kept where they fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin.learn.svm.by_blocks.row_source import BlockLabels, LeftOut, RowSource
from widemargin.weight.left_out import taken_rows

# Where room is short, kept rows that are not needed are dropped when only so many are.
_FEW = 0.5
Wanted = list[tuple[int, NDArray[np.uint8]]]


class _Kept(NamedTuple):
    """Some rows of a block, their columns renumbered, and what is known of all its rows."""

    csr: Csr
    which: NDArray[np.int32]
    labels: BlockLabels

    @property
    def n_bytes(self) -> int:
        return sum(array.nbytes for array in (*self.csr[:3], self.which, *self.labels[:2]))


class RowCache:
    """Reads rows, and keeps as many blocks as `memory` bytes hold.

    Passes visit all blocks in turn, so that those that are kept are never replaced by others. `row_size` is
    the mean number of values of a row; `ahead` says whether another thread reads what is visited next.
    """

    def __init__(
        self,
        source: RowSource,
        place: NDArray[np.int32],
        row_size: float,
        left_out: LeftOut | None,
        memory: int,
        ahead: bool,
    ) -> None:
        self._source, self._place, self._row_size, self._left_out = source, place, row_size, left_out
        self._ahead, self._used = ahead, list[_core.RowBatch]()
        self._room, self._kept = memory, dict[int, _Kept]()
        self._is_short = False  # whether some block had no room

    def in_order(self, visits: Iterable[Wanted]) -> Iterator[tuple[int, _core.RowBatch]]:
        """The rows of every visit, and its number; those of the next one are read while one is used.

        Parameters
        ----------
        visits : numbers of blocks, with marks of the rows that are needed; visits without any are left out
        """
        if not self._ahead:
            for number, wanted in _needed(visits):
                batch = self._batch(wanted)
                yield number, batch
                self._used.append(batch)
            return
        # One thread: several of them wait for the interpreter more than they read.
        with ThreadPoolExecutor(1, thread_name_prefix="read-ahead") as reader:
            waiting: tuple[int, Future[_core.RowBatch]] | None = None
            for number, wanted in _needed(visits):
                following = number, reader.submit(self._batch, wanted)
                if waiting is not None:
                    yield from self._given(*waiting)
                waiting = following
            if waiting is not None:
                yield from self._given(*waiting)

    def _given(self, number: int, batch: Future[_core.RowBatch]) -> Iterator[tuple[int, _core.RowBatch]]:
        """One visit; its memory is used again afterwards."""
        yield number, batch.result()
        self._used.append(batch.result())

    def _batch(self, wanted: Wanted) -> _core.RowBatch:
        rows = [(block, np.flatnonzero(marks).astype(np.int32)) for block, marks in wanted]
        n_rows = sum(len(which) for _, which in rows)
        batch = self._used.pop() if self._used else _core.RowBatch()
        batch.clear(n_rows, int(1.1 * n_rows * self._row_size) + 1000)
        for block, which in rows:
            if len(which):
                known = self._get(block, which)
                batch.append(block, known.csr.native(), known.which, *known.labels)
            else:
                batch.skip(block)
        return batch

    def _get(self, block: int, needed: NDArray[np.int32]) -> _Kept:
        found = self._known(block, needed)
        if found is None:
            found = self._read(block, needed)
            if block not in self._kept and found.n_bytes <= self._room:
                self._kept[block] = found
                self._room -= found.n_bytes
            else:
                self._is_short = True
        return found

    def _known(self, block: int, needed: NDArray[np.int32]) -> _Kept | None:
        """The rows that are needed, if they are kept, perhaps with others."""
        kept = self._kept.get(block)
        if kept is None:
            return None
        places = np.searchsorted(kept.which, needed)
        if places[-1] >= len(kept.which) or not np.array_equal(kept.which[places], needed):
            return None  # a pass over all rows needs more once; what is kept is what the next passes need
        if self._is_short and len(needed) < _FEW * len(kept.which):
            # Fewer rows from now on: the room of the others is for other blocks.
            some = _Kept(taken_rows(kept.csr, places), needed, kept.labels)
            self._room += kept.n_bytes - some.n_bytes
            self._kept[block] = kept = some
        return kept

    def _read(self, block: int, needed: NDArray[np.int32]) -> _Kept:
        first = self._source.first_rows
        every = len(needed) == first[block + 1] - first[block]
        csr = self._source.rows(block, None if every else needed)
        places = np.empty_like(csr.indices)
        _core.renumber_columns(csr.indices, self._place, places)
        return _Kept(
            csr._replace(indices=places), needed, BlockLabels.read(self._source, block, self._left_out)
        )


def _needed(visits: Iterable[Wanted]) -> Iterator[tuple[int, Wanted]]:
    """The visits that need any rows, with their numbers."""
    return ((number, wanted) for number, wanted in enumerate(visits) if any(m.any() for _, m in wanted))
