"""The area under the ROC curve (AUC): the chance that a positive document scores above a negative one.

Ties count half. Unknown labels (0) are left out. The measure of a task without positive or without negative
documents is NaN.

Intervals are those of DeLong, DeLong and Clarke-Pearson (Biometrics 44, 1988) on the logit scale: document i
moves the area by its influence, for a positive one (v_i - AUC) / m, where v_i is the share of negatives that
it beats and m the number of positives; the variance is the sum of squared influences. A macro-average has the
average influence of every document over the labels, so that labels on the same documents are not taken for
independent. An area of 0 or 1 has the interval of as many successes as the rarer side has documents.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError
from widemargin.measure.intervals import Figure, clopper_pearson

Floats = NDArray[np.float64]
MOST_SCORES = 20_000_000
"""With more scores than this, tables have no areas: sorting would take seconds."""
_NORMAL = 1.959963984540054  # the 97.5 % quantile


class AucFigures(NamedTuple):
    """The areas of all labels and their macro-average."""

    labels: list[Figure]
    macro: Figure


def roc_auc(truth: NDArray[Any], scores: NDArray[Any]) -> Any:
    """The area under the ROC curve: a number for one task (n,), an array for several (n, columns).

    Parameters
    ----------
    truth : positive, negative, or 0 for unknown
    scores : higher where a document is more likely positive

    Examples
    --------
    >>> roc_auc(np.array([1, -1, 1, -1]), np.array([0.9, 0.5, 0.5, 0.1]))
    0.875
    """
    truth, scores = np.asarray(truth), np.asarray(scores)
    if truth.shape != scores.shape or truth.ndim not in (1, 2):
        raise UsageError(f"The truth has shape {truth.shape} and the scores {scores.shape}.")
    if np.isnan(scores).any():
        raise UsageError("Some scores are NaN and cannot be ranked.")
    if truth.ndim == 1:
        return float(_area(truth, scores)[0])
    return np.array([_area(truth[:, j], scores[:, j])[0] for j in range(truth.shape[1])])


def auc_figures(
    truth: NDArray[Any], scores: NDArray[Any], kind: Literal["bound", "estimate", "measured"]
) -> AucFigures:
    """The areas of the columns of scores (n, columns), and their mean, with 95 % intervals.

    Examples
    --------
    >>> truth = np.tile([1, -1, -1], 40)[:, None]
    >>> found = auc_figures(truth, truth + np.linspace(-2, 2, 120)[:, None], "measured").labels[0]
    >>> round(found.value, 3), round(found.low, 2), round(found.high, 2)
    (0.869, 0.79, 0.92)
    """
    figures, total, defined = [], np.zeros(len(truth)), 0
    areas = []
    for j in range(truth.shape[1]):
        area, influence = _area(truth[:, j], scores[:, j])
        rarer = int(min(np.count_nonzero(truth[:, j] > 0), np.count_nonzero(truth[:, j] < 0)))
        figures.append(_figure(area, float(influence @ influence), rarer, kind))
        if not math.isnan(area):
            areas.append(area)
            total += influence
            defined += 1
    if not areas:
        return AucFigures(figures, Figure(math.nan, math.nan, math.nan, kind))
    mean = total / defined
    return AucFigures(figures, _figure(float(np.mean(areas)), float(mean @ mean), len(truth), kind))


def _area(truth: NDArray[Any], scores: NDArray[Any]) -> tuple[float, Floats]:
    """The area of one task, and the influence of every document on it."""
    influence = np.zeros(len(truth))
    positive, negative = truth > 0, truth < 0
    m, n = np.count_nonzero(positive), np.count_nonzero(negative)
    if not m or not n:
        return math.nan, influence
    group = np.unique(scores, return_inverse=True)[1].reshape(-1)
    size = int(group.max()) + 1
    up, down = np.bincount(group[positive], minlength=size), np.bincount(group[negative], minlength=size)
    # The shares of negatives below each score, and of positives above it; equal ones count half.
    beats = (np.cumsum(down) - down / 2) / n
    beaten = (m - np.cumsum(up) + up / 2) / m
    area = float(np.sum(up * beats) / m)
    influence[positive] = (beats[group[positive]] - area) / m
    influence[negative] = (beaten[group[negative]] - area) / n
    return area, influence


def _figure(area: float, variance: float, n: int, kind: Literal["bound", "estimate", "measured"]) -> Figure:
    if math.isnan(area):
        return Figure(area, area, area, kind)
    if 1e-12 < area < 1 - 1e-12:
        center, spread = math.log(area / (1 - area)), _NORMAL * math.sqrt(variance) / (area * (1 - area))
        # Beyond 30, the logit is 0 or 1 as far as six digits tell.
        low, high = (
            1 / (1 + math.exp(-max(-30.0, min(30.0, end)))) for end in (center - spread, center + spread)
        )
    else:
        ends = clopper_pearson(np.array([area * n]), np.array([n]))
        low, high = float(ends[0][0]), float(ends[1][0])
    return Figure(round(area, 6), round(low, 6), round(high, 6), kind)
