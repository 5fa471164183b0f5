"""Bounds of transductive learning (joachims 7.1 and 7.2): the error on given test examples.

Training and test examples are one set of n + k, of which a random n are labeled. On this set, a class of
rules amounts to finitely many labelings. For a fixed one with m errors, the number of errors among the n is
hypergeometric; all labelings together deviate with a chance of at most their number times that.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from widemargin.errors import UsageError
from widemargin.theory.bounds import margin_vc_dimension


def log_labelings(n: int, k: int, squared_norm: float, R2: float, n_features: float = math.inf) -> float:
    """Theorem 12: the logarithm of the number of labelings of n + k examples by hyperplanes with a margin.

    ``d (ln((n + k)/d) + 1)`` with ``d = min(features, [R^2/delta^2] + 1)``; the thesis prints it without the
    inner logarithm. Never more than all labelings, 2^(n + k).

    Parameters
    ----------
    n, k : numbers of training and test examples
    squared_norm : w.w = 1/delta^2, fixed before labels are seen. With that of a trained machine, this is a
        comparison, not a bound.
    R2 : squared diameter of a ball that contains all examples

    Examples
    --------
    >>> round(log_labelings(10, 990, 4.0, 2.5), 1)
    60.6
    """
    if n < 1 or k < 1 or not squared_norm >= 0 or not R2 >= 0 or not n_features >= 1:
        raise UsageError(
            f"n={n!r}, k={k!r}, squared_norm={squared_norm!r}, R2={R2!r}, n_features={n_features!r}: "
            f"expected numbers that are not negative, and an example of both kinds."
        )
    dimension = min(margin_vc_dimension(squared_norm, R2), n_features)
    every = (n + k) * math.log(2)
    return every if dimension >= n + k else min(dimension * (math.log((n + k) / dimension) + 1), every)


def transductive_bound(
    training_errors: int, n: int, k: int, log_labelings: float = 0.0, eta: float = 0.05
) -> float:
    """The error on k test examples, with confidence 1 - eta, from the errors on n training examples (7.5).

    Of all numbers m of errors on both together, the largest is taken for which so few in training are not too
    unlikely: ``ln Pr(at most that many | m) + ln N > ln eta``. Vapnik (1998, 8.1) bounds the relative
    deviation by the same distribution; to invert it directly is simpler, and needs no approximation.

    Parameters
    ----------
    training_errors : number of wrong training examples
    log_labelings : ln N, of the labelings that the rule was chosen from: 0 for a rule that was fixed before;
        see :func:`log_labelings`
    eta : chance that the bound does not hold

    Examples
    --------
    >>> round(transductive_bound(0, 100, 1000, 0.0), 3), round(transductive_bound(0, 100, 1000, 10.0), 3)
    (0.03, 0.127)
    """
    if not 0 <= training_errors <= n or n < 1 or k < 1 or not log_labelings >= 0 or not 0 < eta < 1:
        raise UsageError(
            f"training_errors={training_errors!r}, n={n!r}, k={k!r}, log_labelings={log_labelings!r}, "
            f"eta={eta!r}: expected errors on at most n examples, a test example, and a probability."
        )
    least = math.log(eta) - log_labelings
    # So few errors in training get less likely the more there are: bisection.
    low, high = training_errors, training_errors + k
    while low < high:
        middle = (low + high + 1) // 2
        if _log_chance(training_errors, middle, n, k) > least:
            low = middle
        else:
            high = middle - 1
    return (low - training_errors) / k


def _log_chance(most: int, errors: int, n: int, k: int) -> float:
    """ln of the chance of at most `most` errors among n of n + k examples, `errors` of which are wrong."""
    j = np.arange(max(errors - k, 0), min(most, errors, n) + 1)
    if not len(j):
        return -math.inf
    ways = _log_choose(errors, j) + _log_choose(n + k - errors, n - j) - _log_choose(n + k, np.array(n))
    return float(logsumexp(ways))


def _log_choose(total: int, part: np.ndarray) -> np.ndarray:
    found: np.ndarray = gammaln(total + 1) - gammaln(part + 1) - gammaln(total - part + 1)
    return found
