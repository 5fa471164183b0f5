"""All pairs of texts compared: shingles of words as Python sets."""

from __future__ import annotations

import re
from fractions import Fraction


def shingles(text: str, size: int = 3) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    lengths = [size] if len(words) >= size else range(1, size)
    return frozenset(tuple(words[i : i + n]) for n in lengths for i in range(len(words) - n + 1))


def similar_pairs(texts: list[str], similar: float) -> dict[tuple[int, int], Fraction]:
    """Every pair of at least this similarity."""
    sets = [shingles(text) for text in texts]
    found = {}
    for j, second in enumerate(sets):
        for i, first in enumerate(sets[:j]):
            if first and second:
                similarity = Fraction(len(first & second), len(first | second))
                if similarity >= Fraction(similar).limit_denominator(10**6):
                    found[i, j] = similarity
    return found
