"""How much more averages over labels vary because the labels of one document are decided together.

An average is a function of counts. To first order, every decision moves it by a known amount, its influence.
If decisions were made by themselves, the variance of the average would be the sum of the squared influences;
documents are what is drawn at random, so it is the sum over documents of the squared sum of influences (the
infinitesimal jackknife). Intervals of independent decisions are widened by the square root of the ratio.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from widemargin.measure.contingency import contingency

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]

# Decisions whose influences are in memory at a time.
_AT_ONCE = 4_000_000


def dependence(truth: Signs, chosen: Signs, average: Literal["micro", "macro"]) -> dict[str, float]:
    """The factors on the widths of intervals of precision, recall, F1 and error; at least 1.

    Parameters
    ----------
    truth, chosen : signs (n, labels)

    Examples
    --------
    Two labels that are always right or wrong together vary as one does: by the square root of 2 more.

    >>> truth = np.array([[1, 1], [1, 1], [1, 1], [-1, -1]], np.int8)
    >>> chosen = np.array([[1, 1], [1, 1], [-1, -1], [-1, -1]], np.int8)
    >>> round(dependence(truth, chosen, "macro")["recall"], 3)
    1.414
    """
    table = contingency(truth, chosen)
    counts = np.array(
        [table.true_positive, table.false_positive, table.false_negative, table.true_negative],
        dtype=np.float64,
    ).reshape(4, -1)
    added = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
    weights = _influences(*(added if average == "micro" else counts))
    alone = {name: float((counts * each**2).sum()) for name, each in weights.items()}
    together = dict.fromkeys(weights, 0.0)
    step = max(_AT_ONCE // truth.shape[1], 1)
    for first in range(0, len(truth), step):
        real, said = truth[first : first + step] > 0, chosen[first : first + step] > 0
        outcomes = [real & said, ~real & said, real & ~said, ~real & ~said]
        for name, each in weights.items():
            moved = sum(
                outcome @ weight for outcome, weight in zip(outcomes, each, strict=True) if weight.any()
            )
            together[name] += float(np.square(moved).sum())
    return {
        name: max(float(np.sqrt(together[name] / alone[name])), 1.0) if alone[name] > 0 else 1.0
        for name in weights
    }


def _influences(hits: Floats, alarms: Floats, misses: Floats, rest: Floats) -> dict[str, Floats]:
    """By how much a true positive, false positive, false negative and true negative of each label move its
    measure: (4, labels)."""
    none = np.zeros_like(hits)
    predicted, positives = np.maximum(hits + alarms, 1), np.maximum(hits + misses, 1)
    both, n = np.maximum(2 * hits + alarms + misses, 1), hits + alarms + misses + rest
    precision, recall, f1, error = hits / predicted, hits / positives, 2 * hits / both, (alarms + misses) / n
    return {
        "precision": np.array([(1 - precision) / predicted, -precision / predicted, none, none]),
        "recall": np.array([(1 - recall) / positives, none, -recall / positives, none]),
        "f1": np.array([2 * (1 - f1) / both, -f1 / both, -f1 / both, none]),
        "error": np.array([-error / n, (1 - error) / n, (1 - error) / n, -error / n]),
    }
