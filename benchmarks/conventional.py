"""Conventional learners on the 90 topics of Reuters-21578: widemargin against scikit-learn and SciPy.

Naive Bayes: `fit` of all topics at once against a loop of scikit-learn's MultinomialNB over the topics, both
from counts to weights of all topics; and counting the terms of every topic against SciPy's Y.T @ X, for an
indicator Y (documents x topics) in CSR form, and for Y.T in CSR form already. Log-odds of the test documents
may differ by at most 1e-9 of the largest. Their break-even point is micro-averaged over the topics.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from sklearn.naive_bayes import MultinomialNB

from _compare import Check, Row, arguments, in_turns, report
from _reuters import Job, reuters
from widemargin import NaiveBayes, Vectorizer
from widemargin._arrays import canonical_csr
from widemargin.learn.bayes.class_counts import ClassCounts, label_sums
from widemargin.measure.break_even import micro_prbep

SAME_SCORES = 1e-9


def naive_bayes(job: Job, repeats: int) -> Iterator[Row]:
    vectorizer = Vectorizer(weighting="txx")
    X = vectorizer.fit_transform(job.train).astype(np.float64)
    new = vectorizer.transform(job.test).astype(np.float64)
    Y = job.Y_train
    signs = np.asfortranarray(np.where(Y > 0, 1, -1).astype(np.int8))
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
    csr, indicator = canonical_csr(X), sp.csr_array(Y.astype(np.float64))
    turned = sp.csr_array(indicator.T)
    of_topics = turned.indptr.astype(np.int64), turned.indices.astype(np.int32)
    none = np.zeros(0)
    for name, ours, theirs in (
        ("counts", lambda: ClassCounts.of(csr, signs, none, None).terms, lambda: indicator.T @ X),
        ("Y.T is CSR already", lambda: label_sums(csr, *of_topics, none, None), lambda: turned @ X),
    ):
        counted, product = in_turns(ours, theirs, repeats=5 * repeats)
        difference = float(np.abs(counted.result.matrix - product.result).max())
        checks = [Check("counts differ", difference, 0.0)]
        yield Row(f"naive Bayes, {name}", "SciPy's Y.T @ X", counted.seconds, product.seconds, checks)


TASKS = {"naive-bayes": naive_bayes}


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    job = reuters()
    for task in tasks:
        yield from TASKS[task](job, repeats)


def main() -> int:
    options = arguments(__doc__, repeats=5, tasks=tuple(TASKS)).parse_args()
    return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
