"""Tests of any measure of decisions by drawing documents: approximate randomization and the bootstrap.

All decisions on a document stay together: documents are swapped or drawn, not single decisions, which
depend on each other. Approximate randomization (Noreen, 1989) is the better test; the bootstrap (Efron and
Tibshirani, 1993) asks what another sample of documents would show, and rejects slightly too often if
there are few documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widemargin.errors import DataError, UsageError
from widemargin.measure.contingency import Contingency, f_measure
from widemargin.measure.significance import (
    Comparison,
    as_signs,
    better_of,
    check_same_documents,
)

Floats = NDArray[np.float64]
# Samples x documents (or labels) that are drawn at once, to bound memory.
_CELLS_AT_ONCE = 2_000_000
# A difference as large as the observed one but for rounding counts as large.
_ROUNDING = 1e-9


def randomization_test(
    truth: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    measure: Callable[..., Any] = f_measure,
    average: Literal["micro", "macro"] | None = "micro",
    lower_is_better: bool = False,
    samples: int = 9999,
    seed: int = 0,
) -> Comparison:
    """Approximate randomization: how often random swaps of the methods make as large a difference.

    Compares a measure of all decisions, micro-averaged F1 by default. If the methods are equally good, their
    answers to any document can be swapped. Assumes that documents are independent, and nothing else. All
    swaps are enumerated if there are at most `samples` + 1. `statistic` is the difference of the measures.

    Parameters
    ----------
    truth, first, second : (n,) or (n, labels), positive if a document has the label
    measure : a function of tables with any number of axes, such as ``f_measure`` or ``error_rate``
    average : "micro" for the measure of the added tables, "macro" for the mean of the labels for which it is
        defined; None if ``measure(truth, decisions)`` returns one number. This is slower; arrays may then
        hold anything, such as class names.

    Examples
    --------
    >>> truth = np.array([1, 1, 1, 1, 1, 1, -1, -1])
    >>> found = randomization_test(truth, truth, [1, -1, -1, -1, -1, -1, 1, -1])
    >>> found.first, found.second, found.p_value, found.better
    (1.0, 0.25, 0.03125, 'first')
    """
    pair = _pair(truth, first, second, measure, average, samples)
    observed = _difference(pair, measure)
    every = 2**pair.differing <= samples + 1
    generator = np.random.default_rng(seed)
    extreme = total = 0
    for size in _batches(2**pair.differing if every else samples, pair.differing, pair.columns):
        if every:
            swaps = (np.arange(total, total + size)[:, None] >> np.arange(pair.differing) & 1).astype(bool)
        else:
            swaps = generator.integers(0, 2, (size, pair.differing), dtype=np.int8).astype(bool)
        differences = np.abs(pair.swapped(swaps))
        # An undefined difference is no evidence against equally good methods.
        extreme += int(np.count_nonzero(~(differences < abs(observed) * (1 - _ROUNDING))))
        total += size
    p = extreme / total if every else (1 + extreme) / (1 + total)
    return _comparison("approximate randomization", pair, observed, p, lower_is_better)


def bootstrap_test(
    truth: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    measure: Callable[..., Any] = f_measure,
    average: Literal["micro", "macro"] | None = "micro",
    lower_is_better: bool = False,
    samples: int = 9999,
    seed: int = 0,
) -> Comparison:
    """The paired bootstrap: how often samples are as far from the observed difference as it is from 0.

    Compares a measure of all decisions, micro-averaged F1 by default, on documents drawn with replacement.
    Assumes that documents are independent, and that differences vary around the true one as those of samples
    vary around the observed one, which needs many documents. Draws for which the measure is undefined are
    left out. `statistic` is the difference of the measures. One document says nothing (p = 1).

    Parameters
    ----------
    truth, first, second, measure, average : as for `randomization_test`

    Examples
    --------
    >>> truth = np.array([1, -1] * 50)
    >>> found = bootstrap_test(truth, truth, np.where(np.arange(100) < 10, 1, truth))
    >>> found.first, round(found.second, 3), found.p_value < 0.05
    (1.0, 0.952, True)
    """
    pair = _pair(truth, first, second, measure, average, samples)
    observed = _difference(pair, measure)
    if pair.n < 2 or observed == 0:
        return _comparison("bootstrap", pair, observed, 1.0, lower_is_better)
    generator = np.random.default_rng(seed)
    extreme = total = 0
    for size in _batches(samples, pair.n, pair.columns):
        differences = pair.drawn(generator.integers(0, pair.n, (size, pair.n)))
        differences = differences[~np.isnan(differences)]
        far = np.abs(differences - observed) >= abs(observed) * (1 - _ROUNDING)
        extreme += int(np.count_nonzero(far))
        total += len(differences)
    return _comparison("bootstrap", pair, observed, (1 + extreme) / (1 + total), lower_is_better)


class _Arrays:
    """Decisions of two methods, and a measure that reads them as arrays."""

    columns = 1

    def __init__(self, arrays: list[NDArray[Any]], measure: Callable[[Any, Any], Any]) -> None:
        self.truth, self.first, self.second = arrays
        self.measure = measure
        self.n = len(self.truth)
        different = self.first != self.second
        self.places = np.flatnonzero(different if different.ndim == 1 else different.any(axis=1))
        self.differing = len(self.places)
        self.figures = self._figure(self.truth, self.first), self._figure(self.truth, self.second)

    def _figure(self, truth: NDArray[Any], decisions: NDArray[Any]) -> float:
        figure = np.asarray(self.measure(truth, decisions))
        if figure.ndim or figure.dtype.kind not in "biuf":
            raise UsageError("With average=None, measure(truth, decisions) has to return one number.")
        return float(figure)

    def swapped(self, swaps: NDArray[np.bool_]) -> Floats:
        """The difference if the answers to some of the differing documents are swapped, for every row."""
        result = np.empty(len(swaps))
        for i, swap in enumerate(swaps):
            some = self.places[swap]
            a, b = self.first.copy(), self.second.copy()
            a[some], b[some] = self.second[some], self.first[some]
            result[i] = self._figure(self.truth, a) - self._figure(self.truth, b)
        return result

    def drawn(self, draws: NDArray[np.intp]) -> Floats:
        """The difference on the drawn documents, for every row."""
        result = np.empty(len(draws))
        for i, some in enumerate(draws):
            a, b = (self._figure(self.truth[some], every[some]) for every in (self.first, self.second))
            result[i] = a - b
        return result


class _Tables:
    """Decisions of two methods, and a measure of their tables: a draw adds rows of counts.

    Columns are labels, or one of all labels together for micro-averages. Documents add hits (true
    positives), alarms (false positives) and positives to them. To most labels they add nothing, so these are
    sparse.
    """

    def __init__(
        self, signs: list[NDArray[np.bool_]], measure: Callable[[Contingency], Any], average: str
    ) -> None:
        from scipy.sparse import csr_array

        truth, first, second = (every.reshape(len(every), -1) for every in signs)
        self.measure = measure
        self.n = len(truth)
        self.columns = truth.shape[1] if average == "macro" else 1
        # What a document adds to the number of decisions in a column.
        self.decisions = 1 if average == "macro" else truth.shape[1]

        def counts(cells: NDArray[np.bool_]) -> Any:
            if average == "micro":
                return cells.sum(axis=1, keepdims=True, dtype=np.float64)
            return csr_array(cells, dtype=np.float64)

        self.positives = counts(truth)
        self.hits = counts(truth & first), counts(truth & second)
        self.alarms = counts(first & ~truth), counts(second & ~truth)
        self.places = np.flatnonzero((first != second).any(axis=1))
        self.differing = len(self.places)
        self.totals = [self._added(every) for every in (self.positives, *self.hits, *self.alarms)]
        positives, *others = self.totals
        size = np.array([[self.n * self.decisions]])
        self.figures = (
            float(self._figures(others[0], others[2], positives, size)[0]),
            float(self._figures(others[1], others[3], positives, size)[0]),
        )

    @staticmethod
    def _added(counts: Any) -> Floats:
        return np.asarray(counts.sum(axis=0), dtype=np.float64).reshape(1, -1)

    def _figures(self, hits: Floats, alarms: Floats, positives: Floats, size: Any) -> Floats:
        """The measure of every row of counts, averaged over the columns for which it is defined."""
        table = Contingency(hits, alarms, positives - hits, size - positives - alarms)
        values = np.asarray(self.measure(table), dtype=np.float64)
        if values.shape != hits.shape:
            raise UsageError(
                "The measure has to return one value for every table of an array of tables, like f_measure. "
                "Use average=None for a measure of truth and decisions."
            )
        defined = ~np.isnan(values)
        number = defined.sum(axis=1)
        total = np.where(defined, values, 0.0).sum(axis=1)
        means: Floats = np.divide(total, number, out=np.full(len(values), np.nan), where=number > 0)
        return means

    def swapped(self, swaps: NDArray[np.bool_]) -> Floats:
        """The difference if the answers to some of the differing documents are swapped, for every row."""
        rows = swaps.astype(np.float64)
        moved_hits, moved_alarms = (
            rows @ (every[1] - every[0])[self.places] for every in (self.hits, self.alarms)
        )
        positives, hits_a, hits_b, alarms_a, alarms_b = self.totals
        size = self.n * self.decisions
        first = self._figures(hits_a + moved_hits, alarms_a + moved_alarms, positives, size)
        second = self._figures(hits_b - moved_hits, alarms_b - moved_alarms, positives, size)
        return first - second

    def drawn(self, draws: NDArray[np.intp]) -> Floats:
        """The difference on the drawn documents, for every row."""
        cells = draws + np.arange(len(draws))[:, None] * self.n
        times = np.bincount(cells.ravel(), minlength=draws.size).reshape(draws.shape).astype(np.float64)
        positives, *counts = (times @ every for every in (self.positives, *self.hits, *self.alarms))
        size = self.n * self.decisions
        first = self._figures(counts[0], counts[2], positives, size)
        return first - self._figures(counts[1], counts[3], positives, size)


def _pair(
    truth: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    measure: Callable[..., Any],
    average: str | None,
    samples: int,
) -> _Arrays | _Tables:
    if average not in (None, "micro", "macro"):
        raise UsageError(f'average={average!r}: expected "micro", "macro" or None.')
    if samples < 1:
        raise UsageError(f"samples={samples}: expected at least 1.")
    if average is not None:
        return _Tables(as_signs(truth, first, second), measure, average)
    arrays: list[NDArray[Any]] = [np.asarray(every) for every in (truth, first, second)]
    check_same_documents(arrays)
    return _Arrays(arrays, measure)


def _difference(pair: _Arrays | _Tables, measure: Callable[..., Any]) -> float:
    first, second = pair.figures
    if np.isnan(first) or np.isnan(second):
        name = getattr(measure, "__name__", "The measure")
        raise DataError(f"{name} is undefined on these documents, as F1 is if no label has a document.")
    return first - second if better_of(first, second) else 0.0


def _batches(samples: int, documents: int, columns: int) -> Iterator[int]:
    """Numbers of samples that are drawn together."""
    size = max(1, _CELLS_AT_ONCE // max(documents, columns, 1))
    for start in range(0, samples, size):
        yield min(size, samples - start)


def _comparison(
    test: str, pair: _Arrays | _Tables, observed: float, p_value: float, lower_is_better: bool
) -> Comparison:
    first, second = pair.figures
    better = better_of(first, second, lower_is_better)
    return Comparison(test, "documents", pair.n, first, second, observed, p_value, better)
