"""Leave-one-out the slow way: solve the dual without each example in turn."""

from __future__ import annotations

import numpy as np

from tests.reference.kernel_dual import intercepts, kkt_violation, solve, stabilized

# An interval of b wider than this has no unbounded support vector in it; nearer to a bound is at it.
NARROW, NEAR = 1e-6, 1e-7


def left_out_scores(K, y, upper, hyperplane="unbiased", size=1.0):
    """The score of each example by the rule learned without it, and whether that problem was stable.

    `upper` may be infinite. `size` is that of the bias feature, or kappa. Give the squared hinge as the hard
    margin over ``K + diag(1 / (2 C))``: an example that is left out does not meet the diagonal.
    """
    scores, stable = np.zeros(len(y)), np.ones(len(y), dtype=bool)
    for t in range(len(y)):
        others = np.arange(len(y)) != t
        if hyperplane == "bias-feature":
            row, *problem = (
                K[t, others] + size**2,
                K[np.ix_(others, others)] + size**2,
                y[others],
                upper[others],
            )
        else:
            row, *problem = K[t, others], K[np.ix_(others, others)], y[others], upper[others]
        if hyperplane == "stabilized":
            problem = list(stabilized(*problem, size))
            row = np.append(row, [0.0, 0.0])
        biased = hyperplane in ("biased", "stabilized")
        alpha, b = solve(*problem, biased=biased)
        assert kkt_violation(*problem[:2], alpha, b, problem[2], biased) < 1e-5
        scores[t] = row @ (alpha * problem[1]) + (b if biased else 0.0)
        if hyperplane == "biased":
            stable[t] = is_stable(*problem[:2], alpha, problem[2])
    return scores, stable


def is_stable(K, y, alpha, upper):
    """Whether (8.32)-(8.34) leave one value of b only."""
    low, high = intercepts(K, y, alpha, upper, near=NEAR)
    return high - low < NARROW
