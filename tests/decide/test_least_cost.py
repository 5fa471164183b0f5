"""Decisions of the least expected cost, against one document at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import class_costs as reference
from widemargin.decide.cross_fitting import PARTS, cross_fitted, parts_of
from widemargin.decide.least_cost import expected_costs, least_cost
from widemargin.errors import UsageError


@st.composite
def cases(draw) -> tuple[np.ndarray, np.ndarray]:
    k, n = draw(st.integers(2, 5)), draw(st.integers(1, 6))
    # Whole numbers, so that sums are exact and ties are ties.
    cells = st.lists(st.integers(0, 20), min_size=k, max_size=k)
    chances = np.array(draw(st.lists(cells, min_size=n, max_size=n)), dtype=float)
    return chances, np.array(draw(st.lists(cells, min_size=k, max_size=k)), dtype=float)


@settings(max_examples=200, deadline=None)
@given(cases())
def test_as_by_hand(case):
    chances, costs = case
    assert least_cost(chances, costs).tolist() == reference.least_cost(chances, costs)


@settings(max_examples=100, deadline=None)
@given(cases())
def test_equal_costs_decide_for_the_most_probable_class(case):
    chances, _ = case
    k = chances.shape[1]
    chosen = least_cost(chances, 1 - np.eye(k))
    np.testing.assert_array_equal(chosen, chances.argmax(axis=1))


@settings(max_examples=100, deadline=None)
@given(cases(), st.integers(1, 9))
def test_what_every_decision_costs_changes_nothing(case, more):
    """A cost of the truth alone, whatever is decided, moves no decision."""
    chances, costs = case
    shifted = costs + more * np.arange(len(costs))[:, None]
    np.testing.assert_array_equal(least_cost(chances, shifted), least_cost(chances, costs))


def test_shapes():
    with pytest.raises(UsageError, match=r"\(n, k\)"):
        expected_costs([[0.5, 0.5]], np.zeros((3, 3)))
    with pytest.raises(UsageError, match=r"\(n, k\)"):
        expected_costs([0.5, 0.5], np.zeros((2, 2)))


@pytest.mark.parametrize("n", [1, 3, 5, 23])
def test_every_example_is_in_one_part_and_decided_by_the_others(n):
    seen = np.zeros(n, dtype=int)
    for part, others in parts_of(n):
        assert not (part & others).any()
        assert (part | others).all()
        seen += part
    assert (seen == 1).all()
    assert len(list(parts_of(n))) == min(n, PARTS)


def test_a_fit_never_sees_what_it_is_used_on():
    scores = np.arange(23.0)[:, None]

    def fit(known, truth):
        assert len(known) == len(truth)

        def use(new):
            assert not set(known.ravel()) & set(new.ravel())
            return new * 2

        return use

    np.testing.assert_array_equal(cross_fitted(fit, scores, np.ones((23, 1))), scores * 2)
