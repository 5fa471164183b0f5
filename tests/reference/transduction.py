"""Transduction, slowly: the best of all labelings, and Figure 9.1 of the thesis one pair at a time.

Every machine is solved by the interior-point method of `kernel_dual`, from scratch.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tests.reference import kernel_dual


def labeled_problem(K, y, upper):
    """The objective at the solution for fixed labels, its scores and its slacks."""
    alpha, b = kernel_dual.solve(K, y, upper)
    scores = K @ (alpha * y) + b
    xi = np.maximum(0.0, 1.0 - y * scores)
    return 0.5 * (alpha * y) @ K @ (alpha * y) + upper @ xi, scores, xi


def best_labeling(K, signs, C, C_unlabeled, num_plus):
    """OP 14 by trying every labelling with `num_plus` positives: its objective, and the labels."""
    unlabeled = np.flatnonzero(signs == 0)
    upper = np.where(signs == 0, C_unlabeled, C)
    best = (np.inf, None)
    for chosen in combinations(unlabeled, num_plus):
        y = np.where(signs == 0, -1.0, signs)
        y[list(chosen)] = 1.0
        value = labeled_problem(K, y, upper)[0]
        if value < best[0]:
            best = (value, y)
    return best


def figure_9_1(K, signs, C, C_unlabeled, num_plus, *, balanced=True):
    """The published search: its objective, and the labels. `balanced`: C*+ begins with the inverse ratio."""
    unlabeled = signs == 0
    k = unlabeled.sum()
    y = np.where(unlabeled, 1.0, signs)
    _, scores, _ = labeled_problem(K, y, np.where(unlabeled, 0.0, C))
    ranked = np.flatnonzero(unlabeled)[np.argsort(-scores[unlabeled], kind="stable")]
    y[ranked[num_plus:]] = -1.0
    ratio = num_plus / (k - num_plus)
    minus, plus = 1e-5, 1e-5 * (1 / ratio if balanced else ratio)
    while True:
        last = minus >= C_unlabeled and plus >= C_unlabeled
        minus, plus = min(minus, C_unlabeled), min(plus, C_unlabeled)
        while True:
            upper = np.where(unlabeled, np.where(y > 0, plus, minus), C)
            value, scores, xi = labeled_problem(K, y, upper)
            positive, negative = unlabeled & (y > 0) & (xi > 0), unlabeled & (y < 0) & (xi > 0)
            if not positive.any() or not negative.any():
                break
            worst, other = np.where(positive, xi, -1).argmax(), np.where(negative, xi, -1).argmax()
            if not xi[worst] + xi[other] > 2 + 1e-6:
                break
            y[worst], y[other] = -1.0, 1.0
        if last:
            return value, y
        minus, plus = 2 * minus, 2 * plus
