"""Quality on test documents, and seconds from texts to model, of what `widemargin train` does by default.

Peers: (a) the library itself without tuning, tf-idf words (`tfc`), hinge loss and C = 1; (b) scikit-learn's
TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)) + LinearSVC, with C chosen from 0.1, 1 and 10 by 5-fold
grid search over the pipeline, one-vs-rest for label sets, on as many cores as ours. Ours includes tuning,
estimates of quality and thresholds.

Everything is chosen on training documents. Test documents are those of the collection, or a random third
where it has none (sms-spam). A row fails if ours is worse than the peer and a paired test says that this is
not chance (p < 0.05; McNemar's test of documents, for label sets the sign test of decisions), or if ours
takes more than a fifth of the time of (b).

Figures are accuracy, or for label sets micro-averaged F1, with break-even point and macro-averaged F1 beside
it.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from _compare import Check, Row, arguments, in_turns, report
from widemargin import LinearSVM, TextClassifier, Vectorizer, load_corpus
from widemargin.errors import DataWarning
from widemargin.labels import LabelSpace
from widemargin.measure import contingency, f_measure, macro, micro, micro_prbep
from widemargin.measure.significance import Comparison, mcnemar, micro_sign_test

COSTS = [0.1, 1.0, 10.0]
FOLDS, THREADS = 5, 2
LEVEL, FASTER = 0.05, 5.0
PLAIN, GRID = "tfc, C = 1", "scikit-learn, C by grid search"


@dataclass
class Job:
    """Texts, and one label each or an indicator of labels."""

    train: list[str]
    y_train: NDArray[Any]
    test: list[str]
    y_test: NDArray[Any]

    @property
    def sets(self) -> bool:
        return self.y_train.ndim == 2


@dataclass
class Predicted:
    """Decisions on test documents, and scores of label sets."""

    decisions: NDArray[Any]
    scores: NDArray[Any] | None = None


def job(name: str) -> Job:
    if name == "reuters21578":
        corpus = load_corpus(name, "modapte")
        labels = LabelSpace("multilabel", np.array(corpus.categories_of("90")))
        return _of_sets(corpus, labels)
    corpus = load_corpus(name)
    if name == "ohsumed":
        return _of_sets(corpus, LabelSpace("multilabel", np.array(sorted(corpus.train.label_counts()))))
    texts, y = corpus.train.texts, _single(corpus.train.labels)
    if corpus.test is not None and len(corpus.test):
        return Job(texts, y, corpus.test.texts, _single(corpus.test.labels))
    order = np.random.default_rng(0).permutation(len(texts))
    seen, unseen = np.sort(order[: 2 * len(order) // 3]), np.sort(order[2 * len(order) // 3 :])
    return Job([texts[i] for i in seen], y[seen], [texts[i] for i in unseen], y[unseen])


def _of_sets(corpus: Any, labels: LabelSpace) -> Job:
    y_train, y_test = (
        (labels.encode(part.labels, unknown="ignore") > 0).astype(np.int64)
        for part in (corpus.train, corpus.test)
    )
    return Job(corpus.train.texts, y_train, corpus.test.texts, y_test)


def _single(labels: list[Any]) -> NDArray[Any]:
    return np.array([found[0] if isinstance(found, list | tuple) else found for found in labels])


def tuned(job: Job, effort: str) -> TextClassifier:
    thresholds = "f1" if job.sets else None
    classifier = TextClassifier(tune=effort, estimate="auto", thresholds=thresholds)
    return classifier.fit(job.train, job.y_train)


def plain(job: Job) -> TextClassifier:
    return TextClassifier(Vectorizer(weighting="tfc"), LinearSVM(balance=0), estimate=None).fit(
        job.train, job.y_train
    )


def grid(job: Job) -> GridSearchCV:
    learner, name = LinearSVC(), "linearsvc__C"
    if job.sets:
        learner, name = OneVsRestClassifier(learner), "onevsrestclassifier__estimator__C"
    pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), learner)
    scoring = "f1_micro" if job.sets else "accuracy"
    search = GridSearchCV(pipeline, {name: COSTS}, cv=FOLDS, scoring=scoring, n_jobs=THREADS)
    return search.fit(job.train, job.y_train)


def predicted(model: Any, job: Job) -> Predicted:
    decisions = np.asarray(model.predict(job.test))
    return Predicted(decisions, model.decision_function(job.test) if job.sets else None)


def quality(found: Predicted, job: Job, who: str) -> dict[str, Any]:
    if not job.sets:
        return {f"{who} accuracy": 100 * float(np.mean(found.decisions == job.y_test))}
    assert found.scores is not None
    table = contingency(np.where(job.y_test > 0, 1, -1), np.where(found.decisions > 0, 1, -1))
    return {
        f"{who} micro-F1": 100 * float(micro(f_measure, table)),
        f"{who} macro-F1": 100 * float(macro(f_measure(table))),
        f"{who} PRBEP": 100 * float(micro_prbep(np.where(job.y_test > 0, 1, -1), found.scores)),
    }


def tested(job: Job, ours: Predicted, peer: Predicted) -> Comparison:
    """Whether one of them gets more documents, or more labels of documents, right."""
    if not job.sets:
        return mcnemar(ours.decisions == job.y_test, peer.decisions == job.y_test)
    signs = [np.where(found > 0, 1, -1) for found in (job.y_test, ours.decisions, peer.decisions)]
    return micro_sign_test(*signs)


def chosen(tuning: dict[str, Any]) -> str:
    """What differs from the defaults."""
    usual = Vectorizer().get_params()
    found = tuning["candidates"][tuning["chosen"]]["parameters"]
    if found.get("blocks"):
        found = {**found, "blocks": [f"{block['name']}:{block['weight']:g}" for block in found["blocks"]]}
    return ", ".join(
        f"{key} {value}"
        for key, value in found.items()
        if key not in ("ngram_range",) and value != usual.get(key, "")
    )


def compare(name: str, effort: str, repeats: int, peers: list[str]) -> Iterator[Row]:
    documents = job(name)
    makers: dict[str, Callable[[Job], Any]] = {PLAIN: plain, GRID: grid}
    made = in_turns(
        lambda: tuned(documents, effort),
        *(lambda peer=peer: makers[peer](documents) for peer in peers),  # type: ignore[misc]
        repeats=repeats,
        warm=False,
    )
    ours = predicted(made[0].result, documents)
    summary = made[0].result.training_summary_
    for peer, timed in zip(peers, made[1:], strict=True):
        theirs = predicted(timed.result, documents)
        figures = quality(ours, documents, "our") | quality(theirs, documents, "peer")
        first, second = (
            next(value for key, value in figures.items() if key.startswith(who)) for who in ("our", "peer")
        )
        found = tested(documents, ours, theirs)
        worse = second - first if found.better == "second" and found.p_value < LEVEL else 0.0
        checks = [Check("points below beyond chance", max(worse, 0.0), 0.0)]
        if peer == GRID:
            checks.append(Check("share of the peer's time", made[0].seconds / timed.seconds, 1 / FASTER))
        figures |= {
            "p": found.p_value,
            "better": found.better,
            "tune_s": summary["seconds"].get("tune"),
            "estimate_s": summary["seconds"].get("estimate"),
            "chosen": chosen(summary["tuning"]),
            "documents": len(documents.train),
        }
        yield Row(f"{name}, tune {effort}", peer, made[0].seconds, timed.seconds, checks, figures)


TASKS = ["sms-spam", "clinc150", "imdb", "webkb", "ohsumed", "reuters21578", "20newsgroups"]


def main() -> int:
    parser = arguments(__doc__, repeats=1, tasks=TASKS)
    parser.add_argument("--tune", default="fast", choices=["fast", "full"], help="effort of ours")
    parser.add_argument("--peer", choices=["plain", "grid"], help="only one of the peers")
    options = parser.parse_args()
    for category in (ConvergenceWarning, DataWarning, UserWarning):
        warnings.simplefilter("ignore", category)
    # LinearSVC does not converge on a few labels, and says so in worker processes.
    os.environ["PYTHONWARNINGS"] = "ignore::UserWarning"
    peers = {"plain": [PLAIN], "grid": [GRID], None: [PLAIN, GRID]}[options.peer]
    rows = (row for name in options.tasks for row in compare(name, options.tune, options.repeats, peers))
    return report(rows, options.json)


if __name__ == "__main__":
    sys.exit(main())
