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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._executors import Executor, called, kept
from widemargin._threads import thread_count
from widemargin._work import RATE
from widemargin.decide.goals import Goal
from widemargin.errors import DataWarning, StorageError
from widemargin.estimate.cross_validation import (
    checked_folds,
    stratified_folds,
    warn_of_weak_labels,
)
from widemargin.labels import LabelSpace
from widemargin.measure import contingency, micro_prbep
from widemargin.measure.break_even import micro_prbep_figure
from widemargin.measure.quality import quality
from widemargin.progress import watch
from widemargin.tune.compared import ComparedLearner, Status, mark_differences
from widemargin.tune.shared_rows import Weighted
from widemargin.tune.trials.training import Contender, Trial, scores_of_fold, trained_on_all

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]
Stored = Callable[[Any, Any, Any], int | None]

# Learners that nobody named are left out if their trainings are predicted to take longer: three minutes of
# one core.
MOST_WORK = 180 * RATE
_GOAL = Goal("f1")


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
    executor: Executor | None = None,
) -> list[ComparedLearner]:
    """Measure learners one after the other; the best comes first, those that were not measured last.

    Parameters
    ----------
    budget : seconds. A learner is not begun if it is predicted to take longer than what is left, and none is
        trained once nothing is left.
    stored_size : the size of a model from its vectorizer, its learner and its thresholds
    verbose : show a progress bar if stderr is a terminal
    executor : runs trainings elsewhere, without a budget those of all learners together. Figures of quality
        do not depend on it
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
    elsewhere = _Elsewhere(executor, kept(executor, (trial, fold)), together=budget is None)
    with watch(done, "Comparing", total=total, unit="trainings", enabled=None if verbose else False):
        runners = [_Runner(contender, trial, fold, clock, done, elsewhere) for contender in contenders]
        for runner in runners if elsewhere.ahead else ():
            runner.try_to_begin()
        for runner in runners:
            before = int(done[0])
            row = ComparedLearner(runner.contender.name)
            rows.append(row)
            if runner.contender.why_not:
                row.status, row.why = "left out", runner.contender.why_not
                continue
            try:
                decisions[row.learner] = runner.run(row, stored_size)
            except _SkipError as skip:
                row.status, row.why = skip.status, str(skip)
            except StorageError:
                raise  # of a cluster
            except Exception as error:  # whatever a learner raises is a row, not the end
                row.status, row.why = "failed", _reason(error)
            done[0] = before + runner.trainings
    truth = signs if trial.truth is None else trial.truth
    mark_differences(rows, decisions, truth, space)
    return sorted(rows, key=lambda row: -row.value)


def _trainings(contender: Contender, trial: Trial, folds: int) -> int:
    """How often a learner is trained."""
    several = len(contender.settings) > 1
    needs_folds = several or trial.truth is None or trial.labels.space.kind == "multilabel"
    return 1 + (folds * len(contender.settings) if needs_folds else 0)


@dataclass
class _Elsewhere:
    """Where learners are trained: by an executor, which has the documents, or here.

    `together`: all learners may be begun before the first one is measured.
    """

    executor: Executor | None
    documents: Any
    together: bool

    @property
    def ahead(self) -> bool:
        return self.executor is not None and self.together


class _Runner:
    """One learner: its settings in folds, then the best one on all training documents."""

    def __init__(
        self,
        contender: Contender,
        trial: Trial,
        fold: NDArray[np.int32],
        clock: _Clock,
        done: Any,
        elsewhere: _Elsewhere,
    ) -> None:
        self.contender, self.trial, self.fold, self.clock, self.done = contender, trial, fold, clock, done
        self.elsewhere = elsewhere
        self._begun: Iterator[list[Floats]] | None = None
        self._why_not: Exception | None = None
        self.space, self.signs = trial.labels.space_and_signs
        self.trainings = _trainings(contender, trial, int(fold.max()) + 1)
        self.trained = 0

    def run(self, row: ComparedLearner, stored_size: Stored) -> Signs:
        """Fill the row, and return the decisions that it is measured by."""
        self._check_time()
        if self._why_not is not None:
            raise self._why_not
        if self._begun is None:
            self._begin()
        scores = self._held_out() if self.trainings > 1 else []
        place = self._choose(scores, row)
        row.setting = dict(self.contender.settings[place])
        thresholds = None
        if self.space.kind == "multilabel":
            thresholds = _thresholds(scores[place], self.signs)
        learner, new_scores, vectorizer = self._final(place, row)
        if self.trial.truth is None:
            found, chosen = self._cross_fitted(scores)
            self._measure(row, self.signs, found, chosen)
        else:
            chosen = self.space.choose(new_scores, thresholds)
            self._measure(row, self.trial.truth, new_scores, chosen)
        row.model_bytes = stored_size(vectorizer, learner, thresholds)
        return chosen

    def try_to_begin(self) -> None:
        """Begin the folds; what fails is told when the learner is measured."""
        try:
            self._begin()
        except Exception as error:
            self._why_not = error

    def _begin(self) -> None:
        """Refuse what takes too long, and begin the folds."""
        if self.contender.why_not:
            return
        if self.contender.work is not None:
            self._check_work(self.trial.shared.weighted(self.contender.text))
        folds = range(int(self.fold.max()) + 1 if self.trainings > 1 else 0)
        # Here, time is looked at between settings too.
        here = self.elsewhere.executor is None
        check = self._trained if here else None
        arguments = ((self.elsewhere.documents, self.contender, number, check) for number in folds)
        self._begun = called(self.elsewhere.executor, scores_of_fold, arguments)

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

    def _held_out(self) -> list[Floats]:
        """The scores of all training documents in every setting, by learners that did not see their fold."""
        assert self._begun is not None
        scores = [np.empty(self.signs.shape) for _ in self.contender.settings]
        for number, found in enumerate(self._begun):
            for all_scores, some in zip(scores, found, strict=True):
                all_scores[self.fold == number] = some
            if self.elsewhere.executor is not None:
                for _ in found:
                    self._trained()
        return scores

    def _trained(self) -> None:
        """Count one training, and raise if there is no time for another."""
        self.trained += 1
        self.done[0] += 1
        if self.trained < self.trainings:
            self._check_time()

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

    def _final(self, place: int, row: ComparedLearner) -> tuple[Any, Floats, Any]:
        """The learner with the chosen setting, trained on all documents, its scores of new ones, and its
        vectorizer."""
        self._check_time()
        executor, documents = self.elsewhere.executor, self.elsewhere.documents
        (final,) = called(executor, trained_on_all, [(documents, self.contender, place)])
        self._trained()
        for name, value in final.figures.items():
            setattr(row, name, value)
        return final.learner, final.scores, final.vectorizer

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
