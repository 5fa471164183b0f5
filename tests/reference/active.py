"""Batches for labeling, one document and one pair at a time: slow, and obviously right."""

from __future__ import annotations

import math


def cosine(a, b):
    lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def worths(values, rows, picked, count, diversity, pool=10):
    """For values that all differ: what each document that may come after `picked` is worth."""
    candidates = sorted(range(len(values)), key=lambda i: -values[i])[: pool * count]
    found = {}
    for place, i in enumerate(candidates):
        if i in picked:
            continue
        worth = 1 - place / max(len(candidates) - 1, 1)
        if picked:
            worth = (1 - diversity) * worth - diversity * max(cosine(rows[i], rows[j]) for j in picked)
        found[i] = worth
    return found


def boundary_distance(row, several_classes):
    """How far one row of scores is from another decision."""
    if several_classes:
        ranked = sorted(row)
        return (ranked[-1] - ranked[-2]) / 2
    return min(abs(score) for score in row)
