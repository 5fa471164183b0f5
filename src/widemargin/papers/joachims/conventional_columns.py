"""The columns of conventional methods in Tables 6.7 to 6.9 of Joachims (2000)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.measure import prbep, sign_p_value
from widemargin.papers.break_even import ERROR
from widemargin.papers.joachims.conventional import (
    FOLDS,
    METHODS,
    SIZES,
    TREE_WEIGHTS,
    Figures,
    Method,
    compared,
    rules,
    splits_of,
)
from widemargin.papers.joachims.published import printed
from widemargin.papers.joachims.text_tasks import Documents, Report, TextTask
from widemargin.papers.result import UNPUBLISHED, Cell

VALIDATED = "by cross-validation"
# In the order of the printed columns.
PRINTED = ("Bayes", "Rocchio", "C4.5", "k-NN")
OUTCOMES = ("better", "equal", "worse")
# On how many categories the SVM with C = 0.5 is better, equal and worse, where the text says so.
COUNTS: dict[str, dict[str, tuple[int, int, int]]] = {
    "6.7": {"k-NN": (66, 16, 8)},
    "6.8": dict.fromkeys(PRINTED, (4, 0, 0)),
    "6.9": {"k-NN": (23, 0, 0)},
}
# The thesis could not run C4.5 with more features on Ohsumed. With binary weights, rules of our C45 take a
# minute for each setting there, and the printed best has TFIDF weights.
LIMITED: dict[tuple[str, str], Method] = {
    ("6.9", "C4.5"): partial(rules, most=2000, weightings={"TFIDF": TREE_WEIGHTS["TFIDF"]})
}
TIE = 1e-9
NOTES = [
    "Conventional methods: published are the settings that are best on the test documents by their "
    "micro-average, and so are ours; the columns by cross-validation have the setting with the best "
    f"micro-average over {FOLDS} folds of the training documents.",
    "Features are ranked by their largest mutual information with any category, one ranking for all; the "
    "thesis does not say whether each category has its own. Rocchio's micro-averages are by proportional "
    "assignment with the shares of training documents.",
    "C4.5 has at most 5,000 features, 2,000 on Ohsumed, as published; on Ohsumed only TFIDF weights.",
]


def outcome_row(outcome: str) -> str:
    """The row for the number of categories on which the SVM has an `outcome`."""
    return f"SVM C=0.5 is {outcome} (categories)"


def conventional_cells(
    table: str,
    micro: str,
    documents: Documents,
    task: TextTask,
    report: Report,
    methods: Sequence[str] = tuple(METHODS),
    sizes: Sequence[int | None] = SIZES,
) -> tuple[list[Cell], list[str]]:
    """Two columns for each of `methods`, and notes on their settings.

    Parameters
    ----------
    table : "6.7", "6.8" or "6.9"
    micro : its row of the micro-average
    documents, task : the collection as texts, and weighted as for SVMs, which are compared with
    sizes : numbers of features
    """
    if not methods:
        return [], []
    splits = splits_of(documents, report)
    report("Training the SVM that is compared with")
    svm = LinearSVM(0.5, bias="unregularized", balance=0).fit(task.X_train, task.in_train)
    of_svm = 100 * prbep(task.truth, svm.decision_function(task.X_test))
    cells, notes = [], [*NOTES]
    for name in methods:
        settings = compared(name, splits, report, sizes, LIMITED.get((table, name)))
        for column, setting in ((name, settings.best), (f"{name} {VALIDATED}", settings.chosen)):
            figures = settings.figures[setting]
            published = _published(table, name) if column == name else {}
            cells += [
                Cell(row, column, published.get(row, UNPUBLISHED), value)
                for row, value in _rows(table, micro, figures, task).items()
            ]
            ahead = of_svm - figures.each
            ours = [int(np.sum(some)) for some in (ahead > TIE, np.abs(ahead) <= TIE, ahead < -TIE)]
            printed_counts = COUNTS[table].get(name) if column == name else None
            for number, outcome in enumerate(OUTCOMES):
                figure = float(printed_counts[number]) if printed_counts else UNPUBLISHED
                cells.append(Cell(outcome_row(outcome), column, figure, float(ours[number])))
            notes.append(
                f"{column}: {setting} (micro-average {figures.micro:.1f} on the test documents, "
                f"{settings.validated[setting]:.1f} by cross-validation). Sign test against the SVM with "
                f"C = 0.5: p = {sign_p_value(ours[0], ours[2]):.2g}."
            )
    return cells, notes


def _published(table: str, method: str) -> Mapping[str, float]:
    return {row: figures[PRINTED.index(method)] for row, figures in printed(f"{table} conventional").items()}


def _rows(table: str, micro: str, figures: Figures, task: TextTask) -> dict[str, float]:
    """The figures in the rows of a table."""
    found = {name: float(figures.each[task.column(name)]) for name in task.names}
    return {**found, micro: figures.micro, **({ERROR: figures.error} if table == "6.8" else {})}
