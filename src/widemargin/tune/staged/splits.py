"""The splits into documents to train on and documents to measure on, for the staged race.

Splits are random, or follow time: then every split trains on earlier and measures on later documents.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataWarning
from widemargin.estimate.cross_validation import stratified_folds
from widemargin.tune.race import Split

Signs = NDArray[np.int8]
Floats = NDArray[np.float64]

# Folds of all documents with limited effort, the best first, and with unlimited effort: more of them where
# there are few documents.
_FAST_FOLDS = (5, 3, 2)
_FULL_FOLDS, _FEWER_FULL_FOLDS, _MANY = 5, 3, 6000
# Shares of the documents, in the order of time, that splits train on; each measures on what follows, to the
# next share.
_IN_TIME = (0.4, 0.6, 0.8, 1.0)
# The largest numbers of documents to train on and to measure on with limited effort.
_LEARN_FROM, _MEASURE_ON = 4000, 8000


def affordable_folds(budget: float, counting: float, weighting: float, training: float) -> float:
    """In how many folds all documents are held out within a budget; 1 for a sample, infinite without limit.

    Parameters
    ----------
    counting, weighting, training : the work of a race for all documents together

    Examples
    --------
    >>> [affordable_folds(budget, 10, 1, 10) for budget in (np.inf, 100, 50, 15)]
    [inf, 5, 3, 1]
    """
    if np.isinf(budget):
        return float(np.inf)
    work = {folds: counting + folds * weighting + (folds - 1) * training for folds in _FAST_FOLDS}
    return next((folds for folds in _FAST_FOLDS if work[folds] <= budget), 1)


def staged_splits(
    truth: Signs, random_state: Any, weights: Floats | None, folds: float, times: Floats | None = None
) -> list[Split]:
    """The splits of a race; `folds` as of :func:`affordable_folds`."""
    n = len(truth)
    found = [] if times is None else splits_in_time(times, np.inf if folds > 1 else _LEARN_FROM)
    if times is not None and not found:
        warnings.warn(
            "All documents have the same time, or none has one: candidates are compared on random splits.",
            DataWarning,
            stacklevel=4,
        )
    if not found and folds == 1:
        fold = stratified_folds(truth, max(-(-n // _LEARN_FROM), 2), random_state)
        found = [Split(np.flatnonzero(fold == 0), np.flatnonzero((fold > 0) & (fold <= 2)))]
    elif not found:
        if np.isinf(folds):
            folds = _FULL_FOLDS if n <= _MANY else _FEWER_FULL_FOLDS
        number = max(min(int(folds), n), 2)
        fold = stratified_folds(truth, number, random_state)
        found = [Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(number)]
    if weights is None:
        return found
    return [Split(split.seen, split.unseen, weights[split.seen]) for split in found]


def has_order(times: Floats) -> bool:
    """Whether some documents are later than others."""
    return bool(len(np.unique(_with_missing(times))) > 1)


def _with_missing(times: Floats) -> Floats:
    return np.where(np.isnan(times), -np.inf, times)


def splits_in_time(times: Floats, most: float = np.inf) -> list[Split]:
    """Train on earlier and measure on later documents.

    Documents of the same time are never divided. Those without a time (NaN) count as the earliest.

    Parameters
    ----------
    most : train on at most this many documents, the latest before those measured on; then there is one split

    Examples
    --------
    >>> splits = splits_in_time(np.array([3, 1, 2, 1, 5.0]))
    >>> [(split.seen.tolist(), split.unseen.tolist()) for split in splits]
    [([1, 3], [2]), ([1, 2, 3], [0]), ([0, 1, 2, 3], [4])]
    """
    times = _with_missing(times)
    order = np.argsort(times, kind="stable")
    n = len(times)
    # A cut lies between two documents of different times.
    possible = np.flatnonzero(times[order][1:] > times[order][:-1]) + 1
    if len(possible) == 0:
        return []
    cuts = [int(possible[np.abs(possible - share * n).argmin()]) for share in _IN_TIME[:-1]]
    bounds = [*dict.fromkeys(cuts), n]
    pairs = list(pairwise(bounds))
    if bounds[-2] > most:
        pairs = [(bounds[0], min(n, bounds[0] + _MEASURE_ON))]
    found = []
    for start, end in pairs:
        first = max(start - most, 0)
        found.append(Split(np.sort(order[int(first) : start]), np.sort(order[start:end])))
    return found
