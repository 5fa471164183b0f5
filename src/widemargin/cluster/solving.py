"""Linear SVMs on a store, by the workers of a cluster: labels divided among them, or rows.

Labels are independent, so that every worker trains some of them on its copy of the store: the result is that
of one machine, bit for bit, whatever the number of workers. Where the rows exceed a machine, they are divided
instead (:mod:`widemargin.cluster.partitions`).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin.cluster.copies import StoreCopies
from widemargin.cluster.partitions import Partition, solve_partitions
from widemargin.cluster.tasks import Tasks
from widemargin.estimate.by_blocks.task import BlockTask, Floats, LeftOut
from widemargin.estimate.by_blocks.weighed_rows import WeighedRows
from widemargin.learn.svm.by_blocks.coded_alphas import CodedAlphas
from widemargin.learn.svm.by_blocks.solving import (
    BlockOptions,
    BlockSolution,
    joined_solutions,
    solve_by_blocks,
)
from widemargin.on_disk.rows import decode
from widemargin.progress import track

Method = Literal["labels", "cocoa"]
# Labels that one task trains, at most: more tasks than workers keep all of them busy to the end.
_LABELS = 64


class _Given(NamedTuple):
    """What all tasks are told. The rows have no store: workers have their own copies."""

    copies: StoreCopies
    rows: WeighedRows
    options: Any
    left_out: list[NDArray[np.uint8]] | None
    memory: int | None
    n_labels: int

    def source(self, ranges: Sequence[Any]) -> WeighedRows:
        """The rows, from the copy of this machine."""
        rows = copy.copy(self.rows)
        rows.store = self.copies.here(*ranges)
        return rows

    def out(self) -> LeftOut | None:
        """Which rows of a block are left out."""
        marks, first_rows = self.left_out, self.rows.first_rows
        if marks is None:
            return None

        def of(block: int) -> NDArray[np.bool_]:
            n = int(first_rows[block + 1] - first_rows[block])
            return np.unpackbits(marks[block], count=n).astype(bool)

        return of


@dataclass(frozen=True, eq=False)
class ClusterTask(BlockTask):
    """A task whose machines are trained on a cluster.

    Attributes
    ----------
    tasks : the cluster
    copies, ranges : of the store
    method : "labels": labels are divided among workers; "cocoa": rows are
    share : the part of `memory` that one worker may use
    """

    tasks: Tasks = None  # type: ignore[assignment]  # fields with defaults come before it
    copies: StoreCopies = None  # type: ignore[assignment]
    ranges: list[Any] = field(default_factory=list)
    method: Method = "labels"
    share: float = 1.0

    def solved(
        self,
        rows: WeighedRows,
        costs: tuple[Floats, Floats],
        options: BlockOptions,
        *,
        left_out: LeftOut | None,
        start: CodedAlphas | None,
        verbose: bool,
    ) -> BlockSolution:
        """The machines of all labels."""
        bare = copy.copy(rows)
        bare.store = None  # type: ignore[assignment]  # a worker sets its own
        marks = None
        if left_out is not None:
            marks = [np.packbits(left_out(block)) for block in range(rows.n_blocks)]
        memory, n = int(self.memory * self.share), self.space.n_columns
        given = _Given(self.copies, bare, options, marks, memory, n)
        shown = None if verbose else False
        if self.method == "cocoa":
            return self._by_rows(given, costs, options, verbose)
        n_tasks = self.tasks.n_workers
        n_tasks = min(n, n_tasks * max(1, -(-n // (_LABELS * n_tasks))))
        kept = self.tasks.keep(given)
        items = [
            (
                kept,
                columns.astype(np.int32),
                *(cost[columns] for cost in costs),
                _some(start, columns),
                *self.ranges,
            )
            for columns in np.array_split(np.arange(n), n_tasks)
        ]
        found = self.tasks.map(_solved, items, in_flight=len(items))
        return joined_solutions(
            list(track(found, "Training", total=len(items), unit="parts of labels", enabled=shown))
        )

    def _by_rows(
        self, given: _Given, costs: tuple[Floats, Floats], options: BlockOptions, verbose: bool
    ) -> BlockSolution:
        """As :mod:`widemargin.cluster.partitions` does it."""
        tasks, n = self.tasks, self.space.n_columns
        groups = np.array_split(np.arange(len(self.ranges)), min(tasks.n_workers, len(self.ranges)))
        sizes = list(tasks.results([tasks.submit(_n_rows, each) for each in self.ranges]))
        firsts = np.cumsum([0, *sizes])
        kept = tasks.keep(given)
        parts = [
            tasks.submit(_partition, kept, int(firsts[group[0]]), *(self.ranges[k] for k in group))
            for group in groups
        ]
        found = solve_partitions(
            tasks,
            parts,
            [int(firsts[group[-1] + 1] - firsts[group[0]]) for group in groups],
            given.rows.n_columns,
            *costs,
            options,
        )
        alphas = np.concatenate(found.alphas)
        coded = coded_alphas(alphas, self.rows, n, costs, np.inf if options.squared_loss else 1.0)
        weights = found.weights[:, :-1]
        coef: Any = weights if 2 * np.count_nonzero(weights) >= weights.size else sp.csr_array(weights)
        return BlockSolution(
            coef,
            options.bias * found.weights[:, -1],
            found.objective,
            found.gap,
            found.rounds,
            found.converged,
            coded,
        )


def coded_alphas(
    alphas: Floats, rows: WeighedRows, n_columns: int, costs: tuple[Floats, Floats], bounded: float
) -> CodedAlphas:
    """Dual variables (rows, labels) as the solver for one machine keeps them.

    Parameters
    ----------
    bounded : 1 if they are bounded by the costs, infinity if not
    """
    codes = np.zeros(alphas.shape, dtype=np.uint8)
    for block in range(rows.n_blocks):
        first, end = rows.first_rows[block : block + 2].tolist()
        upper = np.where(rows.signs(block, n_columns) > 0, costs[0], costs[1]) * bounded
        weights = rows.weights(block)
        upper = upper if weights is None else upper * weights[:, None]
        some = alphas[first:end]
        codes[first:end] = np.where(some <= 0, 0, np.where(some >= upper, 1, 2))
    packed, between = [], []
    for label in range(n_columns):
        padded = np.zeros(4 * ((len(codes) + 3) // 4), dtype=np.uint8)
        padded[: len(codes)] = codes[:, label]
        quads = padded.reshape(-1, 4)
        joined = quads[:, 0] | quads[:, 1] << 2 | quads[:, 2] << 4 | quads[:, 3] << 6
        packed.append(joined.astype(np.uint8))
        between.append(np.ascontiguousarray(alphas[codes[:, label] == 2, label]))
    return CodedAlphas(np.arange(n_columns, dtype=np.int32), *costs, packed, between)


def _some(start: CodedAlphas | None, columns: NDArray[Any]) -> CodedAlphas | None:
    """The dual variables of some labels."""
    if start is None:
        return None
    places = columns.tolist()
    return CodedAlphas(
        start.columns[columns],
        start.cost_positive[columns],
        start.cost_negative[columns],
        [start.codes[k] for k in places],
        [start.between[k] for k in places],
    )


# ---------------------------------------------------------------------- tasks


def _solved(
    given: _Given,
    columns: NDArray[np.int32],
    cost_positive: Floats,
    cost_negative: Floats,
    start: CodedAlphas | None,
    *ranges: Any,
) -> BlockSolution:
    return solve_by_blocks(
        given.source(ranges),
        columns,
        cost_positive,
        cost_negative,
        given.options,
        n_all_labels=given.n_labels,
        left_out=given.out(),
        start=start,
        n_threads=1,
        memory=given.memory,
    )


def _n_rows(parts: list[tuple[int, Any]]) -> int:
    return sum(decode(part).n_rows for _, part in parts)


class _InMemory:
    """A store of one block."""

    def __init__(self, parts: Sequence[Any]) -> None:
        from widemargin.on_disk.rows import below

        self._rows = below([decode(part) for part in parts])

    def rows(self, block: int, which: Any = None) -> Any:
        return self._rows.csr

    def labels(self, block: int) -> tuple[Any, Any]:
        return self._rows.label_indptr, self._rows.labels

    def weights(self, block: int) -> Floats | None:
        return self._rows.weights

    @property
    def n_rows(self) -> int:
        return self._rows.n_rows


def _partition(given: _Given, first: int, *ranges: list[tuple[int, Any]]) -> Partition:
    """The rows of some ranges of keys, of which the first has this number in the store."""
    rows, store = copy.copy(given.rows), _InMemory([part for parts in ranges for _, part in parts])
    rows.store = store  # type: ignore[assignment]
    weights = store.weights(0)
    out = given.out()
    if out is not None:
        marks = np.concatenate([out(block) for block in range(given.rows.n_blocks)])
        weights = np.ones(store.n_rows) if weights is None else weights
        weights = np.where(marks[first : first + store.n_rows], 0.0, weights)
    return Partition(rows.rows(0), rows.signs(0, given.n_labels), weights)
