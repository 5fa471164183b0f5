"""The optimism of an estimate whose candidate was chosen because it did best on the same documents.

The maximum of several noisy estimates is too high on average. How much is found by repeating the choice: the
candidate that is best on a random half of the documents is measured on that half and on the other one. Only
the outcomes of held-out documents are needed, so nothing is trained again. The noise of a half is sqrt(2)
times that of all documents, and the mean difference is divided by that.

Bootstrap bias correction (Tsamardinos, Greasidou and Borboudakis, Machine Learning 2018) compares instead the
winner on all documents with whatever candidate is chosen on a sample, on the documents outside of it. If
candidates are compared by one measure (break-even points) and reported by another (decisions), these two
differ by more than the effect of the choice: in simulations its standard deviation is four times as large.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.labels import LabelSpace
from widemargin.measure.class_costs import AverageCost
from widemargin.measure.intervals import Figure
from widemargin.measure.quality import Quality

Counts = NDArray[np.float32]

# More documents are counted in this number of random groups, each sampled as a whole.
_GROUPS = 2000
_HALVES = 200
# Groups x labels.
_CELLS = 2**19


@dataclass(frozen=True)
class Optimism:
    """By how much an estimate is too high on average: `value`, a part of 1, of accuracy or micro-F1.

    `candidates` is the number of candidates that the best was chosen from. `macro` is the same for
    macro-averages, if candidates were chosen for each label; None if it is no more than `value`.
    """

    value: float
    candidates: int
    macro: float | None = None

    def lower(self, found: Quality) -> Quality:
        """`found` with accuracy and averages lowered, and their intervals with them; figures of labels stay.

        Errors grow in the proportion in which 1 - F1 grows.
        """
        of_macro = self.value if self.macro is None else self.macro
        if max(round(100 * self.value, 1), round(100 * of_macro, 1)) <= 0:
            return found
        each = self.macro is not None
        note = (
            f"Accuracy and averages are lowered by {100 * self.value:.1f} points"
            f"{f', macro-averages by {100 * of_macro:.1f}' if each else ''}, because the best of "
            f"{self.candidates} candidates was chosen {'for each label ' if each else ''}on the same "
            f"documents."
        )
        accuracy = None if found.accuracy is None else _scaled(found.accuracy, 1.0, -self.value)
        return replace(
            found,
            accuracy=accuracy,
            micro=_of_average(found.micro, self.value),
            macro=_of_average(found.macro, of_macro),
            notes=[*found.notes, note],
        )

    def raise_cost(self, found: AverageCost, accuracy: float) -> AverageCost:
        """`found` with costs raised in the proportion in which errors grow, from 1 - `accuracy`."""
        missed = 1 - accuracy
        if round(100 * self.value, 1) <= 0 or missed <= 0:
            return found
        growth = (missed + self.value) / missed
        was = found.average
        value, low, high = (round(growth * end, 6) for end in (was.value, was.low, was.high))
        by_scores = None if found.by_scores is None else round(growth * found.by_scores, 6)
        note = f"Costs are raised by {100 * (growth - 1):.0f} % for the same reason."
        notes = [*found.notes, note]
        return replace(found, average=Figure(value, low, high, was.kind), by_scores=by_scores, notes=notes)


def _of_average(figures: dict[str, Figure], by: float) -> dict[str, Figure]:
    missed = 1 - figures["f1"].value
    growth = (missed + by) / missed if missed > 0 else 1.0
    return {
        name: _scaled(figure, growth, 0.0) if name == "error" else _scaled(figure, 1.0, -by)
        for name, figure in figures.items()
    }


def _scaled(figure: Figure, factor: float, shift: float) -> Figure:
    ends = np.array([figure.value, figure.low, figure.high])
    value, low, high = np.clip(factor * ends + shift, 0, 1).round(6).tolist()
    return Figure(value, low, high, figure.kind)


def outcome_counts(
    space: LabelSpace, truth: NDArray[Any], scores: NDArray[np.float64], *, break_even: bool
) -> Counts:
    """What became of held-out documents: hits, predictions and positives of groups of documents.

    Parameters
    ----------
    truth, scores : arrays (n, columns)
    break_even : candidates are compared by break-even points, and not by decisions

    Returns
    -------
    (2, groups, 3) counts that candidates are compared by, and counts of the decisions that are reported. The
    F1 of either is 2 hits / (predictions + positives); it is accuracy if every document has one label.
    """
    truth = truth > 0
    chosen = space.choose(scores) > 0
    if space.kind == "multilabel":
        shown = _per_document(truth, chosen)
    else:
        right = (truth == chosen).all(axis=1)
        shown = np.column_stack([right, np.ones((len(truth), 2))])
    compared = shown
    if break_even and (positives := np.count_nonzero(truth)) > 0:
        # As many predictions as positives: there, precision and recall are the same.
        place = truth.size - positives
        cut = np.partition(scores, place, axis=None)[place]
        compared = _per_document(truth, scores >= cut)
    groups = min(len(truth), _GROUPS)
    group = np.random.default_rng(len(truth)).permutation(len(truth)) % groups
    counts = np.empty((2, groups, 3), np.float32)
    for k, table in enumerate((compared, shown)):
        for j in range(3):
            counts[k, :, j] = np.bincount(group, table[:, j], minlength=groups)
    return counts


def optimism_of_best(counts: list[Counts], random_state: Any = 0) -> float:
    """By how much the best of several candidates is overestimated on the documents it was chosen on.

    Parameters
    ----------
    counts : of every candidate, by :func:`outcome_counts` on the same documents

    Examples
    --------
    >>> right = np.random.default_rng(3).random((20, 400)) < 0.8
    >>> counts = [np.column_stack([row, np.ones((400, 2))])[None].repeat(2, axis=0) for row in right]
    >>> f"{right.mean(axis=1).max() - 0.8:.3f} {optimism_of_best(counts):.3f}"
    '0.037 0.036'
    """
    if len(counts) < 2:
        return 0.0
    compared, shown = (np.stack([each[k] for each in counts], axis=1) for k in range(2))
    generator = np.random.default_rng(random_state)
    halves = generator.permuted(np.arange(len(shown)) % 2 * np.ones((_HALVES, 1)), axis=1).astype(np.float32)
    best = np.arange(_HALVES), _f1(_sums(halves, compared)).argmax(axis=1)
    inside, outside = (_f1(_sums(half, shown)[best]).mean() for half in (halves, 1 - halves))
    return max(float((inside - outside) / np.sqrt(2)), 0.0)


def label_outcomes(truth: NDArray[Any], scores: NDArray[np.float64], chosen: NDArray[Any]) -> Counts:
    """What became of held-out documents, label by label: as :func:`outcome_counts`, of break-even points.

    Parameters
    ----------
    truth, scores, chosen : arrays (n, columns): the labels, and the scores and decisions of a candidate

    Returns
    -------
    (2, groups, columns, 3) counts; with many columns there are fewer groups, to save memory
    """
    n, n_columns = truth.shape
    truth = truth > 0
    positives = np.count_nonzero(truth, axis=0)
    cuts = np.full(n_columns, np.inf)
    for column in np.flatnonzero(positives).tolist():
        place = n - int(positives[column])
        cuts[column] = np.partition(scores[:, column], place)[place]
    groups = min(n, _GROUPS, max(_HALVES, _CELLS // n_columns))
    group = np.random.default_rng(n).permutation(n) % groups
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(groups))
    counts = np.empty((2, groups, n_columns, 3), np.float32)
    for k, predicted in enumerate((scores >= cuts, chosen > 0)):
        for j, cells in enumerate((truth & predicted, predicted, truth)):
            counts[k, :, :, j] = np.add.reduceat(cells[order].astype(np.float32), starts, axis=0)
    return counts


def optimism_per_label(counts: list[Counts], random_state: Any = 0) -> tuple[float, float]:
    """By how much more a choice for each label is overestimated than one for all, in micro- and in macro-F1.

    Parameters
    ----------
    counts : of every candidate, by :func:`label_outcomes` on the same documents
    """
    if len(counts) < 2:
        return 0.0, 0.0
    compared, shown = (np.stack([each[k] for each in counts], axis=1) for k in range(2))
    generator = np.random.default_rng(random_state)
    differences = []
    for _ in range(_HALVES):
        half = (generator.permutation(len(shown)) % 2).astype(np.float32)
        value = _f1(np.tensordot(half, compared, 1))  # (candidates, columns)
        own = value.argmax(axis=0), np.arange(value.shape[1])
        common = _f1(np.tensordot(half, compared.sum(axis=2), 1)).argmax()
        both = [np.tensordot(part, shown, 1) for part in (half, 1 - half)]  # (candidates, columns, 3)
        known = (both[0][0, :, 2] > 0) & (both[1][0, :, 2] > 0)
        each = [_averages(part[own], known) - _averages(part[common], known) for part in both]
        differences.append(each[0] - each[1])
    micro, macro = (max(float(value), 0.0) for value in np.mean(differences, axis=0) / np.sqrt(2))
    return micro, macro


def _averages(counts: Counts, known: NDArray[np.bool_]) -> NDArray[Any]:
    """Micro- and macro-F1 of counts (columns, 3); the latter of the `known` columns."""
    return np.array([_f1(counts.sum(axis=0)), _f1(counts[known]).mean() if known.any() else 0.0])


def _per_document(truth: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> NDArray[Any]:
    return np.column_stack([np.count_nonzero(cells, axis=1) for cells in (truth & chosen, chosen, truth)])


def _sums(weights: Counts, counts: Counts) -> Counts:
    """(samples, candidates, 3) counts of weighted groups."""
    sums: Counts = (weights @ counts.reshape(len(counts), -1)).reshape(len(weights), -1, 3)
    return sums


def _f1(counts: Counts) -> NDArray[Any]:
    found: NDArray[Any] = 2 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1)
    return found
