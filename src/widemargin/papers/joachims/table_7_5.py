"""Joachims (2000), Figures 7.5, 7.8 and 7.11: inductive and transductive SVMs with few labeled documents.

The break-even points of every category on all test documents, averaged over random training sets: 17 stories
of Reuters-21578, 9 pages of WebKB, 120 abstracts of Ohsumed. Next to them the result with a guard, which uses
the inductive machine if the alarm of 7.5 fires, and the results of the rules on new documents (7.7).
"""

from __future__ import annotations

import numpy as np

from widemargin.papers.joachims.few_labels import (
    BAYES_NOTE,
    NEW_NOTE,
    POSITIVES_NOTE,
    VECTORS_NOTE,
    Field,
    Floats,
    Published,
    alarms,
    bayes_break_even,
    break_even,
    draw,
    induce,
    new_break_even,
    published,
    transduce,
)
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult, averaged

MACRO = "macro-average"
BAYES = "Bayes"
SVM, TSVM, LIGHTER = "SVM", "TSVM", "TSVM, lower C*"
GUARDED, ALARM = "lower C* with guard", "alarm (% of samples)"
NEW_SVM, NEW_TSVM, NEW_LIGHTER = "SVM, new", "TSVM, new", "TSVM, lower C*, new"
NEW = (NEW_SVM, NEW_TSVM, NEW_LIGHTER)

# Printed are Bayes, SVM and TSVM.
FIGURES = published("7.5", "7.8", "7.11", with_bayes=True)
SAMPLES = {"7.5": 20, "7.8": 20, "7.11": 10}


def run(
    report: Report,
    figure: str,
    samples: int | None = None,
    n_test: int | None = None,
    field: Field | None = None,
) -> PaperResult:
    """One of the figures over so many random training sets; on `n_test` random test documents, if given.

    Here and in the modules after it, `field` is the collection, if it is already read.
    """
    table, samples = FIGURES[figure], samples or SAMPLES[figure]
    field = field or table.field(report)
    runs = measured(field, table, samples, report, n_test=n_test)
    cells: list[Cell] = []
    for number, row in enumerate((*field.names, MACRO)):
        values = {name: columns_and_mean(found)[:, number] for name, found in runs.items()}
        printed = table.rows[row]
        for name, figure_printed in (
            (BAYES, table.bayes[row]),
            (SVM, printed[0]),
            (TSVM, printed[1]),
            (LIGHTER, UNPUBLISHED),
            (GUARDED, UNPUBLISHED),
            *((name, UNPUBLISHED) for name in NEW),
        ):
            cells += averaged(row, name, figure_printed, values[name])
        cells.append(Cell(row, ALARM, UNPUBLISHED, float(values[ALARM].mean())))
    notes = [
        f"Means over {samples} random training sets, one positive example of each category and the rest at "
        f"random, and the standard deviation of a run; published are averages of an unknown number of runs.",
        POSITIVES_NOTE,
        VECTORS_NOTE,
        "TSVM: C* = C. Lower C*: all unlabeled documents together cost half as much as the labeled ones, "
        "the library's default. The guard uses the inductive machine if the alarm fires. Neither is "
        "in the thesis.",
        NEW_NOTE,
        BAYES_NOTE.format(table.words),
        *field.notes,
    ]
    if figure == "7.5":
        notes.append("The mean of the printed TSVM column is 61.3, but 60.8 is printed.")
    if n_test is not None:
        notes.append(f"Only {n_test:,} random test documents instead of all.")
    title = (
        f"Joachims, Figure {figure}: PRBEP of inductive and transductive SVMs, {table.title}, {table.labels}"
    )
    return PaperResult(f"joachims-figure-{figure}", title, cells, notes)


def measured(
    field: Field,
    table: Published,
    samples: int,
    report: Report,
    labeled: int | None = None,
    n_test: int | None = None,
    column: int | None = None,
) -> dict[str, Floats]:
    """PRBEP in percent of all machines and of the guard, also of the rules on new documents, and where the
    alarm fired: samples x categories.

    With `labeled` documents instead of those of the table; with `column` of this category alone, on the same
    samples.
    """
    labeled = labeled or table.labeled
    names = (BAYES, SVM, TSVM, LIGHTER, GUARDED, ALARM, *NEW)
    found: dict[str, list[Floats]] = {name: [] for name in names}
    for seed in range(samples):
        report(f"{field.title}, {labeled} labeled documents, sample {seed + 1} of {samples}")
        sample = draw(field, labeled, seed, n_test)
        sample = sample if column is None else sample.column(column)
        plain, lighter = transduce(sample), transduce(sample, C_unlabeled=None)
        inductive, transductive, better = (
            break_even(sample, scores) for scores in (plain.inductive_, plain.scores_, lighter.scores_)
        )
        fired = np.array([alarm.fired for alarm in alarms(lighter)])
        for name, values in (
            (BAYES, bayes_break_even(sample, table.words)),
            (SVM, inductive),
            (TSVM, transductive),
            (LIGHTER, better),
            (GUARDED, np.where(fired, inductive, better)),
            (ALARM, 100.0 * fired),
            (NEW_SVM, new_break_even(sample, induce(sample))),
            (NEW_TSVM, new_break_even(sample, plain)),
            (NEW_LIGHTER, new_break_even(sample, lighter)),
        ):
            found[name].append(values)
    return {name: np.array(values) for name, values in found.items()}


def columns_and_mean(values: Floats) -> Floats:
    """Samples x categories, and their mean as one more column."""
    return np.column_stack([values, np.nanmean(values, axis=1)])
