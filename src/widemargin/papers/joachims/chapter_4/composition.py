"""Joachims (2000), Figure 4.6 and Table 4.2: the words that indicate a category, and what documents consist
of.

The thesis prints the odds that make a word an indicator, but not its bands of frequency. Ours are shares of
all occurrences (`WordBands`), chosen so that the sets of the three categories have about their printed sizes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import canonical_csr
from widemargin.features.scores import count_terms
from widemargin.papers.joachims.chapter_4.concepts import MODELS
from widemargin.papers.joachims.chapter_4.counted import MODELED, counted
from widemargin.papers.joachims.published import printed
from widemargin.papers.joachims.text_tasks import Report, TextTask, webkb
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.theory.tcat import WordBands, estimate_concepts, indicator_groups
from widemargin.weight.vectorizer import Vectorizer

SIZE = "words in the set"
POSITIVE, NEGATIVE = "% of a positive document", "% of a negative document"
FOUND, ELSEWHERE = "% in the same set here", "% in the opposite set here"
# Words of Figure 4.6 of high frequency, as far as the excerpt prints them.
HIGH_WORDS = {
    "positive": "all any assignment assignments available be book c chapter class code course cse "
    "description discussion document due each eecs exam exams fall final section set should solution "
    "solutions spring structures students syllabus ta text textbook there thursday topics tuesday unix use "
    "wednesday week will you your",
    "negative": "acm address am austin ca california center college computational conference contact "
    "current currently d department dr faculty fax graduate group he me member my our parallel performance "
    "ph pp proceedings professor publications recent research sciences support technical technology "
    "university vision was working",
}
_SHOWN = 12
BANDS_NOTE = (
    "The bands of frequency are not printed. Here, words of high frequency make up the first 65 % of all "
    "occurrences and those of medium frequency the next 25 %, chosen to give sets of about the printed sizes."
)


def run(report: Report, name: str) -> PaperResult:
    """Table 4.2 or Figure 4.6."""
    return table_4_2(report) if name == "4.2" else figure_4_6(report)


def table_4_2(report: Report) -> PaperResult:
    """The composition of documents of the three categories: sizes of sets, and shares of occurrences."""
    cells: list[Cell] = []
    notes = [BANDS_NOTE]
    for title, category in MODELED.items():
        task = counted(title, report)
        model = MODELS[f"{title}: {category}"]
        found = estimate_concepts(task.X_train, task.labels(category).astype(int))[0]
        shares = list(printed("4.2").values()) if title == "WebKB" else [(UNPUBLISHED, UNPUBLISHED)] * 7
        length = model.lengths()[0]
        for ours, (p, n, f), (positive, negative) in zip(found.sets, model.sets, shares, strict=True):
            row = f"{title} {category}: {ours.band} {ours.kind}"
            if title != "WebKB":
                # The thesis prints whole words; Table 4.2 has the shares behind those of `course`.
                positive, negative = 100 * p / length, 100 * n / length
            cells += [
                Cell(row, SIZE, f, ours.words),
                Cell(row, POSITIVE, positive, 100 * ours.positive / found.length),
                Cell(row, NEGATIVE, negative, 100 * ours.negative / found.length),
            ]
        notes += [f"{title}: {note}" for note in task.notes]
    notes.insert(1, "The shares of earn and Pathology are those of the printed concepts, in whole words.")
    title = "Joachims, Table 4.2: composition of average documents"
    return PaperResult("joachims-4.2", title, cells, notes, {SIZE: 0})


def figure_4_6(report: Report) -> PaperResult:
    """How many of the printed words of high frequency are in the same sets here, and our words."""
    vectorizer = Vectorizer(tokens="alnum", weighting=None)
    task = webkb(report, vectorizer)
    words = vectorizer.get_feature_names_out().tolist()
    groups, totals = word_sets(task, "course")
    cells, notes = [], [BANDS_NOTE]
    for k, band in enumerate(WordBands().names):
        for side, kind in enumerate(("positive", "negative")):
            members = np.flatnonzero(groups == 2 * k + side)
            row = f"{band} {kind}"
            cells.append(Cell(row, SIZE, MODELS["WebKB: course"].sets[2 * k + side][2], len(members)))
            if k == 0:
                printed_words = HIGH_WORDS[kind].split()
                for column, place in ((FOUND, side), (ELSEWHERE, 1 - side)):
                    same = {words[i] for i in np.flatnonzero(groups % 2 == place) if groups[i] < 6}
                    hits = sum(word in same for word in printed_words)
                    published = 100.0 if column == FOUND else 0.0
                    cells.append(Cell(row, column, published, 100 * hits / len(printed_words)))
            most = members[np.argsort(-totals[members], kind="stable")[:_SHOWN]]
            notes.append(f"{row}: {', '.join(words[i] for i in most)}")
    notes.append(
        "Words are listed by frequency; sets of printed words are indicators of the same kind in any band."
    )
    title = "Joachims, Figure 4.6: indicative words of the WebKB category course"
    return PaperResult("joachims-figure-4.6", title, cells, notes, {SIZE: 0})


def word_sets(task: TextTask, category: str) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """The set of every word for a category, and how often words occur."""
    bands = WordBands()
    totals = np.asarray(task.X_train.sum(axis=0), dtype=np.float64).reshape(-1)
    signs = np.where(task.labels(category), 1, -1).astype(np.int8)[:, None]
    terms = count_terms(canonical_csr(task.X_train), signs)
    return indicator_groups(terms, bands.of(totals), bands)[0], totals
