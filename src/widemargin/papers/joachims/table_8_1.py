"""Joachims (2000), Tables 8.1 to 8.3: training time and support vectors on Reuters, WebKB and Ohsumed.

A linear SVM with C = 0.5 and an RBF-SVM with gamma = 0.1, C = 1000, each category trained separately. The
numbers of support vectors, all and bounded ones, are properties of the solution; the published times are from
another century.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.papers.joachims.published import printed
from widemargin.papers.joachims.text_tasks import Report, TextTask, ohsumed, reuters, webkb
from widemargin.papers.joachims.thesis_svm import BIAS_NOTE, cpu_seconds, linear_svm, rbf_svm, support_vectors
from widemargin.papers.result import Cell, PaperResult

COLUMNS = tuple(
    f"{kernel} {quantity}" for kernel in ("linear", "RBF") for quantity in ("CPU s", "SVs", "bounded SVs")
)
DIGITS = {column: 2 if column.endswith("s") and "CPU" in column else 0 for column in COLUMNS}


@dataclass(frozen=True)
class Published:
    """A table: for each category the figures of `COLUMNS`, and the average seconds over all categories."""

    load: Callable[[Report], TextTask]
    rows: dict[str, tuple[float, ...]]
    average: tuple[float, float]


REUTERS = Published(reuters, printed("8.1"), (1.3, 38.1))
WEBKB = Published(webkb, printed("8.2"), (3.5, 68.9))
OHSUMED = Published(ohsumed, printed("8.3"), (7.4, 271.9))
TABLES = {"8.1": REUTERS, "8.2": WEBKB, "8.3": OHSUMED}
NOTES = [
    BIAS_NOTE,
    "Times are CPU seconds on one thread: published on a Pentium III at 500 MHz, ours on this machine, for "
    "interest.",
    "The sizes of working sets are the library's defaults; published are 30 variables (linear) and 10 (RBF).",
]


def run(report: Report, name: str, categories: tuple[str, ...] | None = None) -> PaperResult:
    """Train the categories of one of the tables one by one; only some `categories`, if given."""
    table = TABLES[name]
    task = table.load(report)
    cells: list[Cell] = []
    for category in categories or table.rows:
        report(f"Training {category}")
        ours = [
            *measure(linear_svm(0.5, n_jobs=1), task, category),
            *measure(rbf_svm(0.1, n_jobs=1), task, category),
        ]
        cells += [Cell(category, *cell) for cell in zip(COLUMNS, table.rows[category], ours, strict=True)]
    if categories is None:
        cells += average(table, task, report)
    title = f"Joachims, Table {name}: training time and support vectors on {task.title}"
    return PaperResult(f"joachims-{name}", title, cells, [*NOTES, *task.notes], DIGITS)


def average(table: Published, task: TextTask, report: Report) -> list[Cell]:
    """The last line: the mean seconds over all categories, the small ones included."""
    row = f"average (all {task.categories.n_columns})"
    cells = []
    for kernel, learner, published in (
        ("linear", linear_svm(0.5, n_jobs=1), table.average[0]),
        ("RBF", rbf_svm(0.1, n_jobs=1), table.average[1]),
    ):
        report(f"Training all {task.categories.n_columns} categories, {kernel}")
        seconds = [cpu_seconds(partial(learner.fit, task.X_train, labels), 0) for labels in task.in_train.T]
        cells.append(Cell(row, f"{kernel} CPU s", published, sum(seconds) / len(seconds)))
    return cells


def measure(learner: KernelSVM, task: TextTask, name: str) -> tuple[float, int, int]:
    """CPU seconds, support vectors and bounded support vectors of one category."""
    seconds = cpu_seconds(lambda: learner.fit(task.X_train, task.labels(name)))
    return seconds, *support_vectors(learner)
