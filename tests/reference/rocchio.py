"""Rocchio written out, one label at a time (joachims 2.5.2)."""

from __future__ import annotations

import numpy as np


def of_length_1(rows):
    lengths = np.linalg.norm(rows, axis=1)
    return rows / np.where(lengths > 0, lengths, 1)[:, None]


def mean(rows, weights):
    """The weighted mean of rows; 0 if there are none."""
    total = weights.sum()
    return (weights[:, None] * rows).sum(axis=0) / total if total > 0 else np.zeros(rows.shape[1])


def scores(new, documents, signs, weights, beta):
    """The scores of the rows `new` by documents with `signs` (n, columns)."""
    new, documents = of_length_1(new), of_length_1(documents)
    found = np.empty((len(new), signs.shape[1]))
    for k in range(signs.shape[1]):
        inside = signs[:, k] > 0
        positive = mean(documents[inside], weights[inside])
        negative = mean(documents[~inside], weights[~inside])
        w = positive - beta * negative
        w[w <= 1e-12 * (abs(positive) + beta * abs(negative))] = 0  # rounding is no weight
        length = np.linalg.norm(w)
        if length == 0:
            found[:, k] = -2
            continue
        w /= length
        cosines = documents @ w
        thresholds = [mean(cosines[some, None], weights[some])[0] for some in (inside, ~inside)]
        found[:, k] = new @ w - sum(thresholds) / 2
    return found
