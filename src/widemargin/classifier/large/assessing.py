"""Estimates of a classifier whose training documents are on disk.

A collection that is small enough is read into memory, and judged as any other. Of a larger one, held-out
scores of a random sample are found block by block (:mod:`widemargin.estimate.by_blocks`), and thresholds,
probabilities and figures follow from them in the same way.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from widemargin._arrays import Csr
from widemargin.estimate.assessment import Assessment, Request, assess
from widemargin.estimate.by_blocks.beforehand import Beforehand
from widemargin.estimate.by_blocks.bounds import xi_alpha_by_blocks
from widemargin.estimate.by_blocks.folds import MOST_DOCUMENTS, Folds
from widemargin.estimate.by_blocks.held_out import held_out_by_blocks
from widemargin.estimate.by_blocks.left_out import left_out_by_blocks
from widemargin.estimate.by_blocks.task import BlockTask
from widemargin.estimate.optimism import Optimism
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels
from widemargin.learn.linear_weights import linear_scores
from widemargin.learn.svm.by_blocks.solving import BlockSolution
from widemargin.weight.as_new.unknown_terms import KnownTerms, known_as_new
from widemargin.weight.left_out import follows_from_counts, known_entries

Floats = NDArray[np.float64]

# Values, and documents x labels, that are read into memory: estimates of them take a few hundred megabytes.
# The same for any memory, so that it has no effect on the model.
MOST_VALUES = MOST_CELLS = 2_000_000


def assess_large(
    task: BlockTask,
    found: BlockSolution,
    request: Request,
    sample: list[tuple[str, float]],
    optimism: Optimism | None = None,
) -> Assessment:
    """Judge the machine that was `found`.

    Parameters
    ----------
    sample : the name and the number of terms of the first documents, in the order of the store
    """
    n, n_columns = task.store.n_rows, task.space.n_columns
    if fits(task):
        machine, rows, weights = whole(task, found, _totals(sample, n))
        return assess(machine, rows, request, [name for name, _ in sample], weights, optimism)
    method = "hold-out" if request.method == "hold-out" else "k-fold"
    seed = int(check_random_state(task.learner.random_state).randint(2**31 - 1))
    folds = Folds.of(n, n_columns, method, seed)
    size = folds.size
    scores, truth, notes = None, np.zeros((size, n_columns), np.int8), []
    if request.needs_scores:
        scores = held_out_by_blocks(task, folds, found, verbose=bool(task.learner.verbose))
        truth = scores.truth
        if request.method in ("leave-one-out", "one-step"):
            scores = left_out_by_blocks(task, found, folds, scores)
            notes.append(
                "Documents that are no support vectors of a label keep their scores; those of the others are "
                "found by folds, within the bounds of leave-one-out."
            )
    if size < n:
        notes.append(f"Estimated on a random sample of {size:,} of the {n:,} documents.")
    bounds = xi_alpha_by_blocks(task, found) if request.method == "xi-alpha" else None
    rows = TrainingRows(
        sp.csr_array((size, found.coef.shape[1]), dtype=np.float32),
        Labels(task.space, truth),
        known=_known_terms(task, size, _totals(sample, size)),
    )
    names = [name for name, _ in sample[:size]]
    known = Beforehand(scores, bounds, tuple(notes))
    return assess(task.machine(found), rows, request, names, None, optimism, beforehand=known)


def fits(task: BlockTask) -> bool:
    """Whether the documents may be read into memory, and are all that folds need."""
    n, store = task.store.n_rows, task.store
    small = store.n_entries <= MOST_VALUES and n * task.space.n_columns <= MOST_CELLS and n <= MOST_DOCUMENTS
    return small and (task.vectorizer is None or follows_from_counts(task.vectorizer))


def whole(task: BlockTask, found: BlockSolution, totals: Floats) -> tuple[Any, TrainingRows, Floats | None]:
    """The machine with its dual variables, all its rows, and their weights."""
    source, blocks, n_columns = task.rows, range(task.store.n_blocks), task.space.n_columns
    counts = reduce(Csr.below, (task.store.rows(block) for block in blocks))
    csr = source.weigh(counts)
    signs = np.asfortranarray(np.concatenate([source.signs(block, n_columns) for block in blocks]))
    alpha = np.concatenate([found.alphas.of(source, block) for block in blocks])
    machine = task.machine(found)
    xi = np.maximum(1 - signs * linear_scores(machine, csr), 0.0)
    binary = task.space.kind == "binary"
    machine.alpha_, machine.xi_ = (alpha[:, 0], xi[:, 0]) if binary else (alpha, xi)
    weights = [source.weights(block) for block in blocks]
    known = _known_terms(task, task.store.n_rows, totals)
    rows = TrainingRows(
        csr.matrix,
        Labels(task.space, signs),
        None,
        task.vectorizer,
        None if task.vectorizer is None else counts,
        known=known,
    )
    given = [part for part in weights if part is not None]
    return machine, rows, np.concatenate(given) if len(given) == len(weights) else None


def _known_terms(task: BlockTask, size: int, totals: Floats) -> KnownTerms | None:
    """How many terms of the first documents are known when they are new."""
    if task.vectorizer is None:
        return None
    occurrences = task.occurrences
    unknown: list[Floats] = []
    no_terms: list[NDArray[np.bool_]] = []
    for block in range(task.store.n_blocks):
        first = int(task.store.first_rows[block])
        if first >= size:
            break
        counts = task.store.rows(block)
        counts = counts.rows(0, min(size - first, counts.n_rows))
        counts, known = known_entries(task.vectorizer, counts, None, occurrences)
        total = totals[first : first + counts.n_rows]
        found = known_as_new(task.vectorizer, None, counts, known, total)
        if found is None:
            return None
        unknown.append(found.unknown)
        no_terms.append(found.no_terms)
    return KnownTerms(np.concatenate(unknown), np.concatenate(no_terms))


def _totals(sample: list[tuple[str, float]], size: int) -> Floats:
    return np.array([total for _, total in sample[:size]], dtype=np.float64)
