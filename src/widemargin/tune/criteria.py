"""Criteria that models are compared by: an estimate, a measure, and an average over labels.

Chapter 6 of the thesis aims at the best precision/recall break-even point. A contingency table does not have
one, so the thesis maximizes the mean of precision and recall instead (6.5, 6.10). With held-out scores, the
break-even point itself can be computed, and it does not depend on thresholds that are set only later.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from widemargin._executors import Executor
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.cross_validation import out_of_fold
from widemargin.estimate.held_out import leave_one_out
from widemargin.estimate.optimism import Counts, outcome_counts
from widemargin.estimate.training_rows import TrainingRows
from widemargin.estimate.xi_alpha import xi_alpha_of
from widemargin.labels import Labels, LabelSpace
from widemargin.measure import (
    Contingency,
    contingency,
    error_rate,
    f_measure,
    macro,
    micro,
    micro_prbep,
    prbep,
    precision_recall_average,
)
from widemargin.measure.held_out_scores import HeldOutScores

Floats = NDArray[np.float64]
Estimate = Literal["leave-one-out", "k-fold", "xi-alpha"]
Measure = Literal["prbep", "pravg", "f1", "accuracy"]
Average = Literal["micro", "macro"]

# Tolerance for training in folds: its effect is smaller than the difference between folds.
_TOLERANCE = 0.01

_OF_TABLES: dict[str, Callable[[Contingency], Floats]] = {
    "pravg": precision_recall_average,
    "f1": f_measure,
    "accuracy": lambda table: 1 - error_rate(table),
}


@dataclass(frozen=True, eq=False)
class Judgment:
    """The estimated quality of a model: `value` over all labels, `by_label` for each label (nan: undefined).

    `method` is the estimate that was used: "k-fold" if leave-one-out was requested but is not available.
    `outcomes` are those of groups of documents (:mod:`widemargin.estimate.optimism`), None for bounds.
    """

    value: float
    by_label: Floats
    method: str
    outcomes: Counts | None = None


@dataclass(frozen=True)
class Criterion:
    """How models are compared. Higher is better.

    Parameters
    ----------
    estimate : "leave-one-out", or k-fold if the learner has no fast leave-one-out; "k-fold", out-of-fold
    scores of `folds` folds; "xi-alpha", the bound on leave-one-out that is a by-product of training
    measure : "prbep", the precision/recall break-even point (needs scores: not for "xi-alpha"); "pravg", the
        mean of precision and recall, "f1" or "accuracy" of the decisions; None uses the first of these that
        the estimate allows
    average : "micro" or "macro" average over labels
    risk_factor : for "xi-alpha", see :func:`~widemargin.estimate.xi_alpha.xi_alpha_of`
    """

    estimate: Estimate = "k-fold"
    measure: Measure | None = None
    average: Average = "micro"
    folds: int = 5
    risk_factor: float | None = None
    random_state: Any = 0

    def __post_init__(self) -> None:
        for name, known in (("estimate", Estimate), ("measure", Measure), ("average", Average)):
            value = getattr(self, name)
            if value not in get_args(known) and not (name == "measure" and value is None):
                raise UsageError(f"{name}={value!r}: expected one of {', '.join(get_args(known))}.")
        if self.measure is None:
            object.__setattr__(self, "measure", "pravg" if self.estimate == "xi-alpha" else "prbep")
        if self.estimate == "xi-alpha" and self.measure == "prbep":
            raise UsageError(
                "xi-alpha is a bound on decisions, not on scores, so it has no break-even point. "
                'Use measure="pravg", its approximation by the mean of precision and recall.'
            )

    def judge(
        self,
        learner: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        rows: TrainingRows | None = None,
        executor: Executor | None = None,
    ) -> Judgment:
        """Estimate the quality of a learner that is fitted on `X`, `y` and `sample_weight`, using only these
        examples; `rows` says how `X` was made, so that folds make it again without their documents;
        `executor` runs folds elsewhere."""
        if self.estimate == "xi-alpha":
            return self.of_table(
                _by_column(xi_alpha_of(learner, X, y, risk_factor=self.risk_factor)), "xi-alpha"
            )
        y = Labels.of(y)
        found = self.held_out(learner, X, y, sample_weight, rows, executor)
        return self.of_scores(y.space, y.signs, found.scores, found.method)

    def held_out(
        self,
        learner: Any,
        X: Any,
        y: Labels,
        sample_weight: Any = None,
        rows: TrainingRows | None = None,
        executor: Executor | None = None,
    ) -> HeldOutScores:
        """The scores of the examples by rules that were learned without them; not for "xi-alpha"."""
        with warnings.catch_warnings():
            # During tuning, weak labels are reported only once, and a model that did not converge when it is
            # fitted.
            warnings.simplefilter("ignore", DataWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            if self.estimate == "leave-one-out" and not hasattr(learner, "no_left_out"):
                # Decisions on single labels need only the signs of scores.
                values = self.measure == "prbep" or y.space.kind == "multiclass"
                return leave_one_out(
                    learner,
                    X,
                    y,
                    sample_weight=sample_weight,
                    scores=values,
                    random_state=self.random_state,
                    rows=rows,
                )
            tol = max(getattr(learner, "tol", 0.0), _TOLERANCE)
            return out_of_fold(
                learner,
                X,
                y,
                folds=self.folds,
                tol=tol,
                sample_weight=sample_weight,
                random_state=self.random_state,
                rows=rows,
                executor=executor,
            )

    def of_scores(
        self,
        space: LabelSpace,
        truth: NDArray[Any],
        scores: Floats,
        method: str = "held-out",
        *,
        each_label: bool = True,
    ) -> Judgment:
        """The quality of held-out scores (n, columns); without `each_label`, `by_label` may be empty."""
        outcomes = outcome_counts(space, truth, scores, break_even=self.measure == "prbep")
        if self.measure == "prbep":
            each = prbep(truth, scores) if each_label or self.average == "macro" else np.empty(0)
            both = micro_prbep(truth, scores) if self.average == "micro" else macro(each)
            return Judgment(float(both), each, method, outcomes)
        found = self.of_table(contingency(truth, space.choose(scores)), method)
        return replace(found, outcomes=outcomes)

    def of_table(self, table: Contingency, method: str) -> Judgment:
        """The quality of decisions from their contingency tables, one entry per label."""
        assert self.measure is not None
        of = _OF_TABLES[self.measure]
        each = of(table)
        return Judgment(float(micro(of, table) if self.average == "micro" else macro(each)), each, method)


def _by_column(table: Contingency) -> Contingency:
    """The table of one task as a table of several tasks."""
    return Contingency(
        *(
            np.atleast_1d(count)
            for count in (
                table.true_positive,
                table.false_positive,
                table.false_negative,
                table.true_negative,
            )
        )
    )
