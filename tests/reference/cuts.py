"""Thresholds by trying all of them, one label at a time, one candidate after the other."""

from __future__ import annotations

import itertools
import math


def candidates(scores):
    """Infinity, midway between different scores from the highest on, minus infinity."""
    different = sorted(set(scores), reverse=True)
    return [math.inf, *((a + b) / 2 for a, b in itertools.pairwise(different)), -math.inf]


def outcomes(scores, truth, threshold):
    """Hits, and how many are given the label."""
    given = [y for s, y in zip(scores, truth, strict=True) if s > threshold]
    return sum(y > 0 for y in given), len(given)


def f_value(scores, truth, threshold, beta):
    hits, given = outcomes(scores, truth, threshold)
    positives = sum(y > 0 for y in truth)
    total = beta**2 * positives + given
    return (1 + beta**2) * hits / total if total else 0.0


def cost_value(scores, truth, threshold, costs):
    hits, given = outcomes(scores, truth, threshold)
    positives = sum(y > 0 for y in truth)
    rest = len(truth) - positives - (given - hits)
    return (
        costs[0][0] * hits
        + costs[0][1] * (given - hits)
        + costs[1][0] * (positives - hits)
        + costs[1][1] * rest
    )
