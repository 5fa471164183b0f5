"""Decisions on held-out documents as a model makes them, and what they cost.

Thresholds and probabilities are fitted to held-out scores. Figures of decisions on the same scores would be
too good, so each document is decided by what was fitted to the others
(:mod:`widemargin.decide.cross_fitting`).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin.decide.calibration import fit_calibration
from widemargin.decide.cross_fitting import cross_fitted
from widemargin.decide.goals import Goal
from widemargin.decide.least_cost import least_cost
from widemargin.decide.rule import Calibration, DecisionRule
from widemargin.decide.tree_rule import TreeRule
from widemargin.errors import DataWarning
from widemargin.labels import Labels, LabelSpace
from widemargin.measure.class_costs import AverageCost, ClassCosts, average_cost

Floats = NDArray[np.float64]


class Decisions(NamedTuple):
    """Signs (n, columns), and a note on who decided; None for the scores alone."""

    signs: NDArray[np.int8]
    note: str | None = None


def decisions(
    rule: DecisionRule,
    scores: Floats,
    truth: NDArray[Any],
    *,
    goal: Goal | None = None,
    calibration: str | None = None,
    lengths: Any = None,
) -> Decisions:
    """Decide each document by thresholds or probabilities that were fitted without it.

    Parameters
    ----------
    rule : of the model, fitted to all `scores`
    goal, calibration : how its thresholds were chosen, how its probabilities were fitted
    lengths : of the texts, for probabilities that depend on them. Their three numbers were fitted to pieces
        of texts, and are used as they are.
    """
    space = rule.space
    if goal is not None:
        exclusive = space.kind == "multiclass"
        chosen = goal.decisions(scores, truth, exclusive=exclusive, hierarchy=rule.hierarchy)
        return Decisions(chosen, "Each document was decided by thresholds that were chosen without it.")
    if rule.costs is None:
        tree = rule.hierarchy
        return Decisions(space.choose(scores) if tree is None else tree.choose(scores))
    if calibration is None or rule.needs_lengths:
        note = "Probabilities were calibrated on pieces of the same documents, by three numbers in all."
        return Decisions(rule.choose(scores, lengths), note)
    chances = cross_fitted(
        lambda some, signs: (
            DecisionRule(space, None, calibrated(calibration, space, some, signs)).probabilities
        ),
        scores,
        truth,
    )
    note = "Each document was decided by probabilities that were calibrated without it."
    return Decisions(space.signs_of(least_cost(chances, rule.costs)), note)


def calibrated(
    name: str, space: LabelSpace, scores: Floats, truth: NDArray[Any], tree: TreeRule | None = None
) -> Calibration:
    """Fit probabilities; labels with too few examples have been named by whoever scored them."""
    exclusive = space.kind == "multiclass" or (tree is not None and tree.tree.exclusive)
    columns = slice(None) if tree is None else tree.calibrated
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return fit_calibration(name, scores[:, columns], truth[:, columns], exclusive=exclusive)


def expected_cost(
    costs: ClassCosts, space: LabelSpace, scores: Floats, truth: NDArray[Any], decided: NDArray[Any]
) -> AverageCost:
    """The estimated cost of `decided` (signs), beside that of decisions by the largest score."""
    right, chosen, plain = (Labels(space, signs).codes for signs in (truth, decided, space.choose(scores)))
    return replace(average_cost(costs, right, chosen, kind="estimate", by_scores=plain), totals=None)


def chosen_thresholds(
    goal: Goal, space: LabelSpace, scores: Floats, truth: NDArray[Any], tree: TreeRule | None
) -> Floats:
    """The thresholds of `goal`; labels for which it cannot be reached are told by their names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        if tree is not None:
            thresholds = tree.thresholds(goal, scores, truth)
        else:
            thresholds = goal.thresholds(scores, truth, exclusive=space.kind == "multiclass")
    names = space.column_names.tolist()
    if goal.name in ("precision", "recall"):
        for limit, outcome in ((math.inf, "is never"), (-math.inf, "is always")):
            lost = [str(names[j]) for j in np.flatnonzero(thresholds == limit)]
            if lost:
                warnings.warn(
                    f"No threshold promises a {goal.name} of {goal.values[0]:g} with a confidence of "
                    f"{100 * goal.confidence:g} % for {_listed(lost)}, which {outcome} chosen. Label more "
                    f"documents, or ask for less.",
                    DataWarning,
                    stacklevel=4,
                )
    return thresholds


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return f"{len(names)} label{'' if len(names) == 1 else 's'} ({shown})"
