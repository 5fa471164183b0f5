"""Chi-square distances of dense rows, as they are defined."""

from __future__ import annotations

import numpy as np


def distances(A, B):
    """2 sum (a - b)^2 / (a + b) of all pairs of rows, where 0/0 is 0 (teytaud, 2.1)."""
    a, b = A[:, None, :].astype(np.float64), B[None, :, :].astype(np.float64)
    # A difference over the sum first: squares of the largest values would overflow.
    shares = np.divide(a - b, a + b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=a + b > 0)
    return 2 * ((a - b) * shares).sum(axis=2)


def kernel(A, B, gamma=1.0, power=1.0):
    """exp(-gamma chi2^power) of all pairs of rows."""
    return np.exp(-gamma * distances(A, B) ** power)
