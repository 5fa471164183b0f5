"""CoCoA+ in NumPy, slow and obvious: rows in parts that move at the same time (Ma et al., ICML 2015)."""

from __future__ import annotations

import numpy as np


def cocoa(X, signs, costs, parts, *, rounds, squared=False, seed=0):
    """Weights and dual variables after some rounds, for rows with a bias column of their own.

    `parts` has the number of the part of every row; adding (gamma = 1), sigma' = the number of parts.
    """
    n, K = len(signs), parts.max() + 1
    upper = np.full(n, np.inf) if squared else costs
    diagonal = 0.5 / costs if squared else np.zeros(n)
    alpha, w = np.zeros(n), np.zeros(X.shape[1])
    generator = np.random.default_rng(seed)
    for _ in range(rounds):
        changes = []
        for k in range(K):
            delta = np.zeros_like(w)
            for i in generator.permutation(np.flatnonzero(parts == k)):
                g = signs[i] * (X[i] @ (w + K * delta)) - 1 + diagonal[i] * alpha[i]
                new = np.clip(alpha[i] - g / (K * (X[i] @ X[i]) + diagonal[i]), 0, upper[i])
                delta += (new - alpha[i]) * signs[i] * X[i]
                alpha[i] = new
            changes.append(delta)
        w = w + sum(changes)
    return w, alpha


def gap(X, signs, costs, w, alpha, *, squared=False):
    """The primal objective, and how far the dual is from it."""
    slacks = np.maximum(1 - signs * (X @ w), 0)
    primal = w @ w / 2 + np.sum(costs * (slacks**2 if squared else slacks))
    v = X.T @ (alpha * signs)
    dual = alpha.sum() - v @ v / 2 - (np.sum(alpha**2 / (4 * costs)) if squared else 0)
    return primal, primal - dual
