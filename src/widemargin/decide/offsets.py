"""Offsets of exclusive classes, chosen on held-out scores: thresholds where one of several classes is chosen.

Every class has an offset that is added to its scores before the largest decides; its threshold is minus that.
The offset of one class moves documents to it from all others, so classes cannot be treated one by one. Each
in turn gets the offset that is best while the others stay, until none improves: coordinate ascent, as Fan and
Lin do for thresholds (A Study on Threshold Selection for Multi-label Classification, 2007).

With the others fixed, a document goes to class c above a known offset: its best other score minus its score
for c. Sorted by that, documents move one by one, each from a known class, so that all n + 1 outcomes are
counted in one pass. Ascent may end at a local optimum, so it begins twice: without offsets, and at those with
which soft decisions have the shares of the classes, found by scaling each class to its share at falling
temperatures (Sinkhorn's algorithm). The result is never worse on its scores than no offsets.

Goals are sums over classes of u + a v, where u and v depend on the hits and the decisions of the class, and a
is the share of all documents that are right:

- macro-F1: u = 2 hits / (positives + decided). Counts are smoothed as for label sets
  (:mod:`widemargin.decide.thresholds`): `strength` examples of the average class, a of which are hits, are
  added to each class. With few examples the F1 of a class is mostly noise; smoothed, it counts for less.
- proportional: u = -|decided - positives|.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.decide.sorted_scores import checked_columns
from widemargin.errors import DataError

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
# hits, decided, positives -> u, v
Terms = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], tuple[Floats, Floats]]

# The ascent ends after so many sweeps over all classes, or when one gains less than this share of the value.
_SWEEPS, _ENOUGH = 30, 1e-4
# Gains below this are rounding.
_LEAST_GAIN = 1e-9
_CELLS_AT_ONCE = 1 << 20
# Temperatures of the soft start, relative to the spread of the scores.
_TEMPERATURES, _STEPS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003), 10


def f_offsets(scores: Any, truth: Any, *, strength: float = 0.0) -> Floats:
    """Offsets for the best macro-averaged F1; classes without examples are ignored.

    Parameters
    ----------
    scores : (n, classes), held-out
    truth : signs of the same shape, one positive per row
    strength : number of examples of the average class that are added to each class

    Examples
    --------
    The class c is found only with an offset.

    >>> scores = np.array([[2.0, 0, 0], [0, 2.0, 0], [1.0, 0, 0], [0, 1.0, 0.5], [1.0, 0, 0.75]])
    >>> truth = np.array([[1, -1, -1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1], [-1, -1, 1]])
    >>> offsets = f_offsets(scores, truth)
    >>> (scores + offsets).argmax(axis=1).tolist()
    [0, 1, 0, 2, 2]
    """
    checked, codes = _checked(scores, truth)

    def terms(hits: Any, decided: Any, positives: Any) -> tuple[Floats, Floats]:
        total = np.maximum(positives + decided + 2 * strength, 1)
        counts = positives > 0
        return np.where(counts, 2 * hits / total, 0.0), np.where(counts, 2 * strength / total, 0.0)

    return _best_of_two(checked, codes, terms)


def proportional_offsets(scores: Any, truth: Any) -> Floats:
    """Offsets with which each class is decided for as many documents as have it.

    Examples
    --------
    >>> scores = np.array([[2.0, 0, 0], [1.5, 0, 0], [1.0, 0.5, 0], [1.0, 0, 0.5], [1.0, 0, 0.25]])
    >>> truth = np.array([[1, -1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1], [-1, -1, 1]])
    >>> np.bincount((scores + proportional_offsets(scores, truth)).argmax(axis=1)).tolist()
    [2, 1, 2]
    """
    checked, codes = _checked(scores, truth)

    def terms(hits: Any, decided: Any, positives: Any) -> tuple[Floats, Floats]:
        distance: Floats = -np.abs(decided - positives).astype(np.float64)
        return distance, np.zeros_like(distance)

    return _best_of_two(checked, codes, terms)


def ascend(scores: Floats, codes: Places, terms: Terms, start: Floats | None = None) -> Floats:
    """Coordinate ascent on the sum over classes of u + a v.

    Parameters
    ----------
    codes : (n,) the place of the right class of every example
    start : offsets to begin with; 0 by default. The result is never worse than they are
    """
    k = scores.shape[1]
    offsets = np.zeros(k) if start is None else start.copy()
    leaders = _Leaders.of(scores, offsets)
    value = _sum(terms, codes, leaders.best, k)
    for _ in range(_SWEEPS):
        before = value
        for c in range(k):
            tried = _best_offset(scores, codes, terms, leaders, c, float(offsets[c]))
            if tried == offsets[c]:
                continue
            old, offsets[c] = offsets[c], tried
            moved = leaders.moved(scores, offsets, c)
            # Counted again: a sum of rounded numbers may break a tie differently.
            found = _sum(terms, codes, moved.best, k)
            if found > value + _LEAST_GAIN:
                value, leaders = found, moved
            else:
                offsets[c] = old
        if value - before <= max(_ENOUGH * abs(value), _LEAST_GAIN):
            break
    return offsets


@dataclass(frozen=True, eq=False)
class _Leaders:
    """The class with the largest score plus offset of every example, and the next one."""

    best: Places
    second: Places
    best_value: Floats
    second_value: Floats

    @classmethod
    def of(cls, scores: Floats, offsets: Floats) -> _Leaders:
        n = len(scores)
        found = cls(np.empty(n, np.intp), np.empty(n, np.intp), np.empty(n), np.empty(n))
        found._fill(scores, offsets, np.arange(n))
        return found

    def moved(self, scores: Floats, offsets: Floats, c: int) -> _Leaders:
        """The same after a change of the offset of class `c`."""
        found = _Leaders(
            self.best.copy(), self.second.copy(), self.best_value.copy(), self.second_value.copy()
        )
        near = (self.best == c) | (self.second == c) | (scores[:, c] + offsets[c] >= self.second_value)
        found._fill(scores, offsets, np.flatnonzero(near))
        return found

    def rivals(self, c: int) -> tuple[Places, Floats]:
        """The best class other than `c`, and its score plus offset."""
        own = self.best == c
        return np.where(own, self.second, self.best), np.where(own, self.second_value, self.best_value)

    def _fill(self, scores: Floats, offsets: Floats, rows: Places) -> None:
        size = max(_CELLS_AT_ONCE // scores.shape[1], 1)
        for first in range(0, len(rows), size):
            some = rows[first : first + size]
            shifted = scores[some] + offsets
            at = np.arange(len(some))
            self.best[some] = place = shifted.argmax(axis=1)
            self.best_value[some] = shifted[at, place]
            shifted[at, place] = -np.inf
            self.second[some] = place = shifted.argmax(axis=1)
            self.second_value[some] = shifted[at, place]


def _best_offset(
    scores: Floats, codes: Places, terms: Terms, leaders: _Leaders, c: int, current: float
) -> float:
    """The best offset of class `c` while the others stay; of equally good ones the nearest to `current`."""
    n, k = scores.shape
    rival, value = leaders.rivals(c)
    needed = value - scores[:, c]
    order = np.argsort(needed, kind="stable")
    needed, rival, truth = needed[order], rival[order], codes[order]
    positives = np.bincount(codes, minlength=k)
    lost = truth == rival
    # Sums of u and v over the other classes, of which each document that moves changes one.
    u, v = _losses(terms, rival, lost, positives, c)
    hits, decided = np.concatenate([[0], np.cumsum(truth == c)]), np.arange(n + 1)
    own_u, own_v = terms(hits, decided, np.full(n + 1, positives[c]))
    right = (hits + np.concatenate([[0], -np.cumsum(lost)]) + np.count_nonzero(lost)) / n
    total = own_u + u + right * (own_v + v)
    between = np.ones(n + 1, dtype=bool)
    between[1:-1] = needed[:-1] < needed[1:]
    total = np.where(between, total, -np.inf)
    step = (needed[-1] - needed[0]) / n or 1.0
    middle = np.concatenate([[needed[0] - step], (needed[:-1] + needed[1:]) / 2, [needed[-1] + step]])
    now = int(np.searchsorted(needed, current))
    if total[now] >= total.max() - _LEAST_GAIN:
        return current
    best = np.flatnonzero(total >= total.max() - _LEAST_GAIN)
    return float(middle[best[np.abs(middle[best] - current).argmin()]])


def _losses(
    terms: Terms, rival: Places, lost: NDArray[np.bool_], positives: NDArray[Any], c: int
) -> tuple[Floats, Floats]:
    """Sums of u and v over all classes but `c`, after 0, ..., n documents have left theirs in order.

    `rival` is the class that each document leaves, `lost` whether it was right there.
    """
    n, k = len(rival), len(positives)
    decided, hits = np.bincount(rival, minlength=k), np.bincount(rival[lost], minlength=k)
    group = np.argsort(rival, kind="stable")
    # Within the group of a class: how many have left it, and how many of them were right.
    starts = np.concatenate([[0], np.cumsum(decided)[:-1]])
    rank = np.arange(n) - starts[rival[group]]
    of, hit = rival[group], lost[group].astype(np.int64)
    gone = np.cumsum(hit)
    gone -= (gone - hit)[np.minimum(starts, n - 1)][of]
    after = terms(hits[of] - gone, decided[of] - rank - 1, positives[of])
    before = terms(hits[of] - gone + hit, decided[of] - rank, positives[of])
    others = np.arange(k) != c
    whole = terms(hits, decided, positives)
    found = []
    for start, early, late in zip(whole, before, after, strict=True):
        change = np.zeros(n + 1)
        change[group + 1] = late - early
        change[0] = start[others].sum()
        found.append(np.cumsum(change))
    return found[0], found[1]


def _sum(terms: Terms, codes: Places, decided: Places, k: int) -> float:
    """The sum over classes of u + a v, of decisions."""
    right = codes == decided
    u, v = terms(
        np.bincount(codes[right], minlength=k),
        np.bincount(decided, minlength=k),
        np.bincount(codes, minlength=k),
    )
    return float(u.sum() + np.count_nonzero(right) / len(codes) * v.sum())


def _best_of_two(scores: Floats, codes: Places, terms: Terms) -> Floats:
    """The better end of two ascents: from no offsets, and from those of soft decisions."""
    found = [ascend(scores, codes, terms), ascend(scores, codes, terms, start=_soft_start(scores, codes))]
    plain, other = (_value(scores, codes, terms, offsets) for offsets in found)
    return found[1] if other > plain + _LEAST_GAIN else found[0]


def _value(scores: Floats, codes: Places, terms: Terms, offsets: Floats) -> float:
    return _sum(terms, codes, _Leaders.of(scores, offsets).best, scores.shape[1])


def _soft_start(scores: Floats, codes: Places) -> Floats:
    """Offsets with which soft decisions have the shares of the classes."""
    n, k = scores.shape
    # Enough documents for a start.
    some = scores[:: max(n * k // (2 * _CELLS_AT_ONCE), 1)]
    shares = np.log(np.maximum(np.bincount(codes, minlength=k), 0.5) / n)
    spread = float(some.std()) or 1.0
    offsets = np.zeros(k)
    for temperature in _TEMPERATURES:
        for _ in range(_STEPS):
            soft = (some + offsets) / (temperature * spread)
            soft = np.exp(soft - soft.max(axis=1, keepdims=True))
            soft /= soft.sum(axis=1, keepdims=True)
            offsets += temperature * spread * (shares - np.log(np.maximum(soft.mean(axis=0), 1e-12)))
    return offsets


def _checked(scores: Any, truth: Any) -> tuple[Floats, Places]:
    checked, positive = checked_columns(scores, truth)
    if checked.shape[1] < 2 or not (positive.sum(axis=1) == 1).all():
        raise DataError("Offsets need two classes or more, and exactly one positive class in every row.")
    return checked, positive.argmax(axis=1)
