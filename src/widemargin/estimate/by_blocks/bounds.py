"""Xi-alpha bounds of documents on disk: dual variables from the solution, slacks found again."""

from __future__ import annotations

import numpy as np

from widemargin._arrays import row_squares
from widemargin.estimate.by_blocks.task import BlockTask
from widemargin.learn.linear_weights import linear_scores
from widemargin.learn.svm.by_blocks.solving import BlockSolution
from widemargin.measure.contingency import Contingency
from widemargin.measure.xi_alpha import leave_one_out_risk, xi_alpha_table


def xi_alpha_by_blocks(task: BlockTask, found: BlockSolution) -> Contingency:
    """The xi-alpha table of every label, over all documents (:mod:`widemargin.measure.xi_alpha`)."""
    learner, rows, n_columns = task.learner, task.rows, task.space.n_columns
    bias, machine = learner.bias, task.machine(found)
    sums = np.zeros((4, n_columns), dtype=np.int64)
    for block in range(rows.n_blocks):
        signs = rows.signs(block, n_columns)
        csr = rows.rows(block)
        xi = np.maximum(1 - signs * linear_scores(machine, csr), 0.0)
        risk = leave_one_out_risk(
            found.alphas.of(rows, block),
            xi,
            row_squares(csr),
            hyperplane="unbiased" if bias is None else "bias-feature",
            bias_size=0.0 if bias is None else float(bias),
        )
        table = xi_alpha_table(risk, signs)
        sums += [table.true_positive, table.false_positive, table.false_negative, table.true_negative]
    cells = sums[:, 0] if task.space.kind == "binary" else sums
    return Contingency(*cells)
