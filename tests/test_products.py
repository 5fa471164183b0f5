"""The product of sparse rows and dense columns, on which every linear rule and least squares rest."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin._arrays import canonical_csr, times


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", range(1, 41))  # every tile of labels, and what is left beside it
def test_products_of_any_width_are_the_dense_ones(n_columns, dtype):
    rng = np.random.default_rng(n_columns)
    rows = np.where(rng.random((7, 9)) < 0.5, rng.integers(-4, 5, (7, 9)), 0).astype(dtype)
    rows[3] = 0
    V = rng.integers(-9, 10, (9, n_columns)).astype(np.float64)
    np.testing.assert_array_equal(times(canonical_csr(rows), V, 1), rows.astype(np.float64) @ V)
