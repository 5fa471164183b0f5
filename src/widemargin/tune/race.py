"""The cheap first round of fast tuning: candidates are compared on held-out documents.

Every candidate is trained on a part of the training documents, to a loose tolerance, and measured on others.
The ranks agree well with those of cross-validation on all documents. Those of xi-alpha do not: it needs
training on all documents, and grows more pessimistic with C.

C is found by hill climbing: from the middle value one step up, then on in the better direction until the
measure gets worse. Each step starts from the solution of the step before. A representation whose best value
is clearly below the leader's after two steps is dropped.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from widemargin._executors import Executor, called
from widemargin.estimate.cross_validation import scores_without, start_from, stratified_folds
from widemargin.labels import LabelSpace
from widemargin.tune.budget import Budget, training_work
from widemargin.tune.criteria import Criterion
from widemargin.tune.search_space import Candidate

Signs = NDArray[np.int8]
Floats = NDArray[np.float64]
# The scores of every split, its solution, and the seconds that it took.
Trained = Iterator[tuple[Floats, Any, float]]

_LOOSE = 0.1  # tolerance for training in the race
_LEARN_FROM = 4000  # largest number of documents
_SMALL = 2000  # up to this number of documents, each is held out once
_FOLDS_OF_SMALL = 5
_BEHIND = 0.01  # smallest margin of the measure


@dataclass(frozen=True)
class Split:
    """Rows to train on, possibly with weights, and rows to measure on."""

    seen: NDArray[np.intp]
    unseen: NDArray[np.intp]
    weights: Floats | None = None


def race_splits(
    truth: Signs, random_state: Any, weights: Floats | None = None, most: float = np.inf
) -> list[Split]:
    """Few documents are all held out in turn; of many, one sample is for training and a larger one for
    measuring.

    Few documents are held out in fewer parts, at least two, if the splits would train on more than `most`.
    """
    n = len(truth)
    if n <= _SMALL:
        folds = max(min(_FOLDS_OF_SMALL, n), 2)
        while folds > 2 and (folds - 1) * n > most:
            folds -= 1
        fold = stratified_folds(truth, folds, random_state)
        parts = [(fold != k, fold == k) for k in range(folds)]
    else:
        fold = stratified_folds(truth, max(-(-n // _LEARN_FROM), 2), random_state)
        parts = [(fold == 0, (fold > 0) & (fold <= 2))]
    return [
        Split(np.flatnonzero(seen), np.flatnonzero(unseen), None if weights is None else weights[seen])
        for seen, unseen in parts
    ]


@dataclass
class Climber:
    """One representation and learner, with the values of C tried so far.

    Attributes
    ----------
    candidates : in ascending order of C
    parts : rows to train on and rows to measure on, for every split
    tried : the measure at the positions tried
    starts : the solution of the last step on every split, where the next one starts
    """

    candidates: list[Candidate]
    parts: list[tuple[Any, Any]]
    warm: bool
    tried: dict[int, float] = field(default_factory=dict)
    starts: list[Any] = field(default_factory=list)

    @property
    def best(self) -> float:
        return max(self.tried.values())

    @property
    def top(self) -> int:
        """The position of the best value; of equal ones the first that was tried."""
        return max(self.tried, key=lambda place: self.tried[place])

    def next_step(self) -> int | None:
        """The next position: the middle, up, then on in the better direction; None at the maximum."""
        if not self.tried:
            return len(self.candidates) // 2
        top = self.top
        if top == max(self.tried) and top + 1 < len(self.candidates):
            return top + 1
        if top == min(self.tried) and top > 0:
            return top - 1
        return None

    def learner(self, place: int) -> Any:
        """The learner with the C at `place` and a loose tolerance."""
        return loosened(self.candidates[place].new_learner())

    def work(self, place: int, n_columns: int) -> float:
        """The predicted work of the step to `place`."""
        return sum(training_work(self.learner(place), X_seen, n_columns) for X_seen, _ in self.parts)

    def begin(
        self,
        place: int,
        splits: list[Split],
        space: LabelSpace,
        truth: Signs,
        executor: Executor | None = None,
    ) -> Trained:
        """Train with the C at `place`; by an executor, all splits at once and elsewhere."""
        starts = self.starts if self.warm and self.starts else [None] * len(splits)
        arguments = [
            (self.learner(place), *rows, space, truth[split.seen], split.weights, start)
            for split, rows, start in zip(splits, self.parts, starts, strict=True)
        ]
        return called(executor, _trained, arguments)

    def end(
        self,
        place: int,
        trained: Trained,
        splits: list[Split],
        space: LabelSpace,
        truth: Signs,
        by: Criterion,
    ) -> None:
        """Measure what :meth:`begin` has trained."""
        candidate = self.candidates[place]
        found, self.starts = [], []
        for scores, start, seconds in trained:
            found.append(scores)
            self.starts.append(start)
            candidate.seconds += seconds
        unseen = np.concatenate([split.unseen for split in splits])
        judgment = by.of_scores(space, truth[unseen], np.vstack(found), each_label=False)
        value, candidate.outcomes[0] = judgment.value, judgment.outcomes
        # An undefined measure is no reason to continue.
        self.tried[place] = candidate.held_out = value if np.isfinite(value) else 0.0


def _trained(
    learner: Any, X_seen: Any, X_unseen: Any, space: LabelSpace, truth: Signs, weights: Any, start: Any
) -> tuple[Floats, Any, float]:
    """The scores of one split, its solution, and the seconds that it took."""
    begin = time.perf_counter()
    if start is not None:
        start_from(learner, *start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        scores = scores_without(learner, X_seen, X_unseen, space, truth, weights)
    solution = getattr(learner, "alpha_", None), getattr(learner, "label_space_", None)
    return scores, solution, time.perf_counter() - begin


def loosened(learner: Any) -> Any:
    """The learner with the tolerance of races; of an average, its members."""
    if "tol" in learner.get_params(deep=False):
        learner.set_params(tol=max(learner.tol, _LOOSE))
    members = getattr(learner, "members", None)
    if members is not None:
        learner.set_params(members=[(columns, loosened(clone(member))) for columns, member in members])
    return learner


def run_race(
    climbers: list[Climber],
    splits: list[Split],
    space: LabelSpace,
    truth: Signs,
    by: Criterion,
    budget: Budget,
    executor: Executor | None = None,
) -> Iterator[None]:
    """Let all climbers advance in rounds until the budget is spent; yields after every step.

    The first step of every climber is already deducted from the budget. By an executor, the steps of a round
    are made together.
    """
    positives = sum(np.count_nonzero(truth[split.unseen] > 0) for split in splits)
    running = list(climbers)
    for round_number in range(max(len(climber.candidates) for climber in climbers)):
        begun: list[tuple[Climber, int, Trained]] = []
        spent = False
        for climber in running:
            place = climber.next_step()
            if place is not None:
                if round_number > 0 and not budget.pays(climber.work(place, space.n_columns)):
                    spent = True
                    break
                begun.append((climber, place, climber.begin(place, splits, space, truth, executor)))
        for climber, place, trained in begun:
            climber.end(place, trained, splits, space, truth, by)
            yield
        if spent:
            return
        leader = max(climber.best for climber in climbers)
        # Two standard errors of a proportion of this number of positives.
        behind = max(_BEHIND, 2 * float(np.sqrt(leader * (1 - leader) / max(positives, 1))))
        running = [
            climber
            for climber in running
            if climber.next_step() is not None and (round_number == 0 or climber.best >= leader - behind)
        ]
