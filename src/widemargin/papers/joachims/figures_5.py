"""Joachims (2000), Figures 5.2 to 5.4: estimates and hold-out tests against the size of the training set.

The error rate and F1 of the linear SVM with C = 0.5 for three topics of Reuters-21578, averaged over random
training and test sets of equal size, and the standard deviation of one such run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from widemargin.papers.joachims.estimators import (
    HOLD_OUT,
    LEAVE_ONE_OUT,
    MEASURES,
    XI_ALPHA,
    Floats,
    mean_and_deviation,
    printed_estimates,
)
from widemargin.papers.joachims.random_splits import reuters_pool
from widemargin.papers.joachims.table_5_1 import measured
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.joachims.thesis_svm import BIAS_NOTE
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.report.plots import Line, Panel

FIGURES = {"5.2": "earn", "5.3": "acq", "5.4": "money-fx"}
SIZES = (100, 200, 400, 800, 1600, 3200, 6451)
# The text of 5.4.2; the captions say ten.
SPLITS = 20
# In so many of them leave-one-out is computed, which takes longest.
LEFT_OUT = 3
SHOWN = ("error", "F1")
DRAWN = (HOLD_OUT, LEAVE_ONE_OUT, XI_ALPHA[1])
DEVIATION = "deviation"
NOTES = [
    BIAS_NOTE,
    "The published curves have no printed figures; the last row has those of Table 5.1, for training sets of "
    "the same size.",
    "The sizes are ours. Within a division, small sets are subsets of larger ones.",
]


def run(
    report: Report,
    figure: str,
    sizes: Sequence[int] = SIZES,
    splits: int = SPLITS,
    left_out: int = LEFT_OUT,
) -> PaperResult:
    """One of the figures over training sets of these `sizes`, `splits` random ones of each.

    Leave-one-out is computed in the first `left_out` of them.
    """
    topic = FIGURES[figure]
    pool = reuters_pool(report)
    cells: list[Cell] = []
    curves: dict[str, list[tuple[Floats, Floats]]] = {}
    for size in sizes:
        runs, _ = measured(pool, [topic], splits, left_out, size, report)
        printed = printed_estimates("5.1")[topic] if size == pool.half else {}
        for estimator in DRAWN:
            ours = mean_and_deviation(runs[estimator][:, 0])
            curves.setdefault(estimator, []).append(ours)
            cells += row_of(size, estimator, ours, printed.get(estimator))
    notes = [
        *NOTES,
        f"{splits} random divisions; published are 20 according to the text, ten according to the captions.",
        f"Leave-one-out is exact, and computed in {left_out} of them. The published figures do not have it.",
    ]
    columns = {cell.column: 2 for cell in cells if cell.column.startswith("error")}
    title = f"Joachims, Figure {figure}: estimates against the size of the training set, {topic}"
    panels = [panel(topic, measure, sizes, curves) for measure in SHOWN]
    return PaperResult(f"joachims-figure-{figure}", title, cells, notes, columns, panels)


def row_of(
    size: int,
    estimator: str,
    ours: tuple[Floats, Floats],
    printed: tuple[tuple[float, ...], tuple[float, ...]] | None,
) -> list[Cell]:
    """Mean and deviation of the two measures that the figures show."""
    cells = []
    for measure in SHOWN:
        k = list(MEASURES).index(measure)
        for number, column in enumerate((f"{measure} %", f"{measure} {DEVIATION}")):
            published = UNPUBLISHED if printed is None else printed[number][k]
            cells.append(Cell(f"{size:,}: {estimator}", column, published, float(ours[number][k])))
    return cells


def panel(
    topic: str, measure: str, sizes: Sequence[int], curves: dict[str, list[tuple[Floats, Floats]]]
) -> Panel:
    """The curves of the means, and of the deviations below them."""
    k = list(MEASURES).index(measure)
    x = np.log10(sizes).tolist()
    lines = [
        Line(name, x, [float(both[number][k]) for both in curves[estimator]])
        for number in (0, 1)
        for estimator in curves
        for name in [estimator if number == 0 else f"{estimator}, {DEVIATION}"]
    ]
    return Panel(
        f"Reuters-21578: {topic}", "training documents (logarithm to base 10)", f"{measure} %", lines
    )
