"""Pairwise votes against slow loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import votes as slow
from widemargin.decide.votes import class_scores, dag_vote, majority_vote, pairs, tally
from widemargin.errors import DataError, UsageError


@st.composite
def tables(draw):
    """Scores of few different values, so that there are ties, and whose sums are exact."""
    k = draw(st.integers(2, 6))
    n = draw(st.integers(1, 5))
    values = draw(st.lists(st.integers(-3, 3), min_size=n * len(pairs(k)), max_size=n * len(pairs(k))))
    return np.array(values, dtype=float).reshape(n, -1) / 4, k


@given(tables())
def test_votes_of_the_loops(table):
    scores, k = table
    assert majority_vote(scores, k).tolist() == slow.majority_vote(scores.tolist(), k)
    assert dag_vote(scores, k).tolist() == slow.dag_vote(scores.tolist(), k)


@given(tables())
def test_the_winner_has_the_largest_score(table):
    scores, k = table
    assert class_scores(scores, k).argmax(axis=1).tolist() == majority_vote(scores, k).tolist()
    assert class_scores(scores, k, "dag").argmax(axis=1).tolist() == dag_vote(scores, k).tolist()
    votes, _ = tally(scores, k)
    np.testing.assert_array_equal(class_scores(scores, k).round(), votes)


@given(st.integers(2, 12))
def test_order_of_the_pairs(k):
    assert pairs(k) == slow.column_names(k)


@given(tables())
def test_every_pair_has_one_vote(table):
    scores, k = table
    votes, margins = tally(scores, k)
    assert (votes.sum(axis=1) == len(pairs(k))).all()
    assert not margins.sum(axis=1).any()


@given(st.integers(2, 9), st.randoms(use_true_random=False))
def test_a_class_that_wins_all_its_pairs_wins(k, random):
    best = random.randrange(k)
    scores = np.array(
        [
            [
                random.uniform(-1, 1) if best not in pair else (2.0 if pair[1] == best else -2.0)
                for pair in pairs(k)
            ]
        ]
    )
    assert majority_vote(scores, k).tolist() == dag_vote(scores, k).tolist() == [best]


def test_two_classes_are_decided_as_everywhere():
    scores = np.array([[-1.0], [0.0], [1.0]])
    assert majority_vote(scores, 2).tolist() == dag_vote(scores, 2).tolist() == [0, 0, 1]


def test_ties_go_to_the_larger_margins_then_to_the_first():
    # A circle, in which every class has one vote: 1 beats 0, 2 beats 1, 0 beats 2.
    assert majority_vote(np.array([[1.0, -1.0, 3.0]]), 3).tolist() == [2]
    assert majority_vote(np.array([[1.0, -1.0, 1.0]]), 3).tolist() == [0]


def test_no_rows():
    assert majority_vote(np.empty((0, 3)), 3).shape == dag_vote(np.empty((0, 3)), 3).shape == (0,)


@pytest.mark.parametrize("vote", [majority_vote, dag_vote])
def test_what_cannot_vote(vote):
    with pytest.raises(UsageError, match=r"expected \(n, 6\), one column for each pair of 4 classes"):
        vote(np.zeros((2, 3)), 4)
    with pytest.raises(UsageError, match="expected at least 2"):
        vote(np.zeros((2, 0)), 1)
    with pytest.raises(DataError, match="NaN"):
        vote(np.array([[np.nan]]), 2)
