"""A value of C for each label, on the representation that is best for all of them (Joachims, 6.3).

The thesis chooses parameters for every binary task on its own, in two steps: first the representation, then,
with the representation fixed, C. Here all labels share one matrix, so the first choice is common to all
labels (:func:`widemargin.tune.tuning.tune`). Then every C is estimated with this representation, and each
label takes the one that is best for it; the common C where others are only as good.

Estimates of rare labels vary much, and the best one is taken, so the choice for each label is more optimistic
than one for all. :func:`widemargin.estimate.optimism.optimism_per_label` says by how much.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from widemargin.errors import UsageError
from widemargin.estimate.cross_validation import start_from
from widemargin.estimate.optimism import Optimism, label_outcomes, optimism_per_label
from widemargin.labels import Labels
from widemargin.learn.costs import weights_for
from widemargin.tune.search_space import Candidate
from widemargin.tune.tuning import Tuning

Floats = NDArray[np.float64]


def choose_per_label(found: Tuning, y: Labels, weights: Floats | None = None) -> Tuning:
    """The same tuning with a C for each label, and its model trained with them.

    Parameters
    ----------
    found : what :func:`~widemargin.tune.tuning.tune` chose for all labels
    y : the labels that it was chosen for
    weights : the weights of the documents

    Examples
    --------
    >>> from widemargin.tune.search_space import Space
    >>> from widemargin.tune.tuning import tune
    >>> X = np.array([[0.0, 0.3], [0.1, 0.0], [1.0, 0.1], [0.9, 0.4]] * 3)
    >>> y = Labels.of([("a",), (), ("a", "b"), ("b",)] * 3)
    >>> found = choose_per_label(tune(X, y, Space(costs=[0.01, 1.0, 100.0])), y)
    >>> len(found.by_label), len(found.best.learner.C)
    (2, 2)
    """
    begin = time.perf_counter()
    common = found.candidates[found.chosen]
    check_costs_per_label(common.new_learner())
    numbers = _at_every_cost(found.candidates, common)
    # Labels are compared by break-even points, which do not depend on thresholds.
    by = replace(found.criterion, measure=None) if found.criterion.estimate != "xi-alpha" else found.criterion
    space, truth = y.space_and_signs
    values, outcomes = [], []
    before: Any = None
    for number in numbers:
        candidate = found.candidates[number]
        start = time.perf_counter()
        learner = _fitted(candidate, found.best.X, y, weights, before)
        scores = by.held_out(learner, found.best.X, y, weights).scores
        judgment = by.of_scores(space, truth, scores)
        if candidate.estimate is None:
            candidate.estimate, candidate.method = judgment.value, by.estimate
        values.append(judgment.by_label)
        outcomes.append(label_outcomes(truth, scores, space.choose(scores)))
        candidate.seconds += time.perf_counter() - start
        before = learner
    place = _best(np.array(values), numbers.index(found.chosen))
    micro, macro = optimism_per_label(outcomes)
    costs = [found.candidates[numbers[k]].C for k in place.tolist()]
    learner = _fitted(common, found.best.X, y, weights, found.best.learner, C=costs)
    optimism = Optimism(
        round(found.optimism.value + micro, 6),
        max(found.optimism.candidates, len(numbers)),
        round(found.optimism.value + macro, 6),
    )
    best = replace(found.best, learner=learner)
    by_label = np.array(numbers)[place]
    seconds = found.seconds + time.perf_counter() - begin
    return replace(found, best=best, by_label=by_label, optimism=optimism, seconds=seconds)


def check_costs_per_label(learner: Any) -> None:
    """Refuse a learner that has the same C for all labels."""
    if not getattr(learner, "costs_per_label", False):
        raise UsageError(
            f"A {type(learner).__name__} has no C for each label. Use a LinearSVM (--learner linear-svm), or "
            f"choose one C for all labels: leave out tune_per_label (--tune-per-label)."
        )


def _at_every_cost(candidates: list[Candidate], common: Candidate) -> list[int]:
    """The positions of the candidates that differ from `common` in C only, in ascending order of C.

    Those that tuning did not try are added.
    """
    tried: dict[Any, int] = {
        candidate.C: number
        for number, candidate in enumerate(candidates)
        if (candidate.representation, candidate.learner) == (common.representation, common.learner)
    }
    for C in common.space.costs:
        if C not in tried:
            tried[C] = len(candidates)
            candidates.append(Candidate(common.space, common.representation, common.learner, C))
    return [tried[C] for C in sorted(tried, key=float)]


def _fitted(candidate: Candidate, X: Any, y: Labels, weights: Any, before: Any, **parameters: Any) -> Any:
    """The learner of a candidate, started from the solution of another."""
    learner = candidate.new_learner(**parameters)
    warm_start = learner.warm_start
    start_from(learner, getattr(before, "alpha_", None), getattr(before, "label_space_", None))
    with warnings.catch_warnings():
        if not parameters:  # only the model that is kept is told about
            warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit(X, y, **weights_for(learner, weights))
    return learner.set_params(warm_start=warm_start)


def _best(values: Floats, common: int) -> NDArray[np.intp]:
    """The best candidate of every label; the nearest to the common one among equals, or if none is defined.

    Examples
    --------
    >>> _best(np.array([[0.5, 0.3, np.nan], [0.5, 0.1, np.nan], [0.4, 0.3, np.nan]]), 1).tolist()
    [1, 0, 1]
    >>> _best(np.array([[0.5], [0.5], [0.4]]), 2).tolist()
    [1]
    """
    values = np.where(np.isnan(values), -np.inf, values)
    far = np.abs(np.arange(len(values)) - common)[:, None]
    nearest: NDArray[np.intp] = np.where(values == values.max(axis=0), -far, -len(values)).argmax(axis=0)
    return nearest
