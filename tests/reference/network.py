"""Networks of radial basis functions (teytaud, section 4) by dense matrices; leaving out by solving again."""

from __future__ import annotations

import numpy as np

from tests.reference import chi_square


def solve(X, signs, gamma=1.0, power=1.0, regularization=0.0):
    """W of K1 W = O: with the smallest norm, or with a penalty on it."""
    K1 = np.hstack([chi_square.kernel(X, X, gamma, power), np.ones((len(X), 1))])
    if regularization == 0:
        return np.linalg.pinv(K1, rcond=1e-12) @ signs
    return K1.T @ np.linalg.solve(K1 @ K1.T + regularization * np.eye(len(X)), signs)


def scores(X, W, centers, gamma=1.0, power=1.0):
    """O' = K1' W"""
    return chi_square.kernel(X, centers, gamma, power) @ W[:-1] + W[-1]


def left_out_scores(X, signs, gamma=1.0, power=1.0, regularization=0.0, as_new=None):
    """Every document, or its row in `as_new`, by the network of all others."""
    found = []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        W = solve(X[rest], signs[rest], gamma, power, regularization)
        scored = (X if as_new is None else as_new)[i : i + 1]
        found.append(scores(scored, W, X[rest], gamma, power)[0])
    return np.array(found)
