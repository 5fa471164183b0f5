"""Least squares with a penalty by one dense solve a label, and leaving out by solving again."""

from __future__ import annotations

import numpy as np


def solve(X, y, regularization, bias=1.0, weights=None):
    """Weights and threshold of one label, from the normal equations of the primal problem."""
    n, d = X.shape
    weights = np.ones(n) if weights is None else weights
    constant = np.zeros((n, 1)) if bias is None else np.full((n, 1), 1.0 if bias == "unregularized" else bias)
    Z = np.hstack([X, constant])
    penalty = np.full(d + 1, regularization)
    if bias == "unregularized":
        penalty[d] = 0.0
    M = Z.T @ (weights[:, None] * Z) + np.diag(penalty)
    solution = np.linalg.pinv(M, rcond=1e-12) @ (Z.T @ (weights * y))
    return solution[:d], solution[d] * constant[0, 0]


def left_out_scores(X, y, regularization, bias=1.0, weights=None):
    scores = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        w, b = solve(X[rest], y[rest], regularization, bias, None if weights is None else weights[rest])
        scores.append(X[i] @ w + b)
    return np.array(scores)
