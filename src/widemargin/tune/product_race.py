"""The race over a product of representations, learners and values of C: every representation takes part."""

from __future__ import annotations

import numpy as np

from widemargin.tune.budget import REPRESENTATION, Budget, affordable_rows, training_work
from widemargin.tune.criteria import Criterion
from widemargin.tune.race import Climber, Split, race_splits, run_race
from widemargin.tune.search_space import Candidate, Represented, Space
from widemargin.tune.winners import Task


def product_race(
    task: Task,
    represented: Represented,
    space: Space,
    candidates: list[Candidate],
    criterion: Criterion,
    budget: Budget,
) -> int:
    """Set `held_out` of every candidate that the race reaches; returns the number of documents measured on.

    Whatever the budget, the first representation takes part and the best candidate is estimated.
    """
    # A measure of decisions, as for xi-alpha, applies to held-out scores too.
    by = Criterion("k-fold", criterion.measure, criterion.average)
    columns = task.space.n_columns
    splits: list[Split] = []
    climbers: list[Climber] = []
    for place, _, _, X in represented.matrices({candidate.representation for candidate in candidates}):
        if not splits:
            most = np.inf
            if np.isinf(budget.left):
                most = affordable_rows(X, columns, training_work(space.learners[0], X, columns))
            splits = race_splits(task.truth, task.random_state, task.weights, most)
        parts = [(X[split.seen], X[split.unseen]) for split in splits]
        own = [
            Climber(
                [c for c in candidates if (c.representation, c.learner) == (place, number)], parts, task.warm
            )
            for number in range(len(space.learners))
        ]
        price = sum(climber.work(len(climber.candidates) // 2, columns) for climber in own)
        if place is not None:
            price += REPRESENTATION * X.nnz
        for candidate in (candidate for climber in own for candidate in climber.candidates):
            once = training_work(candidate.new_learner(), X, columns)
            candidate.once, candidate.work = once, (1 + criterion.folds) * once
        if not climbers:
            budget.left -= price + own[0].candidates[len(own[0].candidates) // 2].work
        elif not budget.pays(price):
            break
        climbers += own
    for _ in run_race(climbers, splits, task.space, task.truth, by, budget, task.executor):
        task.done[0] += 1
    return sum(len(split.unseen) for split in splits)
