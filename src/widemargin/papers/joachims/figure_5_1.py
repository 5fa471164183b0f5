"""Joachims (2000), Figure 5.1: xi-alpha estimates with rho = 1 next to hold-out tests, ten Reuters topics.

The figure draws columns of Table 5.1; the text counts how often an estimate is better than the test.
"""

from __future__ import annotations

from collections.abc import Sequence

from widemargin.papers.joachims.estimators import HOLD_OUT, MEASURES, XI_ALPHA, mean_and_deviation
from widemargin.papers.joachims.random_splits import reuters_pool
from widemargin.papers.joachims.table_5_1 import OPTIMISTIC, SPLITS, TABLES, measured, optimistic
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.joachims.thesis_svm import BIAS_NOTE
from widemargin.papers.result import Cell, PaperResult
from widemargin.report.plots import Line, Panel

SHOWN = (XI_ALPHA[1], HOLD_OUT)


def run(
    report: Report, splits: int = SPLITS, categories: Sequence[str] | None = None, size: int | None = None
) -> PaperResult:
    """Means over random divisions of Reuters-21578; parameters as in Table 5.1."""
    table, pool = TABLES["5.1"], reuters_pool(report)
    size = pool.half if size is None else size
    chosen = list(categories or table.figures)
    runs, _ = measured(pool, chosen, splits, 0, size, report)
    cells: list[Cell] = []
    means = {estimator: mean_and_deviation(runs[estimator])[0] for estimator in SHOWN}
    for number, category in enumerate(chosen):
        for place, measure in enumerate(MEASURES):
            for estimator in SHOWN:
                published = table.figures[category][estimator][0][place]
                ours = float(means[estimator][number, place])
                cells.append(Cell(category, f"{measure}, {estimator}", published, ours))
    for measure, published, ours in zip(MEASURES, table.optimistic, optimistic(runs), strict=True):
        cells.append(Cell(OPTIMISTIC, f"{measure}, {XI_ALPHA[1]}", published, float(ours)))
    panels = []
    for place, measure in enumerate(MEASURES):
        x = list(map(float, range(1, len(chosen) + 1)))
        lines = [Line(estimator, x, means[estimator][:, place].tolist()) for estimator in SHOWN]
        for estimator in SHOWN:
            y = [table.figures[category][estimator][0][place] for category in chosen]
            lines.append(Line(f"{estimator}, published", x, y, published=True))
        panels.append(Panel(measure, f"topic, from {chosen[0]} to {chosen[-1]}", f"{measure}, %", lines))
    notes = [
        BIAS_NOTE,
        f"{splits} random divisions into {size:,} training and {size:,} test documents, as in Table 5.1.",
        *pool.notes,
    ]
    title = "Joachims, Figure 5.1: xi-alpha estimates and hold-out tests on Reuters-21578"
    digits = {f"error, {estimator}": 2 for estimator in SHOWN}
    return PaperResult("joachims-figure-5.1", title, cells, notes, digits, panels)
