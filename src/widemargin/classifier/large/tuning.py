"""Choosing terms, weights and costs on a random sample of the documents, before all of them are counted."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

from sklearn.base import clone

from widemargin.classifier.training import tune_parts
from widemargin.estimate.optimism import Optimism
from widemargin.labels import Labels
from widemargin.tune.staged.axes import Axes

# Axes whose result cannot be trained from disk.
_NOT_FROM_DISK = ("vectors",)


class Chosen(NamedTuple):
    """Unfitted parts, what a summary says of the choice, its effect on estimates, and its seconds."""

    vectorizer: Any
    learner: Any
    tuning: dict[str, Any]
    optimism: Optimism | None
    seconds: float


def choose(
    classifier: Any,
    vectorizer: Any,
    learner: Any,
    documents: Any,
    y: Labels,
    sample_weight: Any = None,
    *,
    effort: Any,
    kept: Collection[str],
    executor: Any = None,
) -> Chosen:
    """The best parts for a sample of the documents, given as texts or as a matrix.

    Parameters
    ----------
    classifier : a `TextClassifier`, whose space is searched as far as training from disk allows
    effort, kept : how long to search, and parameters to keep
    executor : runs trainings elsewhere
    """
    axes = classifier.space
    if axes is None:
        axes = Axes.around(vectorizer, learner, given=kept, free_learner=False)
    axes = replace(axes, free_learner=False, left_out={*axes.left_out, *_NOT_FROM_DISK})
    found = tune_parts(
        vectorizer,
        learner,
        documents,
        y,
        sample_weight,
        effort=effort,
        space=axes,
        given=kept,
        executor=executor,
    )
    settings = {"verbose": learner.verbose, "n_jobs": learner.n_jobs}
    return Chosen(
        vectorizer if found.vectorizer is None else clone(found.vectorizer),
        clone(found.learner).set_params(**settings),
        {"tuning": {**found.tuning["tuning"], "documents": len(y)}} if found.tuning else {},
        found.optimism,
        sum(found.seconds.values()),
    )
