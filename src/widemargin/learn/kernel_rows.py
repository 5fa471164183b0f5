"""Scores by kernel values with stored rows: support vectors, or the centers of a network."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import canonical_csr
from widemargin.errors import DataError
from widemargin.learn.kernels import Kernel
from widemargin.learn.label_model import Arrays

Floats = NDArray[np.float64]

# Kernel values between new documents and stored rows in memory at a time.
_VALUES_AT_ONCE = 8_000_000


def kernel_scores(kernel: Kernel, X: Any, rows: Any, dual_coef: Floats, n_jobs: int | None) -> Floats:
    """The sums over `rows` of kernel values times coefficients (columns, rows), for every row of `X`.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> kernel_scores(Kernel("chi2"), rows, rows, np.array([[1.0, 0.0]]), 1).round(3)
    array([[1.   ],
           [0.018]])
    """
    stored = canonical_csr(rows)
    at_once = max(_VALUES_AT_ONCE // max(stored.n_rows, 1), 1)
    parts = [
        kernel.between(canonical_csr(X[first : first + at_once]), stored, n_jobs) @ dual_coef.T
        for first in range(0, X.shape[0], at_once)
    ]
    return np.vstack(parts)


def refuse_negative(X: Any) -> None:
    """Raise an error if values are negative, which have no chi-square distances."""
    if X.shape[0] and X.min() < 0:
        raise DataError("Negative values in data: the chi2 kernel requires counts or frequencies.")


def row_arrays(dual_coef: Floats, intercept: Floats, rows: Any) -> Arrays:
    """What is saved of the stored rows and their coefficients."""
    stored = canonical_csr(rows)
    return {
        "dual_coef": dual_coef,
        "intercept": intercept,
        "support_data": stored.data,
        "support_indices": stored.indices,
        "support_indptr": stored.indptr,
    }
