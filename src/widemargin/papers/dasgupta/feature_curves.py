"""The loss of least squares with only some features, as Dasgupta and others (2007), 6.3.1, measure it.

For every split of a collection, lambda is the best for all features on the test documents, as in the paper;
of several equally good values, the middle one. A strategy then chooses features, and its measure is divided
by that of all features. Strategies that sample are run several times. Labels are decided one by one, at 0, by
hyperplanes through the origin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import canonical_csr
from widemargin.features.kept_columns import KeptColumns
from widemargin.features.sampling import (
    keep_probabilities,
    leverage_scores,
    rate_for,
    ridge_leverage_scores,
    weighted_probabilities,
)
from widemargin.features.scores import count_terms, information_gain
from widemargin.learn.squares.least_squares import RegularizedLeastSquares
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.measure import f_measure, macro, micro, precision, recall
from widemargin.measure.contingency import contingency
from widemargin.papers.result import UNPUBLISHED, Cell
from widemargin.report.plots import Line, Panel

Floats = NDArray[np.float64]

LAMBDAS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
# Far below what moves a decision; conjugate gradients need half the passes of their usual 1e-6.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Measures:
    """Of one run, over all labels."""

    micro_f1: float
    macro_f1: float
    precision: float
    recall: float

    def over(self, whole: Measures) -> Measures:
        """Relative to all features."""
        return Measures(*(_ratio(getattr(self, name), getattr(whole, name)) for name in NAMES))


NAMES = ("micro_f1", "macro_f1", "precision", "recall")


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")


@dataclass(frozen=True)
class FeatureTask:
    """One split: documents, and which labels they have, as +1 and -1."""

    X_train: sp.csr_array
    X_test: sp.csr_array
    signs: NDArray[np.int8]
    truth: NDArray[np.int8]

    @property
    def labels(self) -> NDArray[np.int64]:
        """As learners take them: an indicator, or one value a document for a single label."""
        carried = (self.signs > 0).astype(np.int64)
        return carried[:, 0] if carried.shape[1] == 1 else carried

    def rows(self, kept: KeptColumns | None) -> tuple[sp.csr_array, sp.csr_array]:
        """Training and test documents, with the features that are `kept`."""
        if kept is None:
            return self.X_train, self.X_test
        return kept.apply(canonical_csr(self.X_train)).matrix, kept.apply(canonical_csr(self.X_test)).matrix

    def learn(self, regularization: float, kept: KeptColumns | None = None) -> Measures:
        """Train and test on the features that are `kept`."""
        train, test = self.rows(kept)
        model = learner(regularization).fit(train, self.labels)
        return measures(self.truth, model.decision_function(test))

    def path(self, regularizations: Sequence[float] = LAMBDAS) -> list[Measures]:
        """All features, for every lambda."""
        models = learner(1.0).path(self.X_train, self.labels, regularizations)
        return [measures(self.truth, model.decision_function(self.X_test)) for model in models]


class SvmTask(FeatureTask):
    """The same documents for a support vector machine; lambda is only that of ridge sampling."""

    def learn(self, regularization: float, kept: KeptColumns | None = None) -> Measures:
        """Train and test on the features that are `kept`."""
        train, test = self.rows(kept)
        model = LinearSVM(C=1.0, bias=None, balance=0).fit(train, self.labels)
        return measures(self.truth, model.decision_function(test))

    def path(self, regularizations: Sequence[float] = LAMBDAS) -> list[Measures]:
        """All features; the machine has no lambda."""
        return [self.learn(1.0)] * len(regularizations)


class Whole(NamedTuple):
    """A split, what all features reach there, and with which lambda."""

    task: FeatureTask
    best: Measures
    regularization: float

    def against_sizes(self, strategy: Strategy, sizes: Sequence[int], samples: int) -> list[Measures]:
        """What a strategy reaches with every number of features, relative to all; the mean over samples."""
        return [
            average(
                [
                    self.task.learn(self.regularization, strategy.draw(size, seed)).over(self.best)
                    for seed in range(strategy.runs or samples)
                ]
            )
            for size in sizes
        ]


def best_lambda(task: FeatureTask) -> Whole:
    """All features with the best lambda."""
    found = task.path()
    highest = max(point.micro_f1 for point in found)
    equal = [k for k, point in enumerate(found) if point.micro_f1 == highest]
    middle = equal[len(equal) // 2]
    return Whole(task, found[middle], LAMBDAS[middle])


def learner(regularization: float) -> RegularizedLeastSquares:
    return RegularizedLeastSquares(regularization, bias=None, tol=TOLERANCE)


def measures(truth: NDArray[np.int8], scores: Floats) -> Measures:
    """Decisions at 0 against the truth."""
    decided = np.where(scores.reshape(truth.shape) > 0, 1, -1).astype(np.int8)
    table = contingency(truth, decided)
    # A label that is never chosen has no precision, but it is missed all the same.
    f1 = np.nan_to_num(f_measure(table))
    values = (micro(f_measure, table), macro(f1), micro(precision, table), micro(recall, table))
    return Measures(*(float(np.nan_to_num(value)) for value in values))


class Ranked:
    """The best features by a score."""

    runs = 1

    def __init__(self, scores: Floats) -> None:
        self.order = np.argsort(-scores, kind="stable")

    def draw(self, n_features: int, seed: int) -> KeptColumns:
        return KeptColumns.at(np.sort(self.order[:n_features]), len(self.order))


class Sampled:
    """A random sample from a distribution, rescaled."""

    runs = 0  # as many as asked for

    def __init__(self, probabilities: Floats) -> None:
        self.probabilities = probabilities

    def draw(self, n_features: int, seed: int) -> KeptColumns:
        """So many features on average."""
        chances = keep_probabilities(self.probabilities, rate_for(self.probabilities, n_features))
        chances = np.nan_to_num(chances)  # 0 times an infinite rate
        kept = np.flatnonzero(np.random.default_rng(seed).random(len(chances)) < chances)
        return KeptColumns.at(kept, len(chances), 1 / np.sqrt(chances[kept]))


Strategy = Ranked | Sampled
Make = Callable[[Whole], Strategy]
RIDGE = (
    "RS is not in the paper but proposed in its section 7: sampling by leverages, of which lambda cuts off "
    "the short directions."
)


def document_frequency(task: FeatureTask) -> Ranked:
    return Ranked(np.bincount(task.X_train.indices, minlength=task.X_train.shape[1]).astype(float))


def by_information_gain(task: FeatureTask) -> Ranked:
    """Of several labels, the largest."""
    counts = count_terms(canonical_csr(task.X_train), task.signs)
    return Ranked(information_gain(counts).max(axis=0))


def weighted(task: FeatureTask) -> Sampled:
    return Sampled(weighted_probabilities(task.X_train))


def uniform(task: FeatureTask) -> Sampled:
    n = task.X_train.shape[1]
    return Sampled(np.full(n, 1 / n))


def subspace(task: FeatureTask, k: int | float | None) -> Sampled:
    leverages = leverage_scores(task.X_train, k).leverages
    return Sampled(leverages / leverages.sum())


def ridge(task: FeatureTask, regularization: float) -> Sampled:
    leverages = ridge_leverage_scores(task.X_train, regularization)
    return Sampled(leverages / leverages.sum())


def average(runs: Sequence[Measures]) -> Measures:
    """Measure by measure, of those that are defined."""
    return Measures(*(macro(np.array([getattr(run, name) for run in runs])) for name in NAMES))


def averages(runs: Sequence[Sequence[Measures]]) -> list[Measures]:
    """The average of each number of features, over tasks or splits."""
    return [average(column) for column in zip(*runs, strict=True)]


def drawn(
    found: Mapping[str, Sequence[Measures]],
    wanted: Mapping[str, str],
    sizes: Sequence[int],
    published: Mapping[tuple[str, int, str], float],
) -> tuple[list[Cell], list[Panel]]:
    """Cells row by row and a panel of each measure; `wanted` are measures and how they are called."""
    cells, panels = [], []
    for name, shown in wanted.items():
        curves = {label: [100 * getattr(point, name) for point in points] for label, points in found.items()}
        panels.append(
            Panel(
                shown,
                "features",
                "% of all features",
                [Line(label, list(map(float, sizes)), y) for label, y in curves.items()],
            )
        )
        cells += [
            Cell(f"{shown}: {size:,}", label, published.get((shown, size, label), UNPUBLISHED), y[place])
            for place, size in enumerate(sizes)
            for label, y in curves.items()
        ]
    return cells, panels
