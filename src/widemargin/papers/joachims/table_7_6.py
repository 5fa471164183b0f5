"""Joachims (2000), Figures 7.6, 7.7, 7.9, 7.10 and 7.12: few labels against more, few documents against many.

Break-even points of inductive and transductive SVMs against the number of labeled documents (7.6
Reuters-21578, 7.9 and 7.10 two classes of WebKB) and against the number of test documents (7.7); and, for
WebKB, the two shares that the alarm compares (7.12): of the training and of the test documents with
alpha R^2 + xi >= 1. The curves have no printed figures but where they begin, which the tables of Figures 7.5
and 7.8 print.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from widemargin.papers.joachims.few_labels import (
    BAYES_NOTE,
    NEW_NOTE,
    POSITIVES_NOTE,
    VECTORS_NOTE,
    Field,
    Floats,
    alarms,
    draw,
    reuters_field,
    transduce,
    webkb_field,
)
from widemargin.papers.joachims.table_7_5 import BAYES, LIGHTER, MACRO, NEW, SVM, TSVM, measured
from widemargin.papers.joachims.table_7_5 import FIGURES as TABLES
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult, averaged
from widemargin.report.plots import Line, Panel

REUTERS_SIZES = (17, 34, 68, 136, 272, 544, 1088, 2176, 4352)
WEBKB_SIZES = (9, 18, 36, 72, 144)
TEST_SIZES = (206, 412, 825, 1650, 3299)
SAMPLES = 10
TRAIN_SHARE, TEST_SHARE = "training documents", "test documents"


@dataclass(frozen=True)
class Curve:
    """One of the figures: its documents, its axis, and which row of which table prints where it begins."""

    title: str
    field: Callable[[Report], Field]
    row: str
    table: str
    sizes: tuple[int, ...]
    of_test_set: bool = False


FIGURES = {
    "7.6": Curve("Reuters-21578, training documents", reuters_field, MACRO, "7.5", REUTERS_SIZES),
    "7.7": Curve("Reuters-21578, test documents", reuters_field, MACRO, "7.5", TEST_SIZES, of_test_set=True),
    "7.9": Curve("WebKB course, training documents", webkb_field, "course", "7.8", WEBKB_SIZES),
    "7.10": Curve("WebKB project, training documents", webkb_field, "project", "7.8", WEBKB_SIZES),
}


def run(
    report: Report,
    figure: str,
    sizes: Sequence[int] | None = None,
    samples: int = SAMPLES,
    n_test: int | None = None,
    field: Field | None = None,
) -> PaperResult:
    """One of the figures at these sizes; `n_test` random test documents instead of all, if given."""
    if figure == "7.12":
        return shares(report, sizes or WEBKB_SIZES, samples, n_test, field)
    curve = FIGURES[figure]
    sizes = sizes or curve.sizes
    field = field or curve.field(report)
    table = TABLES[curve.table]
    column = None if curve.row == MACRO else field.names.index(curve.row)
    cells: list[Cell] = []
    lines: dict[str, list[float]] = {name: [] for name in (BAYES, SVM, TSVM, LIGHTER, *NEW)}
    for size in sizes:
        labeled, unlabeled = (table.labeled, size) if curve.of_test_set else (size, n_test)
        runs = measured(field, table, samples, report, labeled, unlabeled, column)
        # The table has the figures of its own sizes: few labels, and all test documents.
        begins = labeled == table.labeled and _all(field, unlabeled)
        first = (table.bayes[curve.row], *table.rows[curve.row]) if begins else (UNPUBLISHED,) * 3
        printed = (*first, *(UNPUBLISHED,) * (len(lines) - len(first)))
        for number, name in enumerate(lines):
            values = np.nanmean(runs[name], axis=1)
            lines[name].append(float(values.mean()))
            cells += averaged(f"{size:,}", name, printed[number], values)
    axis = "test documents" if curve.of_test_set else "labeled documents"
    notes = [
        f"Rows: {axis}. Means over {samples} random training sets, and the standard deviation of a run.",
        "The published curves have no printed figures; their first points are printed in a table. The sizes "
        "are ours.",
        "TSVM: C* = C. Lower C*: all unlabeled documents together cost half as much as the labeled ones, "
        "at most C each; not in the thesis.",
        POSITIVES_NOTE,
        VECTORS_NOTE,
        NEW_NOTE,
        BAYES_NOTE.format(table.words),
        *field.notes,
    ]
    if curve.of_test_set:
        notes.append(
            "All but the new columns are measured on the test documents that the transductive one uses."
        )
    title = f"Joachims, Figure {figure}: PRBEP against the number of {axis}, {curve.title.rpartition(',')[0]}"
    panel = Panel(title, axis, "PRBEP (%)", [Line(name, list(sizes), y) for name, y in lines.items()])
    return PaperResult(f"joachims-figure-{figure}", title, cells, notes, {}, [panel])


def shares(
    report: Report, sizes: Sequence[int], samples: int, n_test: int | None, field: Field | None
) -> PaperResult:
    """Figure 7.12: what the test on (7.8) compares, for the four classes of WebKB."""
    field = field or webkb_field(report)
    cells: list[Cell] = []
    panels = [Panel(name, "labeled documents", "share with alpha R^2 + xi >= 1 (%)") for name in field.names]
    curves: dict[tuple[str, str], list[float]] = {}
    for size in sizes:
        found: dict[str, list[Floats]] = {TRAIN_SHARE: [], TEST_SHARE: []}
        for seed in range(samples):
            report(f"WebKB, {size} labeled documents, sample {seed + 1} of {samples}")
            machine = transduce(draw(field, size, seed, n_test))
            compared = [alarm.shares["all"] for alarm in alarms(machine)]
            found[TRAIN_SHARE].append(np.array([100 * s.labeled_at_risk / s.labeled for s in compared]))
            found[TEST_SHARE].append(np.array([100 * s.unlabeled_at_risk / s.unlabeled for s in compared]))
        for share, runs in found.items():
            values = np.array(runs)
            for number, name in enumerate(field.names):
                curves.setdefault((name, share), []).append(float(values[:, number].mean()))
                cells += averaged(f"{size}, {name}", share, UNPUBLISHED, values[:, number])
    for panel in panels:
        panel.lines.extend(Line(share, list(sizes), curves[panel.title, share]) for share in found)
    notes = [
        "The share of the documents, in percent, that could produce a leave-one-out error: (7.8). The text "
        "says that the two are far apart only for small training sets of project.",
        f"Means over {samples} random training sets. The published curves have no printed figures.",
        POSITIVES_NOTE,
        *field.notes,
    ]
    title = "Joachims, Figure 7.12: what the alarm compares, WebKB"
    return PaperResult("joachims-figure-7.12", title, cells, notes, {}, panels)


def _all(field: Field, unlabeled: int | None) -> bool:
    return unlabeled is None or unlabeled >= len(field.test)
