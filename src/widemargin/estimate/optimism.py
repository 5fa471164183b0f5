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


@dataclass(frozen=True)
class Optimism:
    """By how much an estimate is too high on average: `value`, a part of 1, of accuracy or micro-F1.

    `candidates` is the number of candidates that the best was chosen from.
    """

    value: float
    candidates: int

    def lower(self, found: Quality) -> Quality:
        """`found` with accuracy and averages lowered, and their intervals with them; figures of labels stay.

        Errors grow in the proportion in which 1 - F1 grows.
        """
        if round(100 * self.value, 1) <= 0:
            return found
        note = (
            f"Accuracy and averages are lowered by {100 * self.value:.1f} points, because the best of "
            f"{self.candidates} candidates was chosen on the same documents."
        )
        accuracy = None if found.accuracy is None else self._lowered(found.accuracy)
        return replace(
            found,
            accuracy=accuracy,
            micro=self._of_average(found.micro),
            macro=self._of_average(found.macro),
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

    def _of_average(self, figures: dict[str, Figure]) -> dict[str, Figure]:
        missed = 1 - figures["f1"].value
        growth = (missed + self.value) / missed if missed > 0 else 1.0
        return {
            name: _scaled(figure, growth, 0.0) if name == "error" else self._lowered(figure)
            for name, figure in figures.items()
        }

    def _lowered(self, figure: Figure) -> Figure:
        return _scaled(figure, 1.0, -self.value)


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


def _per_document(truth: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> NDArray[Any]:
    return np.column_stack([np.count_nonzero(cells, axis=1) for cells in (truth & chosen, chosen, truth)])


def _sums(weights: Counts, counts: Counts) -> Counts:
    """(samples, candidates, 3) counts of weighted groups."""
    sums: Counts = (weights @ counts.reshape(len(counts), -1)).reshape(len(weights), -1, 3)
    return sums


def _f1(counts: Counts) -> NDArray[Any]:
    found: NDArray[Any] = 2 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1)
    return found
