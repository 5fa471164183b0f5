"""The soft-margin dual as a bounded quadratic program over a dense matrix, solved by SciPy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def objective(X, y, w, b, costs, loss="hinge", bias=1.0):
    """P(w): the bias feature of size `bias` has the weight b / bias, regularized with the others."""
    xi = np.maximum(0.0, 1.0 - y * (X @ w + b))
    regularizer = w @ w + (0.0 if bias is None else (b / bias) ** 2)
    return 0.5 * regularizer + costs @ (xi if loss == "hinge" else xi**2)


def solve(X, y, costs, loss="hinge", bias=1.0):
    """The optimal value D(alpha*) = P(w*) and the weights, intercept last."""
    Z = X if bias is None else np.column_stack([X, np.full(len(X), bias)])
    Z = Z * y[:, None]
    Q = Z @ Z.T
    if loss == "squared_hinge":
        Q = Q + np.diag(0.5 / costs)
    bounds = [(0.0, None if loss == "squared_hinge" else cost) for cost in costs]
    alpha, value = np.zeros(len(y)), np.inf
    # L-BFGS-B stops early on flat ground: it starts again from its answer until that gains nothing.
    for _ in range(100):
        found = minimize(
            lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1.0),
            alpha,
            jac=True,
            bounds=bounds,
            method="L-BFGS-B",
            options={"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-12, "maxcor": 30},
        )
        alpha = found.x
        if not found.fun < value:
            break
        value = found.fun
    w = Z.T @ alpha
    if bias is None:
        return alpha.sum() - 0.5 * alpha @ Q @ alpha, w, 0.0
    return alpha.sum() - 0.5 * alpha @ Q @ alpha, w[:-1], w[-1] * bias
