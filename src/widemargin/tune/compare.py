"""Learners side by side: the same documents, the same folds, every learner with a setting of its own.

The setting of a learner is chosen by cross-validation on the training documents only. If there are test
documents, the chosen setting learns from all training documents and is measured on the test documents.
Otherwise the scores of the folds are measured: for each fold, the setting (and, where a document may have any
number of labels, the thresholds) that is best on the documents of the other folds decides. So no document is
decided by anything that was chosen on it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from widemargin._threads import thread_count
from widemargin._work import RATE
from widemargin.decide.goals import Goal
from widemargin.errors import DataWarning
from widemargin.estimate.cross_validation import (
    checked_folds,
    scores_without,
    stratified_folds,
    warn_of_weak_labels,
)
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.averages.columns import told_blocks
from widemargin.learn.costs import weights_for
from widemargin.learn.label_model import LabelModel
from widemargin.measure import contingency, micro_prbep
from widemargin.measure.break_even import micro_prbep_figure
from widemargin.measure.quality import quality
from widemargin.progress import watch
from widemargin.tune.compared import ComparedLearner, Status, mark_differences
from widemargin.tune.footprint import measured
from widemargin.tune.learners import Work
from widemargin.tune.other_estimators import plain_labels, with_scores
from widemargin.tune.shared_rows import SharedRows, Weighted

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]
Stored = Callable[[Any, Any, Any], int | None]

# Learners that nobody named are left out if their trainings are predicted to take longer: three minutes of
# one core.
MOST_WORK = 180 * RATE
_GOAL = Goal("f1")


@dataclass(frozen=True)
class Contender:
    """A learner to compare.

    Attributes
    ----------
    estimators : unfitted, one for each of `settings`
    text : parameters of the vectorizer
    work : of one training; None if nothing is known
    named : whether it was asked for, and runs however long it takes
    why_not : why it does not apply
    """

    name: str
    settings: Sequence[Mapping[str, Any]]
    estimators: Sequence[Any]
    text: Mapping[str, Any]
    work: Work | None = None
    named: bool = True
    why_not: str | None = None


@dataclass(frozen=True, eq=False)
class Trial:
    """What learners are compared on.

    Attributes
    ----------
    labels : of the training documents
    shared : the documents
    truth : signs of the test documents (n, columns), or None if there are none
    weights : of the training documents, or None
    """

    labels: Labels
    shared: SharedRows
    truth: Signs | None = None
    weights: Any = None
    folds: int = 5
    random_state: Any = 0
    n_jobs: int | None = None


@dataclass
class _Clock:
    budget: float | None
    start: float = field(default_factory=lambda: time.perf_counter())

    @property
    def left(self) -> float:
        return np.inf if self.budget is None else self.budget - (time.perf_counter() - self.start)


class _SkipError(Exception):
    """A learner is not trained, or no further."""

    def __init__(self, status: Status, why: str) -> None:
        super().__init__(why)
        self.status = status


def compare_learners(
    contenders: Sequence[Contender],
    trial: Trial,
    *,
    budget: float | None = None,
    stored_size: Stored = lambda vectorizer, learner, thresholds: None,
    verbose: bool = False,
) -> list[ComparedLearner]:
    """Measure learners one after the other; the best comes first, those that were not measured last.

    Parameters
    ----------
    budget : seconds. A learner is not begun if it is predicted to take longer than what is left, and none is
        trained once nothing is left.
    stored_size : the size of a model from its vectorizer, its learner and its thresholds
    verbose : show a progress bar if stderr is a terminal
    """
    space, signs = trial.labels.space_and_signs
    folds = checked_folds(trial.folds, len(signs))
    warn_of_weak_labels(space, signs)
    fold = stratified_folds(signs, folds, trial.random_state)
    done = np.zeros(1, np.int64)
    total = sum(_trainings(contender, trial, folds) for contender in contenders if not contender.why_not)
    clock = _Clock(budget)
    rows: list[ComparedLearner] = []
    decisions: dict[str, Signs] = {}
    with watch(done, "Comparing", total=total, unit="trainings", enabled=None if verbose else False):
        for contender in contenders:
            before = int(done[0])
            row = ComparedLearner(contender.name)
            rows.append(row)
            if contender.why_not:
                row.status, row.why = "left out", contender.why_not
                continue
            try:
                runner = _Runner(contender, trial, fold, clock, done)
                decisions[row.learner] = runner.run(row, stored_size)
            except _SkipError as skip:
                row.status, row.why = skip.status, str(skip)
            except Exception as error:  # whatever a learner raises is a row, not the end
                row.status, row.why = "failed", _reason(error)
            done[0] = before + _trainings(contender, trial, folds)
    truth = signs if trial.truth is None else trial.truth
    mark_differences(rows, decisions, truth, space)
    return sorted(rows, key=lambda row: -row.value)


def _trainings(contender: Contender, trial: Trial, folds: int) -> int:
    """How often a learner is trained."""
    several = len(contender.settings) > 1
    needs_folds = several or trial.truth is None or trial.labels.space.kind == "multilabel"
    return 1 + (folds * len(contender.settings) if needs_folds else 0)


class _Runner:
    """One learner: its settings in folds, then the best one on all training documents."""

    def __init__(
        self, contender: Contender, trial: Trial, fold: NDArray[np.int32], clock: _Clock, done: Any
    ) -> None:
        self.contender, self.trial, self.fold, self.clock, self.done = contender, trial, fold, clock, done
        self.space, self.signs = trial.labels.space_and_signs
        self.trainings = _trainings(contender, trial, int(fold.max()) + 1)
        self.trained = 0

    def run(self, row: ComparedLearner, stored_size: Stored) -> Signs:
        """Fill the row, and return the decisions that it is measured by."""
        self._check_time()
        weighted = self.trial.shared.weighted(self.contender.text)
        self._check_work(weighted)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the final training are kept
            scores = self._held_out(weighted) if self.trainings > 1 else []
        place = self._choose(scores, row)
        row.setting = dict(self.contender.settings[place])
        thresholds = None
        if self.space.kind == "multilabel":
            thresholds = _thresholds(scores[place], self.signs)
        learner, new_scores = self._final(weighted, place, row)
        if self.trial.truth is None:
            found, chosen = self._cross_fitted(scores)
            self._measure(row, self.signs, found, chosen)
        else:
            chosen = self.space.choose(new_scores, thresholds)
            self._measure(row, self.trial.truth, new_scores, chosen)
        row.model_bytes = stored_size(weighted.vectorizer, learner, thresholds)
        return chosen

    def _check_time(self) -> None:
        if self.clock.left <= 0:
            after = f" after {self.trained} of {self.trainings} trainings" if self.trained else ""
            raise _SkipError("not reached", f"the budget of {self.clock.budget:g} s was spent{after}")

    def _check_work(self, weighted: Weighted) -> None:
        """Refuse what is predicted to take too long."""
        work = self.contender.work
        if work is None:
            return
        X = weighted.rows.X
        values = int(X.nnz if hasattr(X, "nnz") else np.size(X))
        units = self.trainings * work.units(int(X.shape[0]), values, self.space.n_columns)
        seconds = units / RATE / thread_count(self.trial.n_jobs)
        if seconds > self.clock.left:
            raise _SkipError(
                "not reached",
                f"predicted to take {duration(seconds)}, with {duration(self.clock.left)} of the budget left",
            )
        if not self.contender.named and units > MOST_WORK:
            raise _SkipError("left out", f"predicted to take {duration(seconds)}; name it to compare it")

    def _held_out(self, weighted: Weighted) -> list[Floats]:
        """The scores of all training documents in every setting, by learners that did not see their fold."""
        scores = [np.empty(self.signs.shape) for _ in self.contender.settings]
        for number in range(int(self.fold.max()) + 1):
            out = self.fold == number
            X, blocks = weighted.rows.made_without(out)
            seen, unseen = X[~out], X[out]
            weights = None if self.trial.weights is None else np.asarray(self.trial.weights)[~out]
            for found, estimator in zip(scores, self.contender.estimators, strict=True):
                self._check_time()
                found[out] = scores_without(
                    with_scores(told_blocks(clone(estimator), blocks)),
                    seen,
                    unseen,
                    self.space,
                    self.signs[~out],
                    weights,
                )
                self._count()
        return scores

    def _count(self) -> None:
        self.trained += 1
        self.done[0] += 1

    def _choose(self, scores: list[Floats], row: ComparedLearner) -> int:
        if not scores:
            row.candidates = [{"setting": dict(self.contender.settings[0]), "estimate": None}]
            return 0
        estimates = [_estimate(self.space, self.signs, found) for found in scores]
        row.candidates = [
            {"setting": dict(setting), "estimate": round(value, 6)}
            for setting, value in zip(self.contender.settings, estimates, strict=True)
        ]
        return int(np.argmax(estimates))

    def _cross_fitted(self, scores: list[Floats]) -> tuple[Floats, Signs]:
        """Scores and decisions of every fold by the setting and the thresholds that suit the other folds."""
        found, chosen = np.empty(self.signs.shape), np.empty(self.signs.shape, dtype=np.int8)
        for number in range(int(self.fold.max()) + 1):
            out = self.fold == number
            truth = self.signs[~out]
            best = scores[int(np.argmax([_estimate(self.space, truth, each[~out]) for each in scores]))]
            limits = _thresholds(best[~out], truth) if self.space.kind == "multilabel" else None
            found[out], chosen[out] = best[out], self.space.choose(best[out], limits)
        return found, chosen

    def _final(self, weighted: Weighted, place: int, row: ComparedLearner) -> tuple[Any, Floats]:
        """The learner with the chosen setting, trained on all documents, and its scores of new ones."""
        self._check_time()
        learner = with_scores(clone(self.contender.estimators[place]))
        weights = weights_for(learner, self.trial.weights)
        y = self.trial.labels if isinstance(learner, LabelModel) else plain_labels(self.trial.labels)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with measured() as spent:
                learner = told_blocks(learner, getattr(weighted.rows.vectorizer, "blocks_", None))
                learner.fit(weighted.rows.X, y, **weights)
            with measured(memory=False) as scoring:
                scores = np.asarray(learner.decision_function(weighted.new), dtype=np.float64)
        self._count()
        row.warnings = list(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))
        row.vectorize_seconds, row.learn_seconds, row.memory = weighted.seconds, spent.seconds, spent.memory
        n = int(weighted.new.shape[0])
        row.documents_per_second = n / max(weighted.new_seconds + scoring.seconds, 1e-9)
        return getattr(learner, "estimator", learner), scores.reshape(n, self.space.n_columns)

    def _measure(self, row: ComparedLearner, truth: Signs, scores: Floats, chosen: Signs) -> None:
        on_test = self.trial.truth is not None
        kind: Any = "measured" if on_test else "estimate"
        found = quality(
            self.space,
            contingency(truth, chosen),
            kind=kind,
            method="test documents" if on_test else "k-fold",
            right=int(np.count_nonzero((truth == chosen).all(axis=1))),
            decisions=(truth, chosen),
            ranking=(truth, scores),
        )
        row.accuracy, row.micro_f1, row.macro_f1 = found.accuracy, found.micro["f1"], found.macro["f1"]
        row.auc = found.auc
        if self.space.kind == "multilabel":
            row.micro_prbep = micro_prbep_figure(truth, scores, kind)


def _thresholds(scores: Floats, truth: Signs) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # labels without examples
        return _GOAL.thresholds(scores, truth)


def _estimate(space: LabelSpace, truth: Signs, scores: Floats) -> float:
    """What settings are compared by: the break-even point of label sets, otherwise accuracy."""
    if space.kind == "multilabel":
        return float(np.nan_to_num(micro_prbep(truth, scores)))
    return float((space.choose(scores) == truth).all(axis=1).mean())


def _reason(error: Exception) -> str:
    """An error in one line."""
    text = " ".join(str(error).split())
    return text if type(error).__module__.startswith("widemargin.") else f"{type(error).__name__}: {text}"


def duration(seconds: float) -> str:
    """Seconds for people.

    Examples
    --------
    >>> duration(0.25), duration(75), duration(600), duration(9000)
    ('0.2 s', '75 s', '10 minutes', '2.5 hours')
    """
    if seconds < 10:
        return f"{max(seconds, 0.0):.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"
