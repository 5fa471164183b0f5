"""Nearest neighbors written out, one document at a time (joachims 2.5.3)."""

from __future__ import annotations

import numpy as np


def unit(X):
    """Rows of length 1, rounded to 32 bits."""
    rows = []
    for row in np.asarray(X, dtype=np.float64):
        square = 0.0
        for value in row:
            square += value * value
        rows.append(row / np.sqrt(square) if square > 0 else row)
    return np.array(rows).astype(np.float32)


def cosines(X, Z):
    """(n, m) inner products of rows of 32 bits, added up in 64 bits, one column after the other."""
    sums = np.zeros((len(X), len(Z)))
    for column in range(X.shape[1]):
        sums += np.outer(X[:, column].astype(np.float64), Z[:, column].astype(np.float64))
    return sums


def nearest(cosines_of_x, weights, k, left_out=None):
    """(document, cosine, count) of those that vote, the nearest first."""
    order = sorted(range(len(cosines_of_x)), key=lambda i: (-cosines_of_x[i], i))
    found, left = [], k
    for i in order:
        if i == left_out or weights[i] == 0 or not cosines_of_x[i] > 0 or left <= 0:
            continue
        count = min(weights[i], left)
        found.append((i, cosines_of_x[i], count))
        left -= count
    return found


def scores(cosines_of_x, signs, weights, k, *, weighted=True, left_out=None):
    """(columns,) the score of one document; `signs` (n, columns) are those of the training documents."""
    found = nearest(cosines_of_x, weights, k, left_out)
    if not found:
        rest = np.array([i for i in range(len(signs)) if i != left_out])
        if not len(rest) or not weights[rest].any():
            return np.zeros(signs.shape[1])
        return weights[rest] @ signs[rest] / weights[rest].sum()
    votes = np.array([count * (cosine if weighted else 1.0) for _, cosine, count in found])
    return votes @ signs[[i for i, _, _ in found]] / votes.sum()
