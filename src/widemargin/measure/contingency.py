"""Contingency tables and the measures that read one: error, cost, Hamming loss, precision, recall, F.

Joachims, 2.6. Definition 1 counts predictions by what was predicted (first sign) and what was true
(second): f++ are the true positives, f+- the false positives, f-+ the false negatives, f-- the true
negatives. A table here holds the four counts of one task, or arrays with one entry per task.

If a task has no positive example, precision, recall and F are NaN. If it has some but none is predicted,
precision is 0, which is consistent with F.

Averages over several tasks (2.6.4): macro of the measures, micro of the tables. A macro-average is the mean
over the m tasks (2.34, which prints 1/l for 1/m); a micro-average is the measure of the added tables (2.35).
Tasks without a positive example have no precision, recall or F: macro ignores them, while their false
positives count in micro.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError

Floats = NDArray[np.float64]
Counts = Any  # whole numbers, or expected numbers: one, or an array with one entry per task


@dataclass(frozen=True, eq=False)
class Contingency:
    """The four counts of one task, or of several tasks side by side."""

    true_positive: Counts
    false_positive: Counts
    false_negative: Counts
    true_negative: Counts

    @property
    def positives(self) -> Counts:
        """The number of positive examples."""
        return self.true_positive + self.false_negative

    @property
    def predicted(self) -> Counts:
        """The number of predicted positives."""
        return self.true_positive + self.false_positive

    @property
    def n(self) -> Counts:
        """The number of examples."""
        return self.positives + self.false_positive + self.true_negative

    def of_both_classes(self) -> Contingency:
        """The tables of the negative and the positive class of a binary task, side by side."""
        cells = self.true_positive, self.false_positive, self.false_negative, self.true_negative
        hits, alarms, misses, rest = (int(np.asarray(cell).reshape(-1)[0]) for cell in cells)
        return Contingency(*map(np.array, ([rest, hits], [misses, alarms], [alarms, misses], [hits, rest])))

    def merged(self) -> Contingency:
        """The sum of the tables of all tasks, for micro-averages."""
        return Contingency(
            np.sum(self.true_positive),
            np.sum(self.false_positive),
            np.sum(self.false_negative),
            np.sum(self.true_negative),
        )


def contingency(truth: NDArray[Any], predicted: NDArray[Any]) -> Contingency:
    """Count predictions against the truth.

    Parameters
    ----------
    truth, predicted : arrays (n,) or (n, tasks), positive if an example has the label

    Examples
    --------
    >>> table = contingency(np.array([1, 1, -1, -1, -1]), np.array([1, -1, 1, 1, -1]))
    >>> [int(count) for count in (table.true_positive, table.false_positive, table.false_negative)]
    [1, 2, 1]
    """
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    if truth.shape != predicted.shape:
        raise UsageError(f"The truth has shape {truth.shape} and the predictions {predicted.shape}.")
    actual, claimed = truth > 0, predicted > 0
    hits = np.count_nonzero(actual & claimed, axis=0)
    positives = np.count_nonzero(actual, axis=0)
    claims = np.count_nonzero(claimed, axis=0)
    return Contingency(
        np.asarray(hits),
        np.asarray(claims - hits),
        np.asarray(positives - hits),
        np.asarray(len(truth) - positives - claims + hits),
    )


def error_rate(table: Contingency) -> Floats:
    """The share of wrong predictions, equation (2.26)."""
    return _ratio(table.false_positive + table.false_negative, table.n)


def cost(table: Contingency, costs: Any) -> Floats:
    """The mean cost of a prediction, equation (2.27).

    Parameters
    ----------
    costs : 2 x 2, laid out as Definition 3: ``[[C++, C+-], [C-+, C--]]``, rows by prediction
    """
    costs = np.asarray(costs, dtype=np.float64)
    if costs.shape != (2, 2):
        raise UsageError(f"The cost matrix has shape {costs.shape}; expected [[C++, C+-], [C-+, C--]].")
    total = (
        costs[0, 0] * table.true_positive
        + costs[0, 1] * table.false_positive
        + costs[1, 0] * table.false_negative
        + costs[1, 1] * table.true_negative
    )
    return _ratio(total, table.n)


def hamming_loss(table: Contingency) -> float:
    """The mean number of wrong labels per example, equations (2.6) and (2.7): the sum of the error rates.

    scikit-learn divides it by the number of labels.
    """
    return float(np.sum(error_rate(table)))


def precision(table: Contingency) -> Floats:
    """The share of predicted positives that are positive, equation (2.31)."""
    return _where_positives(table, _ratio(table.true_positive, table.predicted))


def recall(table: Contingency) -> Floats:
    """The share of positives that are predicted, equation (2.29)."""
    return _where_positives(table, _ratio(table.true_positive, table.positives))


def f_measure(table: Contingency, beta: float = 1.0) -> Floats:
    """F-beta, ``(1 + beta^2) P R / (beta^2 P + R)``: beta > 1 favors recall.

    (2.32) and (2.33) print beta^2 in the wrong place; this is van Rijsbergen's measure.
    """
    if not beta >= 0:
        raise UsageError(f"beta={beta}: expected 0 or more.")
    weight = beta**2
    total = (1 + weight) * table.true_positive + weight * table.false_negative + table.false_positive
    return _where_positives(table, _ratio((1 + weight) * table.true_positive, total))


def precision_recall_average(table: Contingency) -> Floats:
    """PRAVG, the mean of precision and recall, which approximates the break-even point (6.2)."""
    return 0.5 * (precision(table) + recall(table))


def confusion(truth: NDArray[Any], predicted: NDArray[Any], n_classes: int) -> NDArray[np.int64]:
    """How often class i (row) was predicted as class j (column), from class numbers below `n_classes`."""
    pairs = np.asarray(truth, dtype=np.int64) * n_classes + np.asarray(predicted, dtype=np.int64)
    return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)


def macro(values: NDArray[Any]) -> float:
    """The mean of the defined values, NaN if there are none.

    Examples
    --------
    >>> macro(np.array([0.5, 1.0, np.nan]))
    0.75
    """
    values = np.asarray(values, dtype=np.float64)
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def micro(measure: Callable[[Contingency], Floats], table: Contingency) -> float:
    """`measure` of the sum of all tables, such as ``micro(f_measure, table)``."""
    return float(measure(table.merged()))


def _ratio(part: Counts, whole: Counts) -> Floats:
    """part / whole, 0 where the whole is empty."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    result: Floats = np.zeros(np.broadcast(part, whole).shape)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def _where_positives(table: Contingency, values: Floats) -> Floats:
    return np.where(table.positives > 0, values, np.nan)
