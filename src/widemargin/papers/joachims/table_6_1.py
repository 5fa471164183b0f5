"""Joachims (2000), Tables 6.1 to 6.6: selecting the representation, C, and the width of an RBF kernel.

One model is chosen for each category by its PRAVG, the mean of precision and recall, as xi-alpha (rho = 1)
and leave-one-out estimate it from the training documents. Tables 6.1, 6.3 and 6.5 have the macro-averaged
PRAVG of the choices on the test documents, between that of random choice and that of the best choice, and
the tests that the text reports; Tables 6.2, 6.4 and 6.6 have the PRAVG of each model, and how often it is
chosen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataWarning
from widemargin.estimate.held_out import held_out
from widemargin.estimate.xi_alpha import xi_alpha_of
from widemargin.measure import contingency, precision_recall_average
from widemargin.papers.joachims.choices import Choices
from widemargin.papers.joachims.published import printed, printed_counts
from widemargin.papers.joachims.text_tasks import REUTERS_TOPICS, Report, TextTask, ohsumed, reuters, webkb
from widemargin.papers.joachims.thesis_svm import BIAS_NOTE, RBF_C, linear_svm, rbf_svm
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.weight.vectorizer import Vectorizer

Floats = NDArray[np.float64]
Models = Iterator[tuple[TextTask, Any]]

COSTS = (0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 1000.0)
GAMMAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
# Stemming varies faster than the stop list in Table 6.2.
REPRESENTATIONS = tuple(
    f"{weighting}{stemming}{stop_list}"
    for stop_list in ("", ", stop list")
    for stemming in ("", ", stemmed")
    for weighting in ("bin", "tf", "tfidf")
)
COLLECTIONS: dict[str, Callable[..., TextTask]] = {"Reuters": reuters, "WebKB": webkb, "Ohsumed": ohsumed}
XI_ALPHA, UNSEEN = "PRAVG xi-alpha", "PRAVG loo"
# p-values of paired t-tests over the categories
T_XI_ALPHA, T_UNSEEN, T_BOTH = "p xi-alpha/random", "p loo/random", "p xi-alpha/loo"
NOTES = [
    BIAS_NOTE,
    "Xi-alpha with rho = 1, as the thesis uses for biased hyperplanes on text.",
    "If several models are equally good for a category, they share its count and its test figure.",
]
T_NOTE = (
    "p: two-sided paired t-tests over the categories, of the chosen models against the mean of all models, "
    "and of both criteria against each other. The text prints no p-values."
)


@dataclass(frozen=True)
class Experiment:
    """What is selected: the names of the models, and how to train them on a collection."""

    what: str
    names: tuple[str, ...]
    models: Callable[[Callable[..., TextTask], Report], Models]
    claim: str
    note: str | None = None


def _representations(load: Callable[..., TextTask], report: Report) -> Models:
    for stop_words in (None, "freewais"):
        for stemmer in (None, "porter"):
            for weighting in ("bxc", "txc", "tfc"):
                vectorizer = Vectorizer(
                    tokens="alnum", weighting=weighting, stemmer=stemmer, stop_words=stop_words
                )
                yield load(report, vectorizer), linear_svm(1000.0)


def _costs(load: Callable[..., TextTask], report: Report) -> Models:
    task = load(report)
    for C in COSTS:
        yield task, linear_svm(C)


def _gammas(load: Callable[..., TextTask], report: Report) -> Models:
    task = load(report)
    for gamma in GAMMAS:
        yield task, rbf_svm(gamma, cache=400)


EXPERIMENTS = {
    "6.1": Experiment(
        "the representation",
        REPRESENTATIONS,
        _representations,
        "Published: both criteria are significantly better than random choice on Reuters and Ohsumed.",
    ),
    "6.3": Experiment(
        "C",
        tuple(f"C={C:g}" for C in COSTS),
        _costs,
        "Published: all differences from random choice are significant, except on WebKB.",
    ),
    "6.5": Experiment(
        "gamma of the RBF kernel",
        tuple(f"gamma={gamma:g}" for gamma in GAMMAS),
        _gammas,
        "Published: xi-alpha is significantly better than random choice, except on WebKB; xi-alpha and "
        "leave-one-out do not differ significantly on Reuters.",
        f"Chapter 6 does not print the C of its RBF kernels; C = {RBF_C:g} is that of Table 8.1.",
    ),
}
# Each experiment has a table of values and a table of counts.
EXPERIMENT_OF = {"6.1": "6.1", "6.2": "6.1", "6.3": "6.3", "6.4": "6.3", "6.5": "6.5", "6.6": "6.5"}


def run(report: Report, table: str, collections: Sequence[str] = tuple(COLLECTIONS)) -> PaperResult:
    """One of the six tables, on all or some of the collections."""
    experiment = EXPERIMENTS[EXPERIMENT_OF[table]]
    cells: list[Cell] = []
    notes = [*NOTES, *([experiment.note] if experiment.note else [])]
    if table in EXPERIMENTS:
        notes += [T_NOTE, experiment.claim]
    for name in collections:
        task, choices, stand_in = _choices(experiment, COLLECTIONS[name], report)
        if stand_in is not None and stand_in not in notes:
            notes.append(stand_in)
        parts = {name: choices}
        if name == "Reuters":
            top = np.array([task.column(topic) for topic in REUTERS_TOPICS])
            parts = {"Reuters (top 10)": choices.of(top), "Reuters (all 90)": choices}
        for row, part in parts.items():
            if table in EXPERIMENTS:
                cells += _values(table, row, part)
                notes += [_test(row, part, criterion) for criterion in (XI_ALPHA, UNSEEN)]
            else:
                cells += _counts(table, row, part, experiment)
    title = f"Joachims, Table {table}: selecting {experiment.what}"
    digits = dict.fromkeys((T_XI_ALPHA, T_UNSEEN, T_BOTH), 4)
    return PaperResult(f"joachims-{table}", title, cells, notes, digits)


def _choices(
    experiment: Experiment, load: Callable[..., TextTask], report: Report
) -> tuple[TextTask, Choices, str | None]:
    """The last task, what can be chosen, and what stood in for leave-one-out."""
    test, xi_alpha, unseen = [], [], []
    stand_in = None
    for name, (task, learner) in zip(experiment.names, experiment.models(load, report), strict=True):
        report(f"Training {task.categories.n_columns} SVMs on {task.title}: {name}")
        X, Y = task.X_train, task.in_train
        learner.fit(X, Y)
        test.append(_pravg(contingency(task.truth, learner.decision_function(task.X_test))))
        xi_alpha.append(_pravg(xi_alpha_of(learner, X, Y, risk_factor=1.0)))
        with warnings.catch_warnings():
            # Some topics have one example; the published tables have them too.
            warnings.simplefilter("ignore", DataWarning)
            found = held_out(learner, X, Y, method="leave-one-out")
        unseen.append(_pravg(contingency(Y, found.scores)))
        if found.method == "k-fold":
            stand_in = f"{found.folds}-fold cross-validation with warm starts replaces leave-one-out."
    return task, Choices(np.array(test), {XI_ALPHA: np.array(xi_alpha), UNSEEN: np.array(unseen)}), stand_in


def _pravg(table: Any) -> Floats:
    return 100 * precision_recall_average(table)


def _values(table: str, row: str, choices: Choices) -> list[Cell]:
    ours = (choices.random, choices.value(XI_ALPHA), choices.value(UNSEEN), choices.optimum)
    figures = printed(table)[row]
    columns = ("random", XI_ALPHA, UNSEEN, "optimum")
    tests = {
        T_XI_ALPHA: choices.against_random(XI_ALPHA),
        T_UNSEEN: choices.against_random(UNSEEN),
        T_BOTH: choices.against(XI_ALPHA, UNSEEN),
    }
    return [
        *(Cell(row, *cell) for cell in zip(columns, figures, ours, strict=True)),
        *(Cell(row, column, UNPUBLISHED, test.p_value) for column, test in tests.items()),
    ]


def _counts(table: str, row: str, choices: Choices, experiment: Experiment) -> list[Cell]:
    lines = {
        "PRAVG test": choices.test.mean(axis=1),
        f"chosen by {XI_ALPHA}": choices.shares(XI_ALPHA).sum(axis=1),
        f"chosen by {UNSEEN}": choices.shares(UNSEEN).sum(axis=1),
    }
    return [
        Cell(f"{row}: {line}", name, float(published), float(figure))
        for (line, ours), theirs in zip(lines.items(), printed_counts(table)[row], strict=True)
        for name, published, figure in zip(experiment.names, theirs, ours, strict=True)
    ]


def _test(row: str, choices: Choices, criterion: str) -> str:
    wins, trials, p = choices.better_than_random(criterion)
    return (
        f"{row}: chosen by {criterion}, the model is in the better half of all models in {wins} of {trials} "
        f"categories (binomial test against random choice: p = {p:.2g})."
    )
