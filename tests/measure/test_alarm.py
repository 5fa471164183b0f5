"""The alarm's tests against counting every possible outcome."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin.errors import UsageError
from widemargin.measure.alarm import share_test, transduction_alarm


def by_counting(at_risk, n):
    """Deal the examples into n labeled ones and the rest in every way; the first n were observed."""
    at_risk = np.asarray(at_risk)

    def difference(chosen):
        labeled = np.zeros(len(at_risk), bool)
        labeled[list(chosen)] = True
        return abs(at_risk[labeled].mean() - at_risk[~labeled].mean())

    observed = difference(range(n))
    deals = [difference(chosen) >= observed - 1e-12 for chosen in combinations(range(len(at_risk)), n)]
    return np.mean(deals)


@given(st.lists(st.booleans(), min_size=2, max_size=10), st.data())
@settings(max_examples=60)
def test_the_p_value_counts_all_deals(at_risk, data):
    n = data.draw(st.integers(1, len(at_risk) - 1))
    p = share_test(sum(at_risk[:n]), n, sum(at_risk[n:]), len(at_risk) - n)
    assert p == pytest.approx(by_counting(at_risk, n))


def test_the_worked_example_of_the_thesis():
    alpha = [10, 12, 8, 3, 100, 22, 0, 134, 14, 2, 0, 0, 17, 0, 0, 0, 340, 0, 0, 0, 143, 0, 0, 0, 0]
    unlabeled = np.arange(25) >= 10
    alarm = transduction_alarm(alpha, np.zeros(25), np.ones(25), unlabeled, kernel_range=1.0, level=0.01)
    share = alarm.shares["all"]
    assert (share.labeled_at_risk, share.labeled) == (9, 10)
    assert (share.unlabeled_at_risk, share.unlabeled) == (3, 15)
    assert alarm.p_values["all"] <= 0.01
    assert alarm.fired
    assert "sit unusually close to the boundary" in alarm.sentence
    assert "negative" not in alarm.shares  # nobody is


def test_equal_shares_raise_no_alarm():
    alarm = transduction_alarm(np.tile([0.0, 5.0], 20), np.zeros(40), np.tile([1, 1, -1, -1], 10),
                               np.arange(40) >= 10)  # fmt: skip
    assert not alarm.fired
    assert "nothing speaks against" in alarm.sentence


def test_each_class_is_tested_by_itself():
    # Half of the labeled are at risk, and half of the rest, but not of the same class.
    signs = np.r_[np.repeat([1, -1], 10), np.repeat([1, -1], 20)]
    risk = np.r_[np.repeat([5.0, 0.0], 10), np.repeat([0.0, 5.0], 20)]
    alarm = transduction_alarm(risk, np.zeros(60), signs, np.arange(60) >= 20)
    assert alarm.p_values["all"] == pytest.approx(1.0)
    assert alarm.p_values["positive"] < 1e-6
    assert alarm.fired
    for sign, name in ((1, "negative"), (-1, "positive")):
        fewer = np.r_[0:30, 30:35, 40:60]  # of the unlabeled positives: the other class is the clearer one
        alarm = transduction_alarm(risk[fewer], np.zeros(55), sign * signs[fewer], fewer >= 20)
        assert f"The labeled {name} examples sit unusually far" in alarm.sentence


def test_slacks_and_the_kernel_count():
    unlabeled = np.arange(8) >= 4
    risky = transduction_alarm(np.full(8, 0.3), np.full(8, 0.4), np.ones(8), unlabeled, kernel_range=2.0)
    assert risky.shares["all"].labeled_at_risk == 4
    safe = transduction_alarm(np.full(8, 0.3), np.full(8, 0.4), np.ones(8), unlabeled, kernel_range=1.0)
    assert safe.shares["all"].labeled_at_risk == 0


def test_impossible_counts_are_refused():
    with pytest.raises(UsageError, match="counts"):
        share_test(3, 2, 0, 5)
    with pytest.raises(UsageError, match="one value per example"):
        transduction_alarm([1.0], [0.0], [1], [True, False])


def test_a_boundary_with_few_examples_raises_the_alarm():
    unlabeled, signs = np.arange(40) >= 4, np.tile([1, -1], 20)
    alpha = np.where(np.arange(40) % 4 == 0, 0.5, 0.0)  # 9 of 36, and one of the labeled ones
    quiet = {"alpha": alpha, "xi": np.zeros(40), "signs": signs, "unlabeled": unlabeled}
    enough = transduction_alarm(**quiet, least_support=0.25)
    assert enough.support == pytest.approx(0.25)
    assert not enough.fired
    few = transduction_alarm(**quiet, least_support=0.26)
    assert few.fired
    assert few.sentence.startswith("Few of the other documents are at the boundary (25.0%)")
    risky = {**quiet, "alpha": np.where(unlabeled, alpha, 9.0)}
    both = transduction_alarm(**risky, least_support=0.26)
    assert "close to the boundary" in both.sentence
    assert "few of the other documents" in both.sentence
    assert transduction_alarm(**risky).fired
