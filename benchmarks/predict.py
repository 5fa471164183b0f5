"""Scoring raw text with 90 labels, all test documents of Reuters-21578 at once and one at a time.

Peers: TfidfVectorizer + OneVsRestClassifier(LinearSVC(loss="hinge"), n_jobs=2), trained on the same documents
with the same C; and the same with its 90 rows of coefficients stacked, so that scoring is one product instead
of a loop over 90 estimators. The peers predict on one thread; ours runs on one and on two.

The scores of one document must equal those in the batch, the stacked peer's those of the pipeline, and the
micro-averaged break-even point may be at most 0.2 points below the peer's.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from _compare import Check, Row, arguments, in_turns, report
from _reuters import PEER, THREADS, ours, peer, quiet_peer, reuters
from widemargin.measure import micro_prbep

SINGLE = 100  # documents scored one at a time
ALLOWED_LOSS = 0.2
SAME = 1e-6  # scores of a document alone and in a batch
STACKED = "TfidfVectorizer + stacked LinearSVC"

Scorer = Callable[[list[str]], NDArray[np.float64]]


def stacked(pipeline: Pipeline) -> Scorer:
    """The pipeline's scores by one product with all coefficients, in the order that suits the product."""
    vectorizer, classifier = pipeline[0], pipeline[-1]
    weights = np.ascontiguousarray(np.vstack([one.coef_ for one in classifier.estimators_]).T)
    bias = np.concatenate([one.intercept_ for one in classifier.estimators_])

    def score(texts: list[str]) -> NDArray[np.float64]:
        return np.asarray(vectorizer.transform(texts) @ weights + bias)

    return score


def one_by_one(score: Scorer, texts: list[str]) -> NDArray[np.float64]:
    return np.vstack([score([text]) for text in texts])


def rows(repeats: int) -> Iterator[Row]:
    job = reuters()
    classifiers = {
        threads: ours(threads).fit(job.train, job.Y_train).decision_function for threads in (1, THREADS)
    }
    pipeline = peer().fit(job.train, job.Y_train)
    peers: dict[str, Scorer] = {PEER: pipeline.decision_function, STACKED: stacked(pipeline)}
    scorers = [*classifiers.values(), *peers.values()]
    few = job.test[:SINGLE]
    batch = in_turns(*(partial(score, job.test) for score in scorers), repeats=repeats)
    alone = in_turns(*(partial(one_by_one, score, few) for score in scorers), repeats=repeats)
    points = [100 * micro_prbep(job.Y_test, timed.result) for timed in batch]
    apart = [
        float(np.abs(one.result - all_.result[:SINGLE]).max()) for one, all_ in zip(alone, batch, strict=True)
    ]
    restacked = float(np.abs(batch[-1].result - batch[-2].result).max())
    for i, threads in enumerate(classifiers):
        for j, name in enumerate(peers, len(classifiers)):
            checks = [
                Check("points below the peer's", points[j] - points[i], ALLOWED_LOSS),
                Check("one document differs from the batch", apart[i], SAME),
                Check("stacked peer differs", restacked, SAME),
            ]
            quality = {"threads": threads, "prbep": points[i], "peer_prbep": points[j]}
            times = batch[i].seconds, batch[j].seconds
            yield Row("predict, batch", name, *times, checks, {**quality, "documents": len(job.test)})
            times = alone[i].seconds / SINGLE, alone[j].seconds / SINGLE
            yield Row("predict, one at a time", name, *times, checks, {**quality, "documents": 1})


def main() -> int:
    options = arguments(__doc__, repeats=7).parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    quiet_peer()
    return report(rows(options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
