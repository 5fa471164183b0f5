"""Costs between classes and offsets of classes, one document and one candidate at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

Matrix = Sequence[Sequence[float]]


def average_cost(costs: Matrix, truth: Sequence[int], decided: Sequence[int]) -> float:
    """The mean cost of a decision."""
    return sum(costs[i][j] for i, j in zip(truth, decided, strict=True)) / len(truth)


def cheapest_class(costs: Matrix, truth: Sequence[int]) -> tuple[float, int]:
    """The lowest mean cost of always deciding one class, and the class."""
    return min((average_cost(costs, truth, [j] * len(truth)), j) for j in range(len(costs)))


def least_cost(probabilities: Matrix, costs: Matrix) -> list[int]:
    """The decision of the least expected cost for every row of probabilities."""
    classes = range(len(costs))
    return [min(classes, key=lambda j, p=p: sum(p[i] * costs[i][j] for i in classes)) for p in probabilities]


def decided(scores: Matrix, offsets: Sequence[float]) -> list[int]:
    """The class with the largest score plus offset; the first of equal ones."""
    return [max(range(len(offsets)), key=lambda j, row=row: (row[j] + offsets[j], -j)) for row in scores]


def macro_f1(truth: Sequence[int], found: Sequence[int], k: int, strength: float = 0.0) -> float:
    """The mean F1 of the classes that occur, each with `strength` examples of the average class."""
    right = sum(a == b for a, b in zip(truth, found, strict=True)) / len(truth)
    values = []
    for c in range(k):
        positives, predicted = truth.count(c), found.count(c)
        hits = sum(a == b == c for a, b in zip(truth, found, strict=True))
        if positives:
            values.append(2 * (hits + strength * right) / (positives + predicted + 2 * strength))
    return sum(values) / len(values)


def best_on_a_grid(
    scores: Matrix, value: Callable[[list[int]], float], grid: Sequence[float]
) -> tuple[float, tuple[float, ...]]:
    """The best value of any offsets from a grid; the first class has none."""
    k = len(scores[0])
    candidates = ((0.0, *rest) for rest in itertools.product(grid, repeat=k - 1))
    return max((value(decided(scores, offsets)), offsets) for offsets in candidates)
