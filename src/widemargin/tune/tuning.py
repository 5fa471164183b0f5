"""Choose a representation, a learner and its C, using only the training documents (Joachims, 6.2.3).

The algorithm of the thesis trains every candidate, estimates its quality, and chooses the best; that is
``effort="full"``. ``effort="fast"`` first compares the candidates on held-out documents
(:mod:`widemargin.tune.race`), and estimates only the few best; where this is predicted to take many times as
long as one training, both use fewer folds. ``effort=10`` does the same within about ten seconds of predicted
work (:mod:`widemargin.tune.budget`).

The estimate of the chosen candidate is optimistic, because it is the maximum of several estimates.
``Tuning.optimism`` says by how much on average (:mod:`widemargin.estimate.optimism`).
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from widemargin._arrays import Csr, is_sparse
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.cross_validation import checked_folds, start_from, warn_of_weak_labels
from widemargin.estimate.optimism import Optimism, optimism_of_best
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.costs import sample_weights, weights_for
from widemargin.progress import watch
from widemargin.tune.budget import REPRESENTATION, Budget, affordable_rows, sparing, training_work
from widemargin.tune.criteria import Criterion
from widemargin.tune.race import Climber, Split, race_splits, run_race
from widemargin.tune.search_space import Candidate, Represented, Space

Floats = NDArray[np.float64]

FINALISTS = 3


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


@dataclass(eq=False)
class Tuning:
    """The result of :func:`tune`.

    Attributes
    ----------
    candidates : all candidates, with what is known about each
    chosen : the position of the best candidate for all labels together
    best : the chosen candidate, fitted
    by_label : for a choice per label, the position of the candidate for each column; otherwise None
    parts : for a choice per label, every chosen candidate, fitted; otherwise `best` alone
    optimism : by how much held-out estimates of the chosen candidate are too high on average, see
        :mod:`widemargin.estimate.optimism`
    """

    effort: str
    criterion: Criterion
    label_space: LabelSpace
    candidates: list[Candidate]
    chosen: int
    best: Fitted
    by_label: NDArray[np.intp] | None
    parts: list[Fitted]
    optimism: Optimism
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """All figures as values for JSON."""
        names = self.label_space.column_names.tolist()
        chosen_by_label = None
        if self.by_label is not None:
            chosen_by_label = {str(name): int(k) for name, k in zip(names, self.by_label, strict=True)}
        return {
            "effort": self.effort,
            "estimate": self.candidates[self.chosen].method,
            "measure": self.criterion.measure,
            "average": self.criterion.average,
            "chosen": self.chosen,
            "chosen_by_label": chosen_by_label,
            "optimism": self.optimism.value,
            "seconds": self.seconds,
            "candidates": [
                {
                    "parameters": candidate.parameters,
                    "held_out": candidate.held_out,
                    "estimate": candidate.estimate,
                    "seconds": candidate.seconds,
                }
                for candidate in self.candidates
            ],
        }


def tune(
    texts: Any,
    y: Any,
    space: Space | None = None,
    *,
    sample_weight: Any = None,
    effort: Literal["fast", "full"] | float = "fast",
    criterion: Criterion | str = "k-fold",
    per_label: bool = False,
    finalists: int = FINALISTS,
    warm_start: bool = True,
    random_state: Any = 0,
    verbose: bool = False,
) -> Tuning:
    """Choose the best candidate of a space.

    Parameters
    ----------
    texts : list of str, or a matrix of vectors, for which there is no representation to choose
    y : labels in any form that :mod:`widemargin.labels` accepts
    space : what to choose from; by default the 12 representations and 7 values of C of the thesis
    sample_weight : (n,) factors on the costs of the documents in training; estimates count each document once
    effort : "full" estimates every candidate; "fast" only the finalists of a race on held-out documents; a
        number of seconds does as much of "fast" as is predicted to fit on one core
    criterion : how candidates are compared; the name of an estimate means its default measure
    per_label : also choose for each label separately, among the same candidates
    finalists : number of candidates that "fast" estimates
    warm_start : start from the solution for the next smaller C
    random_state : seed of the split into training and held-out documents
    verbose : show a progress bar if stderr is a terminal

    Examples
    --------
    >>> texts = ["much corn", "corns up", "wheat", "wheats down", "a bank", "banks", "the rate", "rates rise"]
    >>> space = Space(representations=[{"stemmer": None}, {"stemmer": "porter"}], costs=[0.1, 1.0])
    >>> found = tune(texts, ["grain"] * 4 + ["money"] * 4, space, effort="full")
    >>> [round(candidate.estimate, 2) for candidate in found.candidates], found.chosen
    ([0.38, 0.38, 0.75, 1.0], 3)
    """
    begin = time.perf_counter()
    budget = Budget.of(effort)
    if isinstance(finalists, bool) or not isinstance(finalists, int | np.integer) or finalists < 1:
        raise UsageError(f"finalists={finalists!r}: expected a positive whole number.")
    if not isinstance(criterion, Criterion):
        criterion = Criterion(criterion)  # type: ignore[arg-type]  # checked there
    vectors = is_sparse(texts) or getattr(texts, "ndim", 1) == 2
    n = texts.shape[0] if vectors else len(texts)
    y = Labels.of(y, n)
    labels, truth = y.space_and_signs
    if criterion.estimate == "k-fold":
        checked_folds(criterion.folds, n)
    warn_of_weak_labels(labels, truth)
    weights = None if sample_weight is None else sample_weights(sample_weight, n)
    space = Space() if space is None else space
    candidates = space.candidates(vectors=vectors)
    # The finalists of a race are used again.
    represented = Represented(texts, space, keep=effort != "full")
    done = np.zeros(1, np.int64)
    total = len(candidates) if effort == "full" else None
    with watch(done, "Tuning", total=total, unit="candidates", enabled=None if verbose else False):
        judged = list(range(len(candidates)))
        measured = 0
        if effort != "full" and len(candidates) > (finalists if effort == "fast" else 1):
            measured = _race(
                represented,
                space,
                candidates,
                criterion,
                labels,
                truth,
                weights,
                warm_start,
                random_state,
                budget,
                done,
            )
            judged = _finalists(candidates, finalists, budget)
            if effort == "fast":
                criterion = _sparing(criterion, [candidates[number] for number in judged])
        winners = _Winners(len(truth[0]), per_label)
        _judge_all(represented, y, weights, space, candidates, judged, criterion, warm_start, winners, done)
    if winners.undefined:
        warnings.warn(
            f"{criterion.measure} by {criterion.estimate} is undefined for all candidates: no label has an "
            f"example that could be found. The first candidate is chosen. Label more documents.",
            DataWarning,
            stacklevel=2,
        )
    parts = winners.parts()
    for message in dict.fromkeys(text for part in parts for text in part.told):
        warnings.warn(message, ConvergenceWarning, stacklevel=2)
    return Tuning(
        effort if isinstance(effort, str) else f"{effort:g}s",
        criterion,
        labels,
        candidates,
        winners.overall,
        winners.fitted[winners.overall],
        winners.each if per_label else None,
        parts,
        _optimism(candidates, measured / n),
        time.perf_counter() - begin,
    )


class _Winners:
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


def _race(
    represented: Represented,
    space: Space,
    candidates: list[Candidate],
    criterion: Criterion,
    labels: LabelSpace,
    truth: NDArray[np.int8],
    weights: Floats | None,
    warm: bool,
    random_state: Any,
    budget: Budget,
    done: NDArray[np.int64],
) -> int:
    """Set `held_out` of every candidate that the race reaches; returns the number of documents measured on.

    Whatever the budget, the first representation takes part and the best candidate is estimated.
    """
    # A measure of decisions, as for xi-alpha, applies to held-out scores too.
    by = Criterion("k-fold", criterion.measure, criterion.average)
    splits: list[Split] = []
    climbers: list[Climber] = []
    for place, _, _, X in represented.matrices({candidate.representation for candidate in candidates}):
        if not splits:
            most = np.inf
            if np.isinf(budget.left):
                once = training_work(space.learners[0], X, labels.n_columns)
                most = affordable_rows(X, labels.n_columns, once)
            splits = race_splits(truth, random_state, weights, most)
        parts = [(X[split.seen], X[split.unseen]) for split in splits]
        own = [
            Climber([c for c in candidates if (c.representation, c.learner) == (place, number)], parts, warm)
            for number in range(len(space.learners))
        ]
        price = sum(climber.work(len(climber.candidates) // 2, labels.n_columns) for climber in own)
        if place is not None:
            price += REPRESENTATION * X.nnz
        for candidate in (candidate for climber in own for candidate in climber.candidates):
            once = training_work(candidate.new_learner(), X, labels.n_columns)
            candidate.once, candidate.work = once, (1 + criterion.folds) * once
        if not climbers:
            budget.left -= price + own[0].candidates[len(own[0].candidates) // 2].work
        elif not budget.pays(price):
            break
        climbers += own
    for _ in run_race(climbers, splits, labels, truth, by, budget):
        done[0] += 1
    return sum(len(split.unseen) for split in splits)


def _finalists(candidates: list[Candidate], most: int, budget: Budget) -> list[int]:
    """The best candidates of the race, ties broken by position: the best one, and as many more as the budget
    allows."""
    raced = [(-c.held_out, number) for number, c in enumerate(candidates) if c.held_out is not None]
    best, *others = [number for _, number in sorted(raced)[:most]]
    return sorted([best, *takewhile(lambda number: budget.pays(candidates[number].work), others)])


def _sparing(criterion: Criterion, finalists: list[Candidate]) -> Criterion:
    """Two folds instead of more, if those are predicted to take many times as long as one training."""
    each = [candidate.once for candidate in finalists]
    # Training in folds starts from a solution and ends at a larger tolerance: half of the work.
    work = (1 + criterion.folds / 2) * sum(each)
    if criterion.estimate != "k-fold" or work <= sparing(min(each)):
        return criterion
    return replace(criterion, folds=2)


def _judge_all(
    represented: Represented,
    y: Any,
    weights: Floats | None,
    space: Space,
    candidates: list[Candidate],
    judged: list[int],
    criterion: Criterion,
    warm: bool,
    winners: _Winners,
    done: NDArray[np.int64],
) -> None:
    wanted = {candidates[number].representation for number in judged}
    for place, vectorizer, counts, X in represented.matrices(wanted):
        before: Any = None
        for number in judged:
            candidate = candidates[number]
            if candidate.representation != place:
                continue
            start = time.perf_counter()
            learner = candidate.new_learner()
            if warm and before is not None and before[0].learner == candidate.learner:
                start_from(
                    learner, getattr(before[1], "alpha_", None), getattr(before[1], "label_space_", None)
                )
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ConvergenceWarning)
                learner.fit(X, y, **weights_for(learner, weights))
            if "warm_start" in learner.get_params():
                learner.set_params(warm_start=space.learners[candidate.learner].warm_start)
            judgment = criterion.judge(learner, X, y, weights)
            candidate.estimate, candidate.by_label = judgment.value, judgment.by_label
            candidate.method, candidate.outcomes[1] = judgment.method, judgment.outcomes
            candidate.seconds += time.perf_counter() - start
            everything = np.arange(len(winners.each))
            told = [str(warning.message) for warning in caught]
            winners.offer(candidate, Fitted(number, vectorizer, counts, X, learner, everything, told))
            before = candidate, learner
            done[0] += 1


def _optimism(candidates: list[Candidate], raced: float) -> Optimism:
    """The optimism of two choices: in a race on the share `raced` of the documents, and of estimates on all.

    A race on all documents and the estimates see the same outcomes, so the choice of all is the race's. A
    choice on a part of the documents inflates only that part of an estimate on all.
    """
    race, final = ([c.outcomes[k] for c in candidates if c.outcomes[k] is not None] for k in range(2))
    of_race, of_final = optimism_of_best(race), optimism_of_best(final)
    for candidate in candidates:
        candidate.outcomes = [None, None]
    value = max(of_race, of_final) if raced in (0, 1) else of_final + raced * of_race
    return Optimism(round(value, 6), max(len(race), len(final)))
