"""Online learners: one pass over vectors in memory, for one label and for all, and 200 passes of LM-NWin.

One pass: our Perceptron, Balanced Winnow and Winnow against scikit-learn's Perceptron and SGDClassifier and
against Vowpal Wabbit (hinge loss, constant rate), over the same tfc vectors in the same random order. The
peers take them in the form they like best, made before the clock starts: float64 for scikit-learn, parsed
examples for Vowpal Wabbit, whose Python package learns one example a call. The quality is the break-even
point on the test documents after that pass, of both sides: these are different algorithms, so the rows
compare documents a second, not equal objectives.

BLAS has one thread: scikit-learn's one-vs-rest is faster so, and threads of BLAS that wait by spinning would
run on in the time of the other side.

All labels: one-vs-rest on two threads against scikit-learn's own one-vs-rest (threads where a document has
one label, two processes where it has several).

LM-NWin: binary vectors of stems, all 118 topics of Reuters, all features, Zhang's eta 0.01 and C = 1. It has
no peer: the other side is the 20 seconds that it may take.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits
from vowpalwabbit import pyvw

from _compare import Row, alternate, report, wants_json
from widemargin import BalancedWinnow, LargeMarginWinnow, Perceptron, Vectorizer, Winnow, load_corpus
from widemargin.labels import LabelSpace
from widemargin.measure.break_even import micro_prbep

THREADS = 2
TASKS = (
    ("Reuters", "reuters21578", "modapte", "earn"),
    ("20 Newsgroups", "20newsgroups", "bydate", "sci.med"),
)
REPEATS = 41  # jobs of milliseconds: what else the machine does is not small by comparison
ONE_PASS = {"max_iter": 1, "tol": None, "shuffle": False}
BAR = 20.0  # seconds for 200 passes of LM-NWin


class Task:
    """Vectors of the training and test documents, and the signs of all categories."""

    def __init__(self, name: str, split: str, vectorizer: Vectorizer) -> None:
        corpus = load_corpus(name, split)
        parts = (corpus.train, corpus.test)
        self.categories = sorted({label for part in parts for labels in part.labels for label in labels})
        space = LabelSpace("multilabel", np.array(self.categories))
        order = np.random.default_rng(0).permutation(
            len(corpus.train)
        )  # some collections are sorted by label
        self.X = sp.csr_array(vectorizer.fit_transform(corpus.train.texts)[order])
        self.X_test = vectorizer.transform(corpus.test.texts)
        Y, self.Y_test = ((space.encode(part.labels, unknown="ignore") > 0).astype(int) for part in parts)
        self.Y = Y[order]
        self.one_each = bool((self.Y.sum(axis=1) == 1).all())


class VowpalWabbit:
    """Examples parsed once; every call of `learn` starts a new model and passes over them."""

    def __init__(self, X: sp.csr_array, y: np.ndarray) -> None:
        self.options = "--loss_function hinge --sgd -l 0.5 --power_t 0 --bit_precision 18 --quiet --no_stdin"
        self.lines = [
            f"{1 if label else -1} | "
            + " ".join(f"{j}:{value:.6g}" for j, value in zip(row.indices, row.data, strict=True))
            for row, label in zip(X, y, strict=True)
        ]
        self.model = pyvw.Workspace(self.options)
        self.examples = [self.model.example(line) for line in self.lines]

    def learn(self) -> None:
        for example in self.examples:
            self.model.learn(example)

    def scores(self, X: sp.csr_array) -> np.ndarray:
        lines = (
            "| " + " ".join(f"{j}:{v:.6g}" for j, v in zip(row.indices, row.data, strict=True)) for row in X
        )
        return np.array([self.model.predict(self.model.example(line)) for line in lines])


def break_even(truth: np.ndarray, scores: np.ndarray) -> float:
    signs = np.where(truth > 0, 1, -1).reshape(len(scores), -1)
    return round(100 * float(micro_prbep(signs, scores.reshape(len(scores), -1))), 2)


def one_label(title: str, task: Task, category: str) -> Iterator[Row]:
    X64 = task.X.astype(np.float64)
    y, truth = (part[:, task.categories.index(category)] for part in (task.Y, task.Y_test))
    wabbit = VowpalWabbit(task.X, y)
    n = task.X.shape[0]
    for learner in (Perceptron(eta=1.0), BalancedWinnow(), Winnow(eta=0.1)):
        ours = learner.set_params(max_iter=1, n_jobs=1)
        for name, peer in (
            ("sklearn Perceptron", SklearnPerceptron(**ONE_PASS)),
            ("sklearn SGDClassifier", SGDClassifier(**ONE_PASS)),
            ("Vowpal Wabbit", wabbit),
        ):
            run = peer.learn if peer is wabbit else lambda peer=peer: peer.fit(X64, y)
            ours_s, peer_s = alternate(lambda ours=ours: ours.fit(task.X, y), run, repeats=REPEATS)
            theirs = peer.scores(task.X_test) if peer is wabbit else peer.decision_function(task.X_test)
            yield Row(
                f"{title} one label {type(ours).__name__}",
                name,
                ours_s,
                peer_s,
                {
                    "documents_per_s": round(n / ours_s),
                    "peer_documents_per_s": round(n / peer_s),
                    "break_even": break_even(truth, ours.decision_function(task.X_test)),
                    "peer_break_even": break_even(truth, theirs),
                },
            )


def all_labels(title: str, task: Task) -> Iterator[Row]:
    X64 = task.X.astype(np.float64)
    present = task.Y.any(axis=0)
    Y, truth = task.Y[:, present], task.Y_test[:, present]
    if task.one_each:
        peer, target = SklearnPerceptron(n_jobs=THREADS, **ONE_PASS), Y.argmax(axis=1)
    else:
        peer, target = OneVsRestClassifier(SklearnPerceptron(**ONE_PASS), n_jobs=THREADS), Y
    for learner in (Perceptron(eta=1.0), BalancedWinnow(), Winnow(eta=0.1)):
        ours = learner.set_params(max_iter=1, n_jobs=THREADS)
        ours_s, peer_s = alternate(
            lambda ours=ours: ours.fit(task.X, Y), lambda: peer.fit(X64, target), repeats=5
        )
        yield Row(
            f"{title} {Y.shape[1]} labels {type(ours).__name__}",
            "sklearn Perceptron, one-vs-rest",
            ours_s,
            peer_s,
            {
                "documents_per_s": round(len(Y) / ours_s),
                "break_even": break_even(truth, ours.decision_function(task.X_test)),
                "peer_break_even": break_even(truth, peer.decision_function(task.X_test)),
            },
        )


def two_hundred_passes() -> Row:
    task = Task("reuters21578", "modapte", Vectorizer(weighting="bxx", stemmer="porter", n_jobs=THREADS))
    model = LargeMarginWinnow(normalized=True, C=1.0, eta=0.01, max_iter=200, n_jobs=THREADS)
    begin = time.perf_counter()
    model.fit(task.X, task.Y)
    seconds = time.perf_counter() - begin
    present = task.Y_test.any(axis=0)
    scores = model.decision_function(task.X_test)[:, present]
    return Row(
        f"LM-NWin, 200 passes, {task.Y.shape[1]} topics",
        "the bar",
        seconds,
        BAR,
        {"features": task.X.shape[1], "micro_break_even": break_even(task.Y_test[:, present], scores)},
    )


def rows() -> Iterator[Row]:
    for title, name, split, category in TASKS:
        task = Task(name, split, Vectorizer(n_jobs=THREADS))
        yield from one_label(title, task, category)
        yield from all_labels(title, task)
    yield two_hundred_passes()


if __name__ == "__main__":
    with threadpool_limits(1, user_api="blas"):
        report(rows(), wants_json())
