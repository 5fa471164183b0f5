"""Per-label weights of terms the slow way: one matrix for every label."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm


def factors(X, y, mix, weights=None):
    """The factors of one label with the signs `y`: bi-normal separation, count by count."""
    weights = np.ones(len(y)) if weights is None else weights
    positives, negatives = weights[y > 0].sum(), weights[y < 0].sum()
    r = np.zeros(X.shape[1])
    for j in range(X.shape[1]):
        if positives == 0 or negatives == 0:
            break
        has = X[:, j] != 0
        rates = weights[has & (y > 0)].sum() / positives, weights[has & (y < 0)].sum() / negatives
        a, b = (norm.ppf(min(max(rate, 5e-4), 1 - 5e-4)) for rate in rates)
        r[j] = abs(a - b)
    occurs = (X[weights > 0] != 0).any(axis=0)
    mean = r[occurs].mean() if occurs.any() else 0.0
    return np.ones(X.shape[1]) if mean < 1e-12 else (1 - mix) + mix * r / mean


def seen(X, f):
    """The matrix as a label with the factors `f` sees it: rows of length 1, or empty."""
    Z = X * f
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.divide(Z, lengths, out=np.zeros_like(Z), where=lengths > 0)
