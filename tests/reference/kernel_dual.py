"""Kernels from their formulas, and the SVM's dual over a dense Gram matrix by an interior-point method.

Minimize ``1/2 a'Qa - 1'a`` with ``Q_ij = y_i y_j K_ij``, ``0 <= a_i <= upper_i`` (which may be infinite)
and, for the biased hyperplane, ``y'a = 0`` (OP 11). `kkt_violation` proves an answer right without the
method that found it.
"""

from __future__ import annotations

import numpy as np


def gram(A, B, kernel, *, gamma=0.1, degree=3, coef0=1.0, power=1.0):
    """K(a, b) for all rows of two dense matrices."""
    if kernel == "linear":
        return A @ B.T
    if kernel == "poly":
        return (gamma * (A @ B.T) + coef0) ** degree
    if kernel == "sigmoid":
        return np.tanh(gamma * (A @ B.T) + coef0)
    difference, total = A[:, None, :] - B[None, :, :], A[:, None, :] + B[None, :, :]
    if kernel == "rbf":
        return np.exp(-gamma * (difference**2).sum(axis=2))
    if kernel == "chi2":
        terms = np.divide(difference**2, total, out=np.zeros_like(total), where=total > 0)
        return np.exp(-gamma * (2 * terms.sum(axis=2)) ** power)
    raise ValueError(kernel)


def stabilized(K, y, upper, kappa):
    """The problem of OP 6: two artificial examples of length kappa, orthogonal to everything, no slack."""
    n = len(y)
    extended = np.zeros((n + 2, n + 2))
    extended[:n, :n] = K
    extended[n, n] = extended[n + 1, n + 1] = kappa**2
    return extended, np.append(y, [1.0, -1.0]), np.append(upper, [np.inf, np.inf])


def dual_value(K, y, alpha):
    """W(alpha) = sum alpha - 1/2 |w|^2, what the dual maximizes."""
    return alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y)


def primal_value(K, y, alpha, b, upper):
    """1/2 |w|^2 + the cost of the slacks of (w, b), where w is the combination by alpha."""
    s = K @ (alpha * y)
    xi = np.maximum(0.0, 1.0 - y * (s + b))
    finite = np.isfinite(upper)
    return 0.5 * (alpha * y) @ s + upper[finite] @ xi[finite]


def intercepts(K, y, alpha, upper, near=0.0):
    """The interval of b that (8.32)-(8.34) leave; with an unbounded support vector, a point.

    An alpha that is closer to a bound than `near` times its upper bound counts as being there: the solver
    below ends inside the box, however close to its walls.
    """
    b = y - K @ (alpha * y)
    below, above = alpha < upper * (1 - near), alpha > np.minimum(upper, alpha.max(initial=0)) * near
    at_least = (below & (y > 0)) | (above & (y < 0))
    at_most = (below & (y < 0)) | (above & (y > 0))
    return max(b[at_least], default=-np.inf), min(b[at_most], default=np.inf)


def kkt_violation(K, y, alpha, b, upper, biased=True):
    """By how much (8.7)-(8.13) fail: the epsilon of (8.32)-(8.34), and the constraints themselves."""
    margin = y * (K @ (alpha * y) + b) - 1.0
    violation = np.abs(margin)
    # A sum of rounded steps may end a last digit from its bound.
    at_zero, at_upper = alpha <= 1e-12 * np.minimum(upper, 1.0), alpha >= upper * (1 - 1e-12)
    violation[at_zero] = np.maximum(0, -margin[at_zero])
    violation[at_upper] = np.maximum(0, margin[at_upper])
    violation[upper <= 0] = 0
    infeasible = max(np.max(-alpha, initial=0), np.max(alpha - upper, initial=0))
    if biased:
        infeasible = max(infeasible, abs(alpha @ y) / max(1.0, alpha.sum()))
    return max(violation.max(initial=0), infeasible)


def solve(K, y, upper, biased=True):
    """The optimal alpha and b (0 without the constraint) by a primal-dual interior-point method.

    The method ends near the solution; which alphas are at a bound is clear there, and the others follow from
    the linear equations that (8.7) and (8.12) make of them. The better of the two answers is returned.
    """
    y, upper = np.asarray(y, dtype=float), np.asarray(upper, dtype=float)
    alpha = np.zeros(len(y))
    some = upper > 0
    K, y, upper = K[np.ix_(some, some)], y[some], upper[some]
    near, b, at_zero, at_upper = _interior_point(K, y, upper, biased)
    answers = [(near, b), (np.where(at_zero, 0.0, np.where(at_upper, upper, near)), b)]
    answers.append(_equations(K, y, upper, at_zero, at_upper, *answers[1], biased))
    if biased:  # at a solution without unbounded support vectors b is any point of an interval
        answers += [(a, float(np.clip(b, *sorted(intercepts(K, y, a, upper))))) for a, b in answers]
    alpha[some], b = min(answers, key=lambda answer: kkt_violation(K, y, *answer, upper, biased))
    return alpha, b


def _interior_point(K, y, upper, biased):
    bounded = np.isfinite(upper)
    Q = K * np.outer(y, y)
    a = np.where(bounded, np.where(bounded, upper, 1.0) / 2, 1.0)
    room = np.where(bounded, upper - a, 1.0)  # kept as a variable: a difference would lose its digits
    low, high, b = np.ones(len(y)), np.where(bounded, 1.0, 0.0), 0.0
    for _ in range(200):
        gap = (low @ a + high @ room) / (len(y) + bounded.sum())
        if gap < 1e-13:
            break
        mu = 0.1 * gap
        dual = Q @ a - 1.0 - low + high + b * y
        # Newton's step on (8.7)-(8.9), (8.12) with the products of (8.8) and (8.9) set to mu.
        r = -dual - low + mu / a + np.where(bounded, high - mu / room, 0.0)
        system = np.block([[Q + np.diag(low / a + high / room), y[:, None]], [y[None, :], np.zeros((1, 1))]])
        if not biased:
            system[-1, :-1] = system[:-1, -1] = 0.0
            system[-1, -1] = 1.0
        try:
            step = np.linalg.solve(system, np.append(r, -y @ a if biased else 0.0))
        except np.linalg.LinAlgError:  # so close to the walls that the digits are gone
            break
        da, db = step[:-1], step[-1]
        dlow = mu / a - low - low / a * da
        dhigh = np.where(bounded, mu / room - high + high / room * da, 0.0)
        droom = np.where(bounded, -da, 0.0)
        length = 1.0
        for value, change in ((a, da), (room, droom), (low, dlow), (high, dhigh)):
            falling = change < 0
            length = min(length, 0.99 * np.min(-value[falling] / change[falling], initial=np.inf))
        a, room, b = a + length * da, room + length * droom, b + length * db
        low, high = low + length * dlow, high + length * dhigh
    return a, b, a < low, bounded & (room < high)


def _equations(K, y, upper, at_zero, at_upper, alpha, b, biased):
    """The alphas between their bounds that make their margins exactly 1, nearest to the ones given."""
    free = ~at_zero & ~at_upper
    if not free.any():
        return alpha, b
    columns = np.append(free, biased)
    system = np.block([[K * np.outer(y, y), y[:, None]], [y[None, :], np.zeros((1, 1))]])
    residual = np.append(np.ones(len(y)), 0.0) - system @ np.append(alpha, b)
    change = np.zeros(len(y) + 1)
    change[columns] = np.linalg.lstsq(system[np.ix_(columns, columns)], residual[columns], rcond=1e-12)[0]
    return np.clip(alpha + change[:-1], 0.0, upper), b + change[-1]
