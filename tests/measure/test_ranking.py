"""Precision among the first documents and average precision, against every order of tied documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics

from tests.reference import rankings
from widemargin.errors import UsageError
from widemargin.measure import average_precision, precision_at


def ranked(n, levels):
    """Signs and scores; few levels make many ties."""
    return st.tuples(
        hnp.arrays(np.int8, n, elements=st.sampled_from([-1, 1])),
        hnp.arrays(np.float64, n, elements=st.sampled_from(levels)),
    )


tiny = st.integers(1, 6).flatmap(lambda n: ranked(n, [0.0, 1.0, 2.0]))


@given(tiny, st.integers(1, 8))
def test_precision_is_averaged_over_the_orders_of_ties(case, count):
    truth, scores = case
    assert precision_at(truth, scores, count) == pytest.approx(rankings.precision_at(truth, scores, count))


@given(tiny)
def test_average_precision_is_averaged_over_the_orders_of_ties(case):
    truth, scores = case
    assume((truth > 0).any())
    assert average_precision(truth, scores) == pytest.approx(rankings.average_precision(truth, scores))


@given(
    hnp.arrays(np.bool_, 30, elements=st.booleans()),
    st.permutations(range(30)).map(lambda order: np.array(order, dtype=np.float64)),
)
def test_without_ties_it_is_scikit_learns(truth, scores):
    assume(truth.any())
    assert average_precision(truth, scores) == pytest.approx(metrics.average_precision_score(truth, scores))


def test_a_perfect_and_the_worst_ranking():
    truth = np.array([1, 1, -1, -1])
    assert average_precision(truth, -np.arange(4)) == 1
    assert average_precision(truth, np.arange(4)) == pytest.approx((1 / 3 + 2 / 4) / 2)
    assert precision_at(truth, -np.arange(4), 2) == 1
    assert precision_at(truth, np.arange(4), 2) == 0


def test_no_positive_and_no_document():
    assert np.isnan(average_precision(np.array([-1, -1]), np.array([0.0, 1.0])))
    assert np.isnan(average_precision(np.array([]), np.array([])))
    assert precision_at(np.array([]), np.array([]), 3) == 0


def test_a_count_below_one_is_refused():
    with pytest.raises(UsageError, match="at least 1"):
        precision_at(np.array([1]), np.array([0.0]), 0)
