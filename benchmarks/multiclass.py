"""Crammer-Singer machines over the classes of a collection: LinearSVC(multi_class="crammer_singer").

Both sides get the same tfc vectors (ours in float32, converted for the peer before the clock starts), the
same C and no bias feature, and run on one thread. Each uses the loosest stopping tolerance of a grid at which
its primal objective, recomputed here in float64 from its weights, is within 0.08 % of the best that ours
reaches at tight tolerance; the row shows which. Runs alternate, and the objectives of the timed runs must be
within 0.1 %.

Beside them stand the accuracies on the test documents of Crammer-Singer, Weston-Watkins and one-vs-rest
machines of the same C and with a bias feature of size 1; nothing is chosen by them.

Where our time goes (C = 1): 76 % passes over all classes in single precision, most of it waiting for weights,
11 % the deciding passes in double precision, the rest preparation and cleared memory.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from _compare import Check, Row, arguments, in_turns, report
from widemargin import LinearSVM, MulticlassSVM, Vectorizer, load_corpus

COSTS = (0.1, 1.0, 10.0)
WITHIN = 1e-3
AIM = 8e-4  # what a tolerance has to reach to be chosen
TOLERANCES = (3e-3, 2e-3, 1.5e-3, 1.2e-3, 1e-3, 9e-4, 8e-4, 7e-4, 5e-4)
PEER_TOLERANCES = (0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.045, 0.035, 0.03, 0.02, 0.015, 0.012, 0.01, 6e-3)
ENOUGH_ITERATIONS = 10_000
TASKS = {"newsgroups": ("20 Newsgroups 20", "20newsgroups", "bydate")}

Solver = Callable[[float, float], np.ndarray]  # of C and tolerance: weights (classes, features)
Task = tuple[sp.csr_array, np.ndarray, sp.csr_array, np.ndarray]  # training and test documents


def load(name: str, split: str) -> Task:
    corpus = load_corpus(name, split)
    vectorizer = Vectorizer()
    X, X_test = vectorizer.fit_transform(corpus.train.texts), vectorizer.transform(corpus.test.texts)
    classes, y = np.unique([labels[0] for labels in corpus.train.labels], return_inverse=True)
    return X, y, X_test, np.searchsorted(classes, [labels[0] for labels in corpus.test.labels])


def objective(X: sp.csr_array, y: np.ndarray, coef: np.ndarray, C: float) -> float:
    """The primal objective of Crammer and Singer, in float64."""
    scores = X @ coef.T
    errors = 1 + scores - scores[np.arange(len(y)), y][:, None]
    errors[np.arange(len(y)), y] = 0
    return float(0.5 * (coef**2).sum() + C * errors.max(axis=1).sum())


def ours(X: sp.csr_array, y: np.ndarray, C: float, tol: float) -> np.ndarray:
    coef: np.ndarray = MulticlassSVM(C, bias=None, tol=tol, n_jobs=1).fit(X, y).coef_
    return coef


def theirs(X: sp.csr_array, y: np.ndarray, C: float, tol: float) -> np.ndarray:
    machine = LinearSVC(
        multi_class="crammer_singer",
        fit_intercept=False,
        C=C,
        tol=tol,
        max_iter=ENOUGH_ITERATIONS,
        random_state=0,
    )
    coef: np.ndarray = machine.fit(X, y).coef_
    return coef


def loosest(solve: Solver, tolerances: tuple[float, ...], C: float, most: float, check: tuple) -> float:
    """The largest tolerance whose objective is at most `most`."""
    for tol in tolerances:
        if objective(*check, solve(C, tol), C) <= most:
            return tol
    raise SystemExit(f"No tolerance of {tolerances} reaches an objective of {most:.6g}: nothing to compare.")


def accuracies(task: Task, C: float) -> dict[str, float]:
    X, y, X_test, y_test = task
    machines = {
        "Crammer-Singer": MulticlassSVM(C),
        "Weston-Watkins": MulticlassSVM(C, formulation="weston-watkins"),
        "one-vs-rest": LinearSVM(C),
    }
    return {
        f"accuracy of {name}": round(float((machine.fit(X, y).predict(X_test) == y_test).mean()), 4)
        for name, machine in machines.items()
    }


def compare(title: str, task: Task, repeats: int) -> Iterator[Row]:
    X, y = task[:2]
    X64 = X.astype(np.float64)
    check = (X64, y)
    mine, peer = partial(ours, X, y), partial(theirs, X64, y)
    for C in COSTS:
        best = objective(*check, mine(C, 1e-5), C)
        most = best * (1 + AIM)
        tol = loosest(mine, TOLERANCES, C, most, check)
        peer_tol = loosest(peer, PEER_TOLERANCES, C, most, check)
        here, there = in_turns(partial(mine, C, tol), partial(peer, C, peer_tol), repeats=repeats)
        checks = [
            Check("ours above best", objective(*check, here.result, C) / best - 1, WITHIN),
            Check("peer above best", objective(*check, there.result, C) / best - 1, WITHIN),
        ]
        quality = {"threads": 1, "tol": tol, "peer's tol": peer_tol, **accuracies(task, C)}
        yield Row(
            f"{title}, C = {C:g}", "LinearSVC crammer_singer", here.seconds, there.seconds, checks, quality
        )


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    for name in tasks:
        title, corpus, split = TASKS[name]
        yield from compare(title, load(corpus, split), repeats)


def main() -> int:
    options = arguments(__doc__, repeats=3, tasks=tuple(TASKS)).parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
