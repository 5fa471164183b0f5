"""Rows ready for the solver: those of a visit are read together, and kept where they fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin.learn.svm.by_blocks.row_source import BlockLabels, LeftOut, RowSource
from widemargin.weight.left_out import taken_rows

# Where room is short, kept rows that are not needed are dropped when only so many are.
_FEW = 0.5
Marks = NDArray[np.uint8]
Wanted = list[tuple[int, Marks]]


class _Block:
    """Some rows of a block, their columns renumbered, and what is known of all its rows."""

    def __init__(self, csr: Csr, which: NDArray[np.int32], labels: BlockLabels) -> None:
        self.csr, self.which, self.labels = csr, which, labels
        self.n_bytes = _n_bytes(csr, which, labels)
        self.native = _core.BlockRows(csr.native(), which, *labels)

    def some(self, marks: Marks) -> _Block:
        """The marked rows alone, all of which are here."""
        which = np.flatnonzero(marks).astype(np.int32)
        return _Block(taken_rows(self.csr, np.searchsorted(self.which, which)), which, self.labels)


def _n_bytes(csr: Csr, which: NDArray[np.int32], labels: BlockLabels) -> int:
    """The memory of arrays, and of what the core adds: a norm for each row, and values in single precision if
    they are in double precision."""
    arrays = (*csr[:3], which, *(each for each in labels if each is not None))
    single = 4 * len(csr.data) if csr.data.itemsize > 4 else 0
    return sum(array.nbytes for array in arrays) + 8 * len(which) + single


class RowCache:
    """Reads rows by `n_threads`, and keeps as many blocks as `memory` bytes hold.

    Passes visit all blocks in turn, so that those that are kept are never replaced by others.
    """

    def __init__(
        self,
        source: RowSource,
        place: NDArray[np.int32],
        left_out: LeftOut | None,
        memory: int,
        n_threads: int,
    ) -> None:
        self._source, self._place, self._left_out = source, place, left_out
        self._n_threads, self._room = n_threads, memory
        self._kept: dict[int, _Block] = {}
        self._is_short = False  # whether some block had no room
        self._used = _core.RowBatch()

    def in_order(self, visits: Iterable[Wanted]) -> Iterator[tuple[int, _core.RowBatch]]:
        """The rows of every visit, which are valid until the next one, and its number.

        Parameters
        ----------
        visits : numbers of blocks, with marks of the rows that are needed; visits without any are left out
        """
        for this, following in pairwise(chain(_needed(visits), [None])):
            assert this is not None
            if following is not None:
                self._source.read_ahead(
                    block for block, marks in following.wanted if block not in self._kept and marks.any()
                )
            yield this.number, self._batch(this.wanted)

    def _batch(self, wanted: Wanted) -> _core.RowBatch:
        batch = self._used
        batch.clear()
        needed = {block: marks for block, marks in wanted if marks.any()}
        found = {block: known for block, marks in needed.items() if (known := self._known(block, marks))}
        found |= self._read([(block, marks) for block, marks in needed.items() if block not in found])
        for block, marks in wanted:
            if block in found:
                batch.append(block, found[block].native, marks)
            else:
                batch.skip(block)
        return batch

    def _known(self, block: int, marks: Marks) -> _Block | None:
        """The rows that are needed, if they are kept, perhaps with others."""
        kept = self._kept.get(block)
        if kept is None or not kept.native.hold(marks):
            return None  # a pass over all rows needs more once; what is kept is what the next passes need
        if self._is_short and np.count_nonzero(marks) < _FEW * len(kept.which):
            # Fewer rows from now on: the room of the others is for other blocks.
            some = kept.some(marks)
            self._room += kept.n_bytes - some.n_bytes
            self._kept[block] = kept = some
        return kept

    def _read(self, wanted: Wanted) -> dict[int, _Block]:
        """Rows that are not kept; those of blocks that have room are kept from now on."""
        if not wanted:
            return {}
        each = [(block, np.flatnonzero(marks).astype(np.int32)) for block, marks in wanted]
        csr = self._source.rows_of(each, self._n_threads)
        _core.renumber_columns(csr.indices, self._place, csr.indices, self._n_threads)
        found, first = {}, 0
        for block, which in each:
            rows = csr.rows(first, first + len(which))
            first += len(which)
            labels = BlockLabels.read(self._source, block, self._left_out)
            if block not in self._kept and (size := _n_bytes(rows, which, labels)) <= self._room:
                rows = rows._replace(indices=rows.indices.copy(), data=rows.data.copy())
                self._kept[block] = found[block] = _Block(rows, which, labels)
                self._room -= size
            else:
                self._is_short |= block not in self._kept
                found[block] = _Block(rows, which, labels)
        return found


class _Visit(NamedTuple):
    number: int
    wanted: Wanted


def _needed(visits: Iterable[Wanted]) -> Iterator[_Visit]:
    """The visits that need any rows, with their numbers."""
    return (_Visit(n, wanted) for n, wanted in enumerate(visits) if any(m.any() for _, m in wanted))
