"""The estimates of finalists, and the fitted models of the best ones."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from widemargin._arrays import Csr
from widemargin._executors import Executor
from widemargin.estimate.cross_validation import start_from
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.costs import weights_for
from widemargin.tune.criteria import Criterion
from widemargin.tune.search_space import Candidate, Represented

Floats = NDArray[np.float64]


@dataclass(eq=False)
class Fitted:
    """A chosen candidate, fitted on all training documents.

    Attributes
    ----------
    vectorizer, counts : the vectorizer and the counts that it weights; None for vectors
    X : the matrix that `learner` was fitted on
    columns : the label columns that it was chosen for
    told : the learner's warnings
    """

    candidate: int
    vectorizer: Any
    counts: Csr | None
    X: Any
    learner: Any
    columns: NDArray[np.intp]
    told: list[str] = field(default_factory=list)


class Winners:
    """The leaders, for all labels and for each; only their fitted models are kept."""

    def __init__(self, n_columns: int, per_label: bool) -> None:
        self.per_label = per_label
        self.overall = -1
        self.value = -np.inf
        self.each = np.full(n_columns, -1, dtype=np.intp)
        self.values = np.full(n_columns, -np.inf)
        self.fitted: dict[int, Fitted] = {}

    @property
    def undefined(self) -> bool:
        return bool(np.isneginf(self.value))

    def offer(self, candidate: Candidate, model: Fitted) -> None:
        """Ties are broken by position."""
        assert candidate.estimate is not None
        number = model.candidate
        if self.overall < 0 or candidate.estimate > self.value:
            self.overall = number
            self.value = candidate.estimate if np.isfinite(candidate.estimate) else -np.inf
        if self.per_label:
            better = candidate.by_label > self.values  # false for nan
            self.each[better], self.values[better] = number, candidate.by_label[better]
        self.fitted[number] = model
        leading = {self.overall, *self.each.tolist()}
        self.fitted = {k: kept for k, kept in self.fitted.items() if k in leading}

    def parts(self) -> list[Fitted]:
        if not self.per_label:
            return [self.fitted[self.overall]]
        # A label without a defined measure uses the overall choice.
        self.each[self.each < 0] = self.overall
        return [
            replace(self.fitted[number], columns=np.flatnonzero(self.each == number))
            for number in np.unique(self.each).tolist()
        ]


@dataclass(eq=False)
class Task:
    """The documents that a model is chosen for.

    Attributes
    ----------
    documents : texts, or a matrix of vectors
    y : their labels
    weights : factors on their costs in training, or None
    warm : start from the solution for the next smaller C
    random_state : seed of splits
    done : counts the steps, for a progress bar
    beside : unlabeled texts that vectorizers are fitted on too, or None
    executor : runs trainings elsewhere, or None
    """

    documents: Any
    y: Labels
    weights: Floats | None
    warm: bool
    random_state: Any
    done: NDArray[np.int64]
    beside: Any = None
    executor: Executor | None = None

    @property
    def space(self) -> LabelSpace:
        return self.y.space

    @property
    def truth(self) -> NDArray[np.int8]:
        return self.y.signs

    def __len__(self) -> int:
        return len(self.y)


def judge_all(
    task: Task,
    represented: Represented,
    candidates: list[Candidate],
    judged: list[int],
    criterion: Criterion | None,
    winners: Winners,
    *,
    as_new: bool = False,
) -> None:
    """Fit the candidates at `judged` on all documents, estimate them, and offer them to the winners.

    Parameters
    ----------
    criterion : None if the candidates are estimated already
    as_new : represent held-out documents as new ones, by a vectorizer that was fitted without them
    """
    wanted = {candidates[number].representation for number in judged}
    for place, vectorizer, counts, X in represented.matrices(wanted):
        before: Any = None
        for number in judged:
            candidate = candidates[number]
            if candidate.representation != place:
                continue
            start = time.perf_counter()
            learner = candidate.new_learner(vectorizer)
            if task.warm and before is not None and before[0].learner == candidate.learner:
                start_from(
                    learner, getattr(before[1], "alpha_", None), getattr(before[1], "label_space_", None)
                )
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ConvergenceWarning)
                learner.fit(X, task.y, **weights_for(learner, task.weights))
            if "warm_start" in learner.get_params():
                learner.set_params(warm_start=candidate.space.learners[candidate.learner].warm_start)
            if criterion is not None:
                rows = None
                if as_new:
                    texts, beside = task.documents, task.beside
                    rows = TrainingRows(X, task.y, texts, vectorizer, counts, beside=beside)
                judgment = criterion.judge(learner, X, task.y, task.weights, rows, task.executor)
                candidate.estimate, candidate.by_label = judgment.value, judgment.by_label
                candidate.method, candidate.outcomes[1] = judgment.method, judgment.outcomes
            candidate.seconds += time.perf_counter() - start
            everything = np.arange(task.space.n_columns)
            told = [str(warning.message) for warning in caught]
            winners.offer(candidate, Fitted(number, vectorizer, counts, X, learner, everything, told))
            before = candidate, learner
            task.done[0] += 1
