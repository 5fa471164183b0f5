"""Probabilities from scores, fitted on held-out scores.

Platt's sigmoid (Platt, Probabilistic Outputs for Support Vector Machines, 1999) is fitted as Lin, Lin and
Weng do (A Note on Platt's Probabilistic Outputs for Support Vector Machines, Machine Learning 68, 2007):
Newton's method with backtracking on targets away from 0 and 1, for all labels together.
One of several classes: rows of such probabilities that are merely scaled to sum to 1 are far too cautious,
since every class has been judged without the others. So they are raised to a common power first, fitted by
maximum likelihood: softmax(power log p_k), as temperature scaling does with the logarithms of probabilities
(Guo, Pleiss, Sun and Weinberger, On Calibration of Modern Neural Networks, ICML 2017).
Isotonic regression (Zadrozny and Elkan, KDD 2002) assumes only that the probability does not decrease with
the score.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.decide.sorted_scores import checked_columns
from widemargin.errors import DataError, DataWarning, UsageError

Floats = NDArray[np.float64]

_MAX_STEPS, _SMALLEST_STEP, _RIDGE, _ENOUGH = 100, 1e-10, 1e-12, 1e-5


@dataclass(frozen=True, eq=False)
class Platt:
    """Call with scores (n, labels) or (n,): ``1 / (1 + exp(-(slope score + offset)))`` for each label.

    With a `power`, these are the probabilities of exclusive classes: raised to the power, scaled to sum to 1.
    """

    slope: Floats
    offset: Floats
    power: float | None = None

    def __call__(self, scores: Any) -> Floats:
        scores = _scores(scores, len(self.slope))
        logits = scores.reshape(len(scores), -1) * self.slope + self.offset
        if self.power is not None:
            return _softmax(self.power * _log_sigmoid(logits)).reshape(scores.shape)
        with np.errstate(over="ignore"):  # exp(800) is infinite, and the probability 0
            result: Floats = 1 / (1 + np.exp(-logits))
        return result.reshape(scores.shape)

    @property
    def is_plain(self) -> bool:
        """Whether nothing was fitted: the scores are log-odds as they are."""
        return self.power is None and bool((self.slope == 1).all() and (self.offset == 0).all())

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays for a model file."""
        power = {} if self.power is None else {"power": np.array([self.power])}
        return {"slope": self.slope, "offset": self.offset, **power}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], n_columns: int) -> Platt:
        """Restore from the result of `to_arrays`, for this many columns of scores."""
        stored = Stored({}, arrays)
        slope, offset = stored.array("slope", (n_columns,)), stored.array("offset", (n_columns,))
        power = float(stored.array("power", (1,), least=0)[0]) if stored.has_array("power") else None
        return cls(slope, offset, power)


@dataclass(frozen=True, eq=False)
class Isotonic:
    """Call with scores: linear between the knots of each label, constant beyond them.

    Label k has the knots ``starts[k]`` to ``starts[k + 1]``.
    """

    knots: Floats
    probabilities: Floats
    starts: NDArray[np.int64]

    def __call__(self, scores: Any) -> Floats:
        scores = _scores(scores, len(self.starts) - 1)
        columns = scores.reshape(len(scores), -1)
        result = np.empty(columns.shape)
        for k in range(columns.shape[1]):
            some = slice(self.starts[k], self.starts[k + 1])
            result[:, k] = np.interp(columns[:, k], self.knots[some], self.probabilities[some])
        return result.reshape(scores.shape)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays for a model file."""
        return {"knots": self.knots, "probabilities": self.probabilities, "starts": self.starts}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], n_columns: int) -> Isotonic:
        """Restore from the result of `to_arrays`, for this many columns of scores."""
        stored = Stored({}, arrays)
        knots = stored.array("knots", (None,))
        probabilities = stored.array("probabilities", knots.shape, least=0, most=1)
        starts = stored.array("starts", (n_columns + 1,), np.int64, least=0, most=len(knots))
        if starts[0] != 0 or starts[-1] != len(knots) or (np.diff(starts) < 1).any():
            raise DataError(f"'starts' in arrays.safetensors does not divide {len(knots)} knots")
        rises = np.diff(knots) > 0
        rises[starts[1:-1] - 1] = True
        if not rises.all():
            raise DataError("'knots' in arrays.safetensors is not in increasing order")
        return cls(knots, probabilities, starts)


def fit_calibration(name: str, scores: Any, truth: Any, *, exclusive: bool) -> Platt | Isotonic:
    """Fit "platt" or "isotonic"; the arguments are those of the two functions below."""
    return fit_platt(scores, truth, exclusive=exclusive) if name == "platt" else fit_isotonic(scores, truth)


def fit_platt(scores: Any, truth: Any, *, exclusive: bool = False) -> Platt:
    """Fit a sigmoid for each label. The slope is 0 if higher scores are less often right.

    Parameters
    ----------
    scores, truth : (n, labels) or (n,), held-out
    exclusive : whether every example has exactly one of the labels; fits the common power, too

    Examples
    --------
    >>> platt = fit_platt(np.array([2.0, 1.0, 0.5, -0.5, -1.0, -2.0]), np.array([1, 1, -1, 1, -1, -1]))
    >>> platt(np.array([2.0, 0.0, -2.0])).round(2).tolist()
    [0.78, 0.5, 0.22]
    """
    from scipy.special import expit

    f, positive = checked_columns(scores, truth)
    _warn_of_few(positive)
    n_positive = np.count_nonzero(positive, axis=0)
    n_negative = len(f) - n_positive
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    slope, offset = np.zeros(f.shape[1]), np.log((n_positive + 1) / (n_negative + 1))
    active = np.arange(f.shape[1])
    value = _loss(f, target, slope, offset)
    for _ in range(_MAX_STEPS):
        x, t = f[:, active], target[:, active]
        p = expit(x * slope[active] + offset[active])
        gradient = ((p - t) * x).sum(axis=0), (p - t).sum(axis=0)
        busy = np.maximum(np.abs(gradient[0]), np.abs(gradient[1])) >= _ENOUGH
        if not busy.any():
            break
        active, x, t, p = active[busy], x[:, busy], t[:, busy], p[:, busy]
        g1, g2 = gradient[0][busy], gradient[1][busy]
        d = p * (1 - p)
        h11, h12, h22 = (d * x * x).sum(axis=0) + _RIDGE, (d * x).sum(axis=0), d.sum(axis=0) + _RIDGE
        determinant = h11 * h22 - h12 * h12
        step1, step2 = (h12 * g2 - h22 * g1) / determinant, (h12 * g1 - h11 * g2) / determinant
        descent = g1 * step1 + g2 * step2
        length = np.ones(len(active))
        waiting = np.ones(len(active), dtype=bool)
        while waiting.any():
            tried = _loss(
                x[:, waiting],
                t[:, waiting],
                (slope[active] + length * step1)[waiting],
                (offset[active] + length * step2)[waiting],
            )
            good = tried < (value[active] + 1e-4 * length * descent)[waiting]
            value[active[waiting]] = np.where(good, tried, value[active[waiting]])
            still = np.flatnonzero(waiting)[~good]
            length[still] /= 2
            # A label is finished when its step becomes too short.
            given_up = still[length[still] < _SMALLEST_STEP]
            length[given_up] = 0.0
            waiting[:] = False
            waiting[np.setdiff1d(still, given_up)] = True
        slope[active] += length * step1
        offset[active] += length * step2
        active = active[length > 0]
        if not len(active):
            break
    falling = slope < 0
    mean = target.mean(axis=0)
    slope = np.where(falling, 0.0, slope)
    offset = np.where(falling, np.log(mean / (1 - mean)), offset)
    power = _fit_power(_log_sigmoid(f * slope + offset), positive) if exclusive else None
    return Platt(slope, offset, power)


def _fit_power(logs: Floats, positive: NDArray[np.bool_]) -> float:
    """The power g of the smallest cross-entropy of softmax(g logs), which is convex in g.

    Targets are smoothed as for the sigmoids, so that classes without an error get a finite power.
    """
    if not (positive.sum(axis=1) == 1).all():
        raise UsageError("Exclusive classes need exactly one positive label in every row of the truth.")
    n = len(logs)
    share = 1 / (n + 2)
    # Constants of a row cancel in the softmax.
    logs = logs - logs.max(axis=1, keepdims=True)
    wanted = (1 - share) * logs[positive].sum() + share * logs.mean(axis=1).sum()
    low, high, power = 0.0, np.inf, 1.0
    for _ in range(_MAX_STEPS):
        p = _softmax(power * logs)
        mean = (p * logs).sum(axis=1)
        slope, curvature = mean.sum() - wanted, (p * logs * logs).sum() - (mean * mean).sum()
        if abs(slope) <= _ENOUGH * n:
            break
        low, high = (low, power) if slope > 0 else (power, high)
        step = power - slope / max(curvature, _RIDGE)
        # Newton's step, unless it leaves the interval that contains the minimum, or is too long to trust.
        most = min(high, 4 * power)
        power = step if low < step < most else (low + most) / 2
    return float(power)


def fit_isotonic(scores: Any, truth: Any) -> Isotonic:
    """Fit the increasing function of the score that is nearest to the truth, for each label.

    Examples
    --------
    >>> isotonic = fit_isotonic(np.array([2.0, 1.0, 0.0, -1.0]), np.array([1, -1, 1, -1]))
    >>> isotonic(np.array([9.0, 1.0, 0.5, -9.0])).tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    from sklearn.isotonic import isotonic_regression

    scores, positive = checked_columns(scores, truth)
    _warn_of_few(positive)
    knots: list[Floats] = []
    values: list[Floats] = []
    for k in range(scores.shape[1]):
        x, which, counts = np.unique(scores[:, k], return_inverse=True, return_counts=True)
        share = np.bincount(which, weights=positive[:, k]) / counts
        y = np.asarray(isotonic_regression(share, sample_weight=counts, y_min=0, y_max=1))
        # The two ends of a run of equal values are enough.
        inner = np.zeros(len(x), dtype=bool)
        inner[1:-1] = (y[1:-1] == y[:-2]) & (y[1:-1] == y[2:])
        knots.append(x[~inner])
        values.append(y[~inner])
    starts = np.cumsum([0, *(len(part) for part in knots)]).astype(np.int64)
    return Isotonic(np.concatenate(knots), np.concatenate(values), starts)


def normalized(probabilities: Any) -> Floats:
    """Scale rows to sum to 1, for multiclass tasks.

    Examples
    --------
    >>> normalized(np.array([[0.25, 0.75], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    table = np.asarray(probabilities, dtype=np.float64)
    total = table.sum(axis=1, keepdims=True)
    result: Floats = np.full(table.shape, 1 / max(table.shape[1], 1))
    np.divide(table, total, out=result, where=total > 0)
    return result


def _log_sigmoid(logits: Floats) -> Floats:
    result: Floats = -np.logaddexp(0.0, -logits)
    return result


def _softmax(logits: Floats) -> Floats:
    result: Floats = np.exp(logits - logits.max(axis=1, keepdims=True))
    result /= result.sum(axis=1, keepdims=True)
    return result


def _loss(f: Floats, target: Floats, slope: Floats, offset: Floats) -> Floats:
    """The cross-entropy of each label, computed without cancellation."""
    z = f * slope + offset
    result: Floats = (np.logaddexp(0.0, z) - target * z).sum(axis=0)
    return result


def _scores(scores: Any, labels: int) -> Floats:
    values: Floats = np.asarray(scores, dtype=np.float64)
    if values.ndim not in (1, 2) or (values.shape[1] if values.ndim == 2 else 1) != labels:
        raise UsageError(
            f"The scores have shape {values.shape}; expected one column for each of {labels} labels."
        )
    return values


def _warn_of_few(positive: NDArray[np.bool_]) -> None:
    count = np.count_nonzero(positive, axis=0)
    few = np.flatnonzero((count < 2) | (count > len(positive) - 2))
    if len(few):
        warnings.warn(
            f"{len(few)} of {positive.shape[1]} labels (column {few[0]}{', ...' if len(few) > 1 else ''}) "
            f"have at most one positive or one negative example; their probabilities are unreliable. "
            f"Label more examples.",
            DataWarning,
            stacklevel=3,
        )
