"""What other thresholds would do on the test documents, category by category; and calibration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from widemargin.decide.sorted_scores import SortedScores
from widemargin.measure.intervals import clopper_pearson
from widemargin.model_report.measuring import Measured
from widemargin.report.contents import Calibrated, Tradeoff

Floats = NDArray[np.float64]
# Thresholds per category: fewer if there are many categories.
_MOST, _ALL = 300, 20_000
_BINS = 10


def above_thresholds(found: Measured) -> tuple[Floats, Floats]:
    """How far each document is above the threshold of each class, and the thresholds.

    Of exclusive classes it is how far the class is ahead of the best other one: what a higher threshold of
    this class alone would take away.
    """
    rule, space = found.scorer.rule, found.scorer.space
    if rule.costs is not None:
        preferences = rule.preferences(found.scores, found.scorer.lengths(found.collection))
        return _ahead(preferences), np.zeros(preferences.shape[1])
    columns = np.asarray(found.scores, dtype=np.float64).reshape(len(found.truth), -1)
    limits = np.zeros(columns.shape[1]) if rule.thresholds is None else rule.thresholds
    with np.errstate(invalid="ignore"):
        above = np.asarray(columns - limits, dtype=np.float64)
    if space.kind == "binary":
        return np.hstack([-above, above]), np.array([-limits[0], limits[0]])
    return (_ahead(above) if space.kind == "multiclass" else above), limits


def _ahead(preferences: Floats) -> Floats:
    """How much each class is ahead of the best other one."""
    best = preferences.max(axis=1, keepdims=True)
    leads = preferences == best
    # Of several leaders, none is ahead.
    second = np.where(leads & (leads.sum(axis=1, keepdims=True) == 1), -np.inf, preferences).max(axis=1)
    others = np.where(leads, second[:, None], best)
    return np.asarray(preferences - others)


def tradeoffs(found: Measured) -> list[Tradeoff]:
    """One per class, in the order of the classes."""
    truth, chosen = found.by_class(found.truth) > 0, found.by_class(found.chosen) > 0
    rule, space = found.scorer.rule, found.scorer.space
    columns = np.asarray(found.scores, dtype=np.float64).reshape(len(truth), -1)
    if space.kind == "multiclass":
        values, base = above_thresholds(found)
    else:
        values, base = rule.by_label(columns), np.zeros(truth.shape[1])
    limits = above_thresholds(found)[1]
    ranked = SortedScores.of(values, truth)
    most = int(np.clip(_ALL // truth.shape[1], 40, _MOST))
    made = []
    for j in range(truth.shape[1]):
        rows = _useful(ranked.hits[:, j], ranked.cut[:, j], most)
        made.append(
            Tradeoff(
                thresholds=[_threshold(ranked.values[:, j], row, float(base[j])) for row in rows.tolist()],
                hits=ranked.hits[rows, j].tolist(),
                given=rows.tolist(),
                positives=int(truth[:, j].sum()),
                documents=len(truth),
                now=float(limits[j]),
                now_hits=int((truth[:, j] & chosen[:, j]).sum()),
                now_given=int(chosen[:, j].sum()),
            )
        )
    return made


def _useful(hits: NDArray[np.int64], cut: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    """Of the rows where a threshold exists, the first one for every number of hits above 0."""
    rows = np.flatnonzero(cut)
    rows = rows[np.flatnonzero(np.diff(hits[rows], prepend=0) > 0)]
    if len(rows) <= most:
        return rows
    return rows[np.unique(np.linspace(0, len(rows) - 1, most).round().astype(np.intp))]


def _threshold(values: Floats, row: int, base: float) -> float:
    """A short number between the lowest score that is assigned and the next one."""
    high = float(values[row - 1])
    low = float(values[row]) if row < len(values) else high - 1.0
    middle = (low + high) / 2
    gap = (high - low) / 4
    for digits in range(2, 18):
        short = float(f"{base + middle:.{digits}g}")
        if low + gap <= short - base <= high - gap:
            return short
    return base + middle


def calibrated(found: Measured) -> Calibrated | None:
    """How often labels are right, by their probability, or by their score if the model has none."""
    truth = found.by_class(found.truth) > 0
    rule = found.scorer.rule
    if rule.calibration is not None:
        values = found.scorer.probabilities(found.collection, found.scores)
        edges, of = np.linspace(0, 1, _BINS + 1), "probability"
    else:
        values = np.asarray(rule.by_label(found.scores), dtype=np.float64)
        low_end, high_end = np.quantile(values, [0.001, 0.999]).tolist()
        if not low_end < high_end:
            return None
        edges, of = np.linspace(low_end, high_end, _BINS + 1), "score"
    if values.shape != truth.shape:
        return None
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _BINS - 1).ravel()
    counts = np.bincount(place, minlength=_BINS)
    right = np.bincount(place, truth.ravel(), minlength=_BINS)
    sums = np.bincount(place, values.ravel(), minlength=_BINS)
    some = counts > 0
    low, high = clopper_pearson(right[some], counts[some])
    brier = None if of == "score" else float(np.mean((values - truth) ** 2))
    return Calibrated(
        of=of,
        middles=(sums[some] / counts[some]).round(5).tolist(),
        shares=(right[some] / counts[some]).round(5).tolist(),
        low=low.round(5).tolist(),
        high=high.round(5).tolist(),
        counts=counts[some].tolist(),
        brier=brier,
    )
