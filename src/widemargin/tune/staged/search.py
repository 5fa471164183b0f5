"""The staged race: one axis after another, each from the best point so far.

Every step trains one candidate on a part of the documents and measures it on others, like the race over a
product of choices (:mod:`widemargin.tune.race`). The alternatives on an axis are tried with the C of the
leader; C itself climbs when the cheap axes are done and again after characters. An alternative must
be better than the leader to replace it, with limited effort by more if it has more terms, so the result is
never worse than the starting point on the documents measured.

Steps are paid for in predicted work before they are made (:mod:`widemargin.tune.budget`). A step that costs
more than is left is omitted; cheaper ones after it may still be made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from widemargin.text.pruning import NoTermsError
from widemargin.tune.budget import COUNTING, WEIGHTING, Budget, predicted_work
from widemargin.tune.criteria import Criterion
from widemargin.tune.race import Climber, Split, Trained, loosened
from widemargin.tune.search_space import Candidate
from widemargin.tune.staged.applicable import describe
from widemargin.tune.staged.axes import Axes, Axis, Documents, Point
from widemargin.tune.staged.race_rows import RaceRows
from widemargin.tune.staged.splits import affordable_folds, has_order, staged_splits
from widemargin.tune.winners import Task

# Rounds over all axes with unlimited effort; a round without a change is the last.
ROUNDS = 3
# C climbs before and after what changes the number of terms most.
_CLIMB_BEFORE = ("chars",)
# A representation with twice as many values must be better by this much, one with three times by twice that.
_WORTH = 0.0007
# What corpus vectors must gain, because every fold of an estimate learns them again.
_WORTH_OF_VECTORS = 0.002
# A race of all axes takes as long as so many trainings of the starting point, and countings of its words.
_SIZE, _COUNTINGS = 60.0, 10.0


@dataclass
class Visited:
    """What the search has come by, as candidates refer to it: the same attributes as a `Space`."""

    costs: Sequence[float]
    representations: list[Any] = field(default_factory=list)
    learners: list[Any] = field(default_factory=list)
    _points: dict[str, tuple[int, int]] = field(default_factory=dict)

    def places(self, point: Point) -> tuple[int, int]:
        """The positions of a point's representation and learner."""
        if point.key not in self._points:
            place = _place(self.representations, dict(point.representation), lambda a, b: a == b)
            learner = _place(self.learners, point.learner, _same_learner)
            self._points[point.key] = place, learner
        return self._points[point.key]


@dataclass
class Stage:
    """One point of the search with its climber, and the values of C that were tried."""

    point: Point
    climber: Climber

    @property
    def best(self) -> float:
        return self.climber.best if self.climber.tried else -np.inf

    @property
    def place(self) -> int:
        """The position of the best C."""
        return self.climber.top

    @property
    def chosen_cost(self) -> float | None:
        """The best C."""
        return self.climber.candidates[self.place].C


@dataclass
class StagedRace:
    """A search for the best point.

    Attributes
    ----------
    axes, documents : what to choose from
    rows, splits : the documents of the race
    by : how candidates are compared
    in_time : every split trains on earlier and measures on later documents
    candidates : those that were tried, in this order
    leader : the best of them, after :meth:`run`
    """

    task: Task
    axes: Axes
    documents: Documents
    rows: RaceRows
    splits: list[Split]
    by: Criterion
    budget: Budget
    estimates: int
    visited: Visited
    in_time: bool = False
    stages: dict[str, Stage] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    leader: Candidate | None = None

    @property
    def measured(self) -> int:
        """The number of documents measured on."""
        return sum(len(split.unseen) for split in self.splits)

    def take_as_estimate(self, candidate: Candidate) -> None:
        """Let the measure of the race be the estimate of a candidate."""
        folds = len(self.splits) > 1 and not self.in_time
        candidate.estimate = candidate.held_out
        candidate.method = "later documents" if self.in_time else "k-fold" if folds else "held-out"

    def run(self, rounds: int) -> StagedRace:
        """Search until a round over all axes changes nothing."""
        leader = self._stage(self.axes.start)
        self._step(leader, _own_cost(leader), free=True)
        axes = self.axes.of(self.documents)
        for _ in range(rounds):
            before = leader.point.key
            for axis in axes:
                if axis.name in _CLIMB_BEFORE:
                    self._climb(leader)
                leader = self._along(axis, leader)
            self._climb(leader)
            if leader.point.key == before:
                break
        self.leader = leader.climber.candidates[leader.place]
        return self

    def _along(self, axis: Axis, leader: Stage) -> Stage:
        """The leader after the alternatives on one axis."""
        best = leader
        begun: list[tuple[Stage, int, Trained | None]] = []
        start = leader.point
        if axis.at_cost and leader.chosen_cost is not None:
            start = start.but(C=leader.chosen_cost)
        for point in axis.around(start):
            stage = self._stage(point)
            costs = len(stage.climber.candidates)
            place = leader.place if costs == len(leader.climber.candidates) else costs // 2
            if place in stage.climber.tried or any(stage is other for other, *_ in begun):
                continue
            begun.append((stage, place, self._begin(stage, place, leader)))
            if self.task.executor is None:
                best = self._better(begun.pop(), best)
        for each in begun:
            best = self._better(each, best)
        if best is not leader:
            leader.climber.starts = []
        return best

    def _better(self, begun: tuple[Stage, int, Trained | None], best: Stage) -> Stage:
        """The better one of a step that was begun and the best so far."""
        stage, place, trained = begun
        if trained is not None:
            self._end(stage, place, trained)
        if stage.best > best.best + self._margin(stage, best):
            return stage
        if stage is not best:
            stage.climber.starts = []
        return best

    def _margin(self, stage: Stage, best: Stage) -> float:
        """By how much an alternative must be better: with limited effort, it must be worth more terms."""
        if np.isinf(self.budget.left):
            return 0.0
        new, old = (self.rows.values(found.point.representation)[0] for found in (stage, best))
        vectors = _WORTH_OF_VECTORS * (stage.point.learns_vectors - best.point.learns_vectors)
        return _WORTH * max(new / max(old, 1.0) - 1, 0.0) + max(vectors, 0.0)

    def _climb(self, leader: Stage) -> None:
        while (place := leader.climber.next_step()) is not None:
            if not self._step(leader, place):
                return

    def _step(self, stage: Stage, place: int, *, free: bool = False) -> bool:
        """Train and measure one candidate, if the budget allows it."""
        trained = self._begin(stage, place, free=free)
        if trained is None:
            return False
        self._end(stage, place, trained)
        return True

    def _begin(
        self, stage: Stage, place: int, leader: Stage | None = None, *, free: bool = False
    ) -> Trained | None:
        """Train one candidate, if the budget allows it."""
        values, counting = self.rows.values(stage.point.representation)
        learner = stage.climber.learner(place)
        share = sum(len(split.seen) for split in self.splits) / self.rows.n_documents
        columns = self.task.space.n_columns
        price = predicted_work(learner, share * values, len(self.splits[0].seen), columns)
        price += counting + WEIGHTING * values * len(self.splits)
        if free:
            self.budget.left -= price
        elif not self.budget.pays(price):
            return None
        try:
            stage.climber.parts = self.rows.parts(stage.point.representation)
        except NoTermsError:
            # Short texts may have no bigrams, or only stop words.
            if leader is None:
                raise
            return None
        if leader is not None and leader.climber.candidates[0].learner == stage.climber.candidates[0].learner:
            stage.climber.starts = leader.climber.starts
        task = self.task
        trained = stage.climber.begin(place, self.splits, task.space, task.truth, task.executor)
        stage.climber.parts = []
        return trained

    def _end(self, stage: Stage, place: int, trained: Trained) -> None:
        """Measure what was trained."""
        stage.climber.end(place, trained, self.splits, self.task.space, self.task.truth, self.by)
        columns = self.task.space.n_columns
        candidate = stage.climber.candidates[place]
        values, _ = self.rows.values(stage.point.representation)
        all_values = values * len(self.task) / self.rows.n_documents
        candidate.once = predicted_work(candidate.new_learner(), all_values, len(self.task), columns)
        again = (COUNTING + self.estimates * WEIGHTING) * all_values
        candidate.work = (1 + self.estimates) * candidate.once + again
        self.candidates.append(candidate)
        self.task.done[0] += 1

    def _stage(self, point: Point) -> Stage:
        if point.key not in self.stages:
            place, learner = self.visited.places(point)
            where = None if self.documents.vectors else place
            found: list[Candidate] = [
                Candidate(self.visited, where, learner, C) for C in self.axes.costs_of(point.learner)
            ]
            self.stages[point.key] = Stage(point, Climber(found, [], self.task.warm))
        return self.stages[point.key]


def staged_race(
    task: Task, axes: Axes, criterion: Criterion, budget: Budget, *, fast: bool, times: Any = None
) -> StagedRace:
    """Search the axes within a budget; "fast" has one of its own."""
    documents = describe(task.documents, axes.vectorizer, multilabel=task.space.kind == "multilabel")
    # A measure of decisions, as for xi-alpha, applies to held-out scores too.
    by = Criterion("k-fold", criterion.measure, criterion.average)
    start = axes.start
    whole = RaceRows(task.documents, [Split(np.arange(len(task)), np.arange(0))], task.beside)
    values, counting = whole.values(start.representation)
    if fast:
        once = predicted_work(start.learner, values, len(task), task.space.n_columns)
        budget = budget.at_most(once + counting + WEIGHTING * values)
    training = predicted_work(loosened(clone(start.learner)), values, len(task), task.space.n_columns)
    folds = affordable_folds(budget.left, _COUNTINGS * counting, _SIZE * WEIGHTING * values, _SIZE * training)
    splits = staged_splits(task.truth, task.random_state, task.weights, folds, times)
    in_time = times is not None and has_order(times)
    rows = RaceRows(task.documents, splits, task.beside)
    race = StagedRace(
        task, axes, documents, rows, splits, by, budget, criterion.folds, Visited(axes.costs), in_time
    )
    return race.run(ROUNDS if np.isinf(budget.left) else 1)


def _own_cost(stage: Stage) -> int:
    """The position of the learner's own C, or of the middle."""
    own = getattr(stage.point.learner, "C", None)
    costs = [candidate.C for candidate in stage.climber.candidates]
    return costs.index(own) if own in costs else len(costs) // 2


def _place(known: list[Any], wanted: Any, same: Any) -> int:
    for place, one in enumerate(known):
        if same(one, wanted):
            return place
    known.append(wanted)
    return len(known) - 1


def _same_learner(one: Any, other: Any) -> bool:
    return type(one) is type(other) and repr(one.get_params()) == repr(other.get_params())
