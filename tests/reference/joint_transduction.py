"""Classes of given sizes, shares in turns, and all joint labelings: slow and obvious."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import linear_sum_assignment, minimize_scalar
from scipy.stats import chi2

from tests.reference import kernel_dual


def least_cost(costs, sizes):
    """The total cost of the best assignment: one column for every place in a class."""
    places = np.repeat(np.arange(len(sizes)), sizes)
    rows, columns = linear_sum_assignment(costs[:, places])
    return float(costs[rows, places[columns]].sum())


def shares(held_out, codes, scores, turns=2):
    """Two turns of Saerens et al., document by document, averaged with the labeled shares."""
    n_classes = scores.shape[1]
    known = [i for i in range(len(codes)) if not np.isnan(held_out[i]).any()]

    def probabilities(row, factor):
        powers = [np.exp(factor * (value - max(row))) for value in row]
        return [power / sum(powers) for power in powers]

    def loss(log_factor):
        return -sum(np.log(probabilities(held_out[i], np.exp(log_factor))[codes[i]] + 1e-12) for i in known)

    factor = np.exp(minimize_scalar(loss, bounds=(-2, 4), method="bounded").x) if known else 1.0
    counts = np.array([sum(c == k for c in codes) for k in range(n_classes)])
    prior = counts / len(codes)
    current = prior
    for _ in range(turns):
        total = np.zeros(n_classes)
        for row in scores:
            weighted = [p * s / q for p, s, q in zip(probabilities(row, factor), current, prior, strict=True)]
            total += np.array(weighted) / sum(weighted)
        current = total / len(scores)
    current = np.maximum(current, 0.5 / len(scores))
    current = current / current.sum()
    expected = len(codes) * (current + 0.01 / n_classes) / 1.01
    ratio = 2 * sum(c * np.log(c / e) for c, e in zip(counts, expected, strict=True))
    p = chi2.sf(ratio, n_classes - 1)
    wrong = sum(codes[i] != max(range(n_classes), key=lambda k, row=held_out[i]: row[k]) for i in known)
    error = (wrong + 1) / (len(known) + 2) / 2
    of_sample = sum(np.sqrt(2 / np.pi * s * (1 - s) / len(codes)) for s in current) / 2
    trust = max(1 / (1 + (of_sample / error) ** 2), (p - 0.99) / 0.01) if p >= 0.05 else 0.0
    return trust * prior + (1 - trust) * current


def objective(K, codes, upper, n_classes):
    """The sum of the least objectives of one machine per class; `upper` is the cost of every example."""
    total = 0.0
    for k in range(n_classes):
        y = np.where(codes == k, 1.0, -1.0)
        total += kernel_dual.dual_value(K, y, kernel_dual.solve(K, y, upper)[0])
    return total


def labelings(n_unlabeled, sizes):
    """All classes of the unlabeled examples that have these sizes."""
    for codes in product(range(len(sizes)), repeat=n_unlabeled):
        if all(codes.count(k) == size for k, size in enumerate(sizes)):
            yield np.array(codes)
