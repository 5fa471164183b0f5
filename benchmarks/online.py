"""Online learners: one pass over vectors in memory, for one label and for all, and 200 passes of LM-NWin.

One pass: our Perceptron and Winnow against scikit-learn's Perceptron and against Vowpal Wabbit (hinge loss,
constant rate), over the same tfc vectors in the same random order. The peers get them in their preferred
form, prepared untimed: float64 for scikit-learn, parsed examples for Vowpal Wabbit, whose Python package
learns one example per call. Every run starts from zero weights; resetting Vowpal Wabbit is not timed. Runs
alternate, after an untimed run.

The algorithms differ, so the rows compare documents per second, not equal objectives. The quality is the
break-even point of both sides on the test documents after that pass; ours may be at most 5 points lower.

BLAS has one thread: scikit-learn's one-vs-rest is faster with it, and spinning BLAS threads would disturb the
other side.

All labels: one-vs-rest on one thread and on two, against scikit-learn's own one-vs-rest on as many threads
(its learners release the GIL, so no processes or copies of X are needed).

Balanced Winnow is omitted: after one pass over tfc vectors its break-even point is 11 points lower on all
labels of Reuters and 39 on sci.med, which is not the same job. SGDClassifier, which regularizes, is also
omitted: on sci.med it is 6 points better than either Perceptron.

LM-NWin: binary vectors of stems, all 118 topics of Reuters, all features, Zhang's eta 0.01 and C = 1. It has
no peer: the limits are 20 seconds and a break-even point of at least 80.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

from _compare import Check, Prepared, Row, arguments, in_turns, peer_package, report
from widemargin import LargeMarginWinnow, Perceptron, Vectorizer, Winnow, load_corpus
from widemargin.labels import LabelSpace
from widemargin.measure.break_even import micro_prbep

THREADS = 2
TASKS = {
    "reuters": ("Reuters", "reuters21578", "modapte", "earn"),
    "newsgroups": ("20 Newsgroups", "20newsgroups", "bydate", "sci.med"),
}
ONE_PASS = {"max_iter": 1, "tol": None, "shuffle": False}
BIAS = 0.1  # thresholds move at a hundredth of the rate, as scikit-learn's do on sparse vectors
ALLOWED_LOSS = 5.0  # points of the break-even point
BAR = 20.0  # seconds for 200 passes of LM-NWin
LEAST = 80.0  # its break-even point


class Task:
    """Vectors of the training and test documents, and the signs of all categories."""

    def __init__(self, name: str, split: str, vectorizer: Vectorizer) -> None:
        corpus = load_corpus(name, split)
        parts = (corpus.train, corpus.test)
        self.categories = sorted({label for part in parts for labels in part.labels for label in labels})
        space = LabelSpace("multilabel", np.array(self.categories))
        # Some collections are sorted by label.
        order = np.random.default_rng(0).permutation(len(corpus.train))
        self.X = sp.csr_array(vectorizer.fit_transform(corpus.train.texts)[order])
        self.X_test = vectorizer.transform(corpus.test.texts)
        Y, self.Y_test = ((space.encode(part.labels, unknown="ignore") > 0).astype(int) for part in parts)
        self.Y = Y[order]
        self.one_each = bool((self.Y.sum(axis=1) == 1).all())


class VowpalWabbit:
    """Examples parsed once; `reset` makes the model a new one, `learn` passes over them once."""

    def __init__(self, X: sp.csr_array, y: np.ndarray) -> None:
        options = "--loss_function hinge --sgd -l 0.5 --power_t 0 --bit_precision 18 --quiet --no_stdin"
        self.model = peer_package("vowpalwabbit").pyvw.Workspace(options)
        self.examples = [
            self.model.example(f"{1 if label else -1} {_line(row)}") for row, label in zip(X, y, strict=True)
        ]

    def reset(self) -> None:
        """All weights to 0: with this rate, which is constant, there is no other state."""
        for index in range(self.model.num_weights()):
            self.model.set_weight(index, 0, 0.0)

    def learn(self, _: None) -> VowpalWabbit:
        for example in self.examples:
            self.model.learn(example)
        return self

    def decision_function(self, X: sp.csr_array) -> np.ndarray:
        return np.array([self.model.predict(self.model.example(_line(row))) for row in X])


def _line(row: Any) -> str:
    return "| " + " ".join(f"{j}:{value:.6g}" for j, value in zip(row.indices, row.data, strict=True))


def learners(threads: int) -> list[Any]:
    made = (Perceptron(eta=1.0, bias=BIAS), Winnow(eta=0.1, bias=BIAS))
    return [learner.set_params(max_iter=1, n_jobs=threads) for learner in made]


def break_even(truth: np.ndarray, scores: np.ndarray) -> float:
    signs = np.where(truth > 0, 1, -1).reshape(len(scores), -1)
    return round(100 * float(micro_prbep(signs, scores.reshape(len(scores), -1))), 2)


def row(
    title: str, name: str, n: int, timed: tuple[Any, Any], points: tuple[float, float], **more: Any
) -> Row:
    """One comparison of documents per second."""
    ours, peer = timed
    quality = {
        **more,
        "documents_per_s": round(n / ours.seconds),
        "peer_documents_per_s": round(n / peer.seconds),
        "break_even": points[0],
        "peer_break_even": points[1],
    }
    checks = [Check("points below the peer's", points[1] - points[0], ALLOWED_LOSS)]
    return Row(title, name, ours.seconds, peer.seconds, checks, quality)


def one_label(title: str, task: Task, category: str, repeats: int) -> Iterator[Row]:
    X64 = task.X.astype(np.float64)
    y, truth = (part[:, task.categories.index(category)] for part in (task.Y, task.Y_test))
    wabbit = VowpalWabbit(task.X, y)
    mine = learners(1)
    peers = {
        "sklearn Perceptron": partial(SklearnPerceptron(**ONE_PASS).fit, X64, y),
        "Vowpal Wabbit": Prepared(wabbit.reset, wabbit.learn),
    }
    timed = in_turns(*(partial(learner.fit, task.X, y) for learner in mine), *peers.values(), repeats=repeats)
    points = [break_even(truth, run.result.decision_function(task.X_test)) for run in timed]
    for i, learner in enumerate(mine):
        for j, name in enumerate(peers, len(mine)):
            yield row(
                f"{title} one label {type(learner).__name__}",
                name,
                len(y),
                (timed[i], timed[j]),
                (points[i], points[j]),
            )


def all_labels(title: str, task: Task, repeats: int) -> Iterator[Row]:
    X64 = task.X.astype(np.float64)
    present = task.Y.any(axis=0)
    Y, truth = task.Y[:, present], task.Y_test[:, present]

    def peer(threads: int) -> Any:
        if task.one_each:  # it makes one-vs-rest of it, on threads
            return SklearnPerceptron(n_jobs=threads, **ONE_PASS).fit(X64, Y.argmax(axis=1))
        with joblib.parallel_config("threading"):
            return OneVsRestClassifier(SklearnPerceptron(**ONE_PASS), n_jobs=threads).fit(X64, Y)

    for threads in (1, THREADS):
        mine = learners(threads)
        timed = in_turns(
            *(partial(learner.fit, task.X, Y) for learner in mine), partial(peer, threads), repeats=repeats
        )
        points = [break_even(truth, run.result.decision_function(task.X_test)) for run in timed]
        for learner, run, point in zip(mine, timed, points, strict=False):
            yield row(
                f"{title} {Y.shape[1]} labels {type(learner).__name__}",
                "sklearn Perceptron, one-vs-rest",
                len(Y),
                (run, timed[-1]),
                (point, points[-1]),
                threads=threads,
            )


def two_hundred_passes(repeats: int) -> Row:
    task = Task("reuters21578", "modapte", Vectorizer(weighting="bxx", stemmer="porter", n_jobs=THREADS))
    model = LargeMarginWinnow(normalize=True, C=1.0, eta=0.01, max_iter=200, n_jobs=THREADS)
    (timed,) = in_turns(partial(model.fit, task.X, task.Y), repeats=repeats, warm=False)
    present = task.Y_test.any(axis=0)
    scores = model.decision_function(task.X_test)[:, present]
    point = break_even(task.Y_test[:, present], scores)
    return Row(
        f"LM-NWin, 200 passes, {task.Y.shape[1]} topics",
        "the bar",
        timed.seconds,
        BAR,
        [Check(f"points below {LEAST:g}", LEAST - point, 0.0)],
        {"features": task.X.shape[1], "micro_break_even": point},
    )


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    for chosen in tasks:
        if chosen == "lm-nwin":
            yield two_hundred_passes(min(repeats, 3))
            continue
        title, name, split, category = TASKS[chosen]
        task = Task(name, split, Vectorizer(n_jobs=THREADS))
        yield from one_label(title, task, category, repeats)
        yield from all_labels(title, task, min(repeats, 5))


def main() -> int:
    # Jobs take milliseconds, and other load on the machine is not small in comparison, hence many repeats.
    options = arguments(__doc__, repeats=41, tasks=(*TASKS, "lm-nwin")).parse_args()
    with threadpool_limits(1, user_api="blas"):
        return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
