"""Which unit goes to which part: by the shares of labels, or by time.

By shares this is the iterative stratification of Sechidis, Tsoumakas and Vlahavas (ECML PKDD 2011,
Algorithm 1): the label with the fewest documents left is distributed first, each of its documents to the part
that lacks this label most. Three changes make it fit for rare labels and for documents that stay together:

- A part that lacks less than one document of the label more than another is not preferred. The part that is
  filled least decides, so that many rare labels together do not all go to the largest part.
- The first document of a label goes to the training part: a label that no training document has cannot be
  tested.
- A unit is a document or several; large units come first. A part takes no more than its size where another
  part has room, so parts of single documents have exactly their sizes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


class _Parts:
    """The parts while they are filled; the first one is the training part."""

    def __init__(self, wanted: Sequence[int]) -> None:
        self._wanted = wanted
        self._room = [float(size) for size in wanted]

    def emptiest(self, parts: Iterable[int], size: int) -> int:
        """Of some parts the one that is filled least, relative to its size; better one that has room."""
        parts = list(parts)
        fitting = [j for j in parts if self._room[j] >= size]
        fitting = fitting or [j for j, room in enumerate(self._room) if room >= size] or parts
        return max(fitting, key=lambda j: (self._room[j] / self._wanted[j], -j))

    def put(self, part: int, size: int) -> None:
        self._room[part] -= size


def by_labels(
    labels: Sequence[dict[int, int]], sizes: Sequence[int], wanted: Sequence[int], rng: np.random.Generator
) -> Numbers:
    """The part of every unit, so that parts have nearly the same shares of every label.

    Parameters
    ----------
    labels : the labels of each unit, with the number of its documents that have them
    sizes : the number of documents of each unit
    wanted : sizes of the parts, of which the first one is the training part
    """
    shares = [size / sum(wanted) for size in wanted]
    left: dict[int, int] = {}
    members: dict[int, list[int]] = {}
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-np.asarray(sizes)[order], kind="stable")]
    for unit in order.tolist():
        for label, count in labels[unit].items():
            left[label] = left.get(label, 0) + count
            members.setdefault(label, []).append(unit)
    lacking = {label: [share * count for share in shares] for label, count in left.items()}
    parts = _Parts(wanted)
    learned: set[int] = set()
    found = [-1] * len(sizes)

    def put(unit: int, part: int) -> None:
        found[unit] = part
        parts.put(part, sizes[unit])
        for label, count in labels[unit].items():
            lacking[label][part] -= count
            left[label] -= count
        if part == 0:
            learned.update(labels[unit])

    waiting = [(count, label) for label, count in left.items()]
    heapq.heapify(waiting)
    while waiting:
        count, label = heapq.heappop(waiting)
        if count != left[label] or count == 0:
            continue  # there is a later entry, or nothing is left
        touched: set[int] = set()
        for unit in members[label]:
            if found[unit] >= 0:
                continue
            if learned.issuperset(labels[unit]):
                lacks = lacking[label]
                most = max(lacks)
                put(unit, parts.emptiest((j for j, lack in enumerate(lacks) if most - lack < 1), sizes[unit]))
            else:
                put(unit, 0)
            touched.update(labels[unit])
        for other in touched:
            if left[other]:
                heapq.heappush(waiting, (left[other], other))
    for unit in order.tolist():
        if found[unit] < 0:  # in no category
            put(unit, parts.emptiest(range(len(wanted)), sizes[unit]))
    return np.array(found, np.int64)


def by_time(
    times: NDArray[np.float64], sizes: Sequence[int], wanted: Sequence[int], rng: np.random.Generator
) -> Numbers:
    """The part of every unit, later parts getting later units; equal times are in random order.

    Examples
    --------
    >>> by_time(np.array([3.0, 1.0, 2.0]), [1, 1, 1], [2, 1], np.random.default_rng(0)).tolist()
    [1, 0, 0]
    """
    order = np.lexsort((rng.random(len(sizes)), times))
    found = np.zeros(len(sizes), np.int64)
    part, room = len(wanted) - 1, wanted[-1]
    for unit in order[::-1].tolist():
        # A unit goes where at least half of it fits, and the first one of a part where it is.
        if part > 0 and room < wanted[part] and room < (sizes[unit] + 1) // 2:
            part -= 1
            room = wanted[part]
        found[unit] = part
        room -= sizes[unit]
    return found
