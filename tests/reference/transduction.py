"""Transduction, slowly: the best of all labelings, and Figure 9.1 of the thesis, one pair or many at a time.

Every machine is solved by the interior-point method of `kernel_dual`, from scratch.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tests.reference import kernel_dual

ROUNDING = 1e-6  # an unbounded support vector has a slack of 0, but for its last digits


def labeled_problem(K, y, upper, *, biased=True):
    """The objective at the solution for fixed labels, its scores and its slacks."""
    alpha, b = kernel_dual.solve(K, y, upper, biased)
    scores = K @ (alpha * y) + b
    xi = np.maximum(0.0, 1.0 - y * scores)
    return 0.5 * (alpha * y) @ K @ (alpha * y) + upper @ xi, scores, xi


def best_labeling(K, signs, C, C_unlabeled, num_plus):
    """OP 14 by trying every labeling with `num_plus` positives: its objective, and the labels."""
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


def pairs_to_switch(xi, y, unlabeled, many):
    """Pairs of a positive and a negative example whose labels are to be exchanged, the largest slacks first.

    One pair, as published; or of all pairs with slacks above 2 together half (rounded up), and all of them
    where there are at least 50.
    """
    sides = []
    for sign in (1, -1):
        inside = [i for i in np.flatnonzero(unlabeled) if y[i] == sign and xi[i] > ROUNDING]
        sides.append(sorted(inside, key=lambda i: -xi[i]))
    pairs = [pair for pair in zip(*sides, strict=False) if xi[list(pair)].sum() > 2 + ROUNDING]
    if not many:
        return pairs[:1]
    return pairs if len(pairs) >= 50 else pairs[: (len(pairs) + 1) // 2]


def figure_9_1(K, signs, C, C_unlabeled, num_plus, *, balanced=True, many=False, biased=True):
    """The published search: its objective, the labels, and the number of pairs that were switched.

    `balanced`: C*+ begins with the inverse ratio. `many`: pairs are switched many at a time.
    """
    unlabeled = signs == 0
    k = unlabeled.sum()
    y = np.where(unlabeled, 1.0, signs)
    _, scores, _ = labeled_problem(K, y, np.where(unlabeled, 0.0, C), biased=biased)
    ranked = np.flatnonzero(unlabeled)[np.argsort(-scores[unlabeled], kind="stable")]
    y[ranked[num_plus:]] = -1.0
    ratio = num_plus / (k - num_plus)
    minus, plus = 1e-5, 1e-5 * (1 / ratio if balanced else ratio)
    switches = 0
    while True:
        last = minus >= C_unlabeled and plus >= C_unlabeled
        minus, plus = min(minus, C_unlabeled), min(plus, C_unlabeled)
        while True:
            upper = np.where(unlabeled, np.where(y > 0, plus, minus), C)
            value, _, xi = labeled_problem(K, y, upper, biased=biased)
            pairs = pairs_to_switch(xi, y, unlabeled, many)
            if not pairs:
                break
            for positive, negative in pairs:
                y[positive], y[negative] = -1.0, 1.0
            switches += len(pairs)
        if last:
            return value, y, switches
        minus, plus = 2 * minus, 2 * plus
