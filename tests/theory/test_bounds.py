"""Bounds on the error of trained rules, by their formulas and on simulated data."""

from __future__ import annotations

import math

import numpy as np
import pytest

from widemargin.errors import UsageError
from widemargin.theory.bounds import (
    hoeffding_bound,
    leave_one_out_deviation,
    leave_one_out_variance,
    margin_vc_dimension,
    soft_margin_bound,
    support_vector_bound,
    vc_bound,
)


def test_theorem_1_written_out():
    assert soft_margin_bound(4.0, 3.0, 50, C=2.0, R2=1.5) == pytest.approx((6 + 2 * 1.5 * 3) / 50)
    assert soft_margin_bound(4.0, 3.0, 50, C=0.1, R2=1.5) == pytest.approx((6 + (0.1 * 1.5 + 1) * 3) / 50)
    # Biased, 1 / (rho R^2) is 1/3.
    assert soft_margin_bound(4.0, 3.0, 50, C=0.4, R2=1.5, biased=True) == pytest.approx(
        (2 * 6 + 0.4 * 2 * 1.5 * 3) / 50
    )
    assert soft_margin_bound(4.0, 3.0, 50, C=0.3, R2=1.5, biased=True) == pytest.approx(
        (2 * 6 + (0.3 * 2 * 1.5 + 1) * 3) / 50
    )
    assert soft_margin_bound(4.0, 0.0, 50, C=math.inf, R2=1.5) == pytest.approx(6 / 50)


def test_vc_bound_solves_5_4():
    n, d, eta = 5000, 7, 0.05
    epsilon = vc_bound(0.1, n, d, eta) - 0.1
    assert 6 * (math.e * n / d) ** d * math.exp(-(epsilon**2) * (n - 1) / 4) == pytest.approx(eta)
    assert vc_bound(0.0, 10, 11) == math.inf


def test_hoeffding_solves_5_10():
    epsilon = hoeffding_bound(0.2, 300, 0.1) - 0.2
    assert 2 * math.exp(-2 * 300 * epsilon**2) == pytest.approx(0.1)


def test_hoeffding_holds_at_its_confidence():
    rng = np.random.default_rng(0)
    for true in (0.05, 0.3, 0.5):
        held_out = rng.binomial(80, true, size=4000) / 80
        failed = np.mean([true > hoeffding_bound(error, 80, 0.1) for error in held_out])
        assert failed <= 0.1


def test_the_vc_bound_holds_at_its_confidence():
    """Thresholds on a line, 10 % of the labels wrong: the rule with the fewest training errors."""
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(200):
        x = rng.random(400)
        y = np.where((x > 0.5) ^ (rng.random(400) < 0.1), 1, -1)
        order = np.argsort(x)
        wrong = np.concatenate([[np.sum(y < 0)], np.sum(y < 0) + np.cumsum(y[order])])
        best = int(np.argmin(wrong))
        cut = np.concatenate([[0.0], x[order]])[best]
        true = 0.1 + 0.8 * abs(cut - 0.5)
        failed += true > vc_bound(wrong[best] / 400, 400, 1, 0.1)
    assert failed <= 20


def test_margins_have_a_dimension():
    assert margin_vc_dimension(2.0, 3.2) == 7
    assert margin_vc_dimension(2.0, 3.2, 4) == 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: soft_margin_bound(-1.0, 0.0, 5, C=1, R2=1), "squared_norm=-1.0"),
        (lambda: soft_margin_bound(1.0, 0.0, 0, C=1, R2=1), "n=0"),
        (lambda: vc_bound(1.5, 9, 2), "error rate of 1.5"),
        (lambda: vc_bound(0.5, 1, 2), "n=1"),
        (lambda: hoeffding_bound(0.5, 0), "k=0"),
        (lambda: hoeffding_bound(0.5, 9, 0.0), "eta=0.0"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(UsageError, match=message):
        call()


def test_theorem_6_bounds_the_spread_of_leave_one_out():
    """The rule "the majority of the labels", whose leave-one-out error varies most: all of it is known."""
    rng = np.random.default_rng(0)
    for n, share in ((9, 0.5), (40, 0.6), (41, 0.9)):
        positives = rng.binomial(n, share, size=20000)
        majority = 2 * positives > n
        true = np.where(majority, 1 - share, share)
        without_one, without_zero = 2 * (positives - 1) > n - 1, 2 * positives > n - 1
        left_out = (positives * ~without_one + (n - positives) * without_zero) / n
        # The last example is removed: a positive one with the chance of its share.
        changed = np.where(rng.random(20000) < positives / n, without_one, without_zero) != majority
        assert np.mean((left_out - true) ** 2) <= leave_one_out_variance(n, float(changed.mean()))


def test_theorem_8_holds_for_thresholds_on_a_line():
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = np.sort(rng.random(60))
        y = np.where((x > 0.5) ^ (rng.random(60) < 0.1), 1, -1)
        wrong = [best_cut(np.delete(x, i), np.delete(y, i), x[i]) != y[i] for i in range(60)]
        true = 0.1 + 0.8 * abs(best_cut(x, y) - 0.5)
        assert abs(np.mean(wrong) - true) <= leave_one_out_deviation(60, 1, 0.5)
    n = 10**8
    assert leave_one_out_deviation(n, 2, 0.1) == pytest.approx(
        80 * math.sqrt(3 * (math.log(4.5 * n) + 2) / n)
    )
    assert leave_one_out_deviation(5, 6) == math.inf


def best_cut(x, y, new=None):
    """The threshold with the fewest errors among sorted x, or its decision on a new point."""
    wrong = np.concatenate([[np.sum(y < 0)], np.sum(y < 0) + np.cumsum(y)])
    cut = np.concatenate([[0.0], x])[int(np.argmin(wrong))]
    return cut if new is None else (1 if new > cut else -1)


def test_shares_and_probabilities_are_checked():
    for call in (
        lambda: support_vector_bound(5, 4),
        lambda: leave_one_out_variance(0, 0.1),
        lambda: leave_one_out_variance(5, 1.1),
        lambda: leave_one_out_deviation(5, 0),
        lambda: leave_one_out_deviation(5, 1, 1.0),
    ):
        with pytest.raises(UsageError, match="expected"):
            call()
