"""Confidence intervals for measures of contingency tables.

Shares of counts (error, recall, and precision given the predictions) get Clopper and Pearson's interval,
whose coverage is at least the stated one. For F, PRAVG and similar measures there is none; the four outcomes
of every label are resampled many times instead:

- one label, or the added table of a micro-average: from the posterior of the outcomes, starting with a
  quarter of an example in each (Goutte and Gaussier, A Probabilistic Interpretation of Precision, Recall and
  F-score, ECIR 2005, with Perks' prior). Resampling the counts themselves would give a label without errors
  an interval of width 0: with two positive examples and a true F of 0.9, its nominal 95 % would cover 33 % of
  the time, while the posterior covers 95 %.
- a macro-average: from the counts with the number of positive examples fixed, since any prior would shift the
  mean over many rare labels. If most labels are rare, the coverage is somewhat below the stated one.

Labels are resampled independently; :mod:`widemargin.measure.dependence` widens the intervals of averages
where labels are wrong on the same documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError
from widemargin.measure.contingency import Contingency

Floats = NDArray[np.float64]

# Perks' prior: one example, spread over the four outcomes.
_PRIOR = 0.25
# Labels whose draws are in memory at a time.
_LABELS_AT_ONCE = 256


@dataclass(frozen=True)
class Figure:
    """A value with its interval and its origin.

    `kind` is "bound" (xi-alpha: leave-one-out is not worse), "estimate" (leave-one-out or
    cross-validation) or "measured" (on a test set).
    """

    value: float
    low: float
    high: float
    kind: Literal["bound", "estimate", "measured"]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; undefined values are None.

        Examples
        --------
        >>> Figure(0.5, 0.25, float("nan"), "estimate").to_dict()
        {'value': 0.5, 'low': 0.25, 'high': None, 'kind': 'estimate'}
        """
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        plain: dict[str, Any] = {
            name: None if math.isnan(number) else float(number) for name, number in numbers.items()
        }
        return plain | {"kind": self.kind}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Figure:
        """Restore from the result of `to_dict`."""
        value, low, high = (
            math.nan if state[name] is None else float(state[name]) for name in ("value", "low", "high")
        )
        return cls(value, low, high, state["kind"])


def clopper_pearson(successes: Any, trials: Any, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The Clopper-Pearson interval of a share; its coverage is at least `confidence`.

    Parameters
    ----------
    successes, trials : counts, or arrays of them; without trials the interval is 0 to 1

    Examples
    --------
    >>> low, high = clopper_pearson([9, 0], [10, 0])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.555, 0.0], [0.997, 1.0])
    """
    _check_confidence(confidence)
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    if (k < 0).any() or (k > n).any():
        raise UsageError("Successes must be from 0 to the number of trials.")
    tail = (1 - confidence) / 2
    # Quantiles of beta distributions, by the function behind scipy.stats, which takes a second to import.
    from scipy.special import betaincinv

    low = np.where(k > 0, betaincinv(np.maximum(k, 1.0), n - k + 1, tail), 0.0)
    high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1.0), 1 - tail), 1.0)
    return low, high


def bootstrap_interval(
    measure: Callable[[Contingency], Floats],
    table: Contingency,
    *,
    average: Literal["micro", "macro"] | None = None,
    confidence: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
) -> tuple[Floats, Floats]:
    """The interval of any measure of tables: low and high, one entry per label, or one for an average.

    The interval always contains the figure itself. Undefined measures are NaN.

    Parameters
    ----------
    measure : a function of tables with any number of axes, such as ``f_measure``
    average : None for every label; "micro" for the measure of the added tables, "macro" for the mean

    Examples
    --------
    >>> from widemargin.measure import f_measure
    >>> table = Contingency(*map(np.array, ([80, 1], [10, 0], [20, 0], [890, 999])))
    >>> [end.round(2).tolist() for end in bootstrap_interval(f_measure, table)]
    [[0.78, 0.21], [0.89, 1.0]]
    """
    _check_confidence(confidence)
    if average not in (None, "micro", "macro"):
        raise UsageError(f'average={average!r}: expected "micro", "macro" or None.')
    if samples < 1:
        raise UsageError(f"samples={samples}: expected at least 1.")
    if average == "micro":
        table = table.merged()
    cells = _cells(table)
    value = np.asarray(measure(table), dtype=np.float64)
    generator = np.random.default_rng(seed)
    ends = ((1 - confidence) / 2, (1 + confidence) / 2)
    if average == "macro":
        return _macro_interval(measure, cells, value, ends, samples, generator)
    by_label = cells.reshape(-1, 4)
    low, high = np.empty(len(by_label)), np.empty(len(by_label))
    for first in range(0, len(by_label), _LABELS_AT_ONCE):
        some = by_label[first : first + _LABELS_AT_ONCE]
        draws = generator.gamma(some + _PRIOR, size=(samples, *some.shape))
        # Draws have the scale of the table, since a measure may need counts.
        draws *= some.sum(axis=1, keepdims=True) / draws.sum(axis=2, keepdims=True)
        values = measure(Contingency(*np.moveaxis(draws, -1, 0)))
        low[first : first + len(some)], high[first : first + len(some)] = np.quantile(values, ends, axis=0)
    # np.minimum and np.maximum pass on a nan.
    return np.minimum(low.reshape(value.shape), value), np.maximum(high.reshape(value.shape), value)


def macro_estimate(
    measure: Callable[[Contingency], Floats],
    table: Contingency,
    *,
    confidence: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
    correct: bool = True,
) -> tuple[float, float, float]:
    """A macro-average and its interval, corrected for the bias of measures of few examples.

    F1 and precision are no means: with few examples their average over samples is below their value for many.
    A label with five examples, of which 40 % are found, has an F1 of 57 % on a large test set, and of 53 % on
    the average of samples of its size. Draws from the counts show how far the mean of draws is from the
    counts, and the counts are taken to be as far from the truth (the bootstrap's correction of bias).

    Parameters
    ----------
    correct : recall and error are means: they have an interval, and nothing to correct

    Examples
    --------
    >>> from widemargin.measure import f_measure
    >>> table = Contingency(*map(np.array, ([2, 2], [0, 0], [3, 3], [95, 95])))
    >>> [round(value, 2) for value in macro_estimate(f_measure, table)]
    [0.61, 0.24, 0.9]
    """
    _check_confidence(confidence)
    value = np.asarray(measure(table), dtype=np.float64)
    cells = _cells(table)
    draws = _macro_draws(measure, cells, value, samples, np.random.default_rng(seed))
    if not len(draws) or np.isnan(draws).all():
        return math.nan, math.nan, math.nan
    plain = float(np.nanmean(value))
    bias = float(np.nanmean(draws)) - plain if correct else 0.0
    low, high = np.nanquantile(draws, ((1 - confidence) / 2, (1 + confidence) / 2)) - 2 * bias
    corrected = min(max(plain - bias, 0.0), 1.0)
    return corrected, max(min(float(low), corrected), 0.0), min(max(float(high), corrected), 1.0)


def _cells(table: Contingency) -> Floats:
    """The four counts as the last axis."""
    counts = (table.true_positive, table.false_positive, table.false_negative, table.true_negative)
    return np.stack([np.asarray(count, dtype=np.float64) for count in counts], axis=-1)


def _macro_interval(
    measure: Callable[[Contingency], Floats],
    cells: Floats,
    value: Floats,
    ends: tuple[float, float],
    samples: int,
    generator: np.random.Generator,
) -> tuple[Floats, Floats]:
    means = _macro_draws(measure, cells, value, samples, generator)
    if not len(means):
        return np.asarray(np.nan), np.asarray(np.nan)
    low, high = np.nanquantile(means, ends)
    figure = np.nanmean(value)
    return np.minimum(low, figure), np.maximum(high, figure)


def _macro_draws(
    measure: Callable[[Contingency], Floats],
    cells: Floats,
    value: Floats,
    samples: int,
    generator: np.random.Generator,
) -> Floats:
    """Draw the outcomes of every label from its counts; labels without positive examples are ignored."""
    by_label = cells.reshape(-1, 4)[~np.isnan(value).reshape(-1)]
    if not len(by_label):
        return np.zeros(0)
    total, defined = np.zeros(samples), np.zeros(samples)
    for first in range(0, len(by_label), _LABELS_AT_ONCE):
        some = by_label[first : first + _LABELS_AT_ONCE]
        # Within the positive and within the negative examples: a draw that lost a rare label's only example
        # would leave the label out, and raise the mean of the others.
        hits, alarms, misses, rest = some.T
        positives, negatives = ((a + b).round().astype(np.int64) for a, b in ((hits, misses), (alarms, rest)))
        found = generator.binomial(
            positives, np.minimum(hits / np.maximum(positives, 1), 1), (samples, len(some))
        )
        false = generator.binomial(
            negatives, np.minimum(alarms / np.maximum(negatives, 1), 1), (samples, len(some))
        )
        values = measure(Contingency(found, false, positives - found, negatives - false))
        total += np.nansum(values, axis=1)
        defined += np.count_nonzero(~np.isnan(values), axis=1)
    means: Floats = np.divide(total, defined, out=np.full(samples, np.nan), where=defined > 0)
    return means


def widened(figures: dict[str, Figure], factors: Mapping[str, float]) -> dict[str, Figure]:
    """Intervals with their ends farther from their figures."""
    return {
        name: replace(
            figure,
            low=round(max(figure.value - factors[name] * (figure.value - figure.low), 0.0), 6),
            high=round(min(figure.value + factors[name] * (figure.high - figure.value), 1.0), 6),
        )
        for name, figure in figures.items()
    }


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise UsageError(f"confidence={confidence}: expected a number between 0 and 1, such as 0.95.")
