"""Boosted trees and stumps for topics of Reuters-21578 (see conventional.py)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from _compare import Check, Row, in_turns
from _reuters import THREADS, Job
from widemargin import BoostedTrees, Vectorizer
from widemargin.measure.break_even import micro_prbep

ROUNDS = {"stumps": 100, "trees": 10}
TOPICS = 2  # the two that most documents have
PUBLISHED = 87.8


def boosting(job: Job, repeats: int) -> Iterator[Row]:
    vectorizer = Vectorizer(weighting="bxx")
    X, new = vectorizer.fit_transform(job.train), vectorizer.transform(job.test)
    topics = np.argsort(-job.Y_train.sum(axis=0), kind="stable")[:TOPICS]
    for base, depth in (("stumps", 1), ("trees", 10)):
        votes = "discrete" if base == "stumps" else "real"
        yield _row(base, depth, job.Y_train[:, topics], X, repeats, _quality(job, base, X, new), votes)


def _row(
    base: Any, depth: int, Y: NDArray[Any], X: Any, repeats: int, quality: dict[str, float], votes: Any
) -> Row:
    rounds = ROUNDS[base]
    peer = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=rounds, random_state=0)
    ours, theirs = in_turns(
        lambda: BoostedTrees(rounds, base=base, votes=votes, n_jobs=THREADS).fit(X, Y),
        lambda: [type(peer)(**peer.get_params(deep=False)).fit(X, column) for column in Y.T],
        repeats=min(repeats, 2),
    )
    signs = np.where(Y > 0, 1, -1)
    found = float(np.exp(-signs * ours.result.decision_function(X)).mean())
    expected = np.mean([_loss(one, X, signs[:, k]) for k, one in enumerate(theirs.result)])
    checks = [Check("loss, by the peer's", found / float(expected), 1.0)]
    name = f"boosted {base}, {TOPICS} topics, {rounds} rounds"
    return Row(name, "AdaBoostClassifier loop", ours.seconds, theirs.seconds, checks, quality)


def _loss(peer: AdaBoostClassifier, X: Any, signs: NDArray[Any]) -> float:
    """The mean of exp(-sign * sum of votes); its weights are twice those of the paper."""
    votes = zip(peer.estimator_weights_, peer.estimators_, strict=True)
    scores = sum(0.5 * weight * np.where(one.predict(X) > 0, 1, -1) for weight, one in votes)
    return float(np.exp(-signs * scores).mean())


def _quality(job: Job, base: Any, X: Any, new: Any) -> dict[str, float]:
    """All topics and a hundred rounds."""
    start = time.perf_counter()
    model = BoostedTrees(100, base=base, n_jobs=THREADS).fit(X, job.Y_train)
    seconds = time.perf_counter() - start
    scores = model.decision_function(new)
    found, truth = scores > 0, job.Y_test > 0
    f1 = 2 * np.count_nonzero(found & truth) / (np.count_nonzero(found) + np.count_nonzero(truth))
    return {
        "90 topics, 100 rounds, s": seconds,
        "micro PRBEP": 100 * micro_prbep(job.Y_test, scores),
        "micro PRBEP, own thresholds": 100 * micro_prbep(job.Y_test, scores, "own"),
        "micro F1": 100 * float(f1),
        "published": PUBLISHED,
    }
