"""The stages of a diagnosis, one after the other."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from widemargin.diagnose.advice import Found, advise
from widemargin.diagnose.categories import Findings, find_margins
from widemargin.diagnose.confusions import find_confusions
from widemargin.diagnose.copies import find_copies
from widemargin.diagnose.diagnosis import Diagnosis
from widemargin.diagnose.drift import find_drift
from widemargin.diagnose.give_aways import find_give_aways, term_table
from widemargin.diagnose.languages import find_languages
from widemargin.diagnose.parts import test_part, training_part
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.curves.growth import decisions, measure_growth
from widemargin.estimate.held_out import choose_method, held_out
from widemargin.estimate.suspects import suspects
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.measure import contingency, error_rate
from widemargin.measure.quality import quality
from widemargin.theory.tcat import advise_weighting, estimate_concepts
from widemargin.weight.vectorizer import Vectorizer


def diagnose(
    texts: Any,
    y: Any = None,
    test: Any = None,
    test_y: Any = None,
    *,
    target: float = 0.9,
    n_jobs: int | None = None,
    random_state: int = 0,
    verbose: bool = False,
) -> Diagnosis:
    """Find out what is hard, wrong or missing in labeled documents, before more of them are labeled.

    Parameters
    ----------
    texts : texts, or a Collection with its labels
    y : labels in any form; None for those of the collection. Documents without a label are left out.
    test, test_y : test documents and, if known, their labels; then copies of training documents and drift
        are looked for
    target : the F1 that every label is to reach
    n_jobs : number of threads, None for all cores; the result does not depend on it
    random_state : random seed of folds and samples
    verbose : show progress bars when stderr is a terminal

    Examples
    --------
    >>> import widemargin
    >>> words = {"grain": "wheat corn rye oats barley", "money": "bank rate yen dollar loan"}
    >>> texts = [f"{a} and {b} {i}" for w in words.values() for i, (a, b) in enumerate(
    ...     (a, b) for a in w.split() for b in w.split() if a != b)]
    >>> found = widemargin.diagnose(texts + texts[:1], ["grain"] * 20 + ["money"] * 20 + ["money"])
    >>> [group.documents for group in found.copies.contradictory]
    [[0, 40]]
    >>> [advice.kind for advice in found.advice][:2]
    ['contradiction', 'suspects']
    """
    if not isinstance(target, float | int) or not 0 < target < 1:
        raise UsageError(f"target={target!r}: expected an F1 between 0 and 1, such as 0.9.")
    stages = _Stages()
    with stages.stage("read"):
        train, labels = training_part(texts, y)
        tested = test_part(test, test_y)
        total = len(texts) if hasattr(texts, "__len__") else len(train)
    with stages.stage("vectorize"):
        vectorizer = Vectorizer(n_jobs=n_jobs)
        counts = vectorizer.fit_counts(train.texts)
        rows = TrainingRows(vectorizer.weighed(counts).matrix, labels, train.texts, vectorizer, counts)
        terms = list(vectorizer.vocabulary_)
        empty = [train.names[i] for i in np.flatnonzero(np.diff(counts.indptr) == 0).tolist()]
        languages = find_languages(counts.matrix, terms, train.names)
    with stages.stage("copies"):
        copies = find_copies(train, tested, n_jobs=n_jobs)
    signs, names = _every_class(labels)
    with stages.stage("words"):
        table = term_table(counts.matrix, signs, n_jobs)
        members = Labels.of(signs > 0)
        concepts = estimate_concepts(counts.matrix, members, n_jobs=n_jobs)
        weightings = advise_weighting(counts.matrix, members, n_jobs=n_jobs)
    with stages.stage("learn"):
        # The bounds of the margins hold for one cost of all errors.
        learner = LinearSVM(balance=0, n_jobs=n_jobs, random_state=random_state)
        learner.fit(rows.X, labels)
        margins = find_margins(learner, rows.X, labels)
    with stages.stage("held-out scores"), _quiet():
        method = choose_method("auto", learner, rows.X, cells=labels.signs.size)
        if method not in ("leave-one-out", "one-step", "k-fold"):
            method = "k-fold"
        learner.verbose = verbose
        held = held_out(
            learner, rows.X, labels, method=method, random_state=random_state, verbose=verbose, rows=rows
        )
        decided = decisions(labels.space, held.scores, labels.signs)
        figures = quality(
            labels.space,
            contingency(labels.signs, decided),
            kind="estimate",
            method=held.method,
            right=int(np.count_nonzero((labels.signs == decided).all(axis=1))),
            decisions=(labels.signs, decided),
        )
        errors = np.atleast_1d(error_rate(held.table)).astype(np.float64)
        doubted = suspects(labels.space, held.scores, labels.signs, train.names)
    with stages.stage("learning curves"), _quiet():
        growth = measure_growth(learner, rows, random_state=random_state, verbose=verbose)
    with stages.stage("give-aways"), _quiet():
        how: dict[str, Any] = {"n_jobs": n_jobs, "random_state": random_state}
        give_aways = find_give_aways(table, counts.matrix, rows.X, signs, names, terms, train.texts, **how)
    drift = None
    if tested is not None:
        with stages.stage("drift"), _quiet():
            drift = find_drift(train, tested, **how)
    with stages.stage("advice"):
        decided_all = np.hstack([-decided, decided]) if labels.space.kind == "binary" else decided
        confusions = find_confusions(names, signs, decided_all)
        if labels.space.kind == "binary":
            confusions = []  # there would be nothing left to decide
        categories = Findings(
            labels.space,
            terms,
            table,
            concepts,
            weightings,
            margins,
            errors,
            figures.labels,
            growth,
            float(target),
        ).categories()
        found = Found(
            len(train),
            copies,
            give_aways,
            doubted,
            languages,
            drift,
            confusions,
            categories,
            empty,
            float(target),
        )
        advice = advise(found)
    return Diagnosis(
        documents=len(train),
        test_documents=0 if tested is None else len(tested),
        unlabeled=total - len(train),
        task=labels.space.kind,
        terms=len(terms),
        target=float(target),
        quality=figures,
        categories=categories,
        copies=copies,
        give_aways=give_aways,
        suspects=doubted,
        languages=languages,
        drift=drift,
        confusions=confusions,
        empty=empty,
        advice=advice,
        seconds=stages.seconds,
    )


def _every_class(labels: Labels) -> tuple[Any, list[Any]]:
    """Signs and names with a column for every class, both of two."""
    space = labels.space
    if space.kind == "binary":
        return np.asfortranarray(np.hstack([-labels.signs, labels.signs])), space.classes.tolist()
    return labels.signs, space.column_names.tolist()


@contextmanager
def _quiet() -> Iterator[None]:
    """Labels with few examples, and ties that few examples lead to, are told in the diagnosis."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


class _Stages:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start
