"""One learner on the documents of a comparison: pure functions, which an executor may run elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from widemargin.estimate.cross_validation import scores_without
from widemargin.labels import Labels
from widemargin.learn.averages.columns import told_blocks
from widemargin.learn.costs import weights_for
from widemargin.learn.label_model import LabelModel
from widemargin.tune.footprint import measured
from widemargin.tune.learners import Work
from widemargin.tune.other_estimators import plain_labels, with_scores
from widemargin.tune.shared_rows import SharedRows

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]


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


def scores_of_fold(
    documents: tuple[Trial, NDArray[np.int32]],
    contender: Contender,
    number: int,
    trained: Callable[[], None] | None = None,
) -> list[Floats]:
    """The scores of the documents of one fold in every setting; calls `trained` after each training."""
    trial, fold = documents
    space, signs = trial.labels.space_and_signs
    out = fold == number
    X, blocks = trial.shared.weighted(contender.text).rows.made_without(out)
    seen, unseen = X[~out], X[out]
    weights = None if trial.weights is None else np.asarray(trial.weights)[~out]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the final training are kept
        for estimator in contender.estimators:
            learner = with_scores(told_blocks(clone(estimator), blocks))
            found.append(scores_without(learner, seen, unseen, space, signs[~out], weights))
            if trained is not None:
                trained()
    return found


class Final(NamedTuple):
    """A learner that was trained on all documents, its vectorizer, its scores of new ones, its figures."""

    learner: Any
    vectorizer: Any
    scores: Floats
    figures: dict[str, Any]


def trained_on_all(documents: tuple[Trial, NDArray[np.int32]], contender: Contender, place: int) -> Final:
    """Train the setting at `place` on all documents."""
    trial, _ = documents
    weighted = trial.shared.weighted(contender.text)
    learner = with_scores(clone(contender.estimators[place]))
    weights = weights_for(learner, trial.weights)
    y = trial.labels if isinstance(learner, LabelModel) else plain_labels(trial.labels)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with measured() as spent:
            learner = told_blocks(learner, getattr(weighted.rows.vectorizer, "blocks_", None))
            learner.fit(weighted.rows.X, y, **weights)
        with measured(memory=False) as scoring:
            scores = np.asarray(learner.decision_function(weighted.new), dtype=np.float64)
    n = int(weighted.new.shape[0])
    figures = {
        "warnings": list(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)),
        "vectorize_seconds": weighted.seconds,
        "learn_seconds": spent.seconds,
        "memory": spent.memory,
        "documents_per_second": n / max(weighted.new_seconds + scoring.seconds, 1e-9),
    }
    found = scores.reshape(n, trial.labels.space.n_columns)
    return Final(getattr(learner, "estimator", learner), weighted.vectorizer, found, figures)
