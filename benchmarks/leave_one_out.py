"""Knowing how good 90 topics of Reuters-21578 are: xi-alpha bounds and exact leave-one-out.

Peers: one training of the same machines (to its own tolerance for xi-alpha; for leave-one-out to the duality
gap that it starts from), and retraining without each example with the same solver. The last is measured on a
sample of examples of a few topics and multiplied; on the sample both sides have to decide the same.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from _compare import Row, alternate, report, wants_json
from _reuters import THREADS, C, reuters
from widemargin import LinearSVM, Vectorizer
from widemargin._arrays import canonical_csr
from widemargin.errors import DataWarning
from widemargin.estimate.leave_one_out import leave_one_out, needed_gap
from widemargin.estimate.training_bounds import xi_alpha_of
from widemargin.measure import f_measure, micro

TOPICS, SAMPLE = 5, 20


def machine(tol: float = 1e-3) -> LinearSVM:
    return LinearSVM(C, tol=tol, max_iter=20_000, n_jobs=THREADS)


def rows() -> Iterator[Row]:
    job = reuters()
    X, Y = Vectorizer(n_jobs=THREADS).fit_transform(job.train), job.Y_train
    model = machine().fit(X, Y)
    ours, peer = alternate(lambda: xi_alpha_of(model, X, Y), lambda: machine().fit(X, Y))
    bound = micro(f_measure, xi_alpha_of(model, X, Y))
    yield Row("xi-alpha of 90 topics", "one training", ours, peer, {"micro F1 at least": bound})

    needed = needed_gap(canonical_csr(X), 1.0, np.inf) / float(np.max(model.objective_))
    exact = leave_one_out(model, X, Y, scores=False, n_jobs=THREADS)
    quality = {
        "micro F1": micro(f_measure, exact.table),
        "retrained": f"{100 * exact.retrained.sum() / Y.size:.2f} %",
        "signs not proven": int((exact.accuracy >= np.abs(exact.scores)).sum()),
    }
    for name, scores in (("leave-one-out, decisions", False), ("leave-one-out, scores", True)):
        ours, peer = alternate(
            lambda scores=scores: leave_one_out(model, X, Y, scores=scores, n_jobs=THREADS),  # type: ignore[misc]
            lambda: machine(needed).fit(X, Y),
            repeats=1,
        )
        yield Row(name, f"one training to {needed:.1g}", ours, peer, quality)

    generator = np.random.default_rng(0)
    seconds, same, n = 0.0, 0, Y.shape[0]
    for topic in generator.choice(Y.shape[1], TOPICS, replace=False):
        y = Y[:, topic]
        for t in generator.choice(n, SAMPLE, replace=False):
            weights = np.ones(n)
            weights[t] = 0.0
            start = time.perf_counter()
            without = machine(needed).fit(X, y, weights)
            seconds += time.perf_counter() - start
            same += (without.decision_function(X[[t]])[0] > 0) == (exact.signs[t, topic] > 0)
    everything = seconds / (TOPICS * SAMPLE) * Y.size
    start = time.perf_counter()
    leave_one_out(model, X, Y, scores=False, n_jobs=THREADS)
    taken = time.perf_counter() - start
    quality = {"same decisions": f"{same} of {TOPICS * SAMPLE}", "peer from a sample": True}
    yield Row("leave-one-out, decisions", "retraining without each", taken, everything, quality)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", DataWarning)
    report(rows(), wants_json())
