"""Exact tests of two shares and of two mixes of classes: against SciPy, and against all that can happen."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, hypergeom, nchypergeom_fisher

from widemargin.monitor.exact_tests import changed_mix, changed_shares


def test_equal_odds_are_tested_as_by_fisher():
    rng = np.random.default_rng(0)
    n_first, n_second = rng.integers(20, 3000, (2, 300))
    share = rng.random(300)
    first, second = rng.binomial(n_first, share), rng.binomial(n_second, np.clip(share + 0.1, 0, 1))
    for a, n, b, m in zip(first, n_first, second, n_second, strict=True):
        found = changed_shares([a], int(n), [b], int(m))[0]
        above, below = hypergeom.sf(b - 1, n + m, a + b, m), hypergeom.cdf(b, n + m, a + b, m)
        expected = min(1, 2 * min(above, below))
        assert found == pytest.approx(expected, rel=1e-8) or (found == 1 and expected > 0.02)


def test_tolerated_odds_are_tested_as_by_the_noncentral_distribution():
    for a, b, factor in ((30, 60, 1.5), (60, 20, 2.0), (5, 31, 1.2)):
        law = nchypergeom_fisher(200, a + b, 100, factor if b > a else 1 / factor)
        expected = 2 * (law.sf(b - 1) if b > a else law.cdf(b))
        assert changed_shares([a], 100, [b], 100, factor)[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_a_p_value_is_as_small_no_more_often_than_it_says(share):
    """Over all numbers that two samples can have."""
    n, m = 30, 20
    first, second = np.meshgrid(np.arange(n + 1), np.arange(m + 1), indexing="ij")
    weight = binom.pmf(first, n, share) * binom.pmf(second, m, share)
    p = np.array([changed_shares([a], n, [b], m)[0] for a, b in zip(first.flat, second.flat, strict=True)])
    assert weight.sum() == pytest.approx(1)
    for level in (0.1, 0.05, 0.01, 0.001):
        assert weight.ravel()[p <= level].sum() <= level


def test_the_p_value_of_a_mix_is_as_small_no_more_often_than_it_says():
    """Over all ways in which 9 and 8 documents can have three classes."""
    shares = np.array([0.6, 0.3, 0.1])

    def outcomes(n):
        for a, b in itertools.product(range(n + 1), repeat=2):
            if a + b <= n:
                ways = math.factorial(n) / (math.factorial(a) * math.factorial(b) * math.factorial(n - a - b))
                counts = np.array([a, b, n - a - b])
                yield counts, ways * np.prod(shares**counts)

    found, weights = [], []
    for (first, p_first), (second, p_second) in itertools.product(outcomes(9), outcomes(8)):
        found.append(changed_mix(first, 9, second, 8).p_value)
        weights.append(p_first * p_second)
    p, chance = np.array(found), np.array(weights)
    assert chance.sum() == pytest.approx(1)
    for level in (0.5, 0.1, 0.05, 0.01):
        assert chance[p <= level].sum() <= level
    assert p.min() < 0.05


def test_classes_that_grew_are_named():
    found = changed_mix([100] * 10, 1000, [60] * 7 + [190, 195, 195], 1000)
    assert found.grown.tolist() == [7, 8, 9]
    assert found.p_value < 1e-9


def test_samples_that_hold_nothing_differ_in_nothing():
    assert changed_shares([0, 0], 0, [0, 5], 10).tolist() == [1, 1]
    assert changed_mix([0, 0], 0, [0, 5], 5).p_value == 1
    assert changed_shares([0, 100], 100, [0, 100], 100).tolist() == [1, 1]
