"""Shifted systems by conjugate gradients against dense solves, and products with a Gram matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widemargin._arrays import canonical_csr
from widemargin.learn.squares import conjugate_gradients
from widemargin.learn.squares.conjugate_gradients import solve_shifted
from widemargin.learn.squares.normal_equations import GramProduct

SHIFTS = [3.0, 0.05, 0.5, 0.5, 100.0]


def residuals(A, B, shifts, found):
    return np.array(
        [
            np.linalg.norm(A @ X + shift * X - B, axis=0)
            for shift, X in zip(shifts, found.solutions, strict=True)
        ]
    )


@st.composite
def systems(draw):
    n, rank, columns = draw(st.integers(1, 40)), draw(st.integers(1, 40)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    Z = rng.normal(size=(n, rank)) * 10.0 ** rng.integers(-2, 1, rank)
    B = rng.normal(size=(n, columns))
    same = draw(st.booleans())
    if same:  # columns that depend on each other, and an empty one
        B[:, -1] = B[:, 0] - B[:, columns // 2]
    return Z @ Z.T, B


@given(systems())
def test_every_shift_and_column_is_solved(system):
    A, B = system
    found = solve_shifted(lambda V: A @ V, B, SHIFTS, 1e-8, 1000)
    wanted = 1e-8 * np.linalg.norm(B, axis=0) + 1e-11
    left = residuals(A, B, SHIFTS, found)
    assert (left <= wanted + 1e-12 * np.linalg.norm(A)).all()
    # What is said to be left is what is left.
    np.testing.assert_allclose(found.residuals, left, atol=1e-10 * (1 + np.linalg.norm(A)))


def test_more_columns_than_are_solved_together(monkeypatch):
    monkeypatch.setattr(conjugate_gradients, "GROUP_BYTES", 2 * 2 * 120 * 8 * 20)
    rng = np.random.default_rng(0)
    Z, B = rng.normal(size=(120, 90)), rng.normal(size=(120, 47))
    A = Z @ Z.T
    found = solve_shifted(lambda V: A @ V, B, [1.0, 7.0], 1e-10, 1000)
    for shift, X in zip([1.0, 7.0], found.solutions, strict=True):
        np.testing.assert_allclose(X, np.linalg.solve(A + shift * np.eye(120), B), atol=1e-9)


def test_any_number_of_threads_gives_the_same():
    rng = np.random.default_rng(2)
    rows = canonical_csr(rng.normal(size=(3000, 200)) * (rng.random((3000, 200)) < 0.1))
    B = rng.normal(size=(3000, 20))
    one, many = (solve_shifted(GramProduct(rows, n), B, [1.0, 0.1], 1e-6, 100) for n in (1, 3))
    for first, second in zip(one.solutions, many.solutions, strict=True):
        np.testing.assert_array_equal(first, second)


def test_a_limit_on_the_products_is_kept_and_what_is_left_is_known():
    rng = np.random.default_rng(3)
    Z, B = rng.normal(size=(80, 100)), rng.normal(size=(80, 2))
    A = Z @ Z.T
    found = solve_shifted(lambda V: A @ V, B, [0.01], 1e-12, 4)
    assert found.n_iter == 4
    np.testing.assert_allclose(found.residuals, residuals(A, B, [0.01], found), rtol=1e-9)
    assert (found.residuals > 1e-6).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_the_gram_matrix(dtype):
    rng = np.random.default_rng(4)
    Z = (rng.normal(size=(50, 70)) * (rng.random((50, 70)) < 0.04)).astype(dtype)
    assert (np.count_nonzero(Z, axis=0) == 1).any()
    assert (np.count_nonzero(Z, axis=0) == 0).any()
    assert (np.count_nonzero(Z, axis=1) == 0).any()
    V, exact = rng.normal(size=(50, 5)), Z.astype(np.float64)
    product = GramProduct(canonical_csr(Z), 2)
    np.testing.assert_allclose(product(V), exact @ exact.T @ V, atol=1e-12)
    np.testing.assert_allclose(product.weights(V), exact.T @ V, atol=1e-12)
