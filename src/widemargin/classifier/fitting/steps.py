"""The steps of `TextClassifier.fit`: read, settle, train, use the pool, estimate."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from widemargin.classifier.record.remembering import remembered
from widemargin.classifier.record.training_record import TrainingRecord
from widemargin.classifier.settings.defaults import settle
from widemargin.classifier.training import (
    check_tuning,
    fit_parts,
    memory_for_estimate,
    training_summary,
    tune_parts,
)
from widemargin.classifier.training_input import in_columns, in_hierarchy, training_input
from widemargin.classifier.unlabeled.pool import read_pool
from widemargin.classifier.unlabeled.use import use_pool
from widemargin.decide.rule import DecisionRule
from widemargin.estimate.assessment import NOTHING, Request, assess


class Fitted(NamedTuple):
    """What `fit` leaves; `asked` are the parameters that a model file keeps."""

    vectorizer: Any
    features: Any
    learner: Any
    n_features: int
    asked: dict[str, Any]
    rule: DecisionRule
    record: TrainingRecord
    summary: dict[str, Any]


def fitted(
    classifier: Any,
    vectorizer: Any,
    learner: Any,
    texts: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    times: Any = None,
    unlabeled: Any = None,
    executor: Any = None,
) -> Fitted:
    """Train the parts of a classifier by its parameters; the arguments are those of its `fit`."""
    texts, vectorizer = in_columns(texts, vectorizer)
    given = training_input(texts, y, sample_weight, learner, times)
    with_pool = unlabeled is not None and classifier.unlabeled_use not in (None, "representation")
    made = {"vectorizer": vectorizer, "learner": learner}
    settled = settle(classifier, made, given.labels, with_pool=with_pool)
    check_tuning(settled.tune, classifier.features, made.values(), per_label=classifier.tune_per_label)
    asked = settled.estimate, settled.thresholds, classifier.calibration, classifier.costs, classifier.abstain
    request = Request.read(*asked)
    given, request = in_hierarchy(given, request, classifier.label_path, classifier.hierarchy, learner)
    pool = read_pool(unlabeled, classifier.unlabeled_use, given, vectorizer, learner, request)
    if pool is not None and hasattr(learner, "unlabeled"):
        given, pool = given.joined_by(pool.documents, pool.size), None
    how: dict[str, Any] = {"beside": None if pool is None else pool.documents}
    if settled.tune is None:
        parts = fit_parts(vectorizer, classifier.features, learner, *given.examples, **how)
    else:
        how |= {"effort": settled.tune, "space": classifier.space, "per_label": classifier.tune_per_label}
        how |= {"given": settled.kept, "free_learner": settled.free_learner, "executor": executor}
        parts = tune_parts(vectorizer, learner, *given.examples, times=given.times, **how)
    if pool is not None:
        parts = use_pool(parts, pool, given, compare=settled.estimate is not None)
    start = time.perf_counter()
    judged, of_documents = parts.judged or parts.learner, (given.names, given.sample_weight)
    with memory_for_estimate(parts.rows.X, parts.learner):
        found = assess(judged, parts.rows, request, *of_documents, parts.optimism, executor)
    if found is not NOTHING:
        parts.seconds["estimate"] = time.perf_counter() - start
    return Fitted(
        parts.vectorizer,
        parts.features,
        parts.learner,
        parts.n_features,
        settled.asked,
        found.rule(parts.learner, request.hierarchy),
        remembered(given, found.profile, keep_hashes=classifier.keep_hashes),
        training_summary(parts, parts.learner.label_space_, found.summary(), request.hierarchy),
    )
