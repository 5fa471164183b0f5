"""The quality of a trained learner, estimated from its training documents; thresholds and calibration.

Scores of the documents by rules that did not see them (leave-one-out, or cross-validation) give
precision, recall and F1; thresholds and probabilities are fitted to the same scores; labels that they
contradict are suspected. The xi-alpha bounds cost nothing, but give no scores.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.decide.calibration import fit_calibration
from widemargin.decide.goals import Goal
from widemargin.decide.rule import CALIBRATIONS, Calibration
from widemargin.decide.tree_rule import TreeRule
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.beside_unlabeled import labeled_part
from widemargin.estimate.bootstrap import Correction, bootstrap
from widemargin.estimate.held_out import choose_method, held_out
from widemargin.estimate.optimism import Optimism
from widemargin.estimate.rare_labels import FEWEST, expected_gain
from widemargin.estimate.substrings import calibrate_by_length
from widemargin.estimate.suspects import Suspect, suspects
from widemargin.estimate.training_rows import TrainingRows
from widemargin.estimate.xi_alpha import xi_alpha_of
from widemargin.labels import Labels, LabelSpace
from widemargin.measure.contingency import contingency
from widemargin.measure.held_out_scores import HeldOutScores
from widemargin.measure.levels import Level, by_level
from widemargin.measure.quality import Quality, quality

Floats = NDArray[np.float64]
_WITH_SCORES = ("auto", "leave-one-out", "one-step", "k-fold", "hold-out")
_BOOTSTRAPS: dict[str, Correction] = {"bootstrap": "optimism", "bootstrap-632": "632+"}
METHODS = (*_WITH_SCORES, *_BOOTSTRAPS, "xi-alpha")


@dataclass(frozen=True)
class Request:
    """What is to be found out.

    Attributes
    ----------
    method : where figures come from; None for no figures, "auto" for the best that takes seconds
    goal : what thresholds are to reach, for tasks where every label is decided by itself
    calibration : "platt", "isotonic" or "length"
    hierarchy : decides consistently with a tree of labels
    """

    method: str | None = None
    goal: Goal | None = None
    calibration: str | None = None
    hierarchy: TreeRule | None = None

    @classmethod
    def read(cls, estimate: str | None, thresholds: str | None, calibration: str | None) -> Request:
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
        return cls(estimate, None if thresholds is None else Goal.read(thresholds), calibration)

    @property
    def needs_scores(self) -> bool:
        """Whether scores by rules that did not see the documents are needed."""
        calibrated = self.calibration not in (None, "length")
        return self.method in _WITH_SCORES or self.goal is not None or calibrated

    def check(self, y: Any) -> None:
        """Refuse thresholds for tasks where the largest of several scores decides, before any work."""
        if self.goal is None:
            return
        space = Labels.partial(y).space
        if space.kind == "multiclass":
            raise UsageError(
                f"Thresholds are for labels that are decided one by one. Here one of {len(space.classes)} "
                f"classes is chosen, the one with the largest score. Leave thresholds out, or train with "
                f"label sets (on the command line: --multilabel)."
            )


@dataclass(frozen=True)
class Assessment:
    """What :func:`assess` found; None for what was not asked for, or what only scores could give."""

    quality: Quality | None = None
    thresholds: Floats | None = None
    calibration: Calibration | None = None
    suspects: list[Suspect] | None = None
    suspects_by: str | None = None
    levels: list[Level] | None = None

    def summary(self) -> dict[str, Any]:
        """What a summary of training says of it."""
        found: dict[str, Any] = {}
        if self.quality is not None:
            found["estimates"] = self.quality.to_dict()
        if self.levels is not None:
            found["levels"] = [level.to_dict() for level in self.levels]
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
) -> Assessment:
    """Judge a learner that was fitted on `rows` and `sample_weight`; every document counts once.

    Thresholds and calibration need scores, which leave-one-out gives unless `request` says "k-fold", or says
    nothing and leaving out would take long.

    Parameters
    ----------
    names : what to call the documents; their numbers by default
    optimism : of having chosen the learner on the same documents; estimates are lowered by it
    """
    if request.calibration == "length":
        by_length = calibrate_by_length(learner, rows)
        rest = assess(learner, rows, replace(request, calibration=None), names, sample_weight, optimism)
        return replace(rest, calibration=by_length)
    X, y = rows.X, rows.y
    of_nodes = request.hierarchy is not None
    if request.method is None and not request.needs_scores:
        return NOTHING
    if request.method == "xi-alpha" and not request.needs_scores:
        return Assessment(_bounds(learner, X, y, hierarchy=of_nodes))
    space: LabelSpace = learner.label_space_
    if hasattr(learner, "unlabeled"):
        learner, rows, names = labeled_part(learner, rows, names)
        X, y = rows.X, rows.y
    if not request.needs_scores:
        return Assessment(_bootstrapped(learner, rows, request, None, sample_weight, optimism))
    names = list(range(X.shape[0])) if names is None else names
    # Bounds give no scores, and neither does asking for nothing.
    asked = request.method if request.method in _WITH_SCORES else "auto"
    method = choose_method(asked, learner, X, fitted_features=rows.fitted_features)
    assert method is not None
    if rows.fitted_features and method in ("leave-one-out", "one-step"):
        warnings.warn(
            "Features were selected by the labels of all documents or made of all documents, including the "
            "one that is left out: estimates are slightly optimistic. Use k-fold, which fits features again "
            "in every fold.",
            DataWarning,
            stacklevel=3,
        )
    found = held_out(
        learner,
        X,
        y,
        method=method,
        sample_weight=sample_weight,
        random_state=getattr(learner, "random_state", 0),
        verbose=getattr(learner, "verbose", False),
        rows=rows,
    )
    truth, tree = found.truth, request.hierarchy
    if found.documents is not None:
        names = [names[i] for i in found.documents.tolist()]
    thresholds, calibration, judged, levels = None, None, None, None
    if request.goal is not None:
        thresholds = _thresholds(request.goal, space, found.scores, truth, tree)
    if request.calibration is not None:
        with warnings.catch_warnings():
            # Labels with too few examples have been named by whoever scored them.
            warnings.simplefilter("ignore", DataWarning)
            exclusive = space.kind == "multiclass" or (tree is not None and tree.tree.exclusive)
            columns = slice(None) if tree is None else tree.calibrated
            calibration = fit_calibration(
                request.calibration, found.scores[:, columns], truth[:, columns], exclusive=exclusive
            )
    if request.method == "xi-alpha":
        judged = _bounds(learner, X, y, hierarchy=of_nodes, at_zero=request.goal is not None)
    elif request.method in _BOOTSTRAPS:
        judged = _bootstrapped(learner, rows, request, thresholds, sample_weight, optimism)
    elif request.method is not None:
        gain, one_path = None, tree is not None and tree.tree.exclusive
        if found.documents is None and not one_path:
            seed = getattr(learner, "random_state", 0)
            gain = expected_gain(learner, rows, found, thresholds, sample_weight, seed)
        chosen = _decisions(space, found, truth, request)
        judged = _estimates(space, found, truth, chosen, request.goal, thresholds, gain, tree)
        levels = None if tree is None else by_level(tree.tree, truth, chosen)
        if method not in (request.method, "leave-one-out") and hasattr(learner, "left_out_cost"):
            why = learner.left_out_cost(X).why
            if why:
                judged.notes.append(f"Exact leave-one-out would take long: {why}.")
        judged = judged if optimism is None else optimism.lower(judged)
    doubted = _suspects(space, found, truth, names, tree)
    return Assessment(judged, thresholds, calibration, doubted, found.method, levels)


def _decisions(space: LabelSpace, found: HeldOutScores, truth: NDArray[Any], request: Request) -> Any:
    """The decisions of held-out scores, each by thresholds that were chosen without it."""
    tree = request.hierarchy
    if request.goal is not None:
        return request.goal.decisions(found.scores, truth, hierarchy=tree)
    return space.choose(found.scores) if tree is None else tree.choose(found.scores)


def _suspects(
    space: LabelSpace, found: HeldOutScores, truth: NDArray[Any], names: list[Any], rule: TreeRule | None
) -> list[Suspect]:
    """Labels that look wrong; of exclusive paths, only whole ones."""
    if rule is None or not rule.tree.exclusive:
        return suspects(space, found.scores, truth, names)
    leaves, paths = rule.tree.leaves, space.classes[rule.tree.label_of]
    whole = LabelSpace("multiclass", paths[leaves])
    return suspects(whole, found.scores[:, leaves], truth[:, leaves], names)


def _estimates(
    space: LabelSpace,
    found: HeldOutScores,
    truth: NDArray[Any],
    chosen: NDArray[Any],
    goal: Goal | None,
    thresholds: Floats | None,
    gain: Floats | None,
    hierarchy: TreeRule | None,
) -> Quality:
    notes = []
    table = contingency(truth, chosen)
    if gain is not None:  # a hierarchy may have found what a threshold misses
        gain = np.minimum(gain, table.false_negative)
    if goal is not None:
        notes.append("Each document was decided by thresholds that were chosen without it.")
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
        thresholds=_shown(space, thresholds, hierarchy),
        weak=weak,
        notes=notes,
        decisions=(truth, np.asarray(chosen)),
        gain=gain,
    )


def _bootstrapped(
    learner: Any,
    rows: TrainingRows,
    request: Request,
    thresholds: Floats | None,
    sample_weight: Any,
    optimism: Optimism | None,
) -> Quality:
    space: LabelSpace = learner.label_space_
    rule = space if request.hierarchy is None else request.hierarchy
    assert request.method is not None
    found = bootstrap(
        learner,
        rows.X,
        rows.y,
        correction=_BOOTSTRAPS[request.method],
        choose=lambda scores: rule.choose(scores, thresholds),
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
    judged = quality(
        space,
        found.table,
        kind="estimate",
        method=request.method,
        right=found.right,
        thresholds=_shown(space, thresholds, request.hierarchy),
        notes=notes,
    )
    return judged if optimism is None else optimism.lower(judged)


def _bounds(learner: Any, X: Any, y: Any, *, hierarchy: bool, at_zero: bool = False) -> Quality:
    space: LabelSpace = learner.label_space_
    notes = ["Bounds: leave-one-out is no worse. They say nothing of how much better it is."]
    if space.kind == "multiclass":
        notes.append("They are of each class's own rule against the rest; the largest score decides.")
    if at_zero:
        notes.append("They are of decisions at 0, not at the thresholds.")
    if hierarchy:
        notes.append("They are of each node's own machine, not of decisions along the tree.")
    return quality(space, xi_alpha_of(learner, X, y), kind="bound", method="xi-alpha", notes=notes)


def _shown(space: LabelSpace, thresholds: Floats | None, tree: TreeRule | None) -> Floats | None:
    if space.kind == "multiclass" or (tree is not None and tree.tree.exclusive):
        return None
    return np.zeros(space.n_columns) if thresholds is None else thresholds


def _thresholds(
    goal: Goal, space: LabelSpace, scores: Floats, truth: NDArray[Any], tree: TreeRule | None
) -> Floats:
    """The thresholds of `goal`; labels for which it cannot be reached are told by their names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        thresholds = goal.thresholds(scores, truth) if tree is None else tree.thresholds(goal, scores, truth)
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
