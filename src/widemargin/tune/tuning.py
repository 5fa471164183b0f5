"""Choose a representation, a learner and its parameters, using only the training documents.

By default one axis of choices is searched after another (:mod:`widemargin.tune.staged.search`):
``effort="fast"`` within a budget of predicted work that depends only on the documents, ``effort=10`` within
about ten seconds of it (:mod:`widemargin.tune.budget`), ``effort="full"`` on all documents until nothing gets
better. The best few are estimated on all documents if the budget allows it.

A :class:`~widemargin.tune.search_space.Space` is a product of choices, like that of the thesis (Joachims,
6.2.3), whose algorithm trains every candidate, estimates its quality, and chooses the best; that is
``effort="full"``. ``effort="fast"`` first compares the candidates on held-out documents
(:mod:`widemargin.tune.race`), and estimates only the few best; where this is predicted to take many times as
long as one training, both use fewer folds.

The estimate of the chosen candidate is optimistic, because it is the maximum of several estimates.
``Tuning.optimism`` says by how much on average (:mod:`widemargin.estimate.optimism`).
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from widemargin._arrays import is_sparse
from widemargin._executors import Executor
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.cross_validation import checked_folds, warn_of_weak_labels
from widemargin.estimate.optimism import Optimism, optimism_of_best
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.costs import sample_weights
from widemargin.progress import watch
from widemargin.tune.budget import Budget, sparing
from widemargin.tune.criteria import Criterion
from widemargin.tune.product_race import product_race
from widemargin.tune.search_space import Candidate, Represented, Space
from widemargin.tune.staged.axes import Axes
from widemargin.tune.staged.families import best_of_families
from widemargin.tune.staged.search import staged_race
from widemargin.tune.winners import Fitted, Task, Winners, judge_all

FINALISTS = 3


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
        candidates = [
            {
                "parameters": candidate.parameters,
                "held_out": candidate.held_out,
                "estimate": candidate.estimate,
                "seconds": candidate.seconds,
            }
            for candidate in self.candidates
        ]
        chosen_by_label = None
        if self.by_label is not None:
            chosen_by_label = {str(name): int(k) for name, k in zip(names, self.by_label, strict=True)}
        return {
            "effort": self.effort,
            "estimate": self.candidates[self.chosen].method,
            "task": self.label_space.kind,
            "measure": self.criterion.measure,
            "average": self.criterion.average,
            "chosen": self.chosen,
            "chosen_by_label": chosen_by_label,
            "optimism": self.optimism.value,
            "seconds": self.seconds,
            "families": best_of_families(candidates, self.chosen),
            "candidates": candidates,
        }


def tune(
    texts: Any,
    y: Any,
    space: Space | Axes | None = None,
    *,
    sample_weight: Any = None,
    times: Any = None,
    effort: Literal["fast", "full"] | float = "fast",
    criterion: Criterion | str = "k-fold",
    per_label: bool = False,
    finalists: int = FINALISTS,
    warm_start: bool = True,
    random_state: Any = 0,
    verbose: bool = False,
    beside: Any = None,
    executor: Executor | None = None,
) -> Tuning:
    """Choose the best candidate of a space.

    Parameters
    ----------
    texts : list of str, or a matrix of vectors, for which there is no representation to choose
    y : labels in any form that :mod:`widemargin.labels` accepts
    space : what to choose from: a :class:`Space`, of which every combination is a candidate, or
        :class:`Axes`, of which one is searched after the other (the default)
    sample_weight : (n,) factors on the costs of the documents in training; estimates count each document once
    times : (n,) numbers, optional
        When documents were written. Axes are then searched by training on earlier and measuring on later
        documents; those without a time (NaN) count as the earliest. Not for a `Space`.
    effort : "full" estimates every candidate of a space, or searches axes on all documents until nothing gets
        better; "fast" estimates only the finalists of a race on held-out documents; a number of seconds does
        as much of "fast" as is predicted to fit on one core
    criterion : how candidates are compared; the name of an estimate means its default measure
    per_label : also choose for each label separately, among the same candidates
    finalists : number of candidates that "fast" estimates
    warm_start : start from the solution for the next smaller C
    random_state : seed of the split into training and held-out documents
    verbose : show a progress bar if stderr is a terminal
    beside : unlabeled texts that terms and document frequencies are learned from too, in every fold
    executor : runs candidates and folds elsewhere, see :mod:`widemargin._executors`; the choice is the same

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
    space = Axes() if space is None else space
    vectors = is_sparse(texts) or getattr(texts, "ndim", 1) == 2
    n = texts.shape[0] if vectors else len(texts)
    y = Labels.of(y, n)
    labels, truth = y.space_and_signs
    if not isinstance(criterion, Criterion):
        # Of one label per document, micro-averaged F1 is accuracy.
        of_axes = {"multiclass": "f1", "binary": "accuracy"}
        measure = of_axes.get(labels.kind) if isinstance(space, Axes) and criterion != "xi-alpha" else None
        criterion = Criterion(criterion, measure)  # type: ignore[arg-type]  # checked there
    if criterion.estimate == "k-fold":
        checked_folds(criterion.folds, n)
    warn_of_weak_labels(labels, truth)
    weights = None if sample_weight is None else sample_weights(sample_weight, n)
    if times is not None:
        times = np.asarray(times, dtype=np.float64)
        if times.shape != (n,):
            raise UsageError(f"There are {n} documents and {times.size} times. Pass one time per document.")
    task = Task(texts, y, weights, warm_start, random_state, np.zeros(1, np.int64), beside, executor)
    winners = Winners(labels.n_columns, per_label)
    candidates = [] if isinstance(space, Axes) else space.candidates(vectors=vectors)
    total = len(candidates) if candidates and effort == "full" else None
    with watch(task.done, "Tuning", total=total, unit="candidates", enabled=None if verbose else False):
        if isinstance(space, Axes):
            race = staged_race(task, space, criterion, budget, fast=effort == "fast", times=times)
            candidates, measured = race.candidates, race.measured
            # Random folds would not respect time.
            judged = _finalists(candidates, 1 if race.in_time else finalists, race.budget, race.leader)
            if effort == "fast":
                criterion = _sparing(criterion, [candidates[number] for number in judged])
            # The race measured the only finalist already; a choice for each label needs estimates.
            alone = len(judged) == 1 and not per_label
            if alone:
                race.take_as_estimate(candidates[judged[0]])
            represented = Represented(texts, race.visited, beside=beside)
            by = None if alone else criterion
            judge_all(task, represented, candidates, judged, by, winners, as_new=True)
        else:
            # The finalists of a race are used again.
            represented = Represented(texts, space, keep=effort != "full", beside=beside)
            judged, measured = list(range(len(candidates))), 0
            if effort != "full" and len(candidates) > (finalists if effort == "fast" else 1):
                measured = product_race(task, represented, space, candidates, criterion, budget)
                judged = _finalists(candidates, finalists, budget)
                if effort == "fast":
                    criterion = _sparing(criterion, [candidates[number] for number in judged])
            judge_all(task, represented, candidates, judged, criterion, winners)
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


def _finalists(
    candidates: list[Candidate], most: int, budget: Budget, leader: Candidate | None = None
) -> list[int]:
    """The best candidates of the race, ties broken by position: the best one, and as many more as the budget
    allows. A leader comes first, even if others did better."""
    raced = [
        (c is not leader, -c.held_out, number)
        for number, c in enumerate(candidates)
        if c.held_out is not None
    ]
    best, *others = [number for *_, number in sorted(raced)[:most]]
    return sorted([best, *takewhile(lambda number: budget.pays(candidates[number].work), others)])


def _sparing(criterion: Criterion, finalists: list[Candidate]) -> Criterion:
    """Two folds instead of more, if those are predicted to take many times as long as one training."""
    each = [candidate.once for candidate in finalists]
    # Training in folds starts from a solution and ends at a larger tolerance: half of the work.
    work = (1 + criterion.folds / 2) * sum(each)
    if criterion.estimate != "k-fold" or work <= sparing(min(each)):
        return criterion
    return replace(criterion, folds=2)


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
