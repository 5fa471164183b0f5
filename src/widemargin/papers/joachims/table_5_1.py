"""Joachims (2000), Tables 5.1 to 5.3: bias and variance of xi-alpha and leave-one-out estimates.

A collection is divided at random into a training and a test set of equal size, ten times. The linear SVM with
C = 0.5 that the training set gives has an error, recall, precision and F1 on the test set; what the training
set alone says of them stands beside it, averaged over the divisions, with the standard deviation of one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from widemargin.papers.joachims.estimators import (
    ESTIMATORS,
    HOLD_OUT,
    MEASURES,
    XI_ALPHA,
    Figures,
    Floats,
    estimates,
    in_percent,
    mean_and_deviation,
    printed_estimates,
)
from widemargin.papers.joachims.random_splits import (
    Pool,
    ohsumed_pool,
    random_split,
    reuters_pool,
    webkb_pool,
)
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.joachims.thesis_svm import BIAS_NOTE
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult

SPLITS = 10
# "never missed a true leave-one-out error" (5.4.1), "not a single case among all collections" (5.4.3)
MISSED, NEVER = "leave-one-out errors that rho=1 misses", 0.0
OPTIMISTIC = "runs in which xi-alpha rho=1 is too optimistic, %"
DIGITS = {"error": 2}


@dataclass(frozen=True)
class Published:
    """A table; `size` of its training sets, and `optimistic` runs of a hundred where the text counts them.

    `left_out` says in how many divisions leave-one-out is computed here, so that a table takes two minutes
    at most: fewer on Ohsumed, with most examples at risk.
    """

    load: Callable[[Report], Pool]
    figures: Figures
    size: int
    left_out: int
    optimistic: tuple[float, ...] = (UNPUBLISHED,) * len(MEASURES)


TABLES = {
    "5.1": Published(reuters_pool, printed_estimates("5.1"), 6451, 3, (3.0, 2.0, 1.0, 15.0)),
    "5.2": Published(webkb_pool, printed_estimates("5.2"), 2092, 5),
    "5.3": Published(ohsumed_pool, printed_estimates("5.3"), 10000, 2),
}


def run(
    report: Report,
    name: str,
    splits: int = SPLITS,
    categories: Sequence[str] | None = None,
    size: int | None = None,
    left_out: int | None = None,
) -> PaperResult:
    """One of the tables.

    Parameters
    ----------
    splits : how many random divisions
    categories : only these, by their published names
    size : documents in a training set, half of the collection unless given
    left_out : in how many of the divisions to compute leave-one-out; those of the table unless given
    """
    table = TABLES[name]
    pool = table.load(report)
    size = pool.half if size is None else size
    chosen = list(categories or table.figures)
    left_out = min(splits, table.left_out if left_out is None else left_out)
    runs, missed = measured(pool, chosen, splits, left_out, size, report)
    cells: list[Cell] = []
    for number, category in enumerate(chosen):
        for estimator, figures in runs.items():
            rows = (f"{category}: {estimator}", f"{category}: {estimator}, deviation")
            ours = mean_and_deviation(figures[:, number])
            for row, printed, found in zip(rows, table.figures[category][estimator], ours, strict=True):
                cells += cells_of(row, printed, found)
    cells += cells_of(OPTIMISTIC, table.optimistic, optimistic(runs))
    if left_out:
        cells.append(Cell(MISSED, "error", NEVER, missed))
    notes = [
        BIAS_NOTE,
        f"{splits} random divisions into {size:,} training and {size:,} test documents; published are "
        f"{SPLITS} divisions into {table.size:,} and {table.size:,}; the divisions themselves are not known.",
        f"Leave-one-out is exact, and computed in {left_out} of the divisions; the published count of errors "
        "that rho=1 misses is over all categories and divisions."
        if left_out
        else "Leave-one-out is not computed.",
        f"{HOLD_OUT} is the published index test, which is taken as the true value.",
        *pool.notes,
    ]
    title = f"Joachims, Table {name}: estimates and hold-out tests on {pool.title}"
    return PaperResult(f"joachims-{name}", title, cells, notes, DIGITS)


def measured(
    pool: Pool, categories: Sequence[str], splits: int, left_out: int, size: int, report: Report
) -> tuple[dict[str, Floats], int]:
    """For each estimator the measures of all runs in percent, (splits, categories, measures).

    The first `left_out` runs have leave-one-out, too; also returned is how many of its errors rho = 1 misses.
    """
    columns = [pool.names[category] for category in categories]
    runs: dict[str, list[Floats]] = {}
    missed = 0
    for seed in range(splits):
        report(f"Division {seed + 1} of {splits}: {len(columns)} SVMs on {size:,} documents")
        found = estimates(random_split(pool, seed, columns, size), left_out=seed < left_out)
        missed += found.missed
        for estimator, table in found.tables.items():
            runs.setdefault(estimator, []).append(in_percent(table))
    return {estimator: np.array(runs[estimator]) for estimator in ESTIMATORS if estimator in runs}, missed


def optimistic(runs: dict[str, Floats]) -> Floats:
    """In how many of all runs, in percent, the estimate is better than what the test set then shows."""
    better = runs[XI_ALPHA[1]] - runs[HOLD_OUT]
    better[:, :, list(MEASURES).index("error")] *= -1
    shares: Floats = 100 * (better > 0).mean(axis=(0, 1))
    return shares


def cells_of(row: str, published: Sequence[float], ours: Floats) -> list[Cell]:
    """A row of a table, one cell a measure."""
    return [
        Cell(row, measure, printed, float(found))
        for measure, printed, found in zip(MEASURES, published, ours, strict=True)
    ]
