"""SVMs with multivariate losses by brute force: every labeling of a few examples is a constraint."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import minimize


def losses(y, measure):
    """All labelings that the measure allows, except y itself, and the loss 2 n+ (1 - measure) of each."""
    found = []
    for labels in product([-1, 1], repeat=len(y)):
        other = np.array(labels)
        both = np.count_nonzero((y > 0) & (other > 0))
        positive, predicted = np.count_nonzero(y > 0), np.count_nonzero(other > 0)
        if (other == y).all() or (measure == "prbep" and predicted != positive):
            continue
        value = both / positive if measure == "prbep" else 2 * both / (positive + predicted)
        found.append((other, 2 * positive * (1 - value)))
    return found


def planes(X, y, measure, bias):
    """The constraints w.g >= L - xi: rows g, and L."""
    Z = X if bias is None else np.column_stack([X, np.full(len(X), bias)])
    found = losses(y, measure)
    g = np.array([0.5 * (y - other) @ Z for other, _ in found]).reshape(len(found), Z.shape[1])
    return g, np.array([loss for _, loss in found])


def objective(X, y, w, C, measure, bias):
    """P(w), with the weight of the bias feature last in w if there is one."""
    g, L = planes(X, y, measure, bias)
    return 0.5 * w @ w + C * max(0.0, (L - g @ w).max(initial=0.0))


def solve(X, y, C, measure, bias):
    """The optimal value: min 1/2 w.w + C xi with a constraint for every labeling."""
    g, L = planes(X, y, measure, bias)
    if not len(L):
        return 0.0
    d = g.shape[1]
    scale = np.append(np.ones(d), C)
    rows = np.column_stack([g, np.ones(len(g))])
    start = np.append(np.zeros(d), max(L.max(), 0.0))
    best = minimize(
        lambda z: (0.5 * z[:d] @ z[:d] + C * z[d], np.where(np.arange(d + 1) < d, z, scale)),
        start,
        jac=True,
        bounds=[(None, None)] * d + [(0.0, None)],
        constraints={"type": "ineq", "fun": lambda z: rows @ z - L, "jac": lambda _: rows},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-15},
    ).x
    return objective(X, y, best[:d], C, measure, bias)
