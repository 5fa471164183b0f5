"""Leave-one-out of documents on disk, as far as one solution tells, and by folds beyond that.

A document that is no support vector of a label may leave without a change: its score is known. For a support
vector, the solution bounds the margin that it has when it leaves (core/left_out/leave_one_out.hpp, (1) and
(2), with an exact solution). Within these bounds its score is that of the rule of its fold, which takes no
training beside that of the folds.
"""

from __future__ import annotations

import numpy as np

from widemargin._arrays import row_squares
from widemargin.estimate.by_blocks.folds import Folds
from widemargin.estimate.by_blocks.task import BlockTask, Floats
from widemargin.learn.as_new import Seen, linear_as_new
from widemargin.learn.costs import upper_bounds
from widemargin.learn.linear_weights import linear_scores
from widemargin.learn.svm.by_blocks.solving import BlockSolution
from widemargin.measure.held_out_scores import HeldOutScores
from widemargin.weight.left_out import rows_as_new


def left_out_by_blocks(
    task: BlockTask, found: BlockSolution, folds: Folds, by_folds: HeldOutScores
) -> HeldOutScores:
    """Leave-one-out scores of a sample, given the scores of its folds."""
    machine, rows, learner = task.machine(found), task.rows, task.learner
    n_columns, occurrences = task.space.n_columns, task.occurrences
    costs = task.costs()
    bias = 0.0 if learner.bias is None else float(learner.bias)
    squared = learner.loss == "squared_hinge"
    scores, within = np.empty_like(by_folds.scores), np.zeros_like(by_folds.scores)
    for block in range(folds.last_block(rows.first_rows)):
        first = int(rows.first_rows[block])
        inside = min(folds.size, int(rows.first_rows[block + 1])) - first
        some = slice(first, first + inside)
        counts = task.store.rows(block).rows(0, inside)
        csr = rows.weigh(counts)
        signs, weights = by_folds.truth[some], rows.weights(block)
        alpha = found.alphas.of(rows, block)[:inside]
        upper = upper_bounds(signs.T, costs, np.zeros(0) if weights is None else weights[:inside]).T
        norms = row_squares(csr)[:, None] + bias**2
        plain = linear_scores(machine, csr)
        low, high = left_out_margins(alpha, signs * plain, norms, upper, squared=squared)
        ends = [signs * low, signs * high]
        seen = Seen()
        if task.vectorizer is not None:
            new = rows_as_new(task.vectorizer, counts, totals=occurrences)
            seen = linear_as_new(machine, n_columns, new)
        ends = [seen.offset + seen.slope * np.minimum(*ends), seen.offset + seen.slope * np.maximum(*ends)]
        scores[some] = np.clip(by_folds.scores[some], *ends)
        within[some] = np.maximum(ends[1] - scores[some], scores[some] - ends[0])
    none = np.zeros(n_columns, np.int64)
    return HeldOutScores(scores, by_folds.truth, "leave-one-out", within, none, none)


def left_out_margins(
    alpha: Floats, margins: Floats, norms: Floats, upper: Floats, *, squared: bool
) -> tuple[Floats, Floats]:
    """Bounds on the margins of examples by the rules that are learned without them, of an exact solution.

    Parameters
    ----------
    alpha, margins, upper : (n, columns) dual variables, y f(x), and costs of errors
    norms : (n, 1) x.x, with the bias feature
    squared : whether slacks are squared

    Examples
    --------
    >>> alpha, margins = np.array([[0.0, 0.5]]), np.array([[1.2, 1.0]])
    >>> low, high = left_out_margins(alpha, margins, np.ones((1, 1)), np.ones((1, 2)), squared=False)
    >>> low.tolist(), high.tolist()
    ([[1.2, 0.5]], [[1.2, 1.0]])
    """
    diagonal = 0.5 / np.maximum(upper, 1e-300) if squared else np.zeros_like(upper)
    most: Floats | float = np.inf if squared else upper
    q = np.maximum(norms + diagonal, 1e-300)
    c = np.maximum(alpha * (1 - margins) + 0.5 * alpha**2 * (norms - diagonal), 1e-300)
    step = np.minimum(np.sqrt(2 * c / q), most)
    moved = (alpha > 0) & (norms > 0)
    low = np.where(moved, np.minimum(1 - 0.5 * step * q - c / np.maximum(step, 1e-300), margins), margins)
    return low, margins
