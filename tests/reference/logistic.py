"""Logistic regression over a dense matrix in double precision, and leave-one-out by refitting."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def objective(X, y, w, b, costs, bias=1.0):
    """P(w): the bias feature of size `bias` has the weight b / bias, regularized with the others."""
    losses = np.logaddexp(0.0, -y * (X @ w + b))
    return 0.5 * (w @ w + (0.0 if bias is None else (b / bias) ** 2)) + costs @ losses


def solve(X, y, costs, bias=1.0):
    """The optimal value, the weights and the intercept."""
    Z = X if bias is None else np.column_stack([X, np.full(len(X), bias)])

    def value(w):
        margins = y * (Z @ w)
        wrong = 1 / (1 + np.exp(np.clip(margins, -700, 700)))
        return 0.5 * w @ w + costs @ np.logaddexp(0.0, -margins), w - Z.T @ (costs * wrong * y)

    options = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 30}
    w = minimize(value, np.zeros(Z.shape[1]), jac=True, method="L-BFGS-B", options=options).x
    # L-BFGS ends near the solution; a few Newton steps end at it.
    for _ in range(10):
        right = 1 / (1 + np.exp(np.clip(-y * (Z @ w), -700, 700)))
        hessian = np.eye(len(w)) + Z.T @ ((costs * right * (1 - right))[:, None] * Z)
        w = w - np.linalg.solve(hessian, value(w)[1])
    best = float(value(w)[0])
    return (best, w, 0.0) if bias is None else (best, w[:-1], float(w[-1] * bias))


def left_out(X, y, costs, bias=1.0):
    """The score of every example by the rule that is fitted without it."""
    scores = np.empty(len(y))
    for t in range(len(y)):
        kept = np.arange(len(y)) != t
        _, w, b = solve(X[kept], y[kept], costs[kept], bias)
        scores[t] = X[t] @ w + b
    return scores
