"""Dual coordinate descent on rows that are read in blocks (core/linear/by_blocks/block_descent.hpp).

Dual variables, slacks and rows of a large collection do not fit in memory. Dual variables take two bits for
each label and row; slacks follow from the weights; rows are read block by block, in another order in every
pass, and only those that some label still needs. The result does not depend on memory, on threads, nor on
which labels are trained together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import is_sparse, row_squares
from widemargin.errors import DataError
from widemargin.learn.svm.by_blocks.coded_alphas import CodedAlphas
from widemargin.learn.svm.by_blocks.row_cache import RowCache, Wanted
from widemargin.learn.svm.by_blocks.row_source import LeftOut, RowSource
from widemargin.progress import watch

Floats = NDArray[np.float64]

# Labels whose weights share a cache line.
_LANES = 16
# Weights are kept in single precision for shared passes, and in double precision, side by side while gaps are
# measured; those of so many labels twice while they are arranged.
_ARRANGED = 8
# What is visited together at most. Constants, since the result depends on them.
_ENTRIES, _ROWS = 2**22, 2**16
# Bytes of the rows that are visited together, while they are read; and of the dual variables of a group of
# labels, in double and in single precision, with signs.
_VISITS, _VISITED_BY_GROUP = 15 * _ENTRIES + 100 * _ROWS, 14 * _LANES * _ROWS
# Blocks that are surveyed.
_SURVEYED = 64


class BlockOptions(NamedTuple):
    """As the parameters of :class:`~widemargin.LinearSVM`."""

    bias: float = 1.0
    squared_loss: bool = False
    tol: float = 1e-3
    max_iter: int = 1000
    seed: int = 0

    def native(self) -> _core.LinearSvmOptions:
        return _core.LinearSvmOptions(
            bias=float(self.bias),
            squared_loss=self.squared_loss,
            stop_on_gap=True,
            tol=float(self.tol),
            max_passes=int(self.max_iter),
            seed=int(self.seed),
        )


class BlockSolution(NamedTuple):
    """One weight vector for each label; attributes as in
    :class:`~widemargin.learn.svm.linear.linear_solution.LinearSolution`."""

    coef: Any
    intercept: Floats
    objective: Floats
    gap: Floats
    passes: NDArray[np.int64]
    converged: NDArray[np.bool_]
    alphas: CodedAlphas


class Survey(NamedTuple):
    """What the solver has to know of the rows before it starts, from a sample of them.

    Attributes
    ----------
    place : (columns,) position of every column, the most frequent first
    mean_squared_norm : of the rows
    """

    place: NDArray[np.int32]
    mean_squared_norm: float

    @classmethod
    def of(cls, source: RowSource, n_threads: int = 1) -> Survey:
        """By the first blocks. Both figures affect the speed of descent, not its solution."""
        sizes = np.diff(source.first_rows)[:_SURVEYED].tolist()
        some = [(block, np.arange(size, dtype=np.int32)) for block, size in enumerate(sizes)]
        csr = source.rows_of(some, n_threads)
        frequencies = np.bincount(csr.indices, minlength=source.n_columns)
        place = np.empty(len(frequencies), dtype=np.int32)
        place[np.argsort(-frequencies, kind="stable")] = np.arange(len(frequencies), dtype=np.int32)
        return cls(place, float(row_squares(csr).sum()) / max(csr.n_rows, 1))


def solve_by_blocks(
    source: RowSource,
    label_columns: NDArray[np.int32],
    cost_positive: Floats,
    cost_negative: Floats,
    options: BlockOptions = BlockOptions(),  # noqa: B008 # immutable
    *,
    n_all_labels: int | None = None,
    left_out: LeftOut | None = None,
    start: CodedAlphas | None = None,
    n_threads: int = 1,
    memory: int | None = None,
    verbose: bool = False,
) -> BlockSolution:
    """The machines of some labels of a source.

    Parameters
    ----------
    label_columns, cost_positive, cost_negative : of the labels to train
    n_all_labels : the number of labels of the whole task, if these are some of them
    left_out : from a block to marks of its rows that take no part
    start : dual variables of the same labels to start from
    memory : bytes to use; None keeps all rows. The result does not depend on it.
    verbose : show a progress bar when stderr is a terminal
    """
    if not source.first_rows[-1]:
        raise DataError("There are no documents to learn from. Pass at least one.")
    survey = Survey.of(source, n_threads)
    n_labels, n_rows = len(label_columns), int(source.first_rows[-1])
    plan = _Plan.of(source.n_columns, n_rows, n_labels, n_threads, memory)
    room = 2**62 if memory is None else max(memory - plan.used, 0)
    cache = RowCache(source, survey.place, left_out, room, n_threads)
    sizes = np.diff(source.first_rows)
    n_visits = max(-(-source.n_entries // _ENTRIES), -(-n_rows // _ROWS))
    at_once = -(-len(sizes) // n_visits)
    found: list[BlockSolution] = []
    done = np.zeros(1, dtype=np.int64)
    with watch(done, "Training", total=n_labels, unit="labels", enabled=None if verbose else False):
        for first in range(0, n_labels, plan.labels):
            some = slice(first, min(first + plan.labels, n_labels))
            columns = np.ascontiguousarray(label_columns[some], dtype=np.int32)
            costs = np.ascontiguousarray(cost_positive[some]), np.ascontiguousarray(cost_negative[some])
            task = _core.BlockTask(
                cost_positive=costs[0],
                cost_negative=costs[1],
                columns=columns,
                block_sizes=sizes,
                n_columns=source.n_columns,
                mean_squared_norm=survey.mean_squared_norm,
                n_all_labels=n_labels if n_all_labels is None else n_all_labels,
            )
            descent = _core.BlockDescent(task, options.native(), plan.groups)
            if start is not None:
                for label in range(some.stop - some.start):
                    descent.set_alphas(label, start.codes[first + label], start.between[first + label])
                descent.start()
            while descent.is_open:
                _one_pass(descent, cache, sizes, at_once, n_threads)
                done[0] = first + descent.n_done
            found.append(_solution(descent, columns, costs, survey, n_rows))
    return joined_solutions(found)


class _Plan(NamedTuple):
    """How many labels are trained at a time, in how many groups, and the bytes that this takes without rows
    that are kept."""

    labels: int
    groups: int
    used: int

    @classmethod
    def of(cls, n_columns: int, n_rows: int, n_labels: int, n_threads: int, memory: int | None) -> _Plan:
        """As few chunks of labels as fit; within a chunk, a group for each thread if that fits."""
        for chunks in range(1, max(n_labels, 1) + 1):
            labels = -(-max(n_labels, 1) // chunks)
            least = -(-labels // _LANES)
            for groups in (min(-(-least // n_threads) * n_threads, labels), least):
                in_group = -(-labels // groups)
                side_by_side = groups * (-(-in_group // 4) * 4)
                found = max(n_labels - labels, 0)  # of the chunks before
                weights = n_columns * (4 * _LANES * groups + 8 * (side_by_side + _ARRANGED + found))
                used = weights + labels * n_rows + _VISITS + groups * _VISITED_BY_GROUP
                if memory is None or used <= memory:
                    return cls(labels, groups, used)
        return cls(1, 1, used)


def _one_pass(
    descent: _core.BlockDescent, cache: RowCache, sizes: NDArray[np.int64], at_once: int, n_threads: int
) -> None:
    """Every row that some label needs, once."""
    order = np.empty(len(sizes), dtype=np.int32)
    descent.begin_pass(order)

    def visits() -> Iterator[Wanted]:
        for first in range(0, len(order), at_once):
            wanted: Wanted = []
            for block in order[first : first + at_once].tolist():
                marks = np.zeros(sizes[block], dtype=np.uint8)
                descent.needed(block, marks)
                wanted.append((block, marks))
            yield wanted

    for number, batch in cache.in_order(visits()):
        descent.visit(number, batch, n_threads)
    descent.end_pass()


def _solution(
    descent: _core.BlockDescent,
    columns: NDArray[np.int32],
    costs: tuple[Floats, Floats],
    survey: Survey,
    n_rows: int,
) -> BlockSolution:
    """What was found for the labels of one chunk; the weights without zeros if that is smaller."""
    n_labels, n_columns = len(columns), len(survey.place)
    rows: list[Any] = []
    codes: list[NDArray[np.uint8]] = []
    between: list[Any] = []
    results = [descent.results(label) for label in range(n_labels)]
    for label in range(n_labels):
        coef = np.empty(n_columns)
        descent.weights(label, survey.place, coef)
        rows.append(sp.csr_array(coef[None, :]) if 2 * np.count_nonzero(coef) < n_columns else coef)
        codes.append(np.zeros((n_rows + 3) // 4, dtype=np.uint8))
        between.append(descent.alphas(label, codes[-1]))
    intercept, objective, gap, passes, converged = map(np.array, zip(*results, strict=True))
    alphas = CodedAlphas(columns, *costs, codes, between)
    return BlockSolution(rows, intercept, objective, gap, passes, converged, alphas)


def joined_solutions(found: list[BlockSolution]) -> BlockSolution:
    """The solutions of all labels."""

    def all_of(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in found])

    def all_alphas(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part.alphas, name) for part in found])

    alphas = CodedAlphas(
        all_alphas("columns"),
        all_alphas("cost_positive"),
        all_alphas("cost_negative"),
        [codes for part in found for codes in part.alphas.codes],
        [values for part in found for values in part.alphas.between],
    )
    rows: list[Any] = [row for part in found for row in part.coef]
    if all(map(is_sparse, rows)):
        coef: Any = sp.csr_array(sp.vstack(rows))
    else:
        coef = np.empty((len(rows), rows[0].shape[-1]))
        for label, row in enumerate(rows):
            coef[label] = row.toarray()[0] if is_sparse(row) else row
            rows[label] = None
    names = "intercept", "objective", "gap", "passes", "converged"
    intercept, objective, gap, passes, converged = map(all_of, names)
    return BlockSolution(coef, intercept, objective, gap, passes, converged, alphas)
