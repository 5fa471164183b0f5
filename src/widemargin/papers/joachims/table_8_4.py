"""Joachims (2000), Tables 8.4 to 8.9: how training time grows with the number of examples.

Income prediction ("adult"), web pages and the cardiovascular diseases of Ohsumed, linear and RBF. The
exponents are slopes of lines fitted to log time against log n. The "minimum" is what an oracle would need
that knew the solution and only had to verify it: for a linear SVM one pass with the weight vector, for a
kernel the rows of the support vectors computed once. Beside them SMO and chunking, which the thesis quotes
from Platt (1998), over the same core (8.6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin.documents.collection import Vectors
from widemargin.documents.corpora import corpus_available, load_corpus
from widemargin.learn.kernels import Kernel
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.papers.joachims.chapter_8.other_solvers import CHUNK, chunking, smo
from widemargin.papers.joachims.published import printed
from widemargin.papers.joachims.text_tasks import Report, ohsumed
from widemargin.papers.joachims.thesis_svm import BIAS_NOTE, cpu_seconds, linear_svm, rbf_svm, support_vectors
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.report.plots import Line, Panel

COLUMNS = ("CPU s", "minimum s", "SVs", "bounded SVs")
DIGITS = {"CPU s": 2, "SMO CPU s": 2, "chunking CPU s": 2, "minimum s": 4, "SVs": 0, "bounded SVs": 0}
SMO, CHUNKING = "SMO CPU s", "chunking CPU s"
SCALING = "scaling exponent"


@dataclass(frozen=True)
class Task:
    """Training examples with their signs."""

    X: sp.csr_array
    y: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Published:
    """A table: its data, cost and gamma (None: linear), and the exponents of time and minimum."""

    name: str
    data: str
    C: float
    gamma: float | None
    exponents: tuple[float, float]
    # of SMO and chunking, if the table has them
    other_exponents: tuple[float, float] | None = None

    @property
    def rows(self) -> dict[int, tuple[Any, ...]]:
        """The printed figures of every number of examples."""
        return {int(n): figures for n, figures in printed(self.name).items()}

    @property
    def setting(self) -> str:
        return f"{'linear' if self.gamma is None else f'RBF, gamma = {self.gamma:g}'}, C = {self.C:g}"

    @property
    def other_rows(self) -> dict[int, tuple[Any, ...]]:
        """The printed seconds of SMO and chunking of every number of examples; none for Ohsumed."""
        if self.other_exponents is None:
            return {}
        return {int(n): figures for n, figures in printed(f"{self.name} other solvers").items()}

    @property
    def kernel(self) -> Kernel:
        return Kernel("linear") if self.gamma is None else Kernel("rbf", gamma=self.gamma)

    def learner(self) -> KernelSVM:
        return linear_svm(self.C, n_jobs=1) if self.gamma is None else rbf_svm(self.gamma, self.C, n_jobs=1)


TABLES = {
    table.name: table
    for table in (
        Published("8.4", "adult", 0.05, None, (1.5, 1.0), (1.9, 3.1)),
        Published("8.5", "adult", 1.0, 0.05, (2.1, 2.0), (2.1, 2.9)),
        Published("8.6", "web", 1.0, None, (1.2, 1.0), (1.6, 2.5)),
        Published("8.7", "web", 5.0, 0.05, (1.7, 1.7), (1.7, 2.0)),
        Published("8.8", "ohsumed", 0.5, None, (1.5, 1.0)),
        Published("8.9", "ohsumed", 50.0, 0.6, (2.0, 1.8)),
    )
}
LIBSVM_SETS = {
    "adult": ("a1a", "a2a", "a3a", "a4a", "a7a", "a8a", "a9a"),
    "web": ("w1a", "w4a", "w6a", "w7a", "w8a"),
}
# Beside the published sizes that the collection has, half and a quarter of the smallest, for a line to fit.
OHSUMED_SIZES = (2334, 4668, 9337, 13835)
# Only the complete collection has so many.
LARGER_SIZES = (27774, 46160)
NOTES = [
    BIAS_NOTE,
    "Times are CPU seconds on one thread: published on a Pentium II at 333 MHz, ours on this machine.",
    "Published exponents are fitted to all published sizes, ours to those in this table.",
    "Like the published one, the minimum with a kernel does not use symmetry.",
]
OTHERS_NOTE = (
    "SMO and chunking: published by Platt (1998) on a Pentium II at 266 MHz, and quoted in the thesis; ours "
    "over the core of the first column, so that they are faster than theirs. SMO: working sets of two, no "
    f"shrinking, no cached rows. Chunking: all support vectors and up to {CHUNK} more that violate the "
    "conditions most; the number is ours."
)
MISSING = {
    "adult": "The sizes 6,414 and 11,221 are not in the available collection; published sizes of the larger "
    "sets are larger by one example than the files.",
    "web": "The sizes 3,470, 4,912 and 9,888 are not in the available collection.",
    "ohsumed": "The available copy of Ohsumed has only the 13,929 abstracts with one of the 23 categories "
    "among the first 20,000: the category is a larger share than published, and larger sizes are missing.",
}


def about(data: str) -> str:
    """What is missing in the collection at hand."""
    if data == "ohsumed" and corpus_available("ohsumed-1991"):
        return "Ohsumed is the complete collection of 1991."
    return MISSING[data]


def adult_or_web(data: str, sizes: int | None, report: Report) -> list[Task]:
    """The nested training sets, smallest first; only the `sizes` smallest, if given."""
    tasks = []
    for name in LIBSVM_SETS[data][:sizes]:
        report(f"Reading {name}")
        train = load_corpus(name).train
        assert isinstance(train, Vectors)
        tasks.append(Task(train.X, np.array([labels == ("1",) for labels in train.labels])))
    return tasks


def cardiovascular(sizes: int | None, report: Report) -> list[Task]:
    """The first documents of Ohsumed, in the order of their numbers."""
    everything = ohsumed(report, split=None)
    at_hand = [n for n in (*OHSUMED_SIZES, *LARGER_SIZES) if n <= everything.X_train.shape[0]]
    parts = [everything.first(n) for n in at_hand[:sizes]]
    return [Task(part.X_train, part.labels("Cardiovascular")) for part in parts]


def tasks_of(data: str, sizes: int | None, report: Report) -> list[Task]:
    return cardiovascular(sizes, report) if data == "ohsumed" else adult_or_web(data, sizes, report)


def run(report: Report, name: str, sizes: int | None = None) -> PaperResult:
    """One of the tables, on the `sizes` smallest training sets (None for all that are at hand)."""
    table = TABLES[name]
    cells: list[Cell] = []
    others: list[tuple[float, float]] = []
    measured: list[tuple[int, float, float]] = []
    for task in tasks_of(table.data, sizes, report):
        report(f"Training on {len(task):,} examples")
        seconds, minimum, support, bounded = measure(table.learner(), task)
        measured.append((len(task), seconds, minimum))
        printed = published_row(table, len(task))
        ours = (seconds, minimum, support, bounded)
        cells += [Cell(f"{len(task):,}", *cell) for cell in zip(COLUMNS, printed, ours, strict=True)]
        if table.other_exponents is not None:
            report(f"Training on {len(task):,} examples by SMO and by chunking")
            pairs, chunks = other_seconds(table, task)
            others.append((pairs, chunks))
            quoted = row_of(table.other_rows, len(task), 2)
            cells.append(Cell(f"{len(task):,}", SMO, quoted[0], pairs))
            cells.append(Cell(f"{len(task):,}", CHUNKING, quoted[1], chunks))
    n, times, minima = (np.array(column) for column in zip(*measured, strict=True))
    for column, printed_exponent, our_times in zip(COLUMNS, table.exponents, (times, minima), strict=False):
        cells.append(Cell(SCALING, column, printed_exponent, exponent(n, our_times)))
    lines = []
    notes = [*NOTES, about(table.data)]
    if table.other_exponents is not None:
        notes.append(OTHERS_NOTE)
        for k, column in enumerate((SMO, CHUNKING)):
            spent = [figures[k] for figures in others]
            cells.append(Cell(SCALING, column, table.other_exponents[k], exponent(n, spent)))
            lines.append(Line(column.removesuffix(" CPU s"), list(n), spent))
    title = f"Joachims, Table {name}: training time against n, {table.data}, {table.setting}"
    return PaperResult(
        f"joachims-{name}",
        title,
        cells,
        notes,
        DIGITS,
        [panel(table, n, times, minima, lines)],
    )


def published_row(table: Published, n: int) -> Sequence[float]:
    """The printed figures for `n` examples."""
    return row_of(table.rows, n, len(COLUMNS))


def row_of(rows: Mapping[int, tuple[Any, ...]], n: int, columns: int) -> Sequence[float]:
    """The row of `n` examples, or of one more: the thesis counts some sets so."""
    return rows.get(n) or rows.get(n + 1) or (UNPUBLISHED,) * columns


def other_seconds(table: Published, task: Task) -> tuple[float, float]:
    """CPU seconds of SMO and of chunking."""
    problem = (task.X, task.y, table.kernel, table.C)
    return cpu_seconds(lambda: smo(*problem)), cpu_seconds(lambda: chunking(*problem))


def measure(learner: KernelSVM, task: Task) -> tuple[float, float, int, int]:
    """Seconds of training, seconds of verifying the solution, support vectors and bounded ones."""
    seconds = cpu_seconds(lambda: learner.fit(task.X, task.y))
    return seconds, cpu_seconds(verification(learner, task)), *support_vectors(learner)


def verification(learner: KernelSVM, task: Task) -> Callable[[], Any]:
    """The work of an oracle: the outputs on all examples, from which the optimality conditions follow."""
    if learner.kernel == "linear":
        signed = np.where(task.y, learner.alpha_, -learner.alpha_)
        columns = task.X.T.tocsr()
        return lambda: task.X @ (columns @ signed)
    return lambda: learner.decision_function(task.X)


def exponent(n: Any, seconds: Any) -> float:
    """The slope of log seconds over log n, by least squares; not a number for fewer than two sizes."""
    if len(n) < 2:
        return float("nan")
    return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])


def panel(table: Published, n: Any, times: Any, minima: Any, others: list[Line]) -> Panel:
    """The same as lines: Figures 8.2 and 8.3 are drawn from Tables 8.4 to 8.7."""
    return Panel(
        f"{table.data}, {table.setting}",
        "training examples",
        "CPU seconds",
        [
            Line(
                "SVM-light, published",
                list(table.rows),
                [row[0] for row in table.rows.values()],
                published=True,
            ),
            Line("widemargin", list(n), list(times)),
            Line("minimum, ours", list(n), list(minima)),
            *others,
        ],
        log=True,
    )
