"""Exact tests of whether two samples have the same share of something, without SciPy.

Given how many of all examples have it, the number in the second sample is hypergeometric if the shares are
equal (Fisher's exact test), whatever the share is. If the odds differ by a factor, it has Fisher's noncentral
distribution, which grows with the factor: so the test at the largest tolerated factor is a test of all
smaller ones. Both samples are finite, and the p-values allow for that.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Nearer to the expected number than so many standard deviations, a p-value is not computed: it is called 1.
_SCREEN = 2.0
_STIRLING = 16
# The logarithm of how many sets of classes a test can be corrected for; more would overflow.
_MOST_SETS = 600.0


def changed_shares(first: Any, n_first: int, second: Any, n_second: int, tolerance: Any = 1.0) -> Floats:
    """Two-sided p-values of "the odds changed by at most the factor `tolerance`", one per share.

    Parameters
    ----------
    first, second : (k,) how many of `n_first` and of `n_second` examples have each property
    tolerance : 1 or more, a number or (k,)

    Returns
    -------
    (k,); 1 where the shares are so near that no test would find a difference

    Examples
    --------
    >>> changed_shares([50, 50], 100, [52, 80], 100).round(6).tolist()
    [1.0, 1.4e-05]
    >>> changed_shares([50], 100, [80], 100, tolerance=2.0).round(4).tolist()
    [0.0414]
    """
    ours, theirs = (np.asarray(part, dtype=np.float64) for part in (first, second))
    factors = np.broadcast_to(np.asarray(tolerance, dtype=np.float64), ours.shape)
    result = np.ones(ours.shape)
    apart = _standard_distance(ours, n_first, theirs, n_second)
    for j in np.flatnonzero(np.abs(apart) > _SCREEN).tolist():
        tail = _tail(int(ours[j]), n_first, int(theirs[j]), n_second, factors[j], apart[j] > 0)
        result[j] = min(1.0, 2 * tail)
    return result


class ChangedMix(NamedTuple):
    """Classes that together have a larger share in the second sample, and the p-value of that."""

    p_value: float
    grown: NDArray[np.intp]


def changed_mix(first: Any, n_first: int, second: Any, n_second: int, tolerance: float = 1.0) -> ChangedMix:
    """Whether the shares of exclusive classes changed: the set of classes that grew most beyond chance.

    For every number s of classes, those whose shares grew by the largest factors are tested together, against
    "their odds grew by at most the factor `tolerance`". The p-value is corrected for all sets of s classes,
    of which there are many for middling s, and for the numbers s.

    Examples
    --------
    >>> found = changed_mix([50, 50, 50, 50], 200, [30, 30, 70, 70], 200)
    >>> found.grown.tolist(), f"{found.p_value:.0e}"
    ([2, 3], '2e-03')
    """
    ours, theirs = (np.asarray(part, dtype=np.float64) for part in (first, second))
    # Classes that neither sample has are no choice; the test is given how many both have.
    known = np.flatnonzero(ours + theirs)
    k = len(known)
    order = known[np.argsort(-(theirs[known] + 0.5) / (ours[known] + 0.5), kind="stable")]
    before, after = np.cumsum(ours[order]), np.cumsum(theirs[order])
    apart = _standard_distance(before, n_first, after, n_second)
    best = ChangedMix(1.0, np.empty(0, np.intp))
    for s in range(1, k):
        few = min(s, k - s)
        sets = (
            math.lgamma(k + 1) - math.lgamma(s + 1) - math.lgamma(k - s + 1) + math.log(2 * few * (few + 1))
        )
        # A tail of about exp(-z**2 / 2) cannot make up for so many sets.
        if apart[s - 1] <= max(_SCREEN, math.sqrt(sets)) or sets > _MOST_SETS:
            continue
        tail = _tail(int(before[s - 1]), n_first, int(after[s - 1]), n_second, tolerance, True)
        corrected = min(1.0, tail * math.exp(sets))
        if corrected < best.p_value:
            best = ChangedMix(corrected, np.sort(order[:s]))
    return best


def _standard_distance(first: Floats, n_first: int, second: Floats, n_second: int) -> Floats:
    """How far the second sample is above what both together let expect, in standard deviations."""
    if n_first < 1 or n_second < 1:
        return np.zeros(first.shape)
    rate = (first + second) / (n_first + n_second)
    spread = np.sqrt(rate * (1 - rate) * n_second * n_first / (n_first + n_second))
    return np.divide(second - rate * n_second, spread, out=np.zeros(first.shape), where=spread > 0)


def _tail(first: int, n_first: int, second: int, n_second: int, factor: float, more: bool) -> float:
    """The probability of at least (`more`), or at most, so many in the second sample, given the sum."""
    marked = first + second
    low, high = max(0, marked - n_first), min(marked, n_second)
    x = np.arange(low, high + 1)
    logs = -(_log_factorial(x) + _log_factorial(marked - x))
    logs -= _log_factorial(n_second - x) + _log_factorial(n_first - marked + x)
    logs += x * (math.log(factor) if more else -math.log(factor))
    weights = np.exp(logs - logs.max())
    part = weights[second - low :] if more else weights[: second - low + 1]
    # The last digits may round a whole sum above 1.
    return min(1.0, float(part.sum() / weights.sum()))


def _log_factorial(n: Any) -> Floats:
    """log n!: a table below 16, then Stirling's series, whose error is below 1e-12."""
    n = np.asarray(n, dtype=np.float64)
    x = np.maximum(n, _STIRLING)
    series = 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5) - 1 / (1680 * x**7)
    large = (x + 0.5) * np.log(x) - x + 0.5 * math.log(2 * math.pi) + series
    small = _TABLE[np.minimum(n, _STIRLING - 1).astype(np.intp)]
    return np.asarray(np.where(n < _STIRLING, small, large))


_TABLE: Floats = np.array([math.lgamma(n + 1) for n in range(_STIRLING)])
