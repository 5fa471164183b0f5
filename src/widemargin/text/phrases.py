"""Statistical phrases: words that occur together more often than by chance (joachims 2.2.2).

A term of several words is split before its last word. A 2 x 2 table counts, over all terms of that length,
how often the two parts occur with and without each other. It gives Dunning's log-likelihood ratio (*Accurate
Methods for the Statistics of Surprise and Coincidence*, 1993), which is about chi-square with one degree of
freedom if the parts are independent: by chance it exceeds 10.83 once in a thousand times.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from widemargin.text.vocabulary import Vocabulary

Floats = NDArray[np.float64]


def associations(terms: Vocabulary, totals: NDArray[np.int64]) -> Floats:
    """The log-likelihood ratio of each term: infinite for a single word, 0 if chance explains it.

    Parameters
    ----------
    terms : words, and words joined by single spaces
    totals : how often each occurs

    Examples
    --------
    >>> terms = Vocabulary.from_terms(["crude oil", "oil", "the corn", "the oil"])
    >>> associations(terms, np.array([9, 12, 9, 3])).round(2).tolist()
    [15.19, inf, 15.19, 0.0]
    """
    found = np.full(len(terms), np.inf)
    by_length: dict[int, list[int]] = {}
    parts: list[tuple[str, str]] = []
    for place, term in enumerate(terms):
        first, _, last = term.rpartition(" ")
        parts.append((first, last))
        if first:
            by_length.setdefault(term.count(" "), []).append(place)
    for places in by_length.values():
        some = np.array(places)
        beginnings, endings = (
            np.unique([parts[place][side] for place in places], return_inverse=True)[1] for side in (0, 1)
        )
        found[some] = _ratios(totals[some].astype(np.float64), beginnings, endings)
    return found


def _ratios(together: Floats, beginnings: NDArray[np.intp], endings: NDArray[np.intp]) -> Floats:
    n = float(together.sum())
    first = np.bincount(beginnings, weights=together)[beginnings]
    last = np.bincount(endings, weights=together)[endings]
    cells = np.array([together, first - together, last - together, n - first - last + together])
    margins = np.array([first, n - first, last, n - last])
    ratio = 2 * (_x_log_x(cells).sum(axis=0) - _x_log_x(margins).sum(axis=0) + n * np.log(max(n, 1.0)))
    return np.where(together * n > first * last, np.maximum(ratio, 0.0), 0.0)


def _x_log_x(x: Floats) -> Floats:
    return np.asarray(x * np.log(np.maximum(x, 1.0)))
