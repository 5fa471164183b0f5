"""How good a ranking is: precision among its first documents, and average precision.

Average precision is the mean, over all positive documents, of the precision at the place of each one in the
ranking. Where scores tie, both measures are expectations over
all orders of the tied documents, as in :mod:`widemargin.measure.break_even`: of a tied group of t documents
with r positives, after P positives among the first N documents, the document at place j of the group is
positive with probability r / t, and then P + 1 + (j - 1) (r - 1) / (t - 1) positives are expected down to it
(McSherry and Najork, Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied
Scores, ECIR 2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError
from widemargin.measure.break_even import positives_down_to


def precision_at(truth: NDArray[Any], scores: NDArray[Any], count: int) -> float:
    """The expected share of positives among the first `count` documents of the ranking.

    If there are fewer documents, the missing ones count as negative.

    Parameters
    ----------
    truth : array (n,), positive if a document is
    scores : array (n,), higher for documents that are ranked first

    Examples
    --------
    >>> precision_at(np.array([1, -1, 1, -1]), np.array([0.9, 0.5, 0.5, 0.1]), 2)
    0.75
    """
    if count < 1:
        raise UsageError(f"count={count}: expected at least 1.")
    _, positives, retrieved = positives_down_to(truth, scores)
    # Within a tied group the expected number of positives grows by the same amount at every place.
    return float(np.interp(count, np.append(0, retrieved), np.append(0, positives)) / count)


def average_precision(truth: NDArray[Any], scores: NDArray[Any]) -> float:
    """The mean of the precision at every positive document; NaN without any.

    Parameters
    ----------
    truth, scores : as for :func:`precision_at`

    Examples
    --------
    >>> round(average_precision(np.array([1, -1, 1, -1]), np.array([0.9, 0.5, 0.3, 0.1])), 4)
    0.8333
    """
    _, positives, retrieved = positives_down_to(truth, scores)
    if not len(positives) or positives[-1] == 0:
        return float("nan")
    before, N = np.append(0, positives[:-1]), np.append(0, retrieved[:-1])
    t, r = retrieved - N, positives - before
    group = np.repeat(np.arange(len(t)), t)
    place = np.arange(1, len(truth) + 1)
    j = place - N[group]
    others = (j - 1) * (r[group] - 1) / np.maximum(t[group] - 1, 1)
    found = before[group] + 1 + others
    return float(np.sum(r[group] / t[group] * found / place) / positives[-1])
