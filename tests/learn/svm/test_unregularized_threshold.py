"""`LinearSVM(bias="unregularized")`, soft and hard, against exact solutions in rational numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import exact_margin
from widemargin import LinearSVM


@pytest.mark.parametrize("C", [0.25, 2.0, np.inf])
def test_equals_the_exact_solution(C):
    for seed in range(8):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(6, 2))
        y = np.array([1, -1, 1, -1, -1, 1])
        if np.isinf(C):
            X[:, 0] = y * (0.3 + np.abs(X[:, 0]))
        upper = [exact_margin.INFINITY] * 6 if np.isinf(C) else exact_margin.rational([C] * 6)[0]
        alpha, (low, high) = exact_margin.solve(exact_margin.inner_products(X), y.tolist(), upper, True)
        w = np.array([float(a) for a in alpha]) * y @ X
        model = LinearSVM(C, bias="unregularized", tol=1e-9).fit(X, y)
        np.testing.assert_allclose(np.ravel(model.coef_), w, atol=1e-6)
        assert float(low) - 1e-6 <= float(np.ravel(model.intercept_)[0]) <= float(high) + 1e-6
