"""Whether one method is better than another on the same documents, or only seems so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from widemargin.errors import UsageError


class Discordant(NamedTuple):
    """The documents on which two methods differ, and how likely as uneven a division is by chance.

    Attributes
    ----------
    first, second : how many only the first or only the second method gets right
    p_value : two-sided, of equally good methods
    """

    first: int
    second: int
    p_value: float


def mcnemar(first: ArrayLike, second: ArrayLike) -> Discordant:
    """McNemar's exact test of two methods on the same documents.

    If both methods were equally good, each document on which they differ would favor either with probability
    1/2. Documents on which they agree say nothing.

    Parameters
    ----------
    first, second : (n,) whether each method gets a document right

    Examples
    --------
    >>> mcnemar([1, 1, 1, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 1, 0, 1])
    Discordant(first=5, second=0, p_value=0.0625)
    """
    a, b = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    if a.ndim != 1 or a.shape != b.shape:
        raise UsageError(f"Expected two answers to the same documents, but got {a.shape} and {b.shape}.")
    only_first, only_second = int((a & ~b).sum()), int((b & ~a).sum())
    differing = only_first + only_second
    # The distribution function behind scipy.stats, which takes a second to import.
    from scipy.special import bdtr

    tail = float(bdtr(min(only_first, only_second), differing, 0.5)) if differing else 1.0
    return Discordant(only_first, only_second, min(1.0, 2 * tail))
