"""Joachims (2000), Table 4.1: how wide the margins of text-classification tasks are.

The normalized inverse margin ``R^2/delta^2 = R^2 w.w`` and the training loss, the sum of all xi, of linear
SVMs with C = 50. Documents have unit length, so R = 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from widemargin.papers.joachims.published import printed
from widemargin.papers.joachims.text_tasks import Report, TextTask, ohsumed, reuters, webkb
from widemargin.papers.joachims.thesis_svm import BIAS_NOTE, linear_svm
from widemargin.papers.result import Cell, PaperResult

C = 50.0
MARGIN, LOSS = "R^2/delta^2", "training loss"
# R^2/delta^2 and the sum of xi
COLLECTIONS: tuple[tuple[Callable[[Report], TextTask], dict[str, tuple[int, int]]], ...] = (
    (reuters, printed("4.1 Reuters")),
    (webkb, printed("4.1 WebKB")),
    (ohsumed, printed("4.1 Ohsumed")),
)


def run(report: Report) -> PaperResult:
    """The margins of all 19 categories."""
    cells: list[Cell] = []
    notes = [BIAS_NOTE, "R is the largest norm of a training document, as in the text."]
    for load, published in COLLECTIONS:
        task = load(report)
        cells += margins(task, published, report)
        notes += [f"{task.title}: {note}" for note in task.notes]
    title = f"Joachims, Table 4.1: normalized inverse margins and training loss, C = {C:g}"
    return PaperResult("joachims-4.1", title, cells, notes, digits={MARGIN: 0, LOSS: 0})


def margins(task: TextTask, published: dict[str, tuple[int, int]], report: Report) -> list[Cell]:
    """Two cells a category."""
    report(f"Training {len(published)} SVMs at C = {C:g} on {task.title}")
    learner = linear_svm(C).fit(task.X_train, task.in_train[:, [task.column(name) for name in published]])
    inverse_margins, losses = learner.R2_ / np.square(learner.margin_), learner.xi_.sum(axis=0)
    cells = []
    for number, (name, (margin, loss)) in enumerate(published.items()):
        row = f"{task.title}: {name}"
        cells.append(Cell(row, MARGIN, margin, float(inverse_margins[number])))
        cells.append(Cell(row, LOSS, loss, float(losses[number])))
    return cells
