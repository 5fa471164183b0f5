"""The chi-square kernel between sparse rows, for one row or thousands (core/kernel/kernel_block.hpp)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import chi_square
from widemargin._arrays import canonical_csr
from widemargin.learn.kernels import Kernel


def histograms(seed, n, d, density=0.3, dtype=np.float64):
    """Frequencies that sum to 1, some columns frequent and some rare; a few rows are empty or equal."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.5, size=(n, d)) * (rng.random((n, d)) < density * np.linspace(0.02, 3.0, d))
    X[n // 2] = X[n // 3]
    X /= np.maximum(X.sum(axis=1, keepdims=True), 1e-300)
    X[n - 1] = 0
    return X.astype(dtype)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    d=st.integers(1, 60),
    density=st.sampled_from([0.05, 0.3, 1.0]),
    dtypes=st.tuples(*2 * [st.sampled_from([np.float32, np.float64])]),
    gamma=st.sampled_from([0.01, 1.0, 30.0]),
    power=st.sampled_from([1.0, 0.5, 1 / 32]),
    scale=st.sampled_from([1.0, 1e-30, 1e30]),
)
def test_every_value_is_that_of_the_definition(seed, n, d, density, dtypes, gamma, power, scale):
    A, B = (
        scale * histograms(seed + k, n + k, d, density, dtype).astype(dtype) for k, dtype in enumerate(dtypes)
    )
    kernel = Kernel("chi2", gamma / scale**power, power=power)
    rows, columns = canonical_csr(A), canonical_csr(B)
    found = kernel.between(rows, columns, 1)
    np.testing.assert_allclose(found, chi_square.kernel(A, B, kernel.gamma, power), rtol=0, atol=2e-11)
    gram = kernel.gram(rows, 1)
    np.testing.assert_allclose(gram, chi_square.kernel(A, A, kernel.gamma, power), rtol=0, atol=2e-11)
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_array_equal(gram.diagonal(), 1.0)


@pytest.mark.parametrize("value", [1e-300, 1e-70, 1e-59, 1e59, 1e99])
def test_values_of_any_size(value):
    """Products of such values are no doubles."""
    rng = np.random.default_rng(0)
    A = value * rng.random((40, 20)) * (rng.random((40, 20)) < 0.7)
    ordinary = rng.random((30, 20))
    kernel = Kernel("chi2", 1 / value)
    found = kernel.between(canonical_csr(A), canonical_csr(A[:30]), 1)
    np.testing.assert_allclose(found, chi_square.kernel(A, A[:30], 1 / value), rtol=0, atol=2e-11)
    for a, b in ((A, ordinary), (ordinary, A)):
        found = Kernel("chi2", 0.01).between(canonical_csr(a), canonical_csr(b), 1)
        np.testing.assert_allclose(found, chi_square.kernel(a, b, 0.01), rtol=0, atol=2e-11)


def test_several_tiles_and_threads_change_nothing():
    X = canonical_csr(sp.csr_array(histograms(3, 600, 80, dtype=np.float32)))
    kernel = Kernel("chi2", 2.0, power=0.5)
    alone = kernel.gram(X, 1)
    expected = chi_square.kernel(X.matrix.toarray(), X.matrix.toarray(), 2.0, 0.5)
    np.testing.assert_allclose(alone, expected, rtol=0, atol=2e-11)
    for threads in (2, 3, 8):
        np.testing.assert_array_equal(kernel.gram(X, threads), alone)
        np.testing.assert_array_equal(kernel.between(X, X, threads), kernel.between(X, X, 1))
    np.testing.assert_allclose(kernel.between(X, X, 1), alone, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid"])
def test_the_other_kernels_over_several_tiles(name):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(530, 30)) * (rng.random((530, 30)) < np.linspace(0.02, 1.0, 30))
    kernel = Kernel(name, 0.1, 2.0, 0.5)
    dot = X @ X.T
    squares = dot.diagonal()
    expected = {
        "linear": dot,
        "poly": (0.1 * dot + 0.5) ** 2,
        "rbf": np.exp(-0.1 * (squares[:, None] + squares - 2 * dot)),
        "sigmoid": np.tanh(0.1 * dot + 0.5),
    }[name]
    rows = canonical_csr(X)
    np.testing.assert_allclose(kernel.gram(rows, 2), expected, atol=1e-10)
    np.testing.assert_allclose(kernel.between(rows, rows, 2), expected, atol=1e-10)


@given(
    seed=st.integers(0, 10**6),
    gamma=st.sampled_from([0.1, 1.0, 10.0]),
    power=st.sampled_from([1.0, 0.5, 0.25, 1 / 32]),
)
def test_it_is_positive_semidefinite_on_histograms(seed, gamma, power):
    """The conjecture of the document's section 3."""
    X = histograms(seed, 40, 15)
    assert np.linalg.eigvalsh(Kernel("chi2", gamma, power=power).gram(canonical_csr(X), 1))[0] > -1e-10


def test_rows_that_are_nearly_equal():
    """Sums over shared features cancel; a power below 1 magnifies what is left."""
    X = np.tile(histograms(4, 2, 50, 1.0)[0], (20, 1))
    X[1:, 3] *= 1 + np.logspace(-16, -2, 19)
    kernel = Kernel("chi2", 1.0, power=0.25)
    found = kernel.gram(canonical_csr(X), 1)
    np.testing.assert_allclose(found, chi_square.kernel(X, X, 1.0, 0.25), rtol=0, atol=2e-11)


def test_empty_matrices():
    none, some = canonical_csr(sp.csr_array((3, 4))), canonical_csr(np.eye(4))
    np.testing.assert_array_equal(Kernel("chi2").gram(none, 1), np.ones((3, 3)))
    np.testing.assert_allclose(Kernel("chi2").between(none, some, 1), np.full((3, 4), np.exp(-2.0)))
    assert Kernel("chi2").between(canonical_csr(sp.csr_array((0, 4))), some, 1).shape == (0, 4)
