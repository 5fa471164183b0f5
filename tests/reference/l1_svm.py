"""The squared hinge with an L1 penalty, smooth over w = u - v with u, v >= 0, solved by SciPy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def objective(X, y, w, b, costs, bias=1.0):
    """P(w): the bias feature of size `bias` has the weight b / bias, whose absolute value counts."""
    xi = np.maximum(0.0, 1.0 - y * (X @ w + b))
    return np.abs(w).sum() + (0.0 if bias is None else abs(b / bias)) + costs @ xi**2


def solve(X, y, costs, bias=1.0):
    """The optimal value: min sum(u + v) + sum_i C_i max(0, 1 - y_i (u - v).x_i)^2 over u, v >= 0."""
    Z = X if bias is None else np.column_stack([X, np.full(len(X), bias)])
    d = Z.shape[1]

    def value(parts):
        w = parts[:d] - parts[d:]
        xi = np.maximum(0.0, 1.0 - y * (Z @ w))
        gradient = -2 * Z.T @ (costs * y * xi)
        return parts.sum() + costs @ xi**2, np.concatenate([1 + gradient, 1 - gradient])

    parts = np.zeros(2 * d)
    # L-BFGS-B stops early on flat ground; starting again from its answer costs nothing at this size.
    for _ in range(8):
        parts = minimize(
            value,
            parts,
            jac=True,
            bounds=[(0.0, None)] * (2 * d),
            method="L-BFGS-B",
            options={"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-12, "maxcor": 30},
        ).x
    return value(parts)[0]
