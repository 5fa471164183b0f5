"""Reuters-21578 from raw text to 90 trained classifiers to the scores of the test documents.

Peer: TfidfVectorizer + OneVsRestClassifier(LinearSVC(loss="hinge"), n_jobs=2), warm, the same C. Each side
tokenizes text in its default way. Checks: the primal objective of our solution against LinearSVC's on our
matrix (at most 0.1 % above), and the micro-averaged break-even point on the test documents (at most 0.2
points below the peer's).

In the last row the peer is tuned: the loosest tolerance at which its own objective is within 0.1 %, and
threads instead of processes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import joblib
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from _compare import Check, Row, arguments, in_turns, report
from _reuters import PEER, THREADS, C, Job, ours, peer, primal_objective, quiet_peer, reuters
from widemargin.measure import micro_prbep

SHARES = {"1/8": 1 / 8, "1/4": 1 / 4, "1/2": 1 / 2, "all": 1.0}
TUNED_TOLERANCE = 0.01
ALLOWED_EXCESS = 1e-3
ALLOWED_LOSS = 0.2


def same_job(job: Job, tuned: bool) -> list[Check]:
    """Objectives on our own matrix and break-even points on the test documents."""
    classifier = ours().fit(job.train, job.Y_train)
    pipeline = peer(TUNED_TOLERANCE if tuned else 1e-4).fit(job.train, job.Y_train)
    X = classifier.vectorizer_.transform(job.train).astype(np.float64)
    learner = classifier.learner_

    def exact(tol: float, max_iter: int) -> float:
        models = [LinearSVC(C=C, loss="hinge", tol=tol, max_iter=max_iter).fit(X, y) for y in job.Y_train.T]
        weights = np.vstack([model.coef_ for model in models])
        return primal_objective(X, job.Y_train, weights, np.array([m.intercept_[0] for m in models]))

    reference = exact(1e-4, 10_000)
    objective = primal_objective(X, job.Y_train, learner.coef_, learner.intercept_)
    points = 100 * micro_prbep(job.Y_test, classifier.decision_function(job.test))
    peer_points = 100 * micro_prbep(job.Y_test, pipeline.decision_function(job.test))
    checks = [
        Check("objective above LinearSVC's", objective / reference - 1, ALLOWED_EXCESS),
        Check("points below the peer's", peer_points - points, ALLOWED_LOSS),
    ]
    if tuned:
        excess = exact(TUNED_TOLERANCE, 1000) / reference - 1
        checks.append(Check("tuned peer's objective above LinearSVC's", excess, ALLOWED_EXCESS))
    return checks


def compare(name: str, whole: Job, share: float, tuned: bool, repeats: int) -> Row:
    job = whole.part(share)
    tol = TUNED_TOLERANCE if tuned else 1e-4
    mine, other = in_turns(
        lambda: ours().fit(job.train, job.Y_train).decision_function(job.test),
        lambda: peer(tol).fit(job.train, job.Y_train).decision_function(job.test),
        repeats=repeats,
    )
    size = {"documents": len(job.train), "labels": job.Y_train.shape[1], "threads": THREADS}
    return Row(f"end to end, {name}", PEER, mine.seconds, other.seconds, same_job(job, tuned), size)


def rows(repeats: int) -> Iterator[Row]:
    whole = reuters()
    for name, share in SHARES.items():
        yield compare(name, whole, share, False, repeats)
    with joblib.parallel_config("threading"):
        yield compare("all, tuned peer", whole, 1.0, True, repeats)


def main() -> int:
    options = arguments(__doc__, repeats=3).parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    quiet_peer()
    return report(rows(options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
