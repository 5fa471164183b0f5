"""Joachims (2000), Tables 4.3 and 4.4 and section 4.3: does the model predict which tasks are difficult?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import spearmanr

from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.measure import prbep
from widemargin.papers.joachims.chapter_4.concepts import MODELS
from widemargin.papers.joachims.chapter_4.counted import MODELED, counted
from widemargin.papers.joachims.published import printed
from widemargin.papers.joachims.text_tasks import Report, TextTask
from widemargin.papers.joachims.thesis_svm import BIAS_NOTE, EPSILON
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.theory.laws import ZipfLaw, document_sizes, fit_zipf
from widemargin.theory.tcat import advise_weighting, error_bound, estimate_concepts
from widemargin.weight.smart import weigh

Floats = NDArray[np.float64]

C = 1000.0
NUMERATOR, MODEL = "numerator of the bound", "model, %"
ESTIMATED, ERROR, PRBEP = "model estimated here, %", "error, %", "PRBEP"
# R^2 of (4.46), (4.48), (4.49), the inverse margins and numerators printed there, and n.
PRINTED_BOUNDS = {
    "WebKB: course": (1899.7, 0.2331, 443, 3957),
    "Reuters-21578: earn": (762.9, 0.1802, 138, 9603),
    "Ohsumed: Pathology": (1275.8, 7.4123, 9457, 10_000),
}
NORMALIZED = (
    "Vectors of counts have unit length for the machines (`txc`, `tfc`), which the text does not say."
)


def run(report: Report, name: str) -> PaperResult:
    """Table 4.3, Table 4.4, or all categories ("section 4.3")."""
    return {"4.3": table_4_3, "4.4": table_4_4, "section 4.3": all_categories}[name](report)


def table_4_3(report: Report) -> PaperResult:
    """The bounds of the printed and of the estimated concepts, next to the errors of SVMs."""
    cells: list[Cell] = []
    notes = [
        BIAS_NOTE,
        NORMALIZED,
        "The model is Theorem 2 with rho = 1, as in the text, for the printed concepts with the printed "
        "R^2; the model estimated here takes concept, Zipf's law, lengths and number of documents from the "
        "collection.",
    ]
    for title, category in MODELED.items():
        task = counted(title, report)
        row = f"{title}: {category}"
        R2, inverse, numerator, n = PRINTED_BOUNDS[row]
        concept = MODELS[row]
        model, error, break_even = printed("4.3")[row]
        report(f"Training an SVM on {row}")
        found = measured(task, category, "txc")
        cells += [
            Cell(row, "1/delta^2", inverse, concept.margin_bound() ** -2),
            Cell(row, NUMERATOR, numerator, error_bound(concept, 0, R2)),
            Cell(row, MODEL, model, 100 * error_bound(concept, n, R2)),
            Cell(row, ESTIMATED, model, 100 * predicted(task)[task.column(category)]),
            Cell(row, ERROR, error, found.error),
            Cell(row, PRBEP, break_even, found.prbep),
        ]
        notes += [f"{title}: {note}" for note in task.notes]
    title = "Joachims, Table 4.3: the error that the model predicts, and measured errors"
    return PaperResult("joachims-4.3", title, cells, notes, {"1/delta^2": 4, NUMERATOR: 1})


def table_4_4(report: Report) -> PaperResult:
    """SVMs with and without TFIDF weights, and what the margins of the concepts advise."""
    cells: list[Cell] = []
    for title, category in MODELED.items():
        task = counted(title, report)
        row = f"{title}: {category}"
        published = printed("4.4")[row]
        advice = advise_weighting(task.X_train, task.labels(category).astype(int))[0]
        for k, (name, scheme) in enumerate((("tf", "txc"), ("tfidf", "tfc"))):
            report(f"Training an SVM on {row}, {name}")
            found = measured(task, category, scheme)
            cells.append(Cell(row, f"error, %, {name}", published[k], found.error))
            cells.append(Cell(row, f"PRBEP, {name}", published[k + 2], found.prbep))
            cells.append(
                Cell(row, f"R^2/delta^2 of the concept, {name}", UNPUBLISHED, advice.inverse_margins[scheme])
            )
    notes = [
        BIAS_NOTE,
        NORMALIZED,
        "R^2/delta^2 of concepts of weighted documents of unit length: the smaller one is the better "
        "weighting, by 4.4.1.",
    ]
    title = "Joachims, Table 4.4: TFIDF weights and the words that discriminate"
    digits = {f"R^2/delta^2 of the concept, {name}": 0 for name in ("tf", "tfidf")}
    return PaperResult("joachims-4.4", title, cells, notes, digits)


def all_categories(report: Report) -> PaperResult:
    """Rank correlations of predictions and measurements over all categories of two collections."""
    cells: list[Cell] = []
    notes: list[str] = []
    for title in ("Reuters-21578", "Ohsumed"):
        task = counted(title, report)
        report(f"Training {task.in_train.shape[1]} SVMs on {title}")
        bounds = predicted(task)
        known = ~np.isnan(bounds)
        size = task.in_train.sum(axis=0)
        found = measured_all(task, "txc")
        idf = measured_all(task, "tfc")
        # The bound with the number of positive documents in place of all: what break-even points depend on.
        of_positives = bounds * len(task.in_train) / np.maximum(size, 1)
        for column, prediction, measurement in (
            ("bound and error", bounds, found.errors),
            ("size and error", size, found.errors),
            ("bound by positives and 100 - PRBEP", of_positives, -found.break_evens),
            ("bound and 100 - PRBEP", bounds, -found.break_evens),
            ("smallness and 100 - PRBEP", -size, -found.break_evens),
        ):
            rank = spearmanr(prediction[known], measurement[known]).statistic
            cells.append(Cell(title, column, UNPUBLISHED, float(rank)))
        agreement, differ = advised(task, found.break_evens, idf.break_evens, known)
        cells.append(Cell(title, "right advice on TFIDF, %", UNPUBLISHED, agreement))
        cells.append(Cell(title, "TFIDF better, %", UNPUBLISHED, differ))
        if not known.all():
            notes.append(
                f"{title}: {np.count_nonzero(known)} of {len(known)} categories; the others have fewer than "
                "ten training documents, which is not enough to say."
            )
    notes += [
        "Spearman's rank correlation. Error rates mostly follow the size of a category, which is why size "
        "stands beside the bound. With the number of positive documents in place of all documents, the "
        "bound is no theorem; it was chosen after looking at these figures.",
        "LinearSVM(C=1), vectors of counts with unit length. Advice is right if the weighting with the "
        "smaller R^2/delta^2 has the larger break-even point, over categories where they differ.",
    ]
    title = "Joachims, section 4.3: predicted difficulty and measured errors, all categories"
    columns = dict.fromkeys((cell.column for cell in cells), 2)
    digits = {name: (1 if name.endswith("%") else places) for name, places in columns.items()}
    return PaperResult("joachims-section-4.3", title, cells, notes, digits)


@dataclass(frozen=True)
class Measured:
    """Of one SVM, in percent."""

    error: float
    prbep: float


@dataclass(frozen=True, eq=False)
class MeasuredAll:
    """Of all categories, in percent."""

    errors: Floats
    break_evens: Floats


def predicted(task: TextTask) -> Floats:
    """Theorem 2 with rho = 1 for every category, from its training documents; NaN if there are too few."""
    sizes = document_sizes(task.X_train)
    law: ZipfLaw = fit_zipf(task.X_train).law.scaled(sizes.length, sizes.distinct)
    R2 = law.squared_length(sizes.distinct)
    estimates = estimate_concepts(task.X_train, task.in_train.astype(int))
    return np.array([R2 * estimate.inverse_margin / (sizes.n + 1) for estimate in estimates])


def measured(task: TextTask, category: str, scheme: str) -> Measured:
    """The thesis's machine at C = 1000 on one category."""
    train, test = weighted(task, scheme)
    machine = LinearSVM(C=C, bias="unregularized", balance=0, tol=EPSILON).fit(train, task.labels(category))
    scores, truth = machine.decision_function(test), task.truth[:, task.column(category)]
    wrong = np.mean((scores > 0) != (truth > 0))
    return Measured(100 * float(wrong), 100 * float(prbep(truth, scores)))


def measured_all(task: TextTask, scheme: str) -> MeasuredAll:
    """A linear machine with a bias feature and C = 1 on all categories at once."""
    train, test = weighted(task, scheme)
    scores = LinearSVM(balance=0).fit(train, sp.csr_array(task.in_train)).decision_function(test)
    wrong = ((scores > 0) != (task.truth > 0)).mean(axis=0)
    points = [float(prbep(truth, found)) for truth, found in zip(task.truth.T, scores.T, strict=True)]
    return MeasuredAll(100 * wrong, 100 * np.array(points))


def advised(task: TextTask, tf: Floats, tfidf: Floats, known: NDArray[np.bool_]) -> tuple[float, float]:
    """Of the categories whose break-even points differ, the percentage advised well, and that TFIDF helps."""
    advice = advise_weighting(task.X_train, task.in_train.astype(int))
    differ = np.flatnonzero(known & (tf != tfidf))
    better = tfidf[differ] > tf[differ]
    right = [(advice[k].best == "tfc") == good for k, good in zip(differ, better, strict=True)]
    return 100 * float(np.mean(right)), 100 * float(better.mean())


def weighted(task: TextTask, scheme: str) -> tuple[sp.csr_array, sp.csr_array]:
    """Weighted training and test documents; document frequencies are those of the training documents."""
    frequencies, n = np.bincount(task.X_train.indices, minlength=task.X_train.shape[1]), task.X_train.shape[0]
    return weigh(task.X_train, scheme), weigh(task.X_test, scheme, frequencies, n)
