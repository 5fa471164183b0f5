"""What unlabeled documents are used for, and whether it helps: training with them and without, in folds.

Labeled documents are held out in folds. Every fold is scored by models without the pool, with the pool in the
representation only (terms, document frequencies, corpus vectors), and, if that is asked for, with the pool in
the training as well. Labels of held-out documents are never seen, and held-out documents are not in the pool.
Terms and weights are made again in every fold. The same folds and McNemar's test compare the three.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter

from widemargin.classifier.summary import USES
from widemargin.classifier.training import FittedParts, fit_parts
from widemargin.classifier.training_input import TrainingInput
from widemargin.classifier.unlabeled.pool import Pool
from widemargin.errors import DataWarning
from widemargin.estimate.beside_unlabeled import BesideUnlabeled
from widemargin.estimate.cross_validation import out_of_fold
from widemargin.estimate.optimism import Optimism, optimism_of_best, outcome_counts
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import LabelSpace
from widemargin.learn.svm.transductive import TransductiveSVM
from widemargin.learn.unlabeled.self_training import SelfTraining
from widemargin.measure.break_even import micro_prbep
from widemargin.measure.held_out_scores import HeldOutScores
from widemargin.measure.significance import mcnemar, micro_sign_test

FOLDS = 5
NONE = "none"


def use_pool(parts: FittedParts, pool: Pool, given: TrainingInput, *, compare: bool) -> FittedParts:
    """Parts that use the pool as asked, or, where that does not help, less of it or nothing.

    Parameters
    ----------
    parts : fitted with the pool in the representation
    compare : find out whether it helps; otherwise it is used as asked
    """
    start = time.perf_counter()
    found = replace(parts, pool=pool.summary())
    if not pool.size:
        return found
    if compare and len(given.labels) > 1:
        found = _best(found, pool, given)
    elif pool.for_labels:
        found = _with_labels(found, pool)
    if compare or pool.for_labels:
        found.seconds["unlabeled"] = time.perf_counter() - start
    return found


@dataclass(frozen=True, eq=False)
class Compared:
    """Held-out scores with and without the pool, by use."""

    space: LabelSpace
    scores: dict[str, HeldOutScores]

    @property
    def figures(self) -> dict[str, float]:
        """The share of right decisions; for several labels per document, the micro-averaged precision/recall
        break-even point."""
        if self.space.kind == "multilabel":
            return {use: float(micro_prbep(found.truth, found.scores)) for use, found in self.scores.items()}
        return {use: float(self._right(found).mean()) for use, found in self.scores.items()}

    def p_value(self, use: str) -> float:
        """How likely a use that changes nothing differs that much from none."""
        found, none = self.scores[use], self.scores[NONE]
        if self.space.kind == "multilabel":
            return micro_sign_test(found.truth, *map(_at_break_even, (found, none))).p_value
        return mcnemar(self._right(found), self._right(none)).p_value

    @property
    def best(self) -> str:
        """The pool is used for labels if that gets more right than no pool; otherwise, or if it was not asked
        for, for the representation, unless that does harm."""
        figures = self.figures
        gains = [use for use in USES[1:] if figures.get(use, 0.0) > figures[NONE]]
        return gains[0] if gains else USES[0] if figures.get(USES[0], -1.0) >= figures[NONE] else NONE

    @property
    def optimism(self) -> float:
        """By how much the best is overestimated on the documents that it was chosen on."""
        several = self.space.kind == "multilabel"
        return optimism_of_best(
            [
                outcome_counts(self.space, found.truth, found.scores, break_even=several)
                for found in self.scores.values()
            ]
        )

    def summary(self) -> dict[str, Any]:
        """The figures for a summary of training."""
        best = self.best
        return {
            "use": None if best == NONE else best,
            "folds": next(iter(self.scores.values())).folds,
            "measure": "prbep" if self.space.kind == "multilabel" else "accuracy",
            "figures": {use: round(value, 6) for use, value in self.figures.items()},
            "p_values": {use: float(f"{self.p_value(use):.4g}") for use in self.scores if use != NONE},
        }

    def _right(self, found: HeldOutScores) -> NDArray[np.bool_]:
        return np.asarray((self.space.choose(found.scores) == found.truth).all(axis=1))


def _at_break_even(found: HeldOutScores) -> NDArray[np.int8]:
    """Decisions for as many labels as there are, those with the highest scores."""
    positives = np.count_nonzero(found.truth > 0)
    if not positives:
        return np.full(found.truth.shape, -1, np.int8)
    place = found.truth.size - positives
    cut = np.partition(found.scores, place, axis=None)[place]
    return np.where(found.scores >= cut, 1, -1).astype(np.int8)


def _best(parts: FittedParts, pool: Pool, given: TrainingInput) -> FittedParts:
    """The parts with the use of the pool that is best in folds."""
    y = given.labels
    plain = fit_parts(parts.vectorizer, parts.features, parts.learner, *given.examples)
    scores = {NONE: _held_out(plain.learner, plain.rows, given.sample_weight)}
    if parts.vectorizer is not None:  # vectors are the same with and without a pool
        scores[USES[0]] = _held_out(parts.learner, parts.rows, given.sample_weight)
    if pool.for_labels:
        beside = BesideUnlabeled(_learner_of(pool.use, parts.learner), None, y.space)
        beside.random_state = getattr(parts.learner, "random_state", 0)
        beside.verbose = getattr(parts.learner, "verbose", False)
        scores[pool.use] = _held_out(beside, parts.rows)
    compared = Compared(y.space, scores)
    chosen = compared.best
    found = parts
    if chosen == NONE:
        found = replace(plain, tuning=parts.tuning, seconds=parts.seconds)
    elif chosen != USES[0]:
        found = _with_labels(parts, pool, scores[chosen])
    before = parts.optimism or Optimism(0.0, 1)
    value, candidates = before.value + compared.optimism, before.candidates + len(scores) - 1
    optimism = replace(before, value=round(value, 6), candidates=candidates)
    return replace(found, pool={**parts.pool, **compared.summary()}, optimism=optimism)


def _held_out(learner: Any, rows: TrainingRows, sample_weight: Any = None) -> HeldOutScores:
    """Scores in folds, which are the same for all uses."""
    with warnings.catch_warnings():
        # Estimates tell of rare labels later on, and the model tells if it did not converge.
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return out_of_fold(
            learner,
            rows.X,
            rows.y,
            folds=FOLDS,
            sample_weight=sample_weight,
            random_state=getattr(learner, "random_state", 0),
            verbose=getattr(learner, "verbose", False),
            rows=rows,
        )


def _with_labels(parts: FittedParts, pool: Pool, scored: HeldOutScores | None = None) -> FittedParts:
    """The parts with a learner that learned from the pool too; `scored` are its held-out scores, if known."""
    learner = _learner_of(pool.use, parts.learner)
    rows = parts.rows
    beside = BesideUnlabeled(learner, rows.unlabeled_rows(), rows.y.space, scored)
    fitted = clone(beside).fit(rows.X, rows.y).fitted_
    return replace(parts, learner=getattr(fitted, "final_learner_", fitted), judged=beside)


def _learner_of(use: str, learner: Any) -> Any:
    """What learns from labeled and unlabeled documents in the place of `learner`."""
    if use == "self-training":
        inner = clone(learner)
        if "verbose" in inner.get_params(deep=False):
            inner.set_params(verbose=False)
        # A learner without weights counts inferred labels as much as given ones.
        weighs = has_fit_parameter(inner, "sample_weight")
        return SelfTraining(inner) if weighs else SelfTraining(inner, weight=1.0)
    common = {name: getattr(learner, name) for name in ("random_state", "n_jobs") if hasattr(learner, name)}
    return TransductiveSVM(C=20.0, on_alarm="ignore", **common)
