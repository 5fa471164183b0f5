"""Exclusive classes of given sizes: which document goes to which class, at the least total cost.

With one offset per class, ``argmin_c (cost_ic - offset_c)`` is the best assignment for the sizes that it
happens to have: the offsets are the multipliers of the sizes in the transportation problem. Offsets are
improved one class at a time. What is left of the differences is moved along the cheapest path between
classes, one edge per moved document (successive shortest paths), so that the result is exact. Documents with
the same costs move together.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_OFFSET_STEPS = 60


def assigned(costs: Any, sizes: Any) -> Places:
    """The class of every document, so that class c gets `sizes[c]` documents at the least total cost.

    Parameters
    ----------
    costs : (n, classes) the cost of each document in each class
    sizes : (classes,) numbers of documents, which add up to n

    Examples
    --------
    Both documents would be cheaper in the first class; the second one loses less.

    >>> assigned([[0.0, 3.0], [1.0, 2.0]], [1, 1]).tolist()
    [0, 1]
    """
    costs, sizes = np.asarray(costs, dtype=np.float64), np.asarray(sizes, dtype=np.int64)
    if sizes.shape != costs.shape[1:] or sizes.sum() != len(costs) or (sizes < 0).any():
        raise UsageError(f"Sizes {sizes.tolist()[:10]} of classes for {len(costs)} documents do not add up.")
    if not len(costs):
        return np.zeros(0, dtype=np.intp)
    place = _by_offsets(costs, sizes)
    _move_the_rest(costs, sizes, place)
    return place


def sizes_of(shares: Any, n: int) -> NDArray[np.int64]:
    """Whole numbers of documents that add up to n, nearest to their shares.

    Examples
    --------
    >>> sizes_of([0.5, 0.3, 0.2], 8).tolist()
    [4, 2, 2]
    """
    wanted = np.asarray(shares, dtype=np.float64) / np.sum(shares) * n
    sizes: NDArray[np.int64] = np.floor(wanted).astype(np.int64)
    for c in np.argsort(sizes - wanted, kind="stable")[: n - int(sizes.sum())]:
        sizes[c] += 1
    return sizes


def _by_offsets(costs: Floats, sizes: NDArray[np.int64]) -> Places:
    """An assignment that is the best for its own sizes, which are near to the wanted ones."""
    n, n_classes = costs.shape
    offsets = np.zeros(n_classes)
    nearest: Places = costs.argmin(axis=1)
    least = n * n_classes
    for _ in range(_OFFSET_STEPS):
        shifted = costs - offsets
        place = shifted.argmin(axis=1)
        excess = np.bincount(place, minlength=n_classes) - sizes
        if (missed := int(np.abs(excess).sum())) < least:
            nearest, least = place, missed
        if not missed:
            break
        # The class that is farthest from its size gets the offset that is right while the others stay.
        c = int(np.abs(excess).argmax())
        shifted[:, c] = np.inf
        needed = np.sort(costs[:, c] - shifted.min(axis=1))
        m = int(sizes[c])
        low, high = needed[max(m - 1, 0)], needed[min(m, n - 1)]
        offsets[c] = low - 1.0 if m == 0 else high + 1.0 if m == n else (low + high) / 2
    return nearest


def _move_the_rest(costs: Floats, sizes: NDArray[np.int64], place: Places) -> None:
    n_classes = len(sizes)
    excess = np.bincount(place, minlength=n_classes) - sizes
    if not excess.any():
        return
    prices = np.full((n_classes, n_classes), np.inf)
    for c in range(n_classes):
        prices[c] = _prices(costs, place, c)
    while excess.any():
        path = _cheapest_path(prices, excess)
        edges = list(pairwise(path))
        movable = []
        for a, b in edges:
            members = np.flatnonzero(place == a)
            movable.append(members[costs[members, b] - costs[members, a] <= prices[a, b]])
        together = min(int(excess[path[0]]), int(-excess[path[-1]]), *map(len, movable))
        for (_, b), members in zip(edges, movable, strict=True):
            place[members[:together]] = b
        excess[path[0]] -= together
        excess[path[-1]] += together
        for c in path:
            prices[c] = _prices(costs, place, c)


def _prices(costs: Floats, place: Places, c: int) -> Floats:
    """The least cost of moving a document of class c to each other class."""
    members = costs[place == c]
    if not len(members):
        return np.full(costs.shape[1], np.inf)
    prices: Floats = (members - members[:, c : c + 1]).min(axis=0)
    prices[c] = np.inf
    return prices


def _cheapest_path(prices: Floats, excess: NDArray[np.int64]) -> list[int]:
    """From a class with too many documents to one with too few (Bellman and Ford)."""
    n_classes = len(excess)
    distance = np.where(excess > 0, 0.0, np.inf)
    before = np.full(n_classes, -1)
    for _ in range(n_classes - 1):
        through = distance[:, None] + prices
        best = through.argmin(axis=0)
        reached = through[best, np.arange(n_classes)]
        # Rounding must not make a cycle of classes whose distances are the same.
        shorter = reached < distance - 1e-12 * (1 + np.abs(np.where(np.isfinite(distance), distance, 0.0)))
        if not shorter.any():
            break
        before[shorter], distance[shorter] = best[shorter], reached[shorter]
    path = [int(np.where(excess < 0, distance, np.inf).argmin())]
    while before[path[0]] >= 0:
        path.insert(0, int(before[path[0]]))
    return path
