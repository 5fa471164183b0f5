"""Sets of characters as ranges, and classes of characters that no set of an expression tells apart.

What a set contains is asked of Python's `re` itself, over all code points: so case, categories and negations
are exactly those of the Python that compiles the pattern. A model stores the ranges, and does not depend on
the Python that loads it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

N_CHARACTERS = 0x110000

Ranges = tuple[tuple[int, int], ...]


@lru_cache(maxsize=1)
def _every_character() -> str:
    return "".join(map(chr, range(N_CHARACTERS)))


@lru_cache(maxsize=256)
def ranges_of(source: str, flags: int) -> Ranges:
    r"""The characters that an expression for one character matches, as ranges with their ends.

    Examples
    --------
    >>> ranges_of("[a-cx]", 0)
    ((97, 100), (120, 121))
    """
    found = re.compile(f"(?:{source})+", flags).finditer(_every_character())
    return tuple(match.span() for match in found)


def classes_of(
    sets: Sequence[Ranges],
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.bool_]]:
    """The coarsest classes of characters that every set contains wholly or not at all.

    Returns
    -------
    starts, classes : the first character of every range, and its class
    members : (sets, classes), whether a set contains a class

    Examples
    --------
    >>> starts, classes, members = classes_of([((97, 100),), ((98, 99),)])
    >>> starts.tolist(), classes.tolist(), members.tolist()
    ([0, 97, 98, 99, 100], [0, 1, 2, 1, 0], [[False, True, True], [False, False, True]])
    """
    edges = np.unique([0, *(edge for ranges in sets for pair in ranges for edge in pair)])
    edges = edges[edges < N_CHARACTERS]
    inside = np.zeros((len(sets), len(edges)), dtype=bool)
    for row, ranges in zip(inside, sets, strict=True):
        for first, end in ranges:
            row[np.searchsorted(edges, first) : np.searchsorted(edges, end)] = True
    _, first_of, number = np.unique(inside, axis=1, return_index=True, return_inverse=True)
    number = number.reshape(-1)
    order = np.argsort(first_of, kind="stable")  # classes are numbered as they appear
    rank = np.empty(len(order), dtype=np.uint32)
    rank[order] = np.arange(len(order))
    classes = rank[number]
    kept = np.flatnonzero(np.append(True, classes[1:] != classes[:-1]))
    return edges[kept].astype(np.uint32), classes[kept], inside[:, first_of[order]]
