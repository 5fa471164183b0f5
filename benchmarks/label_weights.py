"""Weights of terms for each label: what they cost in time and gain in accuracy, against a LinearSVM.

Both machines get the same ltc vectors of the training documents, C = 1, the default costs of classes and the
default tolerance, a relative duality gap of 0.001, which is recomputed here in float64 for eight labels of
each: for ours from an explicit matrix of the label. Runs alternate on two threads. `time of ours` is the
ratio of CPU times, which other programs change less; for label sets it must be at most 2.

Accuracy is that of the test documents: for label sets micro-PRBEP, and micro- and macro-F1 at a threshold of
0; for exclusive classes the share of right answers. Nothing is chosen here: `mix` is the default, which was
chosen on training documents by cross-validation.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from _compare import Check, Row, arguments, in_turns, report
from widemargin import LabelWeightedSVM, LinearSVM, Vectorizer, load_corpus
from widemargin.labels import LabelSpace
from widemargin.learn.costs import training_costs
from widemargin.measure.break_even import micro_prbep
from widemargin.measure.contingency import contingency, f_measure, macro, micro

THREADS = 2
TOL = 1e-3
SLOWEST = 2.0
TASKS = {
    "reuters": ("Reuters 90", "reuters21578", "90"),
    "ohsumed": ("Ohsumed 23", "ohsumed", None),
    "newsgroups": ("20 Newsgroups", "20newsgroups", None),
    "clinc": ("CLINC150", "clinc150", None),
}
BARS = ("reuters", "ohsumed")  # label sets, for which the learner is


def load(name: str, categories: str | None) -> tuple[Any, Any, Any, Any]:
    """Vectors and labels of both parts: indicators of label sets, or one class of each document."""
    corpus = load_corpus(name, *(["modapte"] if name == "reuters21578" else []))
    vectorizer = Vectorizer(weighting="ltc", n_jobs=THREADS)
    X = vectorizer.fit_transform(corpus.train.texts)
    parts = [corpus.train.labels, corpus.test.labels]
    if name in ("reuters21578", "ohsumed"):
        kept = corpus.categories if categories is None else corpus.categories_of(categories)
        space = LabelSpace("multilabel", np.array(kept))
        y = [(space.encode(labels, unknown="ignore") > 0).astype(np.int64) for labels in parts]
    else:
        y = [
            np.array([one[0] if isinstance(one, list | tuple) else one for one in labels]) for labels in parts
        ]
    return X, y[0], vectorizer.transform(corpus.test.texts), y[1]


def largest_gap(model: Any, X: sp.csr_array, y: Any) -> float:
    """The largest relative duality gap of eight labels, in float64 and from the matrix that each sees."""
    X = X.astype(np.float64)
    space = model.label_space_
    signs = space.encode(y)
    costs = training_costs(model, space, signs, np.zeros(0))
    worst = 0.0
    for k in np.linspace(0, signs.shape[1] - 1, 8).astype(int):
        Z, alpha, sign = X, model.alpha_[:, k], signs[:, k].astype(float)
        if isinstance(model, LabelWeightedSVM):
            Z = sp.csr_array(X.multiply(np.sqrt(model.squared_factors_[k].astype(np.float64))))
            lengths = np.sqrt(np.asarray(Z.multiply(Z).sum(axis=1)).ravel())
            Z = sp.diags_array(np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)) @ Z
        w, b = Z.T @ (alpha * sign), float(alpha @ sign)
        regularizer = 0.5 * (w @ w + b * b)
        cost = np.where(sign > 0, costs[0][k], costs[1][k])
        primal = regularizer + cost @ np.maximum(0, 1 - sign * (Z @ w + b))
        worst = max(worst, (primal - (alpha.sum() - regularizer)) / primal)
    return float(worst)


def accuracy(model: Any, X: sp.csr_array, y: Any) -> dict[str, float]:
    scores = model.decision_function(X)
    if np.ndim(y) == 1:
        return {"accuracy": 100 * float(np.mean(model.predict(X) == y))}
    truth = np.where(y > 0, 1, -1)
    table = contingency(truth, np.where(scores > 0, 1, -1))
    return {
        "micro-PRBEP": 100 * micro_prbep(truth, scores),
        "micro-F1": 100 * micro(f_measure, table),
        "macro-F1": 100 * macro(f_measure(table)),
    }


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    for task in tasks:
        title, name, categories = TASKS[task]
        X, y, X_test, y_test = load(name, categories)
        machines = LabelWeightedSVM(tol=TOL, n_jobs=THREADS), LinearSVM(tol=TOL, n_jobs=THREADS)
        fits = [partial(machine.fit, X, y) for machine in machines]
        here, there = in_turns(*fits, repeats=repeats)
        ours, plain = (one.seconds for one in in_turns(*fits, repeats=repeats, clock=time.process_time))
        checks = [Check("gap", max(largest_gap(machine, X, y) for machine in machines), TOL * (1 + 1e-6))]
        if task in BARS:
            checks.append(Check("time of ours", ours / plain, SLOWEST))
        quality: dict[str, Any] = {"time of ours": ours / plain}
        gained, without = (accuracy(machine, X_test, y_test) for machine in machines)
        for measure, value in gained.items():
            quality |= {measure: round(value, 2), f"{measure} of LinearSVM": round(without[measure], 2)}
        yield Row(title, "LinearSVM", here.seconds, there.seconds, checks, quality)


def main() -> int:
    options = arguments(__doc__, repeats=7, tasks=tuple(TASKS)).parse_args()
    return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
