"""Held-out scores of documents on disk, by rules that are trained without the documents of a fold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from widemargin.estimate.by_blocks.folds import Folds
from widemargin.estimate.by_blocks.task import BlockTask, LeftOut
from widemargin.estimate.by_blocks.weighed_rows import WeighedRows
from widemargin.estimate.held_out import LARGER_GAPS
from widemargin.learn.linear_weights import linear_scores
from widemargin.learn.svm.by_blocks.solving import BlockSolution
from widemargin.measure.held_out_scores import HeldOutScores
from widemargin.progress import track
from widemargin.weight.left_out import RemainingTerms


def held_out_by_blocks(
    task: BlockTask, folds: Folds, start: BlockSolution | None = None, *, verbose: bool = False
) -> HeldOutScores:
    """Score the documents of a sample by rules that were learned without their fold.

    Every fold begins at the solution on all documents, and ends at a larger gap, as in memory. Its documents
    are new ones to the vectorizer: terms and document frequencies are those of the others.

    Parameters
    ----------
    start : the solution on all documents
    """
    n_columns = task.space.n_columns
    scores = np.zeros((folds.size, n_columns))
    truth, number = _of_sample(task.rows, folds, n_columns)
    bar = track(range(folds.number), "Cross-validating", unit="folds", enabled=None if verbose else False)
    for fold in bar:

        def out(block: int, fold: int = fold) -> NDArray[np.bool_]:
            first, end = task.store.first_rows[block : block + 2].tolist()
            inside = np.zeros(end - first, dtype=bool)
            some = number[first:end]
            inside[: len(some)] = some == fold
            return inside

        rows = rows_without(task, folds, out)
        machine = task.machine(task.solve(rows, left_out=out, start=start, times_tol=LARGER_GAPS))
        for block in range(folds.last_block(rows.first_rows)):
            which = np.flatnonzero(out(block)).astype(np.int32)
            if len(which):
                into = int(rows.first_rows[block]) + which
                scores[into] = linear_scores(machine, rows.rows(block, which))
    if folds.number > 1:
        return HeldOutScores.of_folds(scores, truth, number)
    return HeldOutScores.of_part(scores, truth, np.arange(folds.size))


def rows_without(task: BlockTask, folds: Folds, out: LeftOut) -> WeighedRows:
    """All rows by a vectorizer that was fitted without those that are `out`, as far as counts tell."""
    vectorizer, store = task.vectorizer, task.store
    if vectorizer is None:
        return task.rows
    gone = np.zeros(store.n_columns, dtype=np.int64)
    left = 0
    rest = None if task.occurrences is None else task.occurrences.copy()
    for block in range(folds.last_block(store.first_rows)):
        which = np.flatnonzero(out(block)).astype(np.int32)
        if not len(which):
            continue
        counts = store.rows(block, which)
        left += len(which)
        gone += np.bincount(counts.indices, minlength=store.n_columns)
        if rest is not None:
            rest -= np.bincount(counts.indices, counts.data, store.n_columns)
    return task.rows_by(RemainingTerms.of(vectorizer, gone, store.n_rows - left, rest))


def _of_sample(rows: WeighedRows, folds: Folds, n_columns: int) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """The signs and the folds of the documents of the sample."""
    signs, numbers = [], []
    for block in range(folds.last_block(rows.first_rows)):
        first = int(rows.first_rows[block])
        inside = folds.size - first
        signs.append(rows.signs(block, n_columns)[:inside])
        numbers.append(folds.numbers(rows.keys(block), first)[:inside])
    return np.asfortranarray(np.concatenate(signs)), np.concatenate(numbers)
