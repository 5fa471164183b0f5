"""Joachims (2000), Figures 8.1 and 8.4 to 8.6: the working sets, and the effect of the decomposition's parts.

8.1: how often each of the 32,561 examples of income prediction is selected into the working set (8.5.4). The
others: the RBF-SVM of Table 8.9 (gamma = 0.6, C = 50) on the 9,337 first documents of Ohsumed, cardiovascular
diseases against the rest: with working sets of several sizes, chosen by steepest feasible direction or half
replaced at random (8.7.3); with caches of several sizes (8.7.4); and, over several numbers of examples and
also linear, with and without shrinking (8.7.5). The curves have no printed figures; the text has two ratios.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.papers.joachims.table_8_4 import (
    OHSUMED_SIZES,
    TABLES,
    Task,
    about,
    adult_or_web,
    cardiovascular,
)
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.joachims.thesis_svm import BIAS_NOTE, cpu_seconds, linear_svm, rbf_svm
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.report.plots import Line, Panel

EXAMPLES = 9337
GAMMA, C, LINEAR_C = 0.6, 50.0, 0.5
WORKING_SETS = (2, 6, 10, 20, 40)
CACHES = (2, 5, 10, 20, 50, 100, 200)
SECONDS = "CPU s"
# Figure 8.1: the size of the working set, ranks of examples to print, and how many enter it "very often".
SELECTED_Q, RANKS, OFTEN = 10, (1, 10, 100, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000), 2000
SELECTIONS, SHARE = "selections", "share of all selections %"
# "by a factor of more than 3" (8.7.3), "a speedup factor of almost 4" (8.7.4)
RANDOM_OVER_STEEPEST, CACHE_SPEEDUP = 3.0, 4.0
NOTES = [
    BIAS_NOTE,
    "CPU seconds on one thread of this machine. The published curves have no printed figures.",
    "RBF: by default q = 20 by steepest direction, h = 400 and 80 MB of cache, as published.",
]


def run(report: Report, figure: str) -> PaperResult:
    """One of the figures, "8.1", "8.4", "8.5" or "8.6"."""
    figures: dict[str, Callable[[Report], PaperResult]] = {
        "8.1": selections,
        "8.4": working_sets,
        "8.5": caches,
        "8.6": shrinking,
    }
    return figures[figure](report)


def selections(report: Report, size: int | None = None) -> PaperResult:
    """Figure 8.1: how often each example of "adult" is selected; on the set number `size`, if given."""
    task = adult_or_web("adult", size, report)[-1]
    table = TABLES["8.5"]
    report(f"Training on {len(task):,} examples with q = {SELECTED_Q}")
    assert table.gamma is not None
    learner = rbf_svm(table.gamma, table.C, n_jobs=1, working_set=SELECTED_Q, selection="steepest")
    times = np.sort(learner.fit(task.X, task.y).selections_)[::-1]
    below = np.cumsum(times) / times.sum()
    ranks = [rank for rank in RANKS if rank <= len(times)]
    cells = [
        cell
        for rank in ranks
        for cell in (
            Cell(f"rank {rank:,}", SELECTIONS, UNPUBLISHED, float(times[rank - 1])),
            Cell(f"rank {rank:,}", SHARE, UNPUBLISHED, 100 * float(below[rank - 1])),
        )
    ]
    cells.append(Cell("examples never selected", SELECTIONS, UNPUBLISHED, float((times == 0).sum())))
    cells.append(Cell("examples selected once or twice", SELECTIONS, UNPUBLISHED,
                      float(((times == 1) | (times == 2)).sum())))  # fmt: skip
    notes = [
        BIAS_NOTE,
        f"{len(task):,} examples of income prediction, {table.setting}, q = {SELECTED_Q} by steepest "
        f"direction: {learner.n_iter_:,} iterations, {times.sum():,} selections.",
        "Ranks: examples in the order of how often they are selected. The share is that of all examples up "
        "to this rank.",
        f"The curve has no printed figures. According to the text, about {OFTEN:,} examples enter the "
        "working set very often, and about 30,000 very infrequently or never. Here the first "
        f"{min(OFTEN, len(times)):,} have {100 * below[min(OFTEN, len(times)) - 1]:.0f} % of all selections, "
        f"{times[:OFTEN].mean():.1f} each; the others have {_mean(times[OFTEN:]):.1f} each.",
    ]
    ranked = list(range(1, len(times) + 1))
    panel = Panel(
        "adult, RBF", "rank of the example", "selections", [Line("widemargin", ranked, times.tolist())]
    )
    return PaperResult(
        "joachims-figure-8.1",
        "Joachims, Figure 8.1: how often examples enter the working set, adult",
        cells,
        notes,
        {SELECTIONS: 0},
        [panel],
    )


def _mean(times: Any) -> float:
    return float(times.mean()) if len(times) else 0.0


def working_sets(
    report: Report, sizes: Sequence[int] = WORKING_SETS, examples: int = EXAMPLES
) -> PaperResult:
    """Figure 8.4: seconds against the size q of the working set, for both ways of choosing it."""
    task = first(examples, report)
    cells: list[Cell] = []
    lines = []
    fastest = {}
    for selection in ("steepest", "random"):
        seconds = []
        for q in sizes:
            report(f"Training with q = {q}, {selection}")
            seconds.append(fit_seconds(rbf(working_set=q, selection=selection), task))
            cells.append(Cell(f"q={q}", f"{selection} {SECONDS}", UNPUBLISHED, seconds[-1]))
        lines.append(Line(selection, sizes, seconds))
        fastest[selection] = min(seconds)
    report("Training with pairs, second-order")
    pairs = fit_seconds(rbf(working_set=2, selection="second-order", shrink_history=None), task)
    cells.append(Cell("q=2", f"second-order {SECONDS}", UNPUBLISHED, pairs))
    ratio = fastest["random"] / fastest["steepest"]
    cells.append(Cell("fastest random / steepest", f"random {SECONDS}", RANDOM_OVER_STEEPEST, ratio))
    return _result(
        "8.4",
        "training time against the size of the working set",
        cells,
        [Panel(f"Ohsumed, {len(task):,} examples, RBF", "size of the working set", "CPU seconds", lines)],
        [
            "According to the text, selection reduces time by a factor of more than 3, and q = 20 is best.",
            "Pairs by second-order information, the library's default, are newer than the thesis.",
        ],
    )


def caches(report: Report, sizes: Sequence[float] = CACHES, examples: int = EXAMPLES) -> PaperResult:
    """Figure 8.5: seconds and computed kernel rows against the megabytes of the cache."""
    task = first(examples, report)
    cells: list[Cell] = []
    seconds = []
    for megabytes in sizes:
        report(f"Training with a cache of {megabytes} MB")
        learner = rbf(cache=megabytes)
        seconds.append(fit_seconds(learner, task))
        cells.append(Cell(f"{megabytes} MB", SECONDS, UNPUBLISHED, seconds[-1]))
        cells.append(Cell(f"{megabytes} MB", "kernel rows", UNPUBLISHED, float(learner.n_kernel_rows_)))
    cells.append(Cell("smallest / largest cache", SECONDS, CACHE_SPEEDUP, seconds[0] / seconds[-1]))
    return _result(
        "8.5",
        "training time against the size of the cache",
        cells,
        [
            Panel(
                f"Ohsumed, {len(task):,} examples, RBF",
                "megabytes of the cache",
                "CPU seconds",
                [Line("widemargin", sizes, seconds)],
            )
        ],
        ["According to the text, the speedup from 2 to 200 MB is a factor of almost 4."],
        {"kernel rows": 0},
    )


def shrinking(report: Report, sizes: int | None = None) -> PaperResult:
    """Figure 8.6: seconds against n with and without shrinking; on the `sizes` smallest sets, if given."""
    tasks = cardiovascular(sizes, report)
    n = [len(task) for task in tasks]
    machines: dict[str, Callable[..., KernelSVM]] = {
        "linear": lambda **parameters: linear_svm(LINEAR_C, n_jobs=1, **parameters),
        "RBF": rbf,
    }
    cells: list[Cell] = []
    panels = []
    for kernel, machine in machines.items():
        lines = []
        for how in (True, False):
            name = "shrinking" if how else "no shrinking"
            seconds = []
            for task in tasks:
                report(f"Training {kernel}, {name}, {len(task):,} examples")
                seconds.append(fit_seconds(machine(shrinking=how), task))
                cells.append(Cell(f"{len(task):,}", f"{kernel}, {name} s", UNPUBLISHED, seconds[-1]))
            lines.append(Line(name, n, seconds))
        panels.append(Panel(f"Ohsumed, {kernel}", "training examples", "CPU seconds", lines))
    return _result("8.6", "training time with and without shrinking", cells, panels, [])


def first(examples: int, report: Report) -> Task:
    """The first so many documents, in the order of their numbers."""
    assert examples <= EXAMPLES
    task = cardiovascular(OHSUMED_SIZES.index(EXAMPLES) + 1, report)[-1]
    return Task(task.X[:examples], task.y[:examples])


def rbf(**parameters: Any) -> KernelSVM:
    """The machine of Table 8.9; working sets and shrinking as published there unless told otherwise."""
    published = {"working_set": 20, "selection": "steepest", "shrink_history": 400}
    return rbf_svm(GAMMA, C, n_jobs=1, **{**published, **parameters})


def fit_seconds(learner: KernelSVM, task: Task) -> float:
    return cpu_seconds(lambda: learner.fit(task.X, task.y))


def _result(
    figure: str,
    title: str,
    cells: list[Cell],
    panels: list[Panel],
    notes: list[str],
    digits: dict[str, int] | None = None,
) -> PaperResult:
    columns = {cell.column: 2 for cell in cells}
    return PaperResult(
        f"joachims-figure-{figure}",
        f"Joachims, Figure {figure}: {title}",
        cells,
        [*NOTES, about("ohsumed"), *notes],
        {**columns, **(digits or {})},
        panels,
    )
