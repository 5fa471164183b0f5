"""Support vector machines without any rounding: rational numbers, and all active sets tried in turn.

Minimize ``1/2 a'Qa - 1'a`` with ``Q_ij = y_i y_j K_ij``, ``0 <= a_i <= upper_i`` (which may be infinite) and,
for the unregularized threshold, ``y'a = 0``. Each example is at 0, at its upper bound or free; the alphas of
the free ones follow from linear equations, and the optimality conditions prove an answer. Some solution has
free examples whose equations are independent (along any other direction the objective is constant, so a bound
is met), which is why singular systems can be passed over.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

INFINITY = float("inf")


def rational(values):
    """Floating-point numbers as what they are."""
    return [[Fraction(float(value)) for value in row] for row in np.atleast_2d(values)]


def inner_products(X):
    """The linear kernel of the rows of `X`."""
    rows = rational(X)
    return [[sum((a * b for a, b in zip(x, z, strict=True)), Fraction(0)) for z in rows] for x in rows]


def solve(K, y, upper, biased):
    """The alphas and the interval of thresholds that are optimal; (0, 0) without a threshold."""
    n = len(y)
    both, all_three = ("zero", "free"), ("zero", "free", "upper")
    choices = [("zero",) if u == 0 else (both if u == INFINITY else all_three) for u in upper]
    for states in sorted(itertools.product(*choices), key=lambda states: states.count("free")):
        alpha = [upper[i] if states[i] == "upper" else Fraction(0) for i in range(n)]
        free = [i for i in range(n) if states[i] == "free"]
        known = [sum((alpha[j] * y[j] * K[i][j] for j in range(n)), Fraction(0)) for i in range(n)]
        balance = -sum((alpha[j] * y[j] for j in range(n)), Fraction(0))
        if not free:
            if biased and balance != 0:
                continue
            threshold = None
        else:
            # y_i (known_i + sum_j y_j K_ij a_j + b) = 1, and the equality constraint.
            one = [Fraction(1)] if biased else []
            system = [[y[j] * K[i][j] for j in free] + one + [y[i] - known[i]] for i in free]
            if biased:
                system.append([Fraction(y[j]) for j in free] + [Fraction(0), balance])
            found = _equations(system)
            if found is None or any(not 0 <= a <= upper[i] for i, a in zip(free, found, strict=False)):
                continue
            for i, a in zip(free, found, strict=False):
                alpha[i] = a
            threshold = found[-1] if biased else None
        s = [sum((alpha[j] * y[j] * K[i][j] for j in range(n)), Fraction(0)) for i in range(n)]
        low, high = (-INFINITY, INFINITY) if biased else (Fraction(0), Fraction(0))
        if threshold is not None:
            low = high = threshold
        right = True
        for i in range(n):
            if upper[i] == 0 or states[i] == "free":
                continue
            # y (s + b) >= 1 at zero, <= 1 at the upper bound.
            at_least = (y[i] > 0) == (states[i] == "zero")
            if not biased:
                right &= s[i] >= y[i] if at_least else s[i] <= y[i]
            elif at_least:
                low = max(low, y[i] - s[i])
                right &= threshold is None or low == threshold
            else:
                high = min(high, y[i] - s[i])
                right &= threshold is None or high == threshold
        if right and low <= high:
            return alpha, (low, high)
    raise AssertionError("there is no solution: are the classes not separable?")


def _equations(system):
    """The solution of a square system with its right-hand side as the last column; None if it is singular."""
    rows, size = [row[:] for row in system], len(system)
    for k in range(size):
        pivot = next((r for r in range(k, size) if rows[r][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for r in range(size):
            if r != k and rows[r][k] != 0:
                rows[r] = [a - rows[r][k] * b for a, b in zip(rows[r], rows[k], strict=True)]
    return [row[-1] for row in rows]


def middle(interval):
    """The convention for a threshold: the middle of its interval, or the end where there is only one."""
    low, high = interval
    if low == -INFINITY:
        return Fraction(0) if high == INFINITY else high
    return low if high == INFINITY else (low + high) / 2


def left_out_scores(K, y, upper, biased, ridge=None):
    """The score of each example by the rule that is learned without it.

    `ridge` is added to the diagonal in training: the squared hinge is a hard margin with 1 / (2 C) there.
    """
    n, scores = len(y), []
    y = [int(sign) for sign in y]
    for t in range(n):
        others = [i for i in range(n) if i != t]
        Q = [[K[i][j] + (ridge[i] if ridge is not None and i == j else 0) for j in others] for i in others]
        alpha, interval = solve(Q, [y[i] for i in others], [upper[i] for i in others], biased)
        s = sum((a * y[i] * K[t][i] for a, i in zip(alpha, others, strict=True)), Fraction(0))
        scores.append(s + middle(interval))
    return scores
