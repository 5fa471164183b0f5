"""The learners of Dagan, Karov, Roth and of Zhang in a few lines each: dense, one label."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog, minimize


def embedded(X):
    """[x, -x]"""
    return np.hstack([X, -X])


def with_constant(X, bias=1.0):
    return np.hstack([X, np.full((len(X), 1), bias)])


def mistakes(X, y, w, update, score=None, low=0.0, high=0.0, passes=50):
    """Pass over the documents until a pass makes no mistake; returns the number of mistakes of each pass.

    `update(x, y)` changes the weights `w` (an array that `score(x)` multiplies) in place.
    """
    score = score or (lambda x: w @ x)
    counts = []
    for _ in range(passes):
        count = 0
        for x, sign in zip(X, y, strict=True):
            value = score(x)
            if (sign > 0 and value <= high) or (sign < 0 and value >= low):
                count += 1
                update(x, sign)
        counts.append(count)
        if count == 0:
            break
    return counts


def perceptron(X, y, eta, passes=50):
    w = np.zeros(X.shape[1])

    def update(x, sign):
        w[:] += eta * sign * x

    return w, mistakes(X, y, w, update, passes=passes)


def dagan_perceptron(X, y, start, rate, low, high, passes=50):
    w = np.full(X.shape[1], start)

    def update(x, sign):
        w[x != 0] += sign * rate

    return w, mistakes(X, y, w, update, low=low, high=high, passes=passes)


def positive_winnow(X, y, start, promotion, demotion, low, high, passes=50, normalize=False):
    w = np.full(X.shape[1], start)

    def update(x, sign):
        w[x != 0] *= promotion if sign > 0 else demotion

    def score(x):
        return w @ x / ((x.sum() or 1.0) if normalize else 1.0)

    return w, mistakes(X, y, w, update, score, low, high, passes)


def balanced_winnow(X, y, share, promotion, demotion, low, high, passes=50):
    plus, minus = np.full(X.shape[1], 2 * share), np.full(X.shape[1], share)

    def update(x, sign):
        plus[x != 0] *= promotion if sign > 0 else demotion
        minus[x != 0] *= demotion if sign > 0 else promotion

    counts = mistakes(X, y, None, update, lambda x: (plus - minus) @ x, low, high, passes)
    return plus - minus, counts


def discarding_winnow(
    X, y, start, promotion, demotion, low, high, below, passes, *, balanced, normalize=False, around="start"
):
    """Positive or balanced Winnow that discards features (dagan 4.4).

    After the first pass that makes mistakes on less than the share `below` of the documents, the features
    leave whose weight lies between one demotion and one promotion of its start. Training then goes on: what
    was right with all features may be wrong with those that are left. In a normalized score, an average of
    weights, a feature that has left counts as at its start; with normalize="kept" it leaves the average.
    `around` is another filtering range, in multiples of `start`.

    Returns the rule after every document, the last rule, the mistakes of each pass, and who has left.
    """
    n, d = X.shape
    plus, minus = np.full(d, 2.0 * start if balanced else start), np.full(d, start if balanced else 0.0)
    demoted = plus * demotion - minus * promotion
    promoted = plus * promotion - minus * demotion
    if around != "start":
        demoted, promoted = (np.full(d, bound * start) for bound in around)
    gone, may_discard = np.zeros(d, dtype=bool), True

    def rule():
        return np.where(gone, start if normalize is True else 0.0, plus - minus)

    def sum_of(x):
        return (x[~gone] if normalize == "kept" else x).sum() or 1.0

    rules, counts = [], []
    for _ in range(passes):
        count = 0
        for x, sign in zip(X, y, strict=True):
            score = rule() @ x / (sum_of(x) if normalize else 1.0)
            if (sign > 0 and score <= high) or (sign < 0 and score >= low):
                count += 1
                active = (x != 0) & ~gone
                plus[active] *= promotion if sign > 0 else demotion
                minus[active] *= demotion if sign > 0 else promotion
            rules.append(rule())
        counts.append(count)
        if may_discard and count < below * n:
            weight = plus - minus
            gone = (weight >= demoted) & (weight <= promoted)
            may_discard = False
        elif count == 0:
            break
    return np.array(rules), rule(), counts, gone


def winnow(X, y, eta, mu, W=None, passes=50, halves=False):
    """Zhang's Winnow on positive weights; normalized to the sum W when that is given.

    With `halves` X is [x, -x], and equal weights cancel before they meet x: the first score is exactly 0.
    """
    w = np.full(X.shape[1], mu)  # mu is a number, or an array of one per feature
    if W is not None:
        w *= W / w.sum()

    def update(x, sign):
        w[:] *= np.exp(eta * sign * x)
        if W is not None:
            w[:] *= W / w.sum()

    def score(x):
        d = len(x) // 2
        return (w[:d] - w[d:]) @ x[:d] if halves else w @ x

    return w, mistakes(X, y, w, update, score, passes=passes)


def large_margin(X, y, C, eta, weights_of, passes):
    """Zhang's dual updates with a fixed eta; `weights_of(v)` is the rule for v = sum alpha_i y_i x_i."""
    alpha = np.zeros(len(y))
    for _ in range(passes):
        for i in range(len(y)):
            w = weights_of(X.T @ (alpha * y))
            alpha[i] = min(max(alpha[i] + eta * (1 - y[i] * (w @ X[i])), 0.0), C[i])
    return alpha, weights_of(X.T @ (alpha * y))


def unnormalized(mu):
    return lambda v: mu * np.exp(v)


def normalized(mu, W):
    return lambda v: W * mu * np.exp(v - v.max()) / (mu * np.exp(v - v.max())).sum()


def dual_objective(X, y, alpha, mu, W=None):
    """Of LM-UWin; of LM-NWin, with the constant that makes it meet the primal, when W is given."""
    v = X.T @ (alpha * y)
    if W is None:
        return alpha.sum() - (mu * np.exp(v)).sum()
    return alpha.sum() - W * (v.max() + np.log((mu * np.exp(v - v.max())).sum())) + W * np.log(W) - W


def primal_objective(X, y, w, C, mu):
    """sum w ln(w / (e mu)) + sum C xi over the positive weights w."""
    return (w * (np.log(np.maximum(w, 1e-300) / mu) - 1)).sum() + (C * np.maximum(0, 1 - y * (X @ w))).sum()


def best_dual(X, y, C, mu, W=None):
    """The maximum of the dual by a generic solver for smooth problems in a box, from several starts."""

    def value(alpha):
        v = X.T @ (alpha * y)
        w = unnormalized(mu)(v) if W is None else normalized(mu, W)(v)
        return -dual_objective(X, y, alpha, mu, W), -(1 - y * (X @ w))

    options = {"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 0, "gtol": 1e-12, "maxls": 100}
    bounds, values = [(0, c) for c in C], []
    for start in (0.0, 0.5):
        alpha = start * C
        # L-BFGS-B stops early on flat ground; starting again from its answer costs little at this size.
        for _ in range(5):
            run = minimize(value, alpha, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
            alpha = run.x
            values.append(run.fun)
    return -min(values)


def hard_margin(X, y, mu, W=None):
    """min sum w ln(w / (e mu)) over positive w with y_i w.x_i >= 1 (and sum w = W) by a generic solver.

    Returns the weights; None if a linear program finds none, or margins of less than 1e-3.
    """
    A, d = X * y[:, None], X.shape[1]
    sums = {} if W is None else {"A_eq": [[1.0] * d + [0.0]], "b_eq": [W]}
    # The largest margin of weights with this sum, or of weights in a box.
    widest = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.hstack([-A, np.ones((len(y), 1))]),
        b_ub=np.zeros(len(y)),
        bounds=[(0, 1e3 if W is None else W)] * d + [(None, None)],
        **sums,
    )
    margin = -widest.fun
    if margin < (1e-3 if W is None else 1.001):
        return None
    start = np.maximum(widest.x[:-1] / (margin if W is None else 1.0), 1e-9)
    limits = [{"type": "ineq", "fun": lambda w: A @ w - 1, "jac": lambda w: A}]
    if W is not None:
        limits.append({"type": "eq", "fun": lambda w: [w.sum() - W], "jac": lambda w: np.ones((1, d))})
    found = minimize(
        lambda w: (w * (np.log(w / mu) - 1)).sum(),
        start,
        jac=lambda w: np.log(w / mu),
        bounds=[(1e-12, None)] * d,
        constraints=limits,
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return found.x


def complement_winnow(X, y, theta, promotion, demotion, low, high, passes=50):
    """Littlestone's positive Winnow over binary features and their complements; n of the 2n are active."""
    n = X.shape[1]
    return positive_winnow(np.hstack([X, 1 - X]), y, theta / n, promotion, demotion, low, high, passes)
