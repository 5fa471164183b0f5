"""Kernel values are as exact as they are said to be (core/kernel/kernels.hpp), also far from the origin."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin import KernelSVM, TransductiveSVM
from widemargin._arrays import canonical_csr
from widemargin.learn.kernels import DOUBLE_UP_TO, Kernel

MANY = DOUBLE_UP_TO + 1  # rows whose values are kept in single precision


def differences(A, B, chi2=False):
    """|x - z|^2 or chi2(x, z), feature by feature."""
    a, b = A[:, None, :], B[None, :, :]
    terms = (a - b) ** 2
    if chi2:
        terms = 2 * np.divide(terms, a + b, out=np.zeros_like(terms), where=a + b > 0)
    return terms.sum(axis=2)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    offset=st.sampled_from([0.0, 1.0, 3e3, 1e6, 3e8]),
    density=st.sampled_from([0.1, 0.5, 1.0]),
    gamma=st.sampled_from([1e-3, 0.1, 10.0]),
    kernel=st.sampled_from([("rbf", 1.0), ("chi2", 1.0), ("chi2", 0.5), ("chi2", 2.0)]),
)
def test_exponential_kernels_far_from_the_origin(seed, offset, density, gamma, kernel):
    name, power = kernel
    generator = np.random.default_rng(seed)
    X = np.abs(offset + generator.normal(size=(40, 9))) * (generator.random((40, 9)) < density)
    X[5] = X[6]
    rows = canonical_csr(sp.csr_array(X))
    found = Kernel(name, gamma, power=power).between(rows, rows, 1)
    expected = np.exp(-gamma * differences(X, X, name == "chi2") ** power)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-11)


@pytest.mark.parametrize("offset", [0.0, 3e3, 3e8])
@pytest.mark.parametrize("kernel", ["rbf", "chi2"])
def test_a_row_more_than_double_precision_keeps_changes_nothing(offset, kernel):
    generator = np.random.default_rng(0)
    X = np.abs(offset + generator.normal(size=(MANY, 4)))
    y = np.where(X[:, 0] + X[:, 1] > np.median(X[:, 0] + X[:, 1]), 1, -1)
    gamma = 0.1 * max(offset, 1.0) if kernel == "chi2" else 0.1
    model = KernelSVM(10, kernel=kernel, gamma=gamma).fit(X, y)
    values = np.exp(-gamma * differences(X, X[model.support_], kernel == "chi2"))
    scores = values @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.xi_, np.maximum(0, 1 - y * scores), atol=1e-3)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-6)
    assert model.score(X, y) > 0.98


def test_left_out_scores_far_from_the_origin():
    generator = np.random.default_rng(1)
    X = generator.normal(size=(MANY, 3))
    y = np.where(X[:, 0] + 0.1 * generator.normal(size=MANY) > 0, 1, -1)
    near, far = (
        KernelSVM(gamma=0.1).fit(rows, y).left_out_scores(rows, y, accuracy=0.01).scores
        for rows in (X, np.float64(3000) + X)
    )
    np.testing.assert_allclose(far, near, atol=0.03)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_transduction_far_from_the_origin(kernel):
    generator = np.random.default_rng(2)
    X = generator.normal(size=(MANY, 3)) + np.where(np.arange(MANY) % 2, 2.0, -2.0)[:, None]
    y = [("a", "b")[k % 2] if k < 40 else None for k in range(MANY)]
    options = {"kernel": kernel, "alarm_level": 0, "cache": 400}
    near, far = (TransductiveSVM(**options).fit(rows, y).transduction_ for rows in (X, 3000 + X))
    np.testing.assert_array_equal(near, far)


@pytest.mark.parametrize(
    ("kernel", "X", "offset", "expected"),
    [
        (Kernel("rbf", 0.1), 0.0, 0.0, np.float32),
        (Kernel("rbf", 0.1), 3e3, 0.0, np.float32),
        (Kernel("rbf", 1e-7), 0.0, 0.0, np.float64),  # all values are nearly 1
        (Kernel("linear"), 0.0, 0.0, np.float32),
        (Kernel("linear"), 3e3, 0.0, np.float64),
        (Kernel("linear"), 0.0, 1e8, np.float64),  # a large bias feature
        (Kernel("poly", 1.0, 3.0, 1e6), 0.0, 0.0, np.float64),
        (Kernel("poly", 1.0, 40.0, 1.0), 3.0, 0.0, np.float64),  # beyond single precision
    ],
)
def test_single_precision_only_where_it_keeps_examples_apart(kernel, X, offset, expected):
    rows = X + np.random.default_rng(0).normal(size=(MANY, 5))
    assert kernel.precision(canonical_csr(rows), offset, 1) is expected
    assert kernel.precision(canonical_csr(rows[:-1]), offset, 1) is np.float64


def test_values_that_hardly_differ_are_kept_apart():
    """A tiny gamma and a large C make an RBF machine a linear one."""
    generator = np.random.default_rng(3)
    X = generator.normal(size=(MANY, 3))
    y = np.where(X[:, 0] + 0.3 * generator.normal(size=MANY) > 0, 1, -1)
    gamma = 1e-6
    tiny = KernelSVM(1.0 / (2 * gamma), gamma=gamma).fit(X, y)
    linear = KernelSVM(1.0, kernel="linear").fit(X, y)
    np.testing.assert_allclose(tiny.decision_function(X), linear.decision_function(X), atol=0.02)
