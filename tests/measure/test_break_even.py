"""Break-even points and curves, against every order of tied examples and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics

from tests.reference import rankings
from widemargin.errors import UsageError
from widemargin.measure import (
    break_even_table,
    micro_prbep,
    prbep,
    precision,
    precision_at_recall,
    precision_recall_curve,
)


def ranked(shape, levels):
    """Signs and scores of a shape; few levels make many ties."""
    return st.tuples(
        hnp.arrays(np.int8, shape, elements=st.sampled_from([-1, 1])),
        hnp.arrays(np.float64, shape, elements=st.sampled_from(levels)),
    )


tiny = st.integers(1, 6).flatmap(lambda n: ranked(n, [0.0, 1.0, 2.0]))
several = st.tuples(st.integers(1, 15), st.integers(1, 4)).flatmap(
    lambda shape: ranked(shape, [-1.0, 0.0, 0.5, 2.0])
)


@given(tiny)
def test_ties_are_averaged_over_their_orders(case):
    truth, scores = case
    assume((truth > 0).any())
    assert prbep(truth, scores) == pytest.approx(rankings.break_even(truth, scores))


@given(tiny)
def test_precision_at_recall_is_prr(case):
    truth, scores = case
    positives = np.count_nonzero(truth > 0)
    assume(positives)
    numbers = np.arange(1, positives + 1)
    expected = [rankings.precision_at_number_found(truth, scores, number) for number in numbers]
    np.testing.assert_allclose(precision_at_recall(truth, scores, numbers / positives), expected)


@given(several)
def test_columns_are_independent_tasks(case):
    truth, scores = case
    each = [prbep(truth[:, j], scores[:, j]) for j in range(truth.shape[1])]
    np.testing.assert_array_equal(prbep(truth, scores), each)
    np.testing.assert_array_equal(np.isnan(each), ~(truth > 0).any(axis=0))


@given(several)
def test_one_threshold_over_all_tasks_breaks_even_where_the_merged_tables_do(case):
    truth, scores = case
    assume((truth > 0).any())
    value = micro_prbep(truth, scores)
    points = rankings.lowered_threshold(truth, scores)
    even = [hits / claims for hits, claims, positives in points if claims == positives]
    if even:
        assert value == pytest.approx(even[0])
    else:
        # The break-even falls inside tied scores: between the thresholds before and after them.
        before = max(
            (hits / positives for hits, claims, positives in points if claims < positives), default=0
        )
        after = min(hits / positives for hits, claims, positives in points if claims > positives)
        assert before - 1e-12 <= value <= after + 1e-12


@given(several)
def test_own_thresholds_add_the_tables(case):
    truth, scores = case
    positives = np.count_nonzero(truth > 0, axis=0)
    assume(positives.sum())
    each = np.nan_to_num(prbep(truth, scores))
    assert micro_prbep(truth, scores, threshold="own") == pytest.approx(
        (each * positives).sum() / positives.sum()
    )
    table = break_even_table(truth, scores)
    np.testing.assert_allclose(table.positives, table.predicted)
    np.testing.assert_allclose(table.n, len(truth))
    np.testing.assert_array_equal(precision(table), prbep(truth, scores))


def test_the_two_micro_averages_differ():
    truth = np.array([[1, 1], [-1, -1], [-1, 1]])
    # The second task's scores are all below the first's.
    scores = np.array([[5.0, 2.0], [4.0, 1.0], [3.0, 1.5]])
    assert micro_prbep(truth, scores, threshold="own") == 1.0
    assert micro_prbep(truth, scores) == pytest.approx(1 / 3)


def test_a_perfect_and_a_reversed_ranking():
    truth = np.array([1, 1, -1, -1, -1])
    assert prbep(truth, np.array([5, 4, 3, 2, 1])) == 1.0
    assert prbep(truth, np.array([1, 2, 3, 4, 5])) == 0.0
    assert prbep(truth, np.zeros(5)) == pytest.approx(2 / 5)
    assert prbep(truth, np.array([np.inf, 4, 3, 2, -np.inf])) == 1.0
    assert prbep(np.ones(3), np.arange(3)) == 1.0


def test_it_is_invariant_to_the_order_of_examples_and_to_monotone_scores():
    rng = np.random.default_rng(0)
    truth = np.where(rng.random((200, 5)) < 0.2, 1, -1)
    scores = rng.integers(0, 20, size=(200, 5)).astype(float)
    shuffled = rng.permutation(200)
    np.testing.assert_array_equal(prbep(truth, scores), prbep(truth[shuffled], scores[shuffled]))
    np.testing.assert_array_equal(prbep(truth, scores), prbep(truth, np.exp(scores)))


@given(st.integers(1, 30).flatmap(lambda n: ranked(n, [-1.0, 0.0, 0.25, 1.0, 3.0])))
def test_the_curve_agrees_with_scikit_learn(case):
    truth, scores = case
    assume((truth > 0).any())
    curve = precision_recall_curve(truth, scores)
    precision, recall, threshold = metrics.precision_recall_curve(truth > 0, scores)
    np.testing.assert_allclose(curve.precision, precision[:-1][::-1])
    np.testing.assert_allclose(curve.recall, recall[:-1][::-1])
    np.testing.assert_array_equal(curve.threshold, threshold[::-1])


def test_nothing_to_find_and_nothing_at_all():
    assert np.isnan(prbep(-np.ones(3), np.arange(3.0)))
    assert np.isnan(micro_prbep(-np.ones((3, 2)), np.zeros((3, 2)), threshold="own"))
    assert np.isnan(precision_at_recall(-np.ones(3), np.arange(3.0), [0.5])).all()
    assert np.isnan(precision_recall_curve(-np.ones(3), np.arange(3.0)).recall).all()
    assert len(precision_recall_curve(np.ones(0), np.ones(0)).recall) == 0
    assert prbep(np.ones((0, 2)), np.ones((0, 2))).shape == (2,)


def test_bad_calls_are_refused():
    with pytest.raises(UsageError, match="NaN"):
        prbep(np.ones(2), np.array([np.nan, 1.0]))
    with pytest.raises(UsageError, match="shape"):
        prbep(np.ones(2), np.ones(3))
    with pytest.raises(UsageError, match="single task"):
        precision_recall_curve(np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(UsageError, match="Recall levels"):
        precision_at_recall(np.ones(2), np.ones(2), [0.0])
    with pytest.raises(UsageError, match="each"):
        micro_prbep(np.ones((2, 2)), np.ones((2, 2)), threshold="each")


def test_every_task_of_a_wide_problem_is_quick():
    rng = np.random.default_rng(0)
    truth = np.where(rng.random((20_000, 200)) < 0.01, 1, -1)
    scores = rng.standard_normal((20_000, 200)) + truth
    values = prbep(truth, scores)
    for j in (0, 99):
        wanted = np.count_nonzero(truth[:, j] > 0)
        best = np.argsort(-scores[:, j])[:wanted]
        assert values[j] == (truth[best, j] > 0).mean()
