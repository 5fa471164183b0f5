"""Tables of break-even points: one row per category and one for the micro-average, one column per learner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from widemargin.measure import micro_prbep, prbep
from widemargin.papers.joachims.text_tasks import Report, TextTask
from widemargin.papers.result import Cell

ERROR = "Err_test"
# Row of a table -> its figure in each column.
Rows = Mapping[str, Sequence[float]]


def break_even_cells(
    task: TextTask, learners: Mapping[str, Any], published: Rows, micro: str, report: Report
) -> list[Cell]:
    """Train every learner on all categories and measure it on the test documents, in percent.

    Parameters
    ----------
    learners : column -> an estimator
    published : row -> figures in the order of the columns; rows are categories, `micro` and `ERROR`
    micro : the row of the micro-average over all categories, with one threshold for all of them
    """
    cells = []
    for number, (column, learner) in enumerate(learners.items()):
        report(f"Training {task.categories.n_columns} SVMs: {column}")
        scores = learner.fit(task.X_train, task.in_train).decision_function(task.X_test)
        each = 100 * prbep(task.truth, scores)
        ours = {name: float(each[task.column(name)]) for name in task.names}
        ours[micro] = 100 * micro_prbep(task.truth, scores)
        # A page belongs to the class with the highest score.
        right = task.truth[range(len(scores)), scores.argmax(axis=1)] > 0
        ours[ERROR] = 100 * float(1 - right.mean())
        cells += [Cell(row, column, figures[number], ours[row]) for row, figures in published.items()]
    return cells
