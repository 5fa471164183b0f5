"""A text in pieces, each with what the terms over it add to a score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import fsum

# Pieces with less than this fraction of the strongest contribution are not highlighted.
FAINT = 0.1

Span = tuple[int, int, float]
"""Start and end of what a term covers, in characters, and the contribution of the term."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text. `value` is the sum of the contributions of the terms over it.

    `strength` is `value` as a fraction of the strongest contribution, with its sign, between -1 and 1.
    It is 0 if the piece is too weak to be highlighted.
    """

    start: int
    end: int
    value: float
    strength: float


def pieces(length: int, spans: Iterable[Span]) -> list[Piece]:
    """Divide a text of `length` characters where a span starts or ends. Spans may overlap.

    What is outside the text is ignored.

    Examples
    --------
    >>> [(piece.start, piece.end, piece.value) for piece in pieces(9, [(0, 4, 1.0), (0, 9, 0.5)])]
    [(0, 4, 1.5), (4, 9, 0.5)]
    """
    inside = [(max(start, 0), min(end, length), value) for start, end, value in spans]
    inside = [span for span in inside if span[0] < span[1]]
    strongest = max((abs(value) for _, _, value in inside), default=0.0)
    starts: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for number, (start, end, _) in enumerate(inside):
        starts.setdefault(start, []).append(number)
        ends.setdefault(end, []).append(number)
    cuts = sorted({0, length} | starts.keys() | ends.keys())
    found: list[Piece] = []
    over: set[int] = set()
    for start, end in pairwise(cuts):
        over.difference_update(ends.get(start, ()))
        over.update(starts.get(start, ()))
        value = fsum(inside[number][2] for number in over)
        found.append(Piece(start, end, value, _strength(value, strongest)))
    return found


def _strength(value: float, strongest: float) -> float:
    if strongest == 0 or abs(value) < FAINT * strongest:
        return 0.0
    return max(-1.0, min(1.0, value / strongest))
