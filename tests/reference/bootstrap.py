"""The bootstrap by its definition: one sample after another, one example after another."""

from __future__ import annotations

import numpy as np


def expected_errors(fit, X, y, samples, seed, correction):
    """Errors of the rule of all examples on as many new ones, apart for y = 1 and y = -1.

    Parameters
    ----------
    fit : takes examples and signs, returns a function from examples to signs
    correction : "optimism" or "632+"
    """
    n = len(y)
    draws = np.random.default_rng(seed)
    rule = fit(X, y)
    trained = {sign: sum(rule(X)[i] != y[i] for i in range(n) if y[i] == sign) for sign in (1, -1)}
    optimism, outside, left = ({1: 0.0, -1: 0.0} for _ in range(3))
    for _ in range(samples):
        drawn = draws.integers(n, size=n)
        predicted = fit(X[drawn], y[drawn])(X)
        for i in range(n):
            times = sum(each == i for each in drawn)
            if predicted[i] != y[i]:
                # (5.11), corrected: 1/n less the share of the sample that is this example.
                optimism[y[i]] += 1 - times
                outside[y[i]] += times == 0
            left[y[i]] += times == 0
    if correction == "optimism":
        return {sign: trained[sign] + optimism[sign] / samples for sign in (1, -1)}
    size = {sign: sum(y == sign) for sign in (1, -1)}
    new = {sign: size[sign] * outside[sign] / left[sign] for sign in (1, -1)}
    p, q = size[1] / n, (size[1] - new[1] + new[-1]) / n
    by_chance = p * (1 - q) + (1 - p) * q
    error, error_new = sum(trained.values()) / n, sum(new.values()) / n
    worst = min(error_new, by_chance)
    overfitting = (worst - error) / (by_chance - error) if worst > error else 0.0
    weight = 0.632 / (1 - 0.368 * overfitting)
    return {
        sign: (1 - weight) * trained[sign] + weight * new[sign] * (worst / error_new if error_new else 1)
        for sign in (1, -1)
    }
