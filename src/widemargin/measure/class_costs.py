"""Costs between classes: what it costs to decide one class for a document of another (joachims 2.1.2).

The average cost of decisions is the sum of the costs times the confusion matrix, divided by the number of
documents: (2.27) for any number of classes. It is worth something only beside the cost of a decision that
reads no document, always the same class, the cheapest one.

Its interval is found as in :mod:`widemargin.measure.intervals`: drawn from the posterior of the outcomes,
which are here the different costs that a document can cause. The prior is half a document for each of them
(Jeffreys), at most one and a half in all. In simulations with 2 to 20 classes the 95 % cover 91 to 97 %.
Perks' prior, a quarter of a document for each of four outcomes, covers as little as 85 % where a rare error
costs ten times as much as a frequent one. Costs that differ by factors of hundreds are beyond any interval: a
sample without the costliest error says nothing of it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.measure.intervals import Figure
from widemargin.measure.quality import CONFIDENCE, Kind

Floats = NDArray[np.float64]
_SAMPLES, _MOST_DRAWN = 1000, 1_000_000
# Documents before any is seen: of each cost, and in all.
_PRIOR, _MOST_PRIOR = 0.5, 1.5
_SHOWN = 10
# A larger matrix is hard to read.
_MOST_CLASSES = 500


@dataclass(frozen=True, eq=False)
class ClassCosts:
    """The costs of decisions between classes.

    Attributes
    ----------
    classes : the names of rows and columns
    matrix : (classes, classes), truth in rows, decision in columns; finite and not negative
    source : what errors call it, such as the name of a file

    Examples
    --------
    >>> costs = ClassCosts.of({"ham": {"spam": 10}, "spam": {"ham": 1}})
    >>> costs.classes, costs.matrix.tolist()
    (('ham', 'spam'), [[0.0, 10.0], [1.0, 0.0]])
    """

    classes: tuple[Any, ...]
    matrix: Floats
    source: str = "costs"

    @classmethod
    def of(cls, costs: Any, classes: Any = None, source: str = "costs") -> ClassCosts:
        """Check costs in any form, and put them into the order of `classes`.

        Parameters
        ----------
        costs : ClassCosts, a mapping ``{truth: {decision: cost}}``, or an array (k, k) in the order of
            `classes`. In a mapping, right decisions cost 0 unless they are named
        classes : of the task; by default those of the costs. Names are compared as strings

        Raises
        ------
        DataError
            A class is missing, unknown or named twice, or a cost is missing, negative or not finite.
        """
        if isinstance(costs, ClassCosts):
            found = costs
        elif isinstance(costs, Mapping):
            found = _of_mapping(costs, source)
        else:
            found = _of_array(costs, classes, source)
        return found if classes is None else found._ordered(list(classes))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ClassCosts:
        """The costs in a CSV, TSV or JSON file (:mod:`widemargin.documents.formats.cost_table`)."""
        from widemargin.documents.formats.cost_table import read_cost_table

        return cls.of(read_cost_table(path), source=os.fspath(path))

    def _ordered(self, classes: list[Any]) -> ClassCosts:
        """The same costs in the order of the classes of a task, none of which may be missing."""
        place = {str(name): k for k, name in enumerate(self.classes)}
        names = [str(name) for name in classes]
        if lost := [name for name in names if name not in place]:
            raise DataError(
                f"{self.source}: there are no costs for {_listed(lost)}. Add a row and a column for each of "
                f"the {len(names)} classes: {_listed(names)}."
            )
        if strange := [name for name in place if name not in set(names)]:
            raise DataError(
                f"{self.source}: {_listed(strange)} {'is' if len(strange) == 1 else 'are'} not among the "
                f"{len(names)} classes of the task: {_listed(names)}. Correct the name, or remove it."
            )
        order = [place[name] for name in names]
        return ClassCosts(tuple(classes), self.matrix[np.ix_(order, order)], self.source)


@dataclass(frozen=True)
class CostlyPair:
    """Decisions of one class for documents of another: how many, and what they cost together."""

    truth: Any
    decision: Any
    documents: int
    cost: float


@dataclass(frozen=True)
class AverageCost:
    """The result of :func:`average_cost`.

    Attributes
    ----------
    average : the cost per document, with its interval
    n : number of documents
    always : the cost per document of always deciding `always_class`, the cheapest single class
    by_scores : the cost per document if the largest score decided; None if it does
    costliest : pairs of classes, those that cost most in all first
    totals : [i][j], costs times the confusion matrix; None for more than 500 classes
    notes : remarks on the figures
    """

    average: Figure
    n: int
    always: float
    always_class: Any
    by_scores: float | None = None
    costliest: list[CostlyPair] = field(default_factory=list)
    totals: list[list[float]] | None = None
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "average": self.average.to_dict(),
            "n": self.n,
            "always": self.always,
            "always_class": self.always_class,
            "by_scores": self.by_scores,
            "costliest": [vars(pair) for pair in self.costliest],
            **({} if self.totals is None else {"totals": self.totals}),
            "notes": self.notes,
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> AverageCost:
        """Restore from the result of `to_dict`."""
        rest = {key: value for key, value in state.items() if key not in ("average", "costliest")}
        costliest = [CostlyPair(**pair) for pair in state["costliest"]]
        return cls(average=Figure(**state["average"]), costliest=costliest, **rest)


def average_cost(
    costs: ClassCosts, truth: Any, decided: Any, *, kind: Kind = "measured", by_scores: Any = None
) -> AverageCost:
    """What decisions cost, beside the cheapest decision that reads no document.

    Parameters
    ----------
    costs : in the order of the classes
    truth : (n,) the place of each document's class; negative for a class without costs, which is left out
    decided : (n,) the place of the class that was decided
    by_scores : (n,) decisions to compare with

    Examples
    --------
    >>> costs = ClassCosts.of({"ham": {"spam": 10}, "spam": {"ham": 1}})
    >>> found = average_cost(costs, [0, 0, 0, 1], [0, 0, 1, 0])
    >>> found.average.value, found.always, found.always_class, found.totals
    (2.75, 0.25, 'ham', [[0.0, 10.0], [1.0, 0.0]])
    """
    truth, decided = np.asarray(truth, dtype=np.intp), np.asarray(decided, dtype=np.intp)
    if truth.shape != decided.shape or truth.ndim != 1:
        raise UsageError(f"There are {truth.shape} classes and {decided.shape} decisions; expected one each.")
    known = truth >= 0
    notes = []
    if not known.all():
        lost = np.count_nonzero(~known)
        notes.append(f"{lost} of {len(truth)} documents have an unknown class, and are left out of costs.")
    truth, decided = truth[known], decided[known]
    n, k = len(truth), len(costs.classes)
    if n == 0:
        raise DataError("No document has a class with costs: there is nothing to measure.")
    counts = np.bincount(truth * k + decided, minlength=k * k).reshape(k, k)
    totals = counts * costs.matrix
    single = np.bincount(truth, minlength=k) @ costs.matrix / n
    cheapest = int(single.argmin())
    low, high = cost_interval(costs.matrix, counts)
    value = float(totals.sum() / n)
    order = np.argsort(-totals, axis=None, kind="stable")[:_SHOWN].tolist()
    costliest = [
        CostlyPair(costs.classes[i], costs.classes[j], int(counts[i, j]), round(float(totals[i, j]), 6))
        for i, j in (divmod(cell, k) for cell in order)
        if totals[i, j] > 0
    ]
    other = None
    if by_scores is not None:
        other = round(float(costs.matrix[truth, np.asarray(by_scores, dtype=np.intp)[known]].mean()), 6)
    return AverageCost(
        average=Figure(round(value, 6), round(min(low, value), 6), round(max(high, value), 6), kind),
        n=n,
        always=round(float(single[cheapest]), 6),
        always_class=costs.classes[cheapest],
        by_scores=other,
        costliest=costliest,
        totals=totals.round(6).tolist() if k <= _MOST_CLASSES else None,
        notes=notes,
    )


def cost_interval(
    costs: Any, counts: Any, confidence: float = CONFIDENCE, seed: int = 0
) -> tuple[float, float]:
    """The interval of the average cost, from the counts of outcomes; both are (k, k).

    Examples
    --------
    >>> low, high = cost_interval([[0, 1], [1, 0]], [[40, 10], [10, 40]])
    >>> round(low, 2), round(high, 2)
    (0.13, 0.28)
    """
    values, place = np.unique(np.asarray(costs, dtype=np.float64).ravel(), return_inverse=True)
    weights = np.asarray(counts, dtype=np.float64).ravel()
    seen = np.bincount(place.ravel(), weights=weights, minlength=len(values))
    observed = seen + min(_PRIOR, _MOST_PRIOR / len(values))
    samples = int(np.clip(_MOST_DRAWN // len(values), 100, _SAMPLES))
    draws = np.random.default_rng(seed).gamma(observed, size=(samples, len(values)))
    means = draws @ values / draws.sum(axis=1)
    low, high = np.quantile(means, ((1 - confidence) / 2, (1 + confidence) / 2))
    return float(low), float(high)


def _of_mapping(costs: Mapping[Any, Any], source: str) -> ClassCosts:
    classes = list(costs)
    place = _places(classes, source)
    matrix = np.full((len(classes), len(classes)), np.nan)
    np.fill_diagonal(matrix, 0.0)
    for truth, row in costs.items():
        if not isinstance(row, Mapping):
            raise DataError(f"{source}: {truth!r} has {row!r}; expected a cost for every decision.")
        _places(list(row), f"{source}, {truth}")
        for decision, cost in row.items():
            if str(decision) not in place:
                raise DataError(
                    f"{source}: {decision!r} has a cost as a decision for {truth!r}, but none as a truth. "
                    f"Correct the name, or add its row."
                )
            matrix[place[str(truth)], place[str(decision)]] = _number(cost, truth, decision, source)
    for i, j in np.argwhere(np.isnan(matrix)).tolist():
        raise DataError(
            f"{source}: there is no cost for deciding {classes[j]!r} for a document of {classes[i]!r}. Give "
            f"a cost for every pair of classes."
        )
    return _checked(ClassCosts(tuple(classes), matrix, source))


def _of_array(costs: Any, classes: Any, source: str) -> ClassCosts:
    try:
        matrix = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UsageError(
            f"{source}: expected a mapping {{truth: {{decision: cost}}}}, or a square matrix of numbers."
        )
    names = list(range(len(matrix))) if classes is None else list(classes)
    if len(names) != len(matrix):
        raise DataError(
            f"{source}: the matrix has {len(matrix)} rows, and the task {len(names)} classes: "
            f"{_listed([str(name) for name in names])}. Pass a row and a column for each, in this order."
        )
    for i, j in np.argwhere(~(np.isfinite(matrix) & (matrix >= 0))).tolist():
        _number(float(matrix[i, j]), names[i], names[j], source)
    return _checked(ClassCosts(tuple(names), matrix, source))


def _checked(costs: ClassCosts) -> ClassCosts:
    """Refuse costs that tell no decisions apart; warn where the right one is not the cheapest."""
    if len(costs.classes) < 2:
        raise DataError(f"{costs.source}: expected costs of two classes or more.")
    if (costs.matrix == costs.matrix[:, :1]).all():
        raise DataError(
            f"{costs.source}: all decisions cost the same, so none is better. Give wrong decisions a cost."
        )
    odd = np.flatnonzero(costs.matrix.diagonal() > costs.matrix.min(axis=1))
    if len(odd):
        right = costs.classes[odd[0]]
        wrong = costs.classes[int(costs.matrix[odd[0]].argmin())]
        warnings.warn(
            f"{costs.source}: for a document of {right!r}, deciding {wrong!r} is cheaper than deciding "
            f"{right!r}. Rows are the truth, columns the decision: check that they are not exchanged.",
            DataWarning,
            stacklevel=4,
        )
    return costs


def _number(cost: Any, truth: Any, decision: Any, source: str) -> float:
    try:
        number = float("nan") if isinstance(cost, str | bytes | bool) else float(cost)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not 0 <= number < float("inf"):
        raise DataError(
            f"{source}: deciding {decision!r} for a document of {truth!r} costs {cost!r}; expected a number "
            f"from 0 upward."
        )
    return number


def _places(names: list[Any], source: str) -> dict[str, int]:
    place = {str(name): k for k, name in enumerate(names)}
    if len(place) < len(names):
        twice = next(str(name) for k, name in enumerate(names) if place[str(name)] != k)
        raise DataError(f"{source}: {twice!r} is named twice. Remove one.")
    return place


def _listed(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
