"""The machines of an average: which can be saved, and what one adds to the scores of a row."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr, is_sparse
from widemargin.errors import UsageError
from widemargin.learn.linear_weights import LinearWeights, linear_scores
from widemargin.learn.svm.label_weights import LabelWeights

Floats = NDArray[np.float64]

# The learners that may be members in a model file, and where they live.
MEMBERS = {
    "linear-svm": ("widemargin.learn.svm.linear_svm", "LinearSVM"),
    "label-weighted-svm": ("widemargin.learn.svm.label_weighted_svm", "LabelWeightedSVM"),
    "logistic-regression": ("widemargin.learn.logistic.logistic_regression", "LogisticRegression"),
    "multiclass-svm": ("widemargin.learn.svm.multiclass_svm", "MulticlassSVM"),
    "least-squares": ("widemargin.learn.squares.least_squares", "RegularizedLeastSquares"),
    "kernel-svm": ("widemargin.learn.svm.kernel_svm", "KernelSVM"),
}


# What they come to when documents are scored, unless there are support vectors.
MEMBER_WEIGHTS: dict[str, Any] = {
    "linear-svm": LinearWeights,
    "label-weighted-svm": LabelWeights,
    "logistic-regression": LinearWeights,
    "multiclass-svm": LinearWeights,
    "least-squares": LinearWeights,
}


def member_class(name: str, *, to_score: bool = False) -> Any:
    """The learner that a model file calls `name`; with `to_score`, only its weights if they are enough."""
    if to_score and name in MEMBER_WEIGHTS:
        return MEMBER_WEIGHTS[name]
    module, cls = MEMBERS[name]
    return getattr(importlib.import_module(module), cls)


def member_name(learner: Any) -> str:
    """The name of a learner in a model file."""
    for name, (module, cls) in MEMBERS.items():
        if type(learner).__module__ == module and type(learner).__name__ == cls:
            return name
    raise UsageError(
        f"An average with a {type(learner).__name__} cannot be saved. Members that can: {', '.join(MEMBERS)}."
    )


def is_linear(learner: Any) -> bool:
    """Whether scores are rows times weights; otherwise the learner scores them itself."""
    coef = getattr(learner, "coef_", None)
    shape = (learner.label_space_.n_columns, learner.n_features_in_)
    return coef is not None and tuple(np.shape(coef)) == shape and hasattr(learner, "as_scored")


def member_scores(learner: Any, rows: Csr) -> Floats:
    """Scores (n, columns) of rows by a fitted learner."""
    if hasattr(learner, "row_scores"):
        own: Floats = learner.row_scores(rows)
        return own
    if is_linear(learner):
        return linear_scores(learner, learner.as_scored(rows))
    return np.asarray(learner.decision_function(rows.matrix), dtype=np.float64).reshape(rows.n_rows, -1)


def member_parts(learner: Any, row: Csr) -> tuple[Floats, Floats]:
    """What each value of a row adds to the scores: constants, and values x columns."""
    if hasattr(learner, "score_parts"):
        found: tuple[Floats, Floats] = learner.score_parts(row)
        return found
    if not is_linear(learner):
        raise UsageError(
            f"A {type(learner).__name__} in an average has no term weights, so the average cannot explain a "
            f"label. Use machines with weights, such as LinearSVM."
        )
    row = learner.as_scored(row)
    weights = learner.coef_[:, row.indices]
    weights = weights.toarray() if is_sparse(weights) else weights
    return np.asarray(learner.intercept_), row.data.astype(np.float64)[:, None] * weights.T


def member_weights(learner: Any) -> Any:
    """The weights of a member, columns x features; None if it has none."""
    found: Any = learner.coef_ if is_linear(learner) else getattr(learner, "term_weights_", None)
    return found.toarray() if is_sparse(found) else found
