"""Quality of 90 topics of Reuters-21578 without a test set: xi-alpha bounds and exact leave-one-out.

Peers: one training of the same machines (to its own tolerance for xi-alpha; for leave-one-out to the duality
gap that it starts from), and two ways of retraining without each document, by the same solver. The plain one
trains from scratch for every document and topic. The other skips documents with alpha = 0, which do not
change the solution, and starts the rest from the solution on all documents; its time includes finding that
solution. Both are timed on random pairs of document and topic, multiplied by the number of such pairs, and
divided by the number of threads, as if threads scaled perfectly.

Leave-one-out must decide every sampled pair like the peer, including those with alpha = 0, and the xi-alpha
bound on F1 must not exceed that of leave-one-out. All times are on two threads.
"""

from __future__ import annotations

import copy
import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from _compare import Check, Row, arguments, in_turns, report
from _reuters import THREADS, C, reuters
from widemargin import LinearSVM, Vectorizer
from widemargin._arrays import canonical_csr
from widemargin.errors import DataWarning
from widemargin.estimate.held_out import leave_one_out
from widemargin.estimate.xi_alpha import xi_alpha_of
from widemargin.learn.svm.left_out.linear import needed_gap
from widemargin.measure import f_measure, micro
from widemargin.measure.held_out_scores import HeldOutScores

SAMPLE = 100  # pairs of document and topic, of each kind

Pairs = list[tuple[int, int]]


def machine(tol: float = 1e-3) -> LinearSVM:
    return LinearSVM(C, balance=0, tol=tol, max_iter=20_000, n_jobs=THREADS)


def draw(among: NDArray[np.bool_]) -> Pairs:
    """Some pairs of document and topic of all those that are `among` (documents, topics)."""
    places = np.flatnonzero(among)
    chosen = np.random.default_rng(0).choice(places, min(SAMPLE, len(places)), replace=False)
    return [divmod(int(place), among.shape[1]) for place in chosen]


def retrained(X: Any, Y: NDArray[np.int64], pairs: Pairs, tol: float, warm: bool) -> tuple[float, list[bool]]:
    """Mean seconds of learning without a document, and the decision about each that was left out."""
    seconds, decisions = 0.0, []
    whole: dict[int, LinearSVM] = {}
    for document, topic in pairs:
        y = Y[:, topic]
        weights = np.ones(len(y))
        weights[document] = 0.0
        model = machine(tol)
        if warm:
            if topic not in whole:
                whole[topic] = machine(tol).set_params(warm_start=True).fit(X, y)
            model = copy.deepcopy(whole[topic])
        start = time.perf_counter()
        model.fit(X, y, weights)
        seconds += time.perf_counter() - start
        decisions.append(bool(model.decision_function(X[[document]])[0] > 0))
    return seconds / len(pairs), decisions


def differing(exact: HeldOutScores, pairs: Pairs, decisions: list[bool]) -> int:
    return sum((exact.signs[pair] > 0) != decision for pair, decision in zip(pairs, decisions, strict=True))


def rows(repeats: int) -> Iterator[Row]:
    job = reuters()
    X, Y = Vectorizer(n_jobs=THREADS).fit_transform(job.train), job.Y_train
    model = machine().fit(X, Y)
    exact = leave_one_out(model, X, Y, scores=False, n_jobs=THREADS)
    exact_f1 = float(micro(f_measure, exact.table))
    bounds, training = in_turns(
        partial(xi_alpha_of, model, X, Y), lambda: machine().fit(X, Y), repeats=repeats
    )
    bound = float(micro(f_measure, bounds.result))
    yield Row(
        "xi-alpha of 90 topics",
        "one training",
        bounds.seconds,
        training.seconds,
        [Check("bound on F1 above leave-one-out's", bound - exact_f1, 0.0)],
        {"micro F1 at least": bound},
    )

    needed = needed_gap(canonical_csr(X), 1.0, np.inf) / float(np.max(model.objective_))
    decisions, scores, training = in_turns(
        partial(leave_one_out, model, X, Y, scores=False, n_jobs=THREADS),
        partial(leave_one_out, model, X, Y, scores=True, n_jobs=THREADS),
        lambda: machine(needed).fit(X, Y),
        repeats=repeats,
        warm=False,
    )
    exact, whole = decisions.result, training.result
    idle = whole.alpha_ == 0
    unchanged = draw(idle)
    kept = whole.decision_function(X) > 0
    same = [
        Check(
            "decisions that differ, alpha = 0", differing(exact, unchanged, [kept[p] for p in unchanged]), 0
        ),
        Check("decisions that differ, scores", int((scores.result.signs != exact.signs).sum()), 0),
    ]
    quality = {
        "micro F1": exact_f1,
        "retrained": f"{100 * exact.retrained.sum() / Y.size:.2f} %",
        "signs not proven": int((exact.accuracy >= np.abs(exact.scores)).sum()),
    }
    name = f"one training to {needed:.1g}"
    yield Row("leave-one-out, decisions", name, decisions.seconds, training.seconds, same, quality)
    yield Row("leave-one-out, scores", name, scores.seconds, training.seconds, same, quality)

    for name, among, warm in (
        ("retraining without each", np.ones_like(idle), False),
        ("retraining, alpha > 0, warm", ~idle, True),
    ):
        pairs = draw(among)
        each, found = retrained(X, Y, pairs, needed, warm)
        peer_s = each * int(among.sum()) / THREADS + (training.seconds if warm else 0.0)
        checks = [*same, Check("decisions that differ", differing(exact, pairs, found), 0)]
        quality = {"pairs": int(among.sum()), "timed on": len(pairs), "seconds each": each}
        yield Row("leave-one-out, decisions", name, decisions.seconds, peer_s, checks, quality)


def main() -> int:
    options = arguments(__doc__, repeats=3).parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", DataWarning)
    return report(rows(options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
