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

Nearest neighbors: the 15 training documents with the largest cosines vote on every test document, against
scikit-learn's KNeighborsClassifier(algorithm="brute", metric="cosine") with as many threads, with all terms
and with the 1,000 best by information gain. The first row of each is the search for the neighbors of the test
documents, the second that for those of every training document among the others; ours then also votes.
Cosines may differ by at most 1e-6. The third is fit and predict with equal votes. At most one decision in
10,000 may differ, since scikit-learn does not define which of several equal cosines come first. The
break-even point is that of weighted votes.

Boosting: AdaBoost on the two most frequent topics against scikit-learn's AdaBoostClassifier, a hundred rounds
over stumps and ten over trees of up to ten tests on a path, both on which terms occur. The exponential loss
of the training documents may not be above the peer's. The break-even point and F1 are those of a hundred
trees, or stumps, for each of the 90 topics, beside the 87.8 that joachims 6.4 quotes for boosted trees (Weiss
et al., 1999).

C4.5: `fit` of all topics at once, on all cores, and on one thread in CPU time, against a loop of
scikit-learn's DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2) over the topics, one after the
other. The loop gets the documents by columns, as it needs them, and is run once, after one topic. The
break-even point of its trees must not exceed ours. Depths are averages over the topics, of trees before they
are pruned.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.preprocessing import normalize
from sklearn.tree import DecisionTreeClassifier

from _boosting_tasks import boosting
from _compare import Check, Row, Timed, arguments, in_turns, report
from _reuters import THREADS, Job, reuters
from widemargin import C45, NaiveBayes, NearestNeighbors, Rocchio, SelectFeatures, Vectorizer
from widemargin._arrays import canonical_csr
from widemargin.decide import proportional_scores
from widemargin.learn.class_counts import ClassCounts, label_sums
from widemargin.measure.break_even import micro_prbep

SAME_SCORES = 1e-9
# Topics that NearestCentroid is timed on, and documents that are left out by learning again.
CENTROID_TOPICS = 2
LEFT_OUT = 20
SAME_COSINES = 1e-6
SAME_DECISIONS = 1e-4
NEIGHBORS = 15


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


def neighbors(job: Job, repeats: int) -> Iterator[Row]:
    vectorizer = Vectorizer(stop_words="freewais")
    X, new, Y = vectorizer.fit_transform(job.train), vectorizer.transform(job.test), job.Y_train
    yield from _neighbors("all terms", job, X, new, repeats)
    best = SelectFeatures("ig", 1000).fit(X, Y)
    yield from _neighbors("1,000 terms", job, best.transform(X), best.transform(new), repeats)


def _neighbors(terms: str, job: Job, X: sp.csr_array, new: sp.csr_array, repeats: int) -> Iterator[Row]:
    Y, peers = job.Y_train, "KNeighborsClassifier"
    ours = NearestNeighbors(NEIGHBORS, n_jobs=THREADS).fit(X, Y)
    equal = NearestNeighbors(NEIGHBORS, vote="equal", n_jobs=THREADS)
    peer = KNeighborsClassifier(NEIGHBORS, algorithm="brute", metric="cosine", n_jobs=THREADS).fit(X, Y)
    scores = ours.decision_function(new)
    found, expected = in_turns(lambda: ours.nearest(new), lambda: peer.kneighbors(new), repeats=repeats)
    quality = {"micro PRBEP": 100 * micro_prbep(job.Y_test, scores)}
    yield _searches(f"neighbors, {terms}", peers, found, expected, quality)
    found, expected = in_turns(lambda: ours.left_out_scores(X, Y), lambda: peer.kneighbors(), repeats=repeats)
    quality = {"micro PRBEP": 100 * micro_prbep(Y, found.result.scores)}
    # Leave-one-out gives scores, so that the neighbors are looked up again, with the document itself.
    more = NearestNeighbors(NEIGHBORS + 1, n_jobs=THREADS).fit(X, Y).nearest(X)
    left_out = Timed(found.seconds, (None, _without_self(more.documents, more.cosines)))
    yield _searches(f"neighbors left out, {terms}", peers, left_out, expected, quality)
    decided, predicted = in_turns(
        lambda: equal.fit(X, Y).predict(new), lambda: peer.fit(X, Y).predict(new), repeats=repeats
    )
    differ = float(np.mean(decided.result != predicted.result))
    checks = [Check("decisions differ", differ, SAME_DECISIONS)]
    yield Row(f"decisions by neighbors, {terms}", peers, decided.seconds, predicted.seconds, checks)


def _searches(name: str, peer: str, ours: Timed, theirs: Timed, quality: dict[str, float]) -> Row:
    """A row that compares the cosines of neighbors, (documents, cosines) with (distances, documents)."""
    difference = float(np.abs(ours.result[1] - (1 - theirs.result[0])).max())
    checks = [Check("cosines differ", difference, SAME_COSINES)]
    return Row(name, peer, ours.seconds, theirs.seconds, checks, quality)


def _without_self(documents: NDArray[np.int32], cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cosines of all neighbors of each document but itself, or the farthest if it is not among them."""
    own = documents == np.arange(len(documents))[:, None]
    own[~own.any(axis=1), -1] = True
    return cosines[~own].reshape(len(cosines), -1)


def c45(job: Job, repeats: int) -> Iterator[Row]:
    vectorizer = Vectorizer(weighting="tfc")
    X, new = vectorizer.fit_transform(job.train), vectorizer.transform(job.test)
    by_column, Y = sp.csc_array(X), job.Y_train

    def loop(topics: NDArray[np.int64]) -> list[DecisionTreeClassifier]:
        fresh = [
            DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0) for _ in topics.T
        ]
        return [one.fit(by_column, topic) for one, topic in zip(fresh, topics.T, strict=True)]

    loop(Y[:, :1])
    began = time.process_time()
    (peer,) = in_turns(lambda: loop(Y), repeats=1, warm=False)
    cpu_seconds = time.process_time() - began
    theirs = np.column_stack([one.predict_proba(new)[:, 1] for one in peer.result])
    whole = C45(None).fit(X, Y)
    depths = [max(line.depth for line in whole.outline(topic)) + 1 for topic in whole.classes_]
    for name, n_jobs, clock, peer_seconds in (
        ("C4.5", None, time.perf_counter, peer.seconds),
        ("C4.5, CPU time of one thread", 1, time.process_time, cpu_seconds),
    ):
        learner = C45(n_jobs=n_jobs)
        (fitted,) = in_turns(lambda learner=learner: learner.fit(X, Y), repeats=repeats, clock=clock)
        scores = fitted.result.decision_function(new)
        ours, best = (100 * micro_prbep(job.Y_test, found) for found in (scores, theirs))
        quality = {
            "micro PRBEP": ours,
            "peer PRBEP": best,
            "depth": float(np.mean(depths)),
            "peer depth": float(np.mean([one.get_depth() for one in peer.result])),
        }
        checks = [Check("peer PRBEP is better by", best - ours, 0.0)]
        yield Row(name, "DecisionTreeClassifier loop", fitted.seconds, peer_seconds, checks, quality)


TASKS = {
    "naive-bayes": naive_bayes,
    "rocchio": rocchio,
    "neighbors": neighbors,
    "boosting": boosting,
    "c45": c45,
}


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    job = reuters()
    for task in tasks:
        yield from TASKS[task](job, repeats)


def main() -> int:
    options = arguments(__doc__, repeats=5, tasks=tuple(TASKS)).parse_args()
    return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
