"""The quality of a trained learner, estimated from its training documents; thresholds and calibration.

Scores of the documents by rules that did not see them (leave-one-out, or cross-validation) give
precision, recall and F1; thresholds and probabilities are fitted to the same scores; labels that they
contradict are suspected. The xi-alpha bounds cost nothing, but give no scores.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._executors import Executor
from widemargin.decide.abstain.rejection import Asked
from widemargin.decide.goals import Goal
from widemargin.decide.rule import CALIBRATIONS, Calibration, DecisionRule, check_exclusive
from widemargin.decide.tree_rule import TreeRule
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate.beside_unlabeled import labeled_part
from widemargin.estimate.bootstrap import Correction, bootstrap
from widemargin.estimate.by_blocks.beforehand import Beforehand
from widemargin.estimate.decisions import Decisions, calibrated, chosen_thresholds, decisions, expected_cost
from widemargin.estimate.held_out import choose_method, held_out
from widemargin.estimate.left_out_profile import profile_of, profile_of_terms
from widemargin.estimate.optimism import Optimism
from widemargin.estimate.rare_labels import FEWEST, Choose, expected_gain
from widemargin.estimate.substrings import calibrate_by_length
from widemargin.estimate.suspects import Suspect, suspects_of_rule
from widemargin.estimate.training_rows import TrainingRows
from widemargin.estimate.xi_alpha import bounds_of
from widemargin.labels import Labels, LabelSpace
from widemargin.measure.class_costs import AverageCost, ClassCosts
from widemargin.measure.contingency import contingency
from widemargin.measure.held_out_scores import HeldOutScores
from widemargin.measure.levels import Level, by_level
from widemargin.measure.quality import Quality, quality
from widemargin.monitor.profile import LeftOutProfile
from widemargin.text.inputs import byte_lengths

Floats = NDArray[np.float64]
_WITH_SCORES = ("auto", "leave-one-out", "one-step", "k-fold", "hold-out")
_BOOTSTRAPS: dict[str, Correction] = {"bootstrap": "optimism", "bootstrap-632": "632+"}
METHODS = (*_WITH_SCORES, *_BOOTSTRAPS, "xi-alpha")
# The calibration that costs use by default.
_FOR_COSTS = "platt"


@dataclass(frozen=True)
class Request:
    """What is to be found out.

    Attributes
    ----------
    method : where figures come from; None for no figures, "auto" for the best that takes seconds
    goal : what thresholds are to reach
    calibration : "platt", "isotonic" or "length"
    costs : between classes, in a form that :meth:`ClassCosts.of` takes; decides instead of thresholds
    hierarchy : decides consistently with a tree of labels
    abstain : whether documents may be left undecided, which is chosen on held-out scores
    """

    method: str | None = None
    goal: Goal | None = None
    calibration: str | None = None
    costs: Any = None
    hierarchy: TreeRule | None = None
    abstain: bool = False

    @classmethod
    def read(
        cls,
        estimate: str | None,
        thresholds: str | None,
        calibration: str | None,
        costs: Any = None,
        abstain: Any = None,
    ) -> Request:
        """The parameters of a classifier, checked.

        Examples
        --------
        >>> Request.read("leave-one-out", "f1", None).goal.name
        'f1'
        """
        if estimate is not None and estimate not in METHODS:
            raise UsageError(f"estimate={estimate!r}: expected one of {', '.join(METHODS)}, or None.")
        if calibration is not None and calibration not in CALIBRATIONS:
            raise UsageError(
                f"calibration={calibration!r}: expected one of {', '.join(CALIBRATIONS)}, or None."
            )
        if costs is not None and thresholds is not None:
            raise UsageError("Costs decide without thresholds. Use either costs or thresholds.")
        if costs is not None and calibration is None:
            calibration = _FOR_COSTS
        promised = abstain is not None and Asked.read(abstain).error is not None
        goal = None if thresholds is None else Goal.read(thresholds)
        return cls(estimate, goal, calibration, costs, abstain=promised)

    @property
    def needs_scores(self) -> bool:
        """Whether scores by rules that did not see the documents are needed."""
        calibrated = self.calibration not in (None, "length")
        return self.method in _WITH_SCORES or self.goal is not None or calibrated or self.abstain

    def check(self, y: Any) -> Request:
        """Refuse what does not apply to the task, before any work; the request with costs in the order of the
        classes."""
        if self.goal is None and self.costs is None:
            return self
        space = y if isinstance(y, LabelSpace) else Labels.partial(y).space
        if self.goal is not None and space.kind == "multiclass":
            self.goal.check_exclusive()
        if self.costs is None:
            return self
        check_exclusive(space)
        return replace(self, costs=ClassCosts.of(self.costs, space.classes.tolist()))


@dataclass(frozen=True)
class Assessment:
    """What :func:`assess` found; None for what was not asked for, or what only scores could give."""

    quality: Quality | None = None
    thresholds: Floats | None = None
    calibration: Calibration | None = None
    suspects: list[Suspect] | None = None
    suspects_by: str | None = None
    levels: list[Level] | None = None
    costs: Floats | None = None
    cost: AverageCost | None = None
    profile: LeftOutProfile | None = field(default=None, compare=False)  # of arrays

    def rule(self, learner: Any, hierarchy: TreeRule | None = None) -> DecisionRule:
        """The rule that was found, with the learner's own probabilities if none were fitted."""
        calibration = self.calibration or getattr(learner, "calibration_", None)
        return DecisionRule(learner.label_space_, self.thresholds, calibration, hierarchy, self.costs)

    def summary(self) -> dict[str, Any]:
        """What a summary of training says of it."""
        found: dict[str, Any] = {}
        if self.quality is not None:
            found["estimates"] = self.quality.to_dict()
        if self.levels is not None:
            found["levels"] = [level.to_dict() for level in self.levels]
        if self.cost is not None:
            found["costs"] = self.cost.to_dict()
        if self.suspects is not None:
            found["suspects"] = [suspect.to_dict() for suspect in self.suspects]
            found["suspects_by"] = self.suspects_by
        return found


NOTHING = Assessment()


def assess(
    learner: Any,
    rows: TrainingRows,
    request: Request,
    names: list[Any] | None = None,
    sample_weight: Any = None,
    optimism: Optimism | None = None,
    executor: Executor | None = None,
    beforehand: Beforehand | None = None,
) -> Assessment:
    """Judge a learner that was fitted on `rows` and `sample_weight`; every document counts once.

    Thresholds and calibration need scores, which leave-one-out gives unless `request` says "k-fold", or says
    nothing and leaving out would take long.

    Parameters
    ----------
    names : what to call the documents; their numbers by default
    optimism : of having chosen the learner on the same documents; estimates are lowered by it
    executor : runs folds elsewhere
    beforehand : what was found already; None to find all here
    """
    table = None if beforehand is None else beforehand.bounds
    matrix = None if request.costs is None else request.costs.matrix
    calibration: Calibration | None = None
    if request.calibration == "length":
        calibration = calibrate_by_length(learner, rows)
        if calibration is None and matrix is not None:
            raise DataError("Costs need probabilities, and there is too little text for them. Use platt.")
    X, y = rows.X, rows.y
    tree, of_nodes = request.hierarchy, request.hierarchy is not None
    if not request.needs_scores and request.method in (None, "xi-alpha"):
        judged = None
        if request.method is not None:
            judged = bounds_of(learner, X, y, hierarchy=of_nodes, at_zero=matrix is not None, table=table)
        if judged is None and calibration is None:
            return NOTHING
        return Assessment(judged, None, calibration, costs=matrix, profile=profile_of_terms(rows))
    space: LabelSpace = learner.label_space_
    if hasattr(learner, "unlabeled"):
        if matrix is not None and request.calibration == "length":
            raise UsageError(f"Calibration by length and costs do not go with a {type(learner).__name__}.")
        learner, rows, names = labeled_part(learner, rows, names)
        X, y = rows.X, rows.y
    by_length = matrix is not None and request.calibration == "length"
    lengths = byte_lengths(rows.documents) if by_length else None

    def choose(scores: Floats) -> NDArray[np.int8]:
        return rule.choose(scores, lengths)

    if not request.needs_scores:
        rule = DecisionRule(space, None, calibration, tree, matrix)
        judged = _bootstrapped(learner, rows, request, rule, choose, sample_weight, optimism)
        return Assessment(judged, None, calibration, costs=matrix, profile=profile_of_terms(rows))
    names = list(range(X.shape[0])) if names is None else names
    found = None if beforehand is None else beforehand.scores
    if found is None:
        found = _held_out(learner, rows, request, sample_weight, executor)
    truth, some_lengths = found.truth, lengths
    if found.documents is not None:
        names = [names[i] for i in found.documents.tolist()]
        some_lengths = None if lengths is None else lengths[found.documents]
    thresholds, judged, cost, levels = None, None, None, None
    if request.goal is not None:
        thresholds = chosen_thresholds(request.goal, space, found.scores, truth, tree)
    if request.calibration not in (None, "length"):
        calibration = calibrated(request.calibration, space, found.scores, truth, tree)
    rule = DecisionRule(space, thresholds, calibration, tree, matrix)
    decided = Decisions(truth)
    if request.method is not None:
        decided = decisions(
            rule,
            found.scores,
            truth,
            goal=request.goal,
            calibration=request.calibration,
            lengths=some_lengths,
        )
    if request.method == "xi-alpha":
        by_scores = request.goal is None and matrix is None
        judged = bounds_of(learner, X, y, hierarchy=of_nodes, at_zero=not by_scores, table=table)
    elif request.method in _BOOTSTRAPS:
        judged = _bootstrapped(learner, rows, request, rule, choose, sample_weight, optimism)
    elif request.method is not None:
        gain, one_path = None, tree is not None and tree.tree.exclusive
        if found.documents is None and not one_path and beforehand is None:
            seed = getattr(learner, "random_state", 0)
            gain = expected_gain(learner, rows, found, thresholds, sample_weight, seed, choose)
        judged = _estimates(rule, found, decided, gain)
        levels = None if tree is None else by_level(tree.tree, truth, decided.signs)
        if rows.learns_vectors:
            judged.notes.append("Vectors were learned again in every fold, so leave-one-out is not offered.")
        elif beforehand is not None:
            judged.notes.extend(beforehand.notes)
        elif found.method not in (request.method, "leave-one-out") and hasattr(learner, "left_out_cost"):
            why = learner.left_out_cost(X).why
            judged.notes.extend([f"Exact leave-one-out would take long: {why}."] if why else [])
        judged = judged if optimism is None else optimism.lower(judged)
    if request.costs is not None and request.method is not None:
        cost = expected_cost(request.costs, space, found.scores, truth, decided.signs)
        if request.method not in _WITH_SCORES:
            cost.notes.append(f"Costs are estimated by {found.method}.")
        if optimism is not None:
            right = float((truth == decided.signs).all(axis=1).mean())
            cost = optimism.raise_cost(cost, right)
    doubted = suspects_of_rule(rule, found.scores, truth, names)
    chosen = decided.signs if request.method is not None else rule.choose(found.scores, some_lengths)
    profile = profile_of(learner, rows, rule, found, chosen, some_lengths, optimism)
    return Assessment(judged, thresholds, calibration, doubted, found.method, levels, matrix, cost, profile)


def _held_out(
    learner: Any, rows: TrainingRows, request: Request, sample_weight: Any, executor: Executor | None
) -> HeldOutScores:
    """Held-out scores of all documents, by the method that is asked for or the best one."""
    X = rows.X
    # Bounds give no scores, and neither does asking for nothing.
    asked = request.method if request.method in _WITH_SCORES else "auto"
    method = choose_method(asked, learner, X, fitted_features=rows.fitted_features)
    assert method is not None
    if rows.learns_vectors and method in ("leave-one-out", "one-step"):
        method = "k-fold"
    if rows.fitted_features and method in ("leave-one-out", "one-step"):
        warnings.warn(
            "Features were selected by the labels of all documents or made of all documents, including the "
            "one that is left out: estimates are slightly optimistic. Use k-fold, which fits features again "
            "in every fold.",
            DataWarning,
            stacklevel=4,
        )
    return held_out(
        learner,
        X,
        rows.y,
        method=method,
        sample_weight=sample_weight,
        random_state=getattr(learner, "random_state", 0),
        verbose=getattr(learner, "verbose", False),
        rows=rows,
        executor=executor,
    )


def _estimates(rule: DecisionRule, found: HeldOutScores, decided: Decisions, gain: Floats | None) -> Quality:
    space, truth, chosen = rule.space, found.truth, decided.signs
    notes, table = [] if decided.note is None else [decided.note], contingency(truth, chosen)
    if gain is not None:  # other rules decided here than those that the gain is of
        gain = np.minimum(gain, table.false_negative)
    if found.folds is not None:
        notes.append(f"{found.folds} rules, each learned without one part of the documents.")
    if found.method == "hold-out":
        notes.append(
            f"One rule, learned from the other documents, decided {len(truth)} documents. The model learns "
            f"from all of them, and is a little better."
        )
    if found.method == "one-step":
        notes.append("Scores are approximate: as if leaving one document out moved no other to another side.")
    if found.undecided:
        notes.append(
            f"For {found.undecided} of {len(truth)} documents it is not proven which class wins when they "
            f"are left out: a tie, or one as far as rounding can tell."
        )
    weak = {
        j: f"{count} of {len(truth)} solutions without a document are unstable"
        for j, count in enumerate(found.unstable.tolist())
        if count
    }
    few = np.count_nonzero(np.count_nonzero(truth > 0, axis=0) < FEWEST)
    if few and space.kind != "binary":
        notes.append(
            f"Macro-averages are probably too low: {few} labels have fewer than {FEWEST} examples, and are "
            f"estimated with fewer yet."
        )
    if gain is not None and gain.any():
        notes.append(
            f"Macro-averages are corrected for {np.count_nonzero(gain)} rare labels, which are estimated "
            f"with fewer examples than the model has: {gain.sum():.1f} more are expected to be found."
        )
    return quality(
        space,
        table,
        kind="estimate",
        method=found.method,
        right=int(np.count_nonzero((truth == chosen).all(axis=1))),
        thresholds=rule.shown_thresholds,
        weak=weak,
        notes=notes,
        decisions=(truth, np.asarray(chosen)),
        gain=gain,
        ranking=(truth, found.scores),
    )


def _bootstrapped(
    learner: Any,
    rows: TrainingRows,
    request: Request,
    rule: DecisionRule,
    choose: Choose,
    sample_weight: Any,
    optimism: Optimism | None,
) -> Quality:
    assert request.method is not None
    found = bootstrap(
        learner,
        rows.X,
        rows.y,
        correction=_BOOTSTRAPS[request.method],
        choose=choose,
        sample_weight=sample_weight,
        random_state=getattr(learner, "random_state", 0),
        verbose=getattr(learner, "verbose", False),
        rows=rows,
    )
    notes = [f"From {found.samples} rules, each learned from a random sample with repetitions."]
    if request.method == "bootstrap" and found.training_error < 1 - found.right / len(rows.y):
        notes.append(
            "Too good where a rule fits its training documents, as it does here "
            f"({100 * found.training_error:.1f} % wrong): use bootstrap-632 or leave-one-out."
        )
    if request.goal is not None:
        notes.append("Decisions are at the thresholds of the model, which were chosen on the same documents.")
    if rule.costs is not None:
        notes.append("Decisions are by the probabilities of the model, calibrated on the same documents.")
    judged = quality(
        rule.space,
        found.table,
        kind="estimate",
        method=request.method,
        right=found.right,
        thresholds=rule.shown_thresholds,
        notes=notes,
    )
    return judged if optimism is None else optimism.lower(judged)
