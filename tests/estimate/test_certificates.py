"""The exact score of a left-out example is within the claimed accuracy, however the data are scaled.

The yardstick computes with rational numbers (tests/reference/exact_margin.py), so nothing is forgiven.
"""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

from tests.reference import exact_margin
from widemargin import LinearSVM
from widemargin.estimate.leave_one_out import leave_one_out

ASKED = ({"scores": False}, {"accuracy": 0.3}, {"accuracy": 1e-4})


def badly_scaled(seed):
    """A few points: columns of 1e-6 to 1e6, offsets, near duplicates, costs of 1e-3 to 1e4, weights of 0."""
    generator = np.random.default_rng(seed)
    n, d = int(generator.integers(3, 6)), int(generator.integers(1, 4))
    X = generator.normal(size=(n, d)) * 10.0 ** generator.uniform(-6, 6, size=d if seed % 2 else 1)
    if generator.random() < 0.3:
        X += 10.0 ** generator.uniform(0, 4)
    if generator.random() < 0.4:
        X[-1] = X[0] * (1 + 1e-9 * generator.normal())
    if generator.random() < 0.3:
        X = X.astype(np.float32)
    y = np.where(generator.random(n) < 0.5, 1, -1)
    weights = generator.choice([0.0, 0.5, 1.0, 2.0], size=n) if generator.random() < 0.4 else np.ones(n)
    y[:2], weights[:2] = [1, -1], 1.0
    return X, y, weights, float(10.0 ** generator.uniform(-3, 4)), generator


def ordinary(seed):
    """The same without the extremes: nearly everything has to be certain here."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(3, 6))
    X = generator.normal(size=(n, 2))
    y = np.where(generator.random(n) < 0.5, 1, -1)
    y[:2] = [1, -1]
    return X, y, np.ones(n), float(10.0 ** generator.uniform(-1, 1)), generator


def exact_scores(X, y, weights, C, *, bias, loss="hinge", kernel=None):
    """`kernel` takes an exact inner product to an exact kernel value."""
    K = exact_margin.inner_products(X)
    if kernel is not None:
        K = [[kernel(value) for value in row] for row in K]
    if isinstance(bias, float):
        K = [[value + Fraction(bias) ** 2 for value in row] for row in K]
    upper = [Fraction(C * weight) for weight in weights]
    ridge = None
    if loss == "squared_hinge":
        ridge = [1 / (2 * cost) if cost else Fraction(0) for cost in upper]
        upper = [exact_margin.INFINITY if cost else Fraction(0) for cost in upper]
    return exact_margin.left_out_scores(K, y, upper, bias == "unregularized", ridge)


def certified(model, X, y, weights, exact):
    """Asserts every claim; how many signs of the scores were proven, and how many there are."""
    proven = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that some are not, and labels with one example
        model.fit(X, y, sample_weight=weights)
        for asked in ASKED:
            found = leave_one_out(model, X, y, sample_weight=weights, n_jobs=1, **asked)
            assert not np.isnan(found.accuracy).any()
            for value, score, within in zip(exact, found.scores[:, 0], found.accuracy[:, 0], strict=True):
                if np.isfinite(within):
                    apart = abs(Fraction(float(score)) - value)
                    assert apart <= Fraction(float(within)), (score, float(value))
                proven += within < abs(score)
    return proven, len(ASKED) * len(y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("block", range(4))
def test_linear_machines(loss, block):
    for seed in range(8 * block, 8 * block + 8):
        X, y, weights, C, generator = badly_scaled(seed)
        bias = (None, 1.0, float(10.0 ** generator.uniform(-2, 2)))[seed % 3]
        exact = exact_scores(X, y, weights, C, bias=bias, loss=loss)
        certified(LinearSVM(C, bias=bias, loss=loss), X, y, weights, exact)


def test_ordinary_linear_machines_are_certain():
    for seed in range(12):
        X, y, weights, C, _ = ordinary(seed)
        bias, loss = (None, 1.0)[seed % 2], ("hinge", "squared_hinge")[seed // 2 % 2]
        exact = exact_scores(X, y, weights, C, bias=bias, loss=loss)
        proven, total = certified(LinearSVM(C, bias=bias, loss=loss), X, y, weights, exact)
        assert proven == total, seed


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_costs_of_zero(loss):
    """An example without weight, or of a class without weight, is scored by the rule of all examples."""
    for seed in range(20):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(12, 3))
        y = np.where(X[:, 0] + generator.normal(size=12) > 0, 1, -1)
        weights = generator.choice([0.0, 1.0, 2.0], size=12)
        y[:2], weights[:2] = [1, -1], 1.0
        classes = {1: 0.0} if seed % 2 else None
        model = LinearSVM(float(10.0 ** generator.uniform(-2, 2)), loss=loss, class_weight=classes)
        found = leave_one_out(model.fit(X, y, weights), X, y, sample_weight=weights, accuracy=1e-3)
        assert (found.accuracy <= 1e-3).all()
        model.set_params(tol=1e-13, max_iter=1_000_000).fit(X, y, weights)
        idle = (weights == 0) | ((y > 0) & (classes is not None))
        apart = np.abs(found.scores[idle, 0] - model.decision_function(X)[idle])
        assert (apart <= found.accuracy[idle, 0] + 1e-6).all(), seed
