"""Relevance feedback: the query as a prior, marks of either kind, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import relevance_feedback as reference
from widemargin import LinearSVM, RelevanceFeedback, TransductiveSVM
from widemargin.errors import DataError, UsageError
from widemargin.measure import average_precision

METHODS = ("transductive", "svm", "rocchio")


def topics(seed, n=90, terms=30):
    """Documents of three topics with five terms each and common ones; the first topic is asked for, by one
    of its terms, which a third of its documents have."""
    rng = np.random.default_rng(seed)
    topic = np.arange(n) % 3
    X = (rng.random((n, terms)) < 0.15).astype(np.float64)
    for k in range(3):
        own = np.flatnonzero(topic == k)
        X[np.ix_(own, range(5 * k, 5 * k + 5))] = rng.random((len(own), 5)) < 0.6
    X[:, 0] = (topic == 0) & (rng.random(n) < 0.35)
    X[X.sum(axis=1) == 0, -1] = 1
    return sp.csr_array(X), sp.csr_array(np.eye(terms)[:1]), topic == 0


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_without_marks_the_ranking_is_by_the_cosine(seed):
    X, query, _ = topics(seed)
    ranking = RelevanceFeedback().rank(X, query)
    expected = reference.cosines(X.toarray(), query.toarray()[0])
    np.testing.assert_allclose(ranking.scores, expected, atol=1e-12)
    assert ranking.order.tolist() == sorted(range(len(expected)), key=lambda i: (-ranking.scores[i], i))
    assert ranking.method == "query"
    np.testing.assert_array_equal(ranking.order, ranking.next)


@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([0.0, 1.0, 5.0]))
@settings(max_examples=25, deadline=None)
def test_rocchio_is_its_formula_averaged_with_the_query(seed, n_marks, query_weight):
    X, query, truth = topics(seed)
    first = RelevanceFeedback("query").rank(X, query).order[:n_marks]
    marks = {int(i): bool(truth[i]) for i in first}
    ranking = RelevanceFeedback("rocchio", query_weight=query_weight).rank(X, query, marks)
    dense, row = X.toarray(), query.toarray()[0]
    relevant = [i for i, mark in marks.items() if mark]
    other = [i for i, mark in marks.items() if not mark] + ranking.assumed.tolist()
    learned = reference.rocchio_scores(dense, row, relevant, other)
    expected = reference.combined(reference.cosines(dense, row), learned, n_marks, query_weight)
    np.testing.assert_allclose(ranking.scores, expected, atol=1e-9)


def test_the_machines_are_those_of_the_library():
    X, query, truth = topics(1)
    marks = {int(i): bool(truth[i]) for i in (0, 1, 2, 3, 4, 5, 6, 7)}
    cosines = RelevanceFeedback().rank(X, query).scores
    svm = RelevanceFeedback("svm", query_weight=3.0).rank(X, query, marks)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).reshape(-1, 1)
    rows = sp.csr_array(sp.vstack([query, X / lengths], format="csr"))
    y = np.full(len(truth) + 1, np.nan)
    y[0], y[1 + svm.assumed] = 1, 0
    for i, mark in marks.items():
        y[1 + i] = mark
    known = ~np.isnan(y)
    learned = LinearSVM(bias="unregularized").fit(rows[known], y[known]).decision_function(rows)[1:]
    np.testing.assert_allclose(svm.scores, reference.combined(cosines, learned, 8, 3.0), atol=1e-6)
    both = RelevanceFeedback(query_weight=3.0, positives=0.25).rank(X, query, marks)
    positives = round(0.25 * (len(truth) - 8))
    machine = TransductiveSVM(1.0, positives=positives, on_alarm="ignore").fit(rows, y)
    expected = reference.combined(cosines, machine.scores_[1:].ravel(), 8, 3.0)
    np.testing.assert_allclose(both.scores, expected, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_marks_improve_the_ranking_of_the_others(method):
    gains = []
    for seed in range(8):
        X, query, truth = topics(seed)
        ranking = RelevanceFeedback().rank(X, query)
        marks = {int(i): bool(truth[i]) for i in ranking.order[:15]}
        again = RelevanceFeedback(method).rank(X, query, marks)
        left = again.next
        assert again.method == method
        gains.append(
            average_precision(truth[left], again.scores[left])
            - average_precision(truth[left], ranking.scores[left])
        )
    assert np.mean(gains) > 0.1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [True, False])
def test_marks_of_one_kind_are_enough(method, kind):
    better = []
    for seed in range(8):
        X, query, truth = topics(seed)
        before = RelevanceFeedback().rank(X, query)
        chosen = [int(i) for i in before.order if truth[i] == kind][:6]
        after = RelevanceFeedback(method).rank(X, query, dict.fromkeys(chosen, kind))
        assert after.method == (method if kind or method != "transductive" else "svm")
        left = after.next
        better.append(
            average_precision(truth[left], after.scores[left])
            - average_precision(truth[left], before.scores[left])
        )
    assert np.mean(better) > (0.1 if kind else -0.001)


@pytest.mark.parametrize("method", METHODS)
def test_the_ranking_moves_from_the_query_to_the_marks(method):
    """The correlation with the query's ranking falls with the number of marks, and with a lighter query."""
    X, query, truth = topics(3)
    first = RelevanceFeedback().rank(X, query)
    chosen = first.order[:12].tolist()

    def likeness(n, weight):
        ranking = RelevanceFeedback(method, query_weight=weight)
        scores = ranking.rank(X, query, {i: bool(truth[i]) for i in chosen[:n]}).scores
        return np.corrcoef(scores, first.scores)[0, 1]

    assert likeness(0, 5.0) == pytest.approx(1)
    assert likeness(1, 5.0) > 0.95
    assert 1 > likeness(12, 100.0) > likeness(12, 5.0) > likeness(12, 0.0)
    assert likeness(1, 1e9) == pytest.approx(1, abs=1e-6)


def test_marked_documents_frame_the_ranking():
    X, query, _ = topics(5)
    ranking = RelevanceFeedback().rank(X, query, {7: True, 3: False, 50: True})
    assert set(ranking.order[:2]) == {7, 50}
    assert ranking.order[-1] == 3
    assert sorted(ranking.order.tolist()) == list(range(X.shape[0]))
    assert not set(ranking.next) & {7, 3, 50}
    assert not set(ranking.assumed) & {7, 3, 50}


@pytest.mark.parametrize("method", METHODS)
def test_the_result_is_the_same_again_with_threads_and_in_another_order(method):
    X, query, truth = topics(6)
    marks = {int(i): bool(truth[i]) for i in range(9)}
    once = RelevanceFeedback(method, n_jobs=1).rank(X, query, marks).scores
    np.testing.assert_array_equal(once, RelevanceFeedback(method, n_jobs=2).rank(X, query, marks).scores)
    order = np.random.default_rng(0).permutation(X.shape[0])
    back = np.argsort(order)
    other = RelevanceFeedback(method).rank(X[order], query, {int(back[i]): m for i, m in marks.items()})
    # Documents at the same distance may change places among those that are assumed not to be relevant.
    assert np.corrcoef(other.scores[back], once)[0, 1] > 0.95


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_tiny_collections(method, n):
    X = np.eye(4)[:n] + 0.1
    for mark in (True, False):
        ranking = RelevanceFeedback(method).rank(X, np.ones((1, 4)), {0: mark})
        assert sorted(ranking.order.tolist()) == list(range(n))
        assert np.isfinite(ranking.scores).all()


def test_empty_documents_and_dense_rows():
    X, query, _ = topics(7)
    dense = np.vstack([X.toarray(), np.zeros((2, X.shape[1]))])
    ranking = RelevanceFeedback().rank(dense, query.toarray()[0], {0: True, 1: False})
    assert np.isfinite(ranking.scores).all()


def test_what_is_refused():
    X, query, _ = topics(8)
    with pytest.raises(DataError, match="No word of the query"):
        RelevanceFeedback().rank(X, np.zeros((1, X.shape[1])))
    with pytest.raises(UsageError, match="expected one row of 30"):
        RelevanceFeedback().rank(X, np.ones((1, 4)))
    with pytest.raises(UsageError, match="Document 90 is marked"):
        RelevanceFeedback().rank(X, query, {90: True})
    with pytest.raises(UsageError, match="method='tsvm'"):
        RelevanceFeedback("tsvm").rank(X, query)
    with pytest.raises(UsageError, match="query_weight=-1"):
        RelevanceFeedback(query_weight=-1).rank(X, query)
    with pytest.raises(UsageError, match=r"positives=1\.5"):
        RelevanceFeedback(positives=1.5).rank(X, query)
    with pytest.raises(DataError, match="NaN"):
        RelevanceFeedback().rank(X * np.nan, query)
