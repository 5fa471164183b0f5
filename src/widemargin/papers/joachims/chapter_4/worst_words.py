"""Joachims (2000), Figure 4.2: learning without the best features.

All words of Reuters-21578, stemmed and without stop words, are ranked by their information gain for the topic
`acq`. Naive Bayes then learns from ranges of ranks alone, down to the worst half of all words.
"""

from __future__ import annotations

import numpy as np

from widemargin._arrays import canonical_csr
from widemargin.features.scores import count_terms, information_gain
from widemargin.learn.bayes.naive_bayes import NaiveBayes
from widemargin.measure import prbep
from widemargin.papers.joachims.text_tasks import Report, reuters
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.report.plots import Line, Panel
from widemargin.weight.vectorizer import Vectorizer

TOPIC = "acq"
LAST = None  # the worst words, however many there are
RANKS: tuple[tuple[int, int | None], ...] = (
    (1, 200), (201, 500), (501, 1000), (1001, 2000), (2001, 4000), (4001, LAST),
)  # fmt: skip


def run(report: Report) -> PaperResult:
    """The break-even point of every range of ranks, and what chance would have."""
    vectorizer = Vectorizer(weighting=None, stemmer="porter", stop_words="freewais", min_df=3)
    task = reuters(report, vectorizer)
    column = task.column(TOPIC)
    signs = np.where(task.in_train[:, [column]], 1, -1).astype(np.int8)
    report("Ranking the words and learning from ranges of ranks")
    gains = information_gain(count_terms(canonical_csr(task.X_train), signs))[0]
    order = np.argsort(-gains, kind="stable")
    truth = task.truth[:, column]
    cells = []
    for first, last in RANKS:
        some = np.sort(order[first - 1 : last])
        learner = NaiveBayes().fit(task.X_train[:, some], task.in_train[:, column])
        scores = learner.decision_function(task.X_test[:, some])
        row = f"ranks {first:,} to {len(order) if last is None else last:,}"
        cells.append(Cell(row, "PRBEP", UNPUBLISHED, 100 * float(prbep(truth, scores))))
    cells.append(Cell("chance", "PRBEP", UNPUBLISHED, 100 * float((truth > 0).mean())))
    notes = [
        f"{len(order):,} words in at least three training documents; published are 9,947. The published "
        "curve has no printed figures: even the worst words are much better than chance.",
        "Multinomial naive Bayes with Laplace's estimates, scored by log odds.",
        *task.notes[:1],
    ]
    y = [cell.ours for cell in cells[:-1]]
    panel = Panel(
        f"Reuters-21578: {TOPIC}",
        "range of ranks, from the best words to the worst",
        "PRBEP",
        [
            Line("naive Bayes", list(map(float, range(1, len(y) + 1))), y),
            Line("chance", [1.0, float(len(y))], [cells[-1].ours] * 2),
        ],
    )
    title = "Joachims, Figure 4.2: learning without the best features, acq"
    return PaperResult("joachims-figure-4.2", title, cells, notes, panels=[panel])
