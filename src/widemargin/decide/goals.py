"""Goals for per-label thresholds, and the thresholds that reach them.

======================  ======================================================================================
``f1``                  the best F1; rare labels stay near a common threshold
``f1-per-label``        the best F1 of every label alone (SCut); good for macro-averages
``precision:0.9``       at least this precision, with 95 % confidence (``precision:0.9@0.99``: 99 %)
``recall:0.9``          at least this recall, with 95 % confidence
``cost:1,5``            the lowest cost if a false positive costs 1 and a false negative 5
``proportional``        each label on the same share of documents as in training
======================  ======================================================================================

Where one of several classes is chosen, thresholds compete: the class whose score exceeds its threshold most
is decided (:mod:`widemargin.decide.offsets`). ``f1-per-label`` is then the best macro-F1, ``f1`` the same
from smoothed counts, and ``proportional`` decides each class as often as in training. The other goals do not
apply: every document gets a class, so no precision can be promised for all classes, and each error is one
false positive and one false negative.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from widemargin.decide.cross_fitting import parts_of
from widemargin.decide.offsets import f_offsets, proportional_offsets
from widemargin.decide.promises import HELD_OUT, precision_thresholds, recall_thresholds
from widemargin.decide.thresholds import (
    assign_proportionally,
    best_f_thresholds,
    cost_thresholds,
    shrunk_f_thresholds,
)
from widemargin.errors import DataWarning, UsageError

if TYPE_CHECKING:
    from widemargin.decide.tree_rule import TreeRule

Floats = NDArray[np.float64]
Name = Literal["f1", "f1-per-label", "precision", "recall", "cost", "proportional"]
CONFIDENCE = 0.95
# Examples of the average class that the goal "f1" adds to each class.
_STRENGTH = 3.0


@dataclass(frozen=True)
class Goal:
    """A goal for per-label thresholds; `values` are its numbers."""

    name: Name
    values: tuple[float, ...] = ()
    confidence: float = CONFIDENCE

    @classmethod
    def read(cls, text: str) -> Goal:
        """Parse a goal such as "precision:0.9".

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
            raise UsageError(f"thresholds {text}: {name} and confidence must be between 0 and 1.")
        if name == "cost" and not (min(numbers) >= 0 and 0 < max(numbers) < np.inf):
            raise UsageError(f"thresholds {text}: costs must not be negative, and not both 0.")
        return cls(name, numbers, level)  # type: ignore[arg-type]

    def check_exclusive(self) -> None:
        """Refuse what means nothing where one of several classes is chosen."""
        if self.name in ("f1", "f1-per-label", "proportional"):
            return
        why = (
            "each error is one false positive and one false negative, so they cannot cost differently. Pass "
            "costs between classes (--costs FILE)"
            if self.name == "cost"
            else f"every document gets one of them, so no {self.name} can be guaranteed for all"
        )
        raise UsageError(
            f"thresholds {self.name}: of exclusive classes, {why}. Goals that apply are f1, f1-per-label and "
            f"proportional; label sets (--multilabel) have all goals."
        )

    def thresholds(self, scores: NDArray[Any], truth: NDArray[Any], *, exclusive: bool = False) -> Floats:
        """One threshold per column; a label is assigned if its score is larger.

        Parameters
        ----------
        scores : (n, labels), held-out
        truth : signs of the same shape
        exclusive : one of several classes is chosen, by the largest difference of score and threshold
        """
        if exclusive:
            return -self._offsets(scores, truth)
        if self.name == "f1":
            return shrunk_f_thresholds(scores, truth)
        if self.name == "f1-per-label":
            return best_f_thresholds(scores, truth)
        if self.name == "precision":
            return precision_thresholds(scores, truth, self.values[0], self.confidence)
        if self.name == "recall":
            target, confidence = self.values[0], self.confidence
            return recall_thresholds(scores, truth, target, confidence, dependence=HELD_OUT)
        if self.name == "cost":
            false_positive, false_negative = self.values
            return cost_thresholds(scores, truth, [[0.0, false_positive], [false_negative, 0.0]])
        return _proportional(np.asarray(scores, dtype=np.float64), np.asarray(truth))

    def _offsets(self, scores: NDArray[Any], truth: NDArray[Any]) -> Floats:
        self.check_exclusive()
        if self.name == "proportional":
            return proportional_offsets(scores, truth)
        return f_offsets(scores, truth, strength=_STRENGTH if self.name == "f1" else 0.0)

    def decisions(
        self,
        scores: NDArray[Any],
        truth: NDArray[Any],
        seed: int = 0,
        *,
        exclusive: bool = False,
        hierarchy: TreeRule | None = None,
    ) -> NDArray[np.int8]:
        """Decide each document by thresholds that were chosen on the other four fifths of the documents.

        Figures on the scores that thresholds were chosen on would be too good.

        Parameters
        ----------
        hierarchy : chooses thresholds and decides consistently with a tree of labels
        """
        chosen = np.full(scores.shape, -1, dtype=np.int8)
        with warnings.catch_warnings():
            # Unreachable goals are reported once, for the final thresholds.
            warnings.simplefilter("ignore", DataWarning)
            for part, others in parts_of(len(scores), seed):
                if hierarchy is not None:
                    limits = hierarchy.thresholds(self, scores[others], truth[others])
                    chosen[part] = hierarchy.choose(scores[part], limits)
                    continue
                above = scores[part] - self.thresholds(scores[others], truth[others], exclusive=exclusive)
                if exclusive:
                    chosen[np.flatnonzero(part), above.argmax(axis=1)] = 1
                else:
                    chosen[part] = np.where(above > 0, 1, -1)
        return chosen


def _proportional(scores: Floats, truth: NDArray[Any]) -> Floats:
    """Thresholds between the lowest assigned score and the highest other score."""
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
