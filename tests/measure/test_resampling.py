"""Randomization against all swaps, both tests against plain loops, and under the null hypothesis."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widemargin.errors import DataError, UsageError
from widemargin.measure import (
    bootstrap_test,
    contingency,
    error_rate,
    f_measure,
    macro,
    mcnemar,
    micro,
    randomization_test,
)

TESTS = [randomization_test, bootstrap_test]


def micro_f1(truth, decisions):
    return micro(f_measure, contingency(truth, decisions))


def macro_f1(truth, decisions):
    return macro(f_measure(contingency(truth, decisions)))


def accuracy(truth, decisions):
    return np.mean(truth == decisions)


def random_decisions(generator, n, labels, quality=0.8):
    """Hard documents are hard for both methods, with all their labels."""
    truth = generator.random((n, labels)) < 0.3
    quality = quality + 0.4 * (generator.random((n, 1)) - 0.5)
    return truth, *(truth ^ (generator.random((n, labels)) > quality) for _ in range(2))


def share_of_swaps(truth, first, second, measure):
    """The p-value by definition: every document is swapped or not."""
    observed = abs(measure(truth, first) - measure(truth, second))
    extreme = []
    for swap in product([False, True], repeat=len(truth)):
        mask = np.array(swap)[:, None]
        a, b = np.where(mask, second, first), np.where(mask, first, second)
        extreme.append(abs(measure(truth, a) - measure(truth, b)) >= observed - 1e-12)
    return np.mean(extreme)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 3))
def test_all_swaps_of_few_documents(seed, n, labels):
    truth, first, second = random_decisions(np.random.default_rng(seed), n, labels)
    truth[0, 0] = True
    for average, measure in (("micro", micro_f1), ("macro", macro_f1)):
        expected = share_of_swaps(truth, first, second, measure)
        found = randomization_test(truth, first, second, average=average)
        assert found.p_value == pytest.approx(expected, abs=1e-12)
        assert (found.first, found.second) == pytest.approx((measure(truth, first), measure(truth, second)))
        same = randomization_test(truth, first, second, measure=measure, average=None)
        assert same.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_random_swaps_approximate_all_swaps(average):
    truth, first, second = random_decisions(np.random.default_rng(3), 12, 3)
    measure = {"micro": micro_f1, "macro": macro_f1}[average]
    expected = share_of_swaps(truth, first, second, measure)
    assert 0.05 < expected < 0.95
    different = (first != second).any(axis=1)
    samples = 2 ** int(different.sum()) - 2  # too few for all of them
    found = [
        randomization_test(truth, first, second, average=average, samples=samples, seed=seed).p_value
        for seed in range(40)
    ]
    error = np.sqrt(expected * (1 - expected) / samples)
    assert np.std(found) == pytest.approx(error, rel=0.5)
    assert np.mean(found) == pytest.approx(expected, abs=4 * error / np.sqrt(40) + 1 / samples)


def test_randomization_of_right_and_wrong_is_mcnemar():
    generator = np.random.default_rng(4)
    truth, first, second = random_decisions(generator, 40, 1)
    first[:7], second[:7] = truth[:7], ~truth[:7]
    first[7:], second[7:] = truth[7:], truth[7:]
    second[7:10], first[7:10] = truth[7:10], ~truth[7:10]
    right = [(every == truth).ravel() for every in (first, second)]
    found = randomization_test(truth, first, second, measure=error_rate, lower_is_better=True)
    assert found.p_value == pytest.approx(mcnemar(*right).p_value, abs=1e-12)
    assert found.better == "first"


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_tables_are_counted_as_arrays_are(test, average, monkeypatch):
    """The same draws, in batches of another size."""
    truth, first, second = random_decisions(np.random.default_rng(5), 50, 4)
    truth[:, 3] = False
    truth[0, 3] = True  # a draw may lose the only positive document
    measure = {"micro": micro_f1, "macro": macro_f1}[average]
    found = test(truth, first, second, average=average, samples=300, seed=1)
    assert 0 < found.p_value < 1
    expected = test(truth, first, second, measure=measure, average=None, samples=300, seed=1)
    assert found.p_value == expected.p_value
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-12)
    monkeypatch.setattr("widemargin.measure.resampling._CELLS_AT_ONCE", 700)
    assert test(truth, first, second, average=average, samples=300, seed=1) == found


def test_the_bootstrap_by_a_loop():
    truth, first, second = random_decisions(np.random.default_rng(6), 60, 3)
    observed = micro_f1(truth, first) - micro_f1(truth, second)
    generator, far = np.random.default_rng(9), 0
    for _ in range(500):
        some = generator.integers(0, 60, 60)
        drawn = micro_f1(truth[some], first[some]) - micro_f1(truth[some], second[some])
        far += abs(drawn - observed) >= abs(observed)
    found = bootstrap_test(truth, first, second, samples=500, seed=9)
    assert found.p_value == pytest.approx((1 + far) / 501)
    assert found.statistic == pytest.approx(observed)


@pytest.mark.parametrize("test", TESTS)
def test_swapping_the_methods_changes_signs_only(test):
    truth, first, second = random_decisions(np.random.default_rng(7), 80, 3)
    one, other = test(truth, first, second, samples=999), test(truth, second, first, samples=999)
    assert one.p_value == other.p_value
    assert one.statistic == -other.statistic
    assert {one.better, other.better} == {"first", "second"}
    assert test(truth, first, second, samples=999, seed=1).p_value != one.p_value


@pytest.mark.parametrize("test", TESTS)
def test_class_names(test):
    truth = np.array(["a", "b", "c", "a"] * 10)
    first = np.array(["a", "b", "c", "b"] * 10)
    second = np.array(["a", "a", "a", "a"] * 10)
    found = test(truth, first, second, measure=accuracy, average=None, samples=200)
    assert (found.first, found.second, found.better) == (0.75, 0.5, "first")
    assert 0.01 < found.p_value < 0.3


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_degenerate_input(test, average):
    truth = np.array([[1, -1], [-1, 1], [1, 1]])
    same = test(truth, truth, truth, average=average)
    assert (same.statistic, same.p_value, same.better) == (0, 1, None)
    one = test(truth[:1], truth[:1], -truth[:1], average=average)
    assert (one.statistic, one.p_value, one.better) == (1, 1, "first")
    # Different decisions, equally good.
    tied = test(
        [1, 1, -1, -1], [1, -1, -1, -1], [-1, 1, -1, -1], average=average, measure=error_rate, samples=99
    )
    assert (tied.statistic, tied.p_value, tied.better) == (0, 1, None)
    # Always better: swaps of all documents, or of none, are as extreme.
    assert randomization_test(truth, truth, -truth, average=average).p_value == 2 / 2**3


@pytest.mark.parametrize("test", TESTS)
def test_invalid_input(test):
    truth = np.ones((3, 2))
    with pytest.raises(UsageError, match="same documents"):
        test(truth, truth, truth[:2])
    with pytest.raises(UsageError, match="same documents"):
        test(truth, truth, truth[:2], average=None, measure=accuracy)
    with pytest.raises(UsageError, match="average='mean'"):
        test(truth, truth, truth, average="mean")
    with pytest.raises(UsageError, match="samples=0"):
        test(truth, truth, truth, samples=0)
    with pytest.raises(UsageError, match="Expected signs"):
        test(["a"], ["a"], ["b"])
    for average in ("micro", "macro", None):
        with pytest.raises(DataError, match=r"no decisions to compare: the arrays have shape \(0, 2\)"):
            test(*[truth[:0]] * 3, measure=error_rate, average=average)
    with pytest.raises(DataError, match="f_measure is undefined"):
        test(-truth, truth, -truth)
    with pytest.raises(UsageError, match="one value for every table"):
        test(truth, truth, -truth, measure=lambda table: np.zeros(7))
    with pytest.raises(UsageError, match="one number"):
        test(truth, truth, -truth, measure=lambda truth, decisions: truth, average=None)


@pytest.mark.parametrize(
    ("test", "average", "rounds", "least"),
    [
        (randomization_test, "micro", 8000, 0.04),
        pytest.param(randomization_test, "macro", 4000, 0.04, marks=pytest.mark.slow),
        (bootstrap_test, "micro", 4000, 0.03),
        pytest.param(bootstrap_test, "macro", 4000, 0.03, marks=pytest.mark.slow),
    ],
)
def test_the_level_under_the_null_hypothesis(test, average, rounds, least):
    generator = np.random.default_rng(11)
    found = [
        test(*random_decisions(generator, 150, 4), average=average, samples=199, seed=seed).p_value
        for seed in range(rounds)
    ]
    assert least <= np.mean(np.array(found) <= 0.05) <= 0.06
