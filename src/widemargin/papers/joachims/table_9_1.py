"""Joachims (2000), Tables 9.1 to 9.3: training time and label switches of transductive SVMs.

Every category on Reuters-21578, WebKB and Ohsumed, averaged over random training sets (9.4.2). One pair of
labels is switched at a time, as published; the library's default switches many, and stands beside it.
"""

from __future__ import annotations

import time

import numpy as np

from widemargin.papers.joachims.few_labels import (
    POSITIVES_NOTE,
    Field,
    Sample,
    draw,
    published,
    transduce,
)
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult, averaged

SECONDS, SWITCHES = "CPU s", "switches"
SINGLE, MULTIPLE = "single", "multiple"

# Printed are seconds and switches.
TABLES = published("9.1", "9.2", "9.3")
SAMPLES = 5
NOTES = [
    "CPU seconds of one thread on this machine; the published times are from a 300 MHz processor.",
    "Single: one pair of labels is switched before the machine is trained again, as published. Multiple: the "
    "library's default, many pairs at a time, each of which counts as one switch.",
    "Ours are pairs of labels. SVM-light counts both labels of a pair, and where printed switches are twice "
    "ours, they probably do too; the text does not say.",
    POSITIVES_NOTE,
]


def run(
    report: Report,
    table: str,
    samples: int = SAMPLES,
    n_test: int | None = None,
    field: Field | None = None,
) -> PaperResult:
    """One of the tables over so many random training sets; on `n_test` random test documents, if given."""
    chosen = TABLES[table]
    field = field or chosen.field(report)
    cells: list[Cell] = []
    for number, name in enumerate(field.names):
        report(f"{field.title}, {name}: {samples} samples, both ways of switching")
        printed = chosen.rows[name]
        for switching in (SINGLE, MULTIPLE):
            found = np.array(
                [
                    cost(draw(field, chosen.labeled, seed, n_test).column(number), switching)
                    for seed in range(samples)
                ]
            )
            for column, (what, figure) in enumerate(zip((SECONDS, SWITCHES), printed, strict=True)):
                head = f"{switching} {what}"
                shown = figure if switching == SINGLE else UNPUBLISHED
                cells += averaged(name, head, shown, found[:, column])
    notes = [
        f"Means over {samples} random training sets of {chosen.labeled} documents, and the standard "
        f"deviation of one of them.",
        *NOTES,
        *field.notes,
    ]
    if n_test is not None:
        notes.append(f"Only {n_test:,} random test documents instead of all.")
    title = f"Joachims, Table {table}: training time and switches of transductive SVMs, {chosen.title}"
    digits = {cell.column: 2 for cell in cells if SECONDS in cell.column}
    return PaperResult(f"joachims-{table}", title, cells, notes, digits)


def cost(sample: Sample, switching: str) -> tuple[float, float]:
    """CPU seconds and label switches of one training run, one category, one thread."""
    before = time.process_time()
    machine = transduce(sample, switching=switching, n_jobs=1)
    return time.process_time() - before, float(np.sum(machine.n_switches_))
