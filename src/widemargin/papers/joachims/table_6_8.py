"""Joachims (2000), Tables 6.8 and 6.9: precision/recall break-even points on WebKB and Ohsumed.

One SVM a category; conventional methods over the grid of 6.3.4. The error rate on WebKB, whose pages are in
one class each, is that of the highest score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from widemargin.papers.break_even import ERROR, break_even_cells
from widemargin.papers.joachims.conventional import METHODS
from widemargin.papers.joachims.conventional_columns import conventional_cells
from widemargin.papers.joachims.published import printed
from widemargin.papers.joachims.text_tasks import (
    Documents,
    Report,
    TextTask,
    ohsumed,
    ohsumed_documents,
    webkb,
    webkb_documents,
)
from widemargin.papers.joachims.thesis_svm import BIAS_NOTE, RBF_C, linear_svm, rbf_svm
from widemargin.papers.result import PaperResult


@dataclass(frozen=True)
class Published:
    """A table: its rows with the figures for C = 0.5, C = 1.0 and the two `gammas`."""

    load: Callable[[Report], TextTask]
    documents: Callable[[Report], Documents]
    gammas: tuple[float, float]
    micro: str
    rows: dict[str, tuple[float, ...]]
    notes: tuple[str, ...] = ()


TABLES = {
    "6.8": Published(
        webkb,
        webkb_documents,
        (0.01, 0.3),
        "microavg.",
        printed("6.8"),
        ("Each of the 20 test pages of project is worth 5 points of its break-even point.",),
    ),
    "6.9": Published(
        ohsumed,
        ohsumed_documents,
        (0.03, 0.3),
        "microavg. (all 23)",
        printed("6.9"),
    ),
}
NOTES = [
    BIAS_NOTE,
    "C, gamma, words and weights are the published ones, as selected in the thesis.",
    f"The C of the RBF columns is not printed in chapter 6; C = {RBF_C:g} is that of Tables 8.2 and 8.3.",
]


def run(report: Report, name: str, methods: Sequence[str] = tuple(METHODS)) -> PaperResult:
    """One of the two tables, with these conventional `methods`."""
    table = TABLES[name]
    task = table.load(report)
    learners: dict[str, Any] = {f"linear SVM C={C}": linear_svm(C) for C in (0.5, 1.0)}
    learners |= {f"RBF-SVM gamma={gamma}": rbf_svm(gamma, cache=200) for gamma in table.gammas}
    cells = break_even_cells(task, learners, table.rows, table.micro, report)
    more, notes = conventional_cells(name, table.micro, table.documents(report), task, report, methods)
    title = f"Joachims, Table {name}: PRBEP{' and error' if ERROR in table.rows else ''} on {task.title}"
    return PaperResult(
        f"joachims-{name}", title, [*cells, *more], [*NOTES, *notes, *task.notes, *table.notes]
    )
