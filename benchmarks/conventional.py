"""Conventional learners on the 90 topics of Reuters-21578: widemargin against scikit-learn and SciPy.

Naive Bayes: `fit` of all topics at once against a loop of scikit-learn's MultinomialNB over the topics, both
from counts to weights of all topics; and counting the terms of every topic against SciPy's Y.T @ X, for an
indicator Y (documents x topics) in CSR form, and for Y.T in CSR form already. Log-odds of the test documents
may differ by at most 1e-9 of the largest. Their break-even point is micro-averaged over the topics.

Rocchio: `fit` of all topics at once against a loop of scikit-learn's NearestCentroid over the topics, which
learns two centroids each but neither cuts weights nor chooses a threshold; and the sums of documents of every
topic against SciPy's Y.T @ X. The loop takes minutes, because it makes the documents dense: it is timed on
some topics, and the time of all is their number times that. Centroids may differ by at most 1e-9. Leaving out
every training document in closed form is compared with learning without each document of a sample.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import normalize

from _compare import Check, Row, arguments, in_turns, report
from _reuters import Job, reuters
from widemargin import NaiveBayes, Rocchio, Vectorizer
from widemargin._arrays import canonical_csr
from widemargin.decide import proportional_scores
from widemargin.learn.class_counts import ClassCounts, label_sums
from widemargin.measure.break_even import micro_prbep

SAME_SCORES = 1e-9
# Topics that NearestCentroid is timed on, and documents that are left out by learning again.
CENTROID_TOPICS = 2
LEFT_OUT = 20


def naive_bayes(job: Job, repeats: int) -> Iterator[Row]:
    vectorizer = Vectorizer(weighting="txx")
    X = vectorizer.fit_transform(job.train).astype(np.float64)
    new = vectorizer.transform(job.test).astype(np.float64)
    Y = job.Y_train
    fitted, peer = in_turns(
        lambda: NaiveBayes().fit(X, Y),
        lambda: [MultinomialNB().fit(X, column) for column in Y.T],
        repeats=repeats,
    )
    scores = fitted.result.decision_function(new)
    joints = [one.predict_joint_log_proba(new) for one in peer.result]
    expected = np.column_stack([joint[:, 1] - joint[:, 0] for joint in joints])
    difference = float(np.abs(scores - expected).max() / np.abs(expected).max())
    checks = [Check("log-odds differ", difference, SAME_SCORES)]
    quality = {"micro PRBEP": 100 * micro_prbep(job.Y_test, scores)}
    yield Row("naive Bayes", "MultinomialNB loop", fitted.seconds, peer.seconds, checks, quality)
    yield from _sums(job, X, "naive Bayes, ", "counts", repeats)


def _sums(job: Job, X: sp.csr_array, learner: str, what: str, repeats: int) -> Iterator[Row]:
    """The sums of the documents of every topic against SciPy's Y.T @ X."""
    signs = np.asfortranarray(np.where(job.Y_train > 0, 1, -1).astype(np.int8))
    csr, indicator = canonical_csr(X), sp.csr_array(job.Y_train.astype(np.float64))
    turned = sp.csr_array(indicator.T)
    of_topics = turned.indptr.astype(np.int64), turned.indices.astype(np.int32)
    none = np.zeros(0)
    for name, ours, theirs in (
        (what, lambda: ClassCounts.of(csr, signs, none, None).terms, lambda: indicator.T @ X),
        ("Y.T is CSR already", lambda: label_sums(csr, *of_topics, none, None), lambda: turned @ X),
    ):
        counted, product = in_turns(ours, theirs, repeats=5 * repeats)
        difference = float(np.abs(counted.result.matrix - product.result).max())
        checks = [Check(f"{what} differ", difference, 0.0 if what == "counts" else SAME_SCORES)]
        yield Row(f"{learner}{name}", "SciPy's Y.T @ X", counted.seconds, product.seconds, checks)


def rocchio(job: Job, repeats: int) -> Iterator[Row]:
    vectorizer = Vectorizer(weighting="tfc")
    X = normalize(vectorizer.fit_transform(job.train).astype(np.float64))
    new = vectorizer.transform(job.test).astype(np.float64)
    Y = job.Y_train
    some = np.argsort(-Y.sum(axis=0))[:CENTROID_TOPICS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of terms that do not vary within a class
        fitted, peer = in_turns(
            lambda: Rocchio(1.0).fit(X, Y),
            lambda: [NearestCentroid().fit(X, Y[:, topic]) for topic in some],
            repeats=min(repeats, 2),
        )
    means = fitted.result.sums_.terms.matrix[some].toarray() / Y[:, some].sum(axis=0)[:, None]
    difference = max(
        float(np.abs(mean - one.centroids_[1]).max()) for mean, one in zip(means, peer.result, strict=True)
    )
    scores = fitted.result.decision_function(new)
    shares = proportional_scores(scores, Y.mean(axis=0))
    quality = {
        "micro PRBEP, proportional": 100 * micro_prbep(job.Y_test, shares),
        "topics of the peer": CENTROID_TOPICS,
    }
    all_topics = peer.seconds * Y.shape[1] / CENTROID_TOPICS
    checks = [Check("centroids differ", difference, SAME_SCORES)]
    yield Row("Rocchio", "NearestCentroid loop", fitted.seconds, all_topics, checks, quality)
    yield from _sums(job, X, "Rocchio, ", "sums", repeats)
    begin = time.perf_counter()
    left_out = fitted.result.left_out_scores(X, Y).scores
    ours = time.perf_counter() - begin
    chosen = np.random.default_rng(0).choice(len(Y), LEFT_OUT, replace=False)
    begin = time.perf_counter()
    again = [
        Rocchio(1.0).fit(X[rest], Y[rest]).decision_function(X[[i]])[0]
        for i in chosen
        for rest in [np.delete(np.arange(len(Y)), i)]
    ]
    each = (time.perf_counter() - begin) / LEFT_OUT
    checks = [Check("scores differ", float(np.abs(left_out[chosen] - again).max()), SAME_SCORES)]
    yield Row("Rocchio, leave-one-out", "learning again (from a sample)", ours, each * len(Y), checks)


TASKS = {"naive-bayes": naive_bayes, "rocchio": rocchio}


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    job = reuters()
    for task in tasks:
        yield from TASKS[task](job, repeats)


def main() -> int:
    options = arguments(__doc__, repeats=5, tasks=tuple(TASKS)).parse_args()
    return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
