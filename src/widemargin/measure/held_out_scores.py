"""Scores of examples by rules that did not learn from them: one type, however they were found.

It stands with the measures, before the learners, so that a learner that can leave examples out returns it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from widemargin._work import RATE
from widemargin.measure.contingency import Contingency, contingency

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]
Counts = NDArray[np.int64]
Method = Literal["leave-one-out", "one-step", "k-fold", "hold-out"]


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Held-out scores; arrays have one row per example and one column per label.

    Attributes
    ----------
    scores : decision values by the rule learned without the example, or without its fold
    truth : the labels as +1 and -1
    method : "leave-one-out", "one-step" (an approximation of it), "k-fold" or "hold-out"
    accuracy : how far each score may be from that of exact leave-one-out: a proof, and far from tight. Where
        it is not below the size of a score, the sign is not proven.
    retrained : (columns,) how often the rule was learned again without an example
    unstable : (columns,) scores whose threshold is the middle of an interval, because the rule without the
        example has no unbounded support vector
    fold : (n,) the number of each example's fold, for "k-fold"
    undecided : for how many examples the largest score of exact leave-one-out is not proven to be that of the
        same class: these are ties, or too close to one to tell. None where the largest score does not decide,
        and for "one-step", "k-fold" and "hold-out"
    documents : numbers of the examples that the rows are about, for "hold-out"; None for all examples
    """

    scores: Floats
    truth: Signs
    method: Method
    accuracy: Floats
    retrained: Counts
    unstable: Counts
    fold: NDArray[np.int32] | None = None
    undecided: int | None = None
    documents: NDArray[np.intp] | None = None

    @classmethod
    def of_part(cls, scores: Floats, truth: Signs, documents: NDArray[np.intp]) -> HeldOutScores:
        """Scores of the examples that were held out, by one rule."""
        none = np.zeros(truth.shape[1], np.int64)
        unknown = np.full(truth.shape, np.inf)
        return cls(scores, truth, "hold-out", unknown, none, none, documents=documents)

    @classmethod
    def of_folds(cls, scores: Floats, truth: Signs, fold: NDArray[np.int32]) -> HeldOutScores:
        """What cross-validation found, of which nothing is proven."""
        none = np.zeros(truth.shape[1], np.int64)
        return cls(scores, truth, "k-fold", np.full(truth.shape, np.inf), none, none, fold)

    @classmethod
    def of_closed_form(cls, scores: Floats, truth: Signs) -> HeldOutScores:
        """Exact scores for which nothing was learned again."""
        none = np.zeros(truth.shape[1], np.int64)
        return cls(scores, truth, "leave-one-out", np.zeros(truth.shape), none, none)

    @property
    def signs(self) -> Signs:
        """Decisions, +1 where the score is above 0."""
        return np.where(self.scores > 0, 1, -1).astype(np.int8)

    @property
    def folds(self) -> int | None:
        """How many folds there are, for "k-fold"."""
        return None if self.fold is None else int(self.fold.max()) + 1

    @property
    def table(self) -> Contingency:
        """The decisions against the truth, one entry per column."""
        return contingency(self.truth, self.signs)


@dataclass(frozen=True)
class LeftOutCost:
    """What leaving out every example is predicted to take; infinite where a learner cannot do it.

    Attributes
    ----------
    work : in units of :mod:`widemargin._work`, the same at any load and number of threads
    why : what takes the time, where that is worth a note
    one_step : the work of approximate scores; infinite where there are none
    """

    work: float
    why: str = ""
    one_step: float = np.inf

    @property
    def seconds(self) -> float:
        """The same on one core."""
        return self.work / RATE
