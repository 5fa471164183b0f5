"""Tests of two methods against scipy's, against all divisions of wins, and under the null hypothesis."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency, rankdata, ttest_rel

from widemargin.errors import DataError, UsageError
from widemargin.measure import (
    contingency,
    error_rate,
    f_measure,
    holm,
    macro_rank_test,
    macro_sign_test,
    macro_t_test,
    mcnemar,
    micro_sign_test,
    paired_t_test,
    proportions_test,
    rank_t_test,
    sign_p_value,
    sign_test,
)

PAIRED = [sign_test, paired_t_test, rank_t_test]
MACRO = [macro_sign_test, macro_t_test, macro_rank_test]
# Few different figures, so that there are ties.
FIGURES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=40)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=11))
def test_the_p_value_is_the_share_of_divisions_as_uneven(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = mcnemar(first, second)
    differing = [a for a, b in pairs if a != b]
    assert (found.first, found.second) == (sum(differing), len(differing) - sum(differing))
    uneven = [
        abs(2 * sum(division) - len(differing)) >= abs(found.first - found.second)
        for division in product([0, 1], repeat=len(differing))
    ]
    assert found.p_value == pytest.approx(sum(uneven) / len(uneven))
    assert mcnemar(second, first).p_value == found.p_value
    names = {True: "first", False: "second"}
    expected = None if found.first == found.second else names[found.first > found.second]
    assert (found.n, found.better) == (len(pairs), expected)


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_sign_p_values_are_binomial(wins, losses):
    if not wins + losses:
        assert sign_p_value(0, 0) == sign_p_value(0, 0, one_sided=True) == 1
        return
    for one_sided, alternative in ((False, "two-sided"), (True, "greater")):
        expected = binomtest(wins, wins + losses, alternative=alternative).pvalue
        found = sign_p_value(wins, losses, one_sided=one_sided)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-300)


@given(FIGURES)
def test_signs_of_figures(pairs):
    first, second = np.array(pairs).T / 10
    found = sign_test(first, second)
    wins, losses = (first > second).sum(), (first < second).sum()
    assert (found.first, found.second, found.statistic) == (wins, losses, wins)
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert found.p_value == pytest.approx(expected, rel=1e-12)


@given(FIGURES)
def test_t_tests(pairs):
    first, second = np.array(pairs).T / 1.0
    ranks = rankdata(np.concatenate([first, second]))
    ranks = ranks[: len(first)], ranks[len(first) :]
    for test, a, b in ((paired_t_test, first, second), (rank_t_test, *ranks)):
        if np.ptp(a - b) == 0:
            continue  # a test of its own
        found, expected = test(first, second), ttest_rel(a, b)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-12, abs=1e-12)
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)
        assert (found.first, found.second) == pytest.approx((a.mean(), b.mean()), rel=1e-12)


@given(st.integers(1, 500), st.integers(1, 500), st.floats(0, 1), st.floats(0, 1))
def test_shares_have_the_p_value_of_chi_square(n, m, share, other):
    hits, others = round(n * share), round(m * other)
    found = proportions_test(hits, n, others, m)
    if 0 < hits + others < n + m:
        expected = chi2_contingency([[hits, n - hits], [others, m - others]], correction=False)
        assert found.statistic**2 == pytest.approx(expected.statistic, rel=1e-12, abs=1e-12)
        assert found.p_value == pytest.approx(expected.pvalue, abs=1e-12)
    else:
        assert (found.statistic, found.p_value) == (0, 1)
    assert found.better == (
        None if hits * m == others * n else "first" if hits * m > others * n else "second"
    )


def random_decisions(generator, n=60, labels=12, quality=0.85):
    truth = generator.random((n, labels)) < 0.3
    return truth, *(truth ^ (generator.random((n, labels)) > quality) for _ in range(2))


def test_tests_of_decisions_are_tests_of_their_figures():
    truth, first, second = random_decisions(np.random.default_rng(0))
    a, b = f_measure(contingency(truth, first)), f_measure(contingency(truth, second))
    for test, plain in zip(MACRO, PAIRED, strict=True):
        found, expected = test(truth, first, second), plain(a, b)
        assert (found.statistic, found.p_value, found.n) == (expected.statistic, expected.p_value, 12)
        assert found.compared == "labels"
    found = micro_sign_test(np.where(truth, 1, -1), first, second)
    expected = mcnemar((first == truth).ravel(), (second == truth).ravel())
    assert (found.first, found.second, found.p_value) == (expected.first, expected.second, expected.p_value)
    assert found.n == truth.size


def test_labels_without_documents_have_no_f1():
    truth, first, second = random_decisions(np.random.default_rng(1))
    more = [np.column_stack([every, add]) for every, add in ((truth, 0 * truth[:, 0]), (first, truth[:, 0]))]
    for test in MACRO:
        expected = test(truth, first, second)
        assert test(*more, np.column_stack([second, truth[:, 1]])) == expected
        # Error rates have no undefined value.
        assert test(*more, np.column_stack([second, truth[:, 1]]), measure=error_rate).n == 13


@pytest.mark.parametrize("test", [*PAIRED])
def test_lower_is_better(test):
    errors, more = [0.1, 0.2, 0.1, 0.4], [0.2, 0.3, 0.15, 0.3]
    assert test(errors, more).better == "second"
    assert test(errors, more, lower_is_better=True).better == "first"
    assert test(errors, more).p_value == test(errors, more, lower_is_better=True).p_value


@pytest.mark.parametrize("test", [*PAIRED, mcnemar])
@pytest.mark.parametrize(
    ("first", "second"), [([], []), ([1], [1]), ([1, 1, 0], [1, 1, 0]), ([1, 1, 1], [1, 1, 1])]
)
def test_no_difference(test, first, second):
    found = test(first, second)
    assert (found.statistic, found.p_value, found.better) == (0, 1, None)


@pytest.mark.parametrize("test", [*PAIRED, mcnemar])
def test_one_document_says_nothing(test):
    found = test([1], [0])
    assert (found.p_value, found.better) == (1, "first")


def test_a_constant_difference():
    # Rounding makes these differences differ in the last digit.
    found = paired_t_test([0.8, 0.9, 0.4], [0.7, 0.8, 0.3])
    assert (found.statistic, found.p_value, found.better) == (math.inf, 0, "first")
    found = paired_t_test([0.25, 0.5], [0.5, 0.75])
    assert (found.statistic, found.p_value, found.better) == (-math.inf, 0, "second")


def test_undefined_figures_are_left_out_in_pairs():
    nan = math.nan
    for test in PAIRED:
        assert test([0.5, nan, 0.7, 0.1], [0.1, nan, 0.8, 0.2]) == test([0.5, 0.7, 0.1], [0.1, 0.8, 0.2])
        for bad in (nan, math.inf):
            with pytest.raises(UsageError, match=r"NaN for one of the methods\. Leave out"):
                test([0.5, bad], [0.1, 0.2])


def test_holm_by_hand():
    # Sorted: 0.005 * 5, 0.011 * 4, 0.02 * 3, 0.04 * 2, and 0.04 * 1, which may not fall below the one before.
    assert holm([0.04, 0.011, 0.02, 0.04, 0.005]) == pytest.approx([0.08, 0.044, 0.06, 0.08, 0.025])
    assert holm([0.6, 0.5]).tolist() == [1, 1]
    assert holm([0.03]).tolist() == [0.03]
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.001, 0.999))
def test_holm_rejects_step_by_step(p_values, level):
    """The procedure as published: from the smallest p-value on, until one is above level / remaining."""
    rejected = np.zeros(len(p_values), dtype=bool)
    for step, i in enumerate(np.argsort(p_values, kind="stable")):
        if p_values[i] * (len(p_values) - step) > level:
            break
        rejected[i] = True
    assert (holm(p_values) <= level).tolist() == rejected.tolist()


def test_invalid_input():
    for test in (*PAIRED, mcnemar):
        with pytest.raises(UsageError, match="same documents"):
            test([True, False], [True])
        with pytest.raises(UsageError, match="same documents"):
            test([[1]], [[1]])
    with pytest.raises(UsageError, match=r"true \(right\) or false"):
        mcnemar([1, -1], [1, 1])
    for test in (*MACRO, micro_sign_test):
        with pytest.raises(UsageError, match="same documents"):
            test(np.ones((3, 2)), np.ones((3, 2)), np.ones((2, 3)))
        with pytest.raises(UsageError, match="Expected signs"):
            test([["a"]], [["a"]], [["b"]])
        with pytest.raises(DataError, match=r"no decisions to compare: the arrays have shape \(0, 2\)"):
            test(*[np.zeros((0, 2))] * 3)
        with pytest.raises(UsageError, match="NaN"):
            test([[math.nan]], [[1.0]], [[1.0]])
    for test in MACRO:
        with pytest.raises(UsageError, match="several labels"):
            test([1, -1], [1, 1], [1, -1])
    for counts in ((1, 0, 1, 2), (3, 2, 1, 2), (-1, 2, 1, 2)):
        with pytest.raises(UsageError, match="expected hits"):
            proportions_test(*counts)
    with pytest.raises(UsageError, match="0 or more"):
        sign_p_value(-1, 2)
    for bad in ([0.5, 1.5], [math.nan], [[0.5]]):
        with pytest.raises(UsageError, match="between 0 and 1"):
            holm(bad)


ROUNDS = 4000


def level(test, draw, seed):
    """How often a test finds a difference at 5 % between methods that are equally good."""
    generator = np.random.default_rng(seed)
    return np.mean([test(*draw(generator)).p_value <= 0.05 for _ in range(ROUNDS)])


def figures(generator):
    hard = generator.normal(size=30)
    return hard + generator.normal(size=30), hard + generator.normal(size=30)


def answers(generator):
    hard = generator.random(300)
    return generator.random(300) > hard, generator.random(300) > hard


def counts(generator):
    return generator.binomial(400, 0.8), 400, generator.binomial(300, 0.8), 300


@pytest.mark.parametrize(
    ("test", "draw", "least"),
    [
        (sign_test, figures, 0.02),
        (paired_t_test, figures, 0.04),
        (rank_t_test, figures, 0.04),
        (mcnemar, answers, 0.02),
        (proportions_test, counts, 0.04),
        (micro_sign_test, random_decisions, 0.02),
        (macro_sign_test, random_decisions, 0.02),
        (macro_t_test, random_decisions, 0.04),
        (macro_rank_test, random_decisions, 0.04),
    ],
)
def test_the_level_under_the_null_hypothesis(test, draw, least):
    """Exact tests of counts reject less often than 5 %, since counts jump."""
    assert least <= level(test, draw, seed=5) <= 0.06
