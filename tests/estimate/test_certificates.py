"""The exact score of a left-out example is within the claimed accuracy, however the data are scaled.

The yardstick computes with rational numbers (tests/reference/exact_margin.py), so nothing is forgiven.
"""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

from tests.reference import exact_margin
from widemargin import KernelSVM, LinearSVM
from widemargin.estimate.held_out import leave_one_out
from widemargin.learn.kernel_definiteness import definiteness
from widemargin.learn.kernels import Kernel

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


def kernel_machine(kind, C, bias):
    """A machine of the decomposition, and its kernel as a function of exact inner products."""
    if kind == "linear machine":
        return LinearSVM(C, bias="unregularized", max_iter=100), None
    machine = KernelSVM(C, kernel=kind, gamma=0.5, degree=2, coef0=1.0, bias=bias, max_iter=500)
    return machine, (lambda product: (product / 2 + 1) ** 2) if kind == "poly" else None


@pytest.mark.parametrize("kind", ["linear", "poly", "linear machine"])
@pytest.mark.parametrize("bias", [None, 1.5, "unregularized"])
def test_kernel_machines(kind, bias):
    for seed in range(100, 104):
        X, y, weights, C, _ = badly_scaled(seed)
        bias = "unregularized" if kind == "linear machine" else bias
        machine, kernel = kernel_machine(kind, C, bias)
        exact = exact_scores(X, y, weights, C, bias=bias, kernel=kernel)
        certified(machine, X, y, weights, exact)


@pytest.mark.parametrize("kind", ["linear", "poly", "linear machine"])
def test_ordinary_kernel_machines_are_certain(kind):
    proven = total = 0
    for seed in range(9):
        X, y, weights, C, _ = ordinary(seed)
        bias = "unregularized" if kind == "linear machine" else (None, 1.0, "unregularized")[seed % 3]
        machine, kernel = kernel_machine(kind, C, bias)
        exact = exact_scores(X, y, weights, C, bias=bias, kernel=kernel)
        found = certified(machine, X, y, weights, exact)
        proven, total = proven + found[0], total + found[1]
    # Where only a sign is asked for it may be all that is known: the accuracy is then infinite.
    assert proven > 0.6 * total


def indefinite_gram(X):
    K = X @ X.T
    K[0, 1] = K[1, 0] = 3 * np.sqrt(K[0, 0] * K[1, 1])
    return K


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "precomputed"},
        {"kernel": "poly", "coef0": -1.0},
        {"kernel": "poly", "degree": 2.5, "coef0": 1.0},
        {"kernel": "chi2", "power": 1.5},
        {"kernel": "sigmoid"},
    ],
    ids=lambda parameters: "-".join(map(str, parameters.values())),
)
@pytest.mark.parametrize("bias", [None, 1.0, "unregularized", "stabilized"])
def test_no_certificate_without_a_proof(parameters, bias):
    """A kernel that may be indefinite has no accuracy, corners of the unregularized machine included."""
    generator = np.random.default_rng(1)
    X = generator.random((14, 3))
    y = np.where(X[:, 0] > X[:, 1], 1, -1)
    y[:2] = [1, -1]
    if parameters["kernel"] == "precomputed":
        X = indefinite_gram(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for C in (0.01, 1.0):
            machine = KernelSVM(C, bias=bias, max_iter=10_000, **parameters).fit(X, y)
            assert np.isinf(leave_one_out(machine, X, y).accuracy).all()
            assert np.isinf(leave_one_out(machine, X, y, scores=False).accuracy).all()


@pytest.mark.parametrize("rank", [1, 3, 40])
def test_a_gram_is_proven_whatever_its_rank_and_scale(rank):
    generator = np.random.default_rng(rank)
    X = generator.normal(size=(40, rank)) * 10.0 ** generator.uniform(-5, 5, size=(40, 1))
    X[3] = 0.0
    K = X @ X.T
    known = definiteness(Kernel("precomputed"), K)
    assert known.proven
    assert known.ridge < 1e-11
    lowest = np.linalg.eigvalsh(K)[0]
    assert not definiteness(Kernel("precomputed"), K + (2 * lowest - 1e-3 * K.max()) * np.eye(40)).proven
    K[5, 7] *= 1.01
    assert not definiteness(Kernel("precomputed"), K).proven


def test_a_large_gram_agrees_with_its_kernel():
    """More examples than are trained in double precision: two machines, one problem, two certificates."""
    generator = np.random.default_rng(8)
    X = generator.normal(size=(2100, 20)).astype(np.float32)
    y = np.where(X[:, 0] + 0.2 * generator.normal(size=2100) > 0, 1, -1)
    K = X.astype(np.float64) @ X.T.astype(np.float64)
    linear = leave_one_out(KernelSVM(0.01, kernel="linear").fit(X, y), X, y)
    given = leave_one_out(KernelSVM(0.01, kernel="precomputed").fit(K, y), K, y)
    assert np.isfinite(given.accuracy).all()
    assert (np.abs(linear.scores - given.scores) <= linear.accuracy + given.accuracy).all()
    assert (np.abs(given.accuracy) <= 0.3).all()


@pytest.mark.parametrize("bias", [None, 1.0, "unregularized"])
def test_hard_margins(bias):
    for seed in range(6):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(5, 2)) * 10.0 ** generator.uniform(-1, 2)
        y = np.array([1, -1, 1, -1, -1])
        X[:, 0] = y * (0.2 + np.abs(X[:, 0]))
        K = exact_margin.inner_products(X)
        if bias == 1.0:
            K = [[value + 1 for value in row] for row in K]
        exact = exact_margin.left_out_scores(K, y, [exact_margin.INFINITY] * 5, bias == "unregularized")
        certified(LinearSVM(np.inf, bias=bias), X, y, np.ones(5), exact)
