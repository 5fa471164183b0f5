"""Dasgupta and others (2007), Figures 2 and 5: lambda, and feature selection on two large collections.

Figure 2: micro- and macro-averaged F1, precision and recall of least squares on 20 Newsgroups against lambda.
Figure 5: F1 relative to all features against the number of features, on 20 Newsgroups (a, micro) and Reuters
(b, micro; c, macro), for subspace sampling (SS), information gain (IG), weighted sampling (WS), document
frequency (DF) and uniform sampling (US).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from widemargin.documents.corpora import corpus_available, load_corpus
from widemargin.labels import Labels
from widemargin.papers.dasgupta import feature_curves as curves
from widemargin.papers.dasgupta.feature_curves import FeatureTask, Make, Measures, SvmTask
from widemargin.papers.joachims.text_tasks import Report, reuters, texts_of
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.report.plots import Line, Panel
from widemargin.weight.vectorizer import Vectorizer

SIZES = (500, 1000, 2000, 3500, 5000, 10_000)
STRATEGIES: dict[str, Make] = {
    "SS (k = 1500)": lambda whole: curves.subspace(whole.task, 1500),
    "SS (k = 100)": lambda whole: curves.subspace(whole.task, 100),
    "RS": lambda whole: curves.ridge(whole.task, whole.regularization),
    "IG": lambda whole: curves.by_information_gain(whole.task),
    "WS": lambda whole: curves.weighted(whole.task),
    "DF": lambda whole: curves.document_frequency(whole.task),
    "US": lambda whole: curves.uniform(whole.task),
}
TEST_SHARE = 0.2
# "About 90 %" of the text.
PUBLISHED = {("20 Newsgroups, micro-F1", 5000, name): 90.0 for name in ("SS (k = 1500)", "IG")}
NOTES = [
    "Words are stemmed and weighted ltc, with the frequencies in all documents of 20 Newsgroups and in the "
    "training documents of Reuters.",
    "Lambda is chosen on the test documents for all features, as in the paper.",
    "Words of 20 Newsgroups that occur once are omitted, as their number suggests for the published vectors.",
    "Rows show the expected number of features of a sample, not r.",
    "IG of several labels is the largest; the paper does not say how it combines them.",
    curves.RIDGE,
]


def run(
    report: Report, figure: str, splits: int = 5, samples: int = 5, sizes: Sequence[int] = SIZES
) -> PaperResult:
    """One of the figures; the paper has 5 splits of 20 Newsgroups and 5 samples of each."""
    if figure == "2":
        return figure_2(report)
    if figure == "section-7":
        return section_7(report, samples, sizes)
    cells: list[Cell] = []
    notes = [*NOTES, f"{splits} splits of 20 Newsgroups and {samples} samples; published are 5 and 5."]
    panels: list[Panel] = []
    if corpus_available("rcv1-v2"):
        reuters_title, second = "RCV1-v2", rcv1_task(report)
        notes.append(
            "Reuters is RCV1-v2, LYRL2004, its first 10,000 test documents; frequencies of training."
        )
    else:
        reuters_title, second = "Reuters-21578", reuters_task(report)
        notes.append(
            "RCV1-v2 (23,000 training documents, 103 topics) is not on this machine; Reuters-21578 is used."
        )
    collections: tuple[tuple[str, Iterator[FeatureTask], tuple[str, ...]], ...] = (
        ("20 Newsgroups", newsgroups(report, splits), ("micro_f1",)),
        (reuters_title, second, ("micro_f1", "macro_f1")),
    )
    for title, tasks, wanted in collections:
        found, best = measured(report, title, tasks, samples, sizes)
        shown = {name: f"{title}, {name.replace('_f1', '-F1')}" for name in wanted}
        more, pictures = curves.drawn(found, shown, sizes, PUBLISHED)
        cells += more
        panels += pictures
        notes.append(f"{title}: {best}")
    title = "Dasgupta, Figure 5: F1 relative to all features against the number of features"
    return PaperResult("dasgupta-figure-5", title, cells, notes, panels=panels)


def figure_2(report: Report) -> PaperResult:
    """All features of the first split, for every lambda."""
    task = next(newsgroups(report, 1))
    report(f"Training for {len(curves.LAMBDAS)} values of lambda")
    found = task.path()
    cells = [
        Cell(f"lambda {value:g}", name.replace("_", "-"), UNPUBLISHED, 100 * getattr(point, name))
        for value, point in zip(curves.LAMBDAS, found, strict=True)
        for name in curves.NAMES
    ]
    best = [
        max(zip(curves.LAMBDAS, found, strict=True), key=lambda pair: getattr(pair[1], name))[0]
        for name in ("micro_f1", "macro_f1")
    ]
    notes = [
        f"The best lambda is {best[0]:g} for micro-F1 and {best[1]:g} for macro-F1; published is 0.4, on "
        f"another split and other words.",
        f"{task.X_train.shape[0]:,} training and {task.X_test.shape[0]:,} test documents, "
        f"{task.X_train.shape[1]:,} terms; published are 15,000, 4,000 and 62,000.",
    ]
    lines = [
        Line(name.replace("_", "-"), curves.LAMBDAS, [100 * getattr(point, name) for point in found])
        for name in curves.NAMES
    ]
    panel = Panel("20 Newsgroups", "lambda", "%", lines)
    title = "Dasgupta, Figure 2: least squares on 20 Newsgroups against lambda"
    return PaperResult("dasgupta-figure-2", title, cells, notes, panels=[panel])


def section_7(report: Report, samples: int, sizes: Sequence[int]) -> PaperResult:
    """What section 7 proposes: sampling by what lambda leaves, and support vector machines on samples."""
    squares = next(newsgroups(report, 1))
    cells: list[Cell] = []
    panels: list[Panel] = []
    notes = [*NOTES[:1], NOTES[3], curves.RIDGE, "One split; the SVM has C = 1 and no threshold."]
    for title, task in (
        ("least squares", squares),
        ("SVM", SvmTask(squares.X_train, squares.X_test, squares.signs, squares.truth)),
    ):
        found, best = measured(report, title, iter([task]), samples, sizes)
        more, pictures = curves.drawn(found, {"micro_f1": f"{title}, micro-F1"}, sizes, {})
        cells += more
        panels += pictures
        notes.append(f"{title}: {best}")
    title = "Dasgupta, section 7: ridge sampling, and samples for SVMs, on 20 Newsgroups"
    return PaperResult("dasgupta-section-7", title, cells, notes, panels=panels)


def measured(
    report: Report, title: str, tasks: Iterator[FeatureTask], samples: int, sizes: Sequence[int]
) -> tuple[dict[str, list[Measures]], str]:
    """For every strategy the means over splits, one a size; and what all features reach."""
    by_split: dict[str, list[list[Measures]]] = {name: [] for name in STRATEGIES}
    wholes = []
    for number, task in enumerate(tasks, 1):
        report(f"{title}, split {number}: all features, {len(curves.LAMBDAS)} values of lambda")
        wholes.append(curves.best_lambda(task))
        for name, make in STRATEGIES.items():
            report(f"{title}, split {number}: {name}")
            by_split[name].append(wholes[-1].against_sizes(make(wholes[-1]), sizes, samples))
    means = {name: curves.averages(found) for name, found in by_split.items()}
    shown = "; ".join(
        f"lambda {value:g}, micro-F1 {100 * best.micro_f1:.1f}, macro-F1 {100 * best.macro_f1:.1f}"
        for _, best, value in wholes
    )
    return means, f"all features: {shown}."


def newsgroups(report: Report, splits: int) -> Iterator[FeatureTask]:
    """Random splits of all messages, one test document for every four training documents."""
    report("Reading 20 Newsgroups")
    messages = texts_of(load_corpus("20newsgroups", split=None).train)
    # Words that occur once are left out: 62,574 terms are left, and the published vectors have 62,000.
    X = Vectorizer(stemmer="porter", weighting="ltc", min_count=2).fit_transform(messages.texts)
    signs = Labels.of([labels[0] for labels in messages.labels if labels]).signs
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(X.shape[0])
        n_test = round(TEST_SHARE * X.shape[0])
        test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
        yield FeatureTask(X[train], X[test], signs[train], signs[test])


def rcv1_task(report: Report) -> Iterator[FeatureTask]:
    """RCV1-v2: documents are stems already."""
    report("Reading RCV1-v2")
    corpus = load_corpus("rcv1-v2", "lyrl2004-pt0")
    train, test = texts_of(corpus.train), texts_of(corpus.test)
    test = test.subset(list(range(min(len(test), 10_000))))
    space = Labels.of(train.labels).space
    vectorizer = Vectorizer(weighting="ltc")
    X_train, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    signs, truth = (space.encode(part.labels, unknown="ignore") for part in (train, test))
    yield FeatureTask(X_train, X_test, signs, truth)


def reuters_task(report: Report) -> Iterator[FeatureTask]:
    task = reuters(report, Vectorizer(stemmer="porter", weighting="ltc"))
    signs = np.where(task.in_train, 1, -1).astype(np.int8)
    yield FeatureTask(task.X_train, task.X_test, signs, task.truth)
