"""Joachims (2000), section 4.1 and Figure 4.3: sizes of documents and vocabularies, and Zipf's law."""

from __future__ import annotations

import numpy as np

from widemargin.papers.joachims.chapter_4.counted import MODELED, counted
from widemargin.papers.joachims.published import printed
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.report.laws import heaps_panel, zipf_panel
from widemargin.report.plots import Panel
from widemargin.theory.laws import (
    HeapsLaw,
    LawFit,
    ZipfLaw,
    document_sizes,
    fit_heaps,
    fit_zipf,
    term_frequencies,
)

VOCABULARY, LENGTH, DISTINCT = "distinct words", "words of a document", "distinct words of a document"
HEAPS_K, BETA = "Heaps's k", "beta"
FACTOR, PUBLISHED_FACTOR = "typical factor", "typical factor of the published law"


def run(report: Report, name: str) -> PaperResult:
    """The figures of section 4.1, or Figure 4.3."""
    return sizes(report) if name == "4.1" else frequencies(report)


def sizes(report: Report) -> PaperResult:
    """Vocabularies, lengths of documents and Heaps's law (4.1.1, 4.1.4, 4.1.5)."""
    cells: list[Cell] = []
    panels: list[Panel] = []
    notes: list[str] = []
    for title in MODELED:
        task = counted(title, report)
        found, heaps = document_sizes(task.X_train), fit_heaps(task.X_train)
        (vocabulary,), (length, distinct) = printed("4.1.1")[title], printed("4.1.4")[title]
        cells += [
            Cell(title, VOCABULARY, vocabulary, found.vocabulary),
            Cell(title, LENGTH, length, found.length),
            Cell(title, DISTINCT, distinct, found.distinct),
            Cell(title, HEAPS_K, UNPUBLISHED, heaps.law.k),
            Cell(title, BETA, UNPUBLISHED, heaps.law.beta),
        ]
        panels.append(heaps_panel(f"{title}: Heaps's law", heaps))
        notes += [f"{title}: {note}" for note in task.notes]
    cells += worked()
    notes = [
        "Training documents, read in a random order for Heaps's law. The text gives k between 10 and 100 "
        "and beta between 0.4 and 0.6.",
        "The worked example of 4.1.1 prints about 35,000 words for k = 15, which takes k = 50.",
        *notes,
    ]
    title = "Joachims, section 4.1: vocabularies, lengths of documents, and Heaps's law"
    digits = {VOCABULARY: 0, BETA: 3}
    return PaperResult("joachims-section-4.1", title, cells, notes, digits, panels)


def worked() -> list[Cell]:
    """The worked examples: Heaps's law of 10,000 documents of 50 words, and Zipf's law of 10,000 words."""
    words = 10_000 * 50
    shares = ZipfLaw(1, 0, 1).frequencies(np.arange(1, 10_001))
    return [
        Cell(
            "Heaps's law, k = 15, beta = 0.5", VOCABULARY, 35_000, float(HeapsLaw(15, 0.5).vocabulary(words))
        ),
        Cell(
            "Heaps's law, k = 50, beta = 0.5", VOCABULARY, 35_000, float(HeapsLaw(50, 0.5).vocabulary(words))
        ),
        Cell(
            "Zipf's law, 100 of 10,000 words",
            "share of occurrences, %",
            50,
            100 * float(shares[:100].sum() / shares.sum()),
        ),
    ]


def frequencies(report: Report) -> PaperResult:
    """Figure 4.3: the law of Zipf and Mandelbrot of each collection."""
    cells: list[Cell] = []
    panels: list[Panel] = []
    for title in MODELED:
        task = counted(title, report)
        fit = fit_zipf(task.X_train)
        published = ZipfLaw(*printed("4.1.5")[title])
        # The published law, for as many words as there are here.
        total, vocabulary = task.X_train.sum(), len(term_frequencies(task.X_train))
        scaled = published.scaled(float(total), vocabulary)
        for letter in ("c", "k", "phi"):
            cells.append(Cell(title, letter, getattr(published, letter), getattr(fit.law, letter)))
        cells += [
            Cell(title, "R^2 of the logarithms", UNPUBLISHED, fit.r_squared),
            Cell(title, FACTOR, UNPUBLISHED, fit.typical_factor),
            Cell(title, PUBLISHED_FACTOR, UNPUBLISHED, typical_factor(scaled, fit)),
        ]
        panels.append(zipf_panel(title, fit, {"published": scaled}))
    notes = [
        "Least squares on logarithms, all factors of the rank counting the same. The thesis does not say "
        "how its laws were fitted; c depends on the number of words, so that the published one is scaled to "
        "ours before it is compared.",
        "A typical factor of 1.4 says that frequencies are typically off by 40 %.",
    ]
    title = "Joachims, Figure 4.3: term frequencies and the law of Zipf and Mandelbrot"
    digits = {"c": 0, "phi": 2, "R^2 of the logarithms": 3, FACTOR: 2, PUBLISHED_FACTOR: 2}
    return PaperResult("joachims-figure-4.3", title, cells, notes, digits, panels)


def typical_factor(law: ZipfLaw, fit: LawFit[ZipfLaw]) -> float:
    """By which factor the points of a fit are typically off a law, evenly over the logarithm of the rank."""
    ranks = np.geomspace(fit.x[0], fit.x[-1], 200)
    observed = np.interp(np.log(ranks), np.log(fit.x), np.log(fit.y))
    return float(np.exp(np.sqrt(np.mean(np.square(np.log(law.frequencies(ranks)) - observed)))))
