"""What thresholds are for, in a word or two, and the thresholds that serve it.

======================  ======================================================================================
``f1``                  the largest F1, where rare labels lean on the threshold that suits all labels
``f1-per-label``        the largest F1 of every label by itself (SCut): best for macro-averages
``precision:0.9``       at least this precision, at a confidence of 95 % (``precision:0.9@0.99``: of 99 %)
``recall:0.9``          at least this recall, likewise
``cost:1,5``            the least cost, when a false positive costs 1 and a false negative 5
``proportional``        each label on the share of documents that it has in training
======================  ======================================================================================
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from widemargin.decide.promises import precision_thresholds, recall_thresholds
from widemargin.decide.thresholds import (
    assign_proportionally,
    best_f_thresholds,
    cost_thresholds,
    shrunk_f_thresholds,
)
from widemargin.errors import DataWarning, UsageError

Floats = NDArray[np.float64]
Name = Literal["f1", "f1-per-label", "precision", "recall", "cost", "proportional"]
CONFIDENCE = 0.95
# Parts of the examples, each decided by thresholds that were chosen on the others.
PARTS = 5


@dataclass(frozen=True)
class Goal:
    """What thresholds are to reach; `values` are its numbers."""

    name: Name
    values: tuple[float, ...] = ()
    confidence: float = CONFIDENCE

    @classmethod
    def read(cls, text: str) -> Goal:
        """The goal that `text` names.

        Examples
        --------
        >>> Goal.read("precision:0.9")
        Goal(name='precision', values=(0.9,), confidence=0.95)
        >>> Goal.read("cost:1,5").values
        (1.0, 5.0)
        """
        name, colon, rest = str(text).partition(":")
        target, at, confidence = rest.partition("@")
        try:
            numbers = tuple(float(part) for part in target.split(",")) if colon else ()
            level = float(confidence) if at else CONFIDENCE
        except ValueError:
            raise _unknown(text) from None
        promises = name in ("precision", "recall")
        expected = 1 if promises else 2 if name == "cost" else 0
        if name not in get_args(Name) or len(numbers) != expected or (at and not promises):
            raise _unknown(text)
        if promises and not (0 < numbers[0] < 1 and 0 < level < 1):
            raise UsageError(f"thresholds {text}: a {name} and a confidence lie between 0 and 1.")
        if name == "cost" and not (min(numbers) >= 0 and 0 < max(numbers) < np.inf):
            raise UsageError(f"thresholds {text}: costs are not negative, and not both 0.")
        return cls(name, numbers, level)  # type: ignore[arg-type]

    def thresholds(self, scores: NDArray[Any], truth: NDArray[Any]) -> Floats:
        """One threshold a column: its label is chosen where the score is larger.

        Parameters
        ----------
        scores : (n, labels), each document's by a rule that was learned without it
        truth : signs of the same shape
        """
        if self.name == "f1":
            return shrunk_f_thresholds(scores, truth)
        if self.name == "f1-per-label":
            return best_f_thresholds(scores, truth)
        if self.name == "precision":
            return precision_thresholds(scores, truth, self.values[0], self.confidence)
        if self.name == "recall":
            return recall_thresholds(scores, truth, self.values[0], self.confidence)
        if self.name == "cost":
            false_positive, false_negative = self.values
            return cost_thresholds(scores, truth, [[0.0, false_positive], [false_negative, 0.0]])
        return _proportional(np.asarray(scores, dtype=np.float64), np.asarray(truth))

    def decisions(self, scores: NDArray[Any], truth: NDArray[Any], seed: int = 0) -> NDArray[np.int8]:
        """Each document decided by thresholds that were chosen without it.

        Thresholds look their best on the scores they were chosen on. These decisions, by thresholds chosen
        on the other four fifths of the documents, do not flatter them.
        """
        n = len(scores)
        part = np.random.default_rng(seed).permutation(n) % min(PARTS, n)
        chosen = np.full(scores.shape, -1, dtype=np.int8)
        with warnings.catch_warnings():
            # What a goal cannot reach is said once, of the thresholds that are kept.
            warnings.simplefilter("ignore", DataWarning)
            for k in range(min(PARTS, n)):
                others = part != k
                limits = self.thresholds(scores[others], truth[others])
                chosen[~others] = np.where(scores[~others] > limits, 1, -1)
        return chosen


def _proportional(scores: Floats, truth: NDArray[Any]) -> Floats:
    """Between the lowest score that is chosen and the highest that is not."""
    chosen = assign_proportionally(scores, np.mean(truth > 0, axis=0)) > 0
    lowest = np.where(chosen, scores, np.inf).min(axis=0)
    highest = np.where(chosen, -np.inf, scores).max(axis=0)
    with np.errstate(invalid="ignore"):
        middle: Floats = (lowest + highest) / 2
    return np.where(
        np.isfinite(lowest) & np.isfinite(highest), middle, np.where(chosen.any(0), -np.inf, np.inf)
    )


def _unknown(text: object) -> UsageError:
    return UsageError(
        f"thresholds {text}: expected f1, f1-per-label, precision:P, recall:R, cost:FALSE_POSITIVE,"
        f"FALSE_NEGATIVE or proportional, such as precision:0.9 or cost:1,5."
    )
