"""The term weights of one label, for explanations and lists of terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError


class TopTerms(NamedTuple):
    """The terms with the largest and the smallest weights for a label, strongest first."""

    positive: list[tuple[str, float]]
    negative: list[tuple[str, float]]


class TermWeights(NamedTuple):
    """The weights and the intercept of one label.

    `column` of the learner's scores times `sign` is the label's score: of two classes the first has the
    second's column with the opposite sign.
    """

    column: int
    sign: float
    weights: NDArray[np.float64]
    bias: float

    def top(self, count: int, term: Callable[[int], str]) -> TopTerms:
        """The `count` terms with the largest weights and the `count` with the smallest."""
        weights = self.weights
        # Ties are broken by column, so that the list is the same everywhere.
        order = np.lexsort((np.arange(len(weights)), -weights))
        best = [int(i) for i in order[: max(count, 0)] if weights[i] > 0]
        worst = [int(i) for i in order[::-1][: max(count, 0)] if weights[i] < 0]
        return TopTerms(*([(term(i), float(weights[i])) for i in part] for part in (best, worst)))


def is_pairwise(learner: Any) -> bool:
    """Whether the learner's machines are for pairs of classes."""
    one_each = getattr(learner, "scheme", "one-vs-rest") == "one-vs-rest"
    return not one_each and learner.label_space_.kind == "multiclass"


def has_term_weights(learner: Any) -> bool:
    """Whether every label has term weights."""
    return _weights_of(learner) is not None and not is_pairwise(learner)


def check_term_weights(learner: Any) -> None:
    """Raise an error for a learner without term weights."""
    if has_term_weights(learner):
        return
    name = type(getattr(learner, "estimator", learner)).__name__
    if is_pairwise(learner):
        raise UsageError(
            f"This {name} has weights for pairs of classes, not for labels, so it cannot explain a label. "
            f'Train with scheme="one-vs-rest" and kernel="linear", or a LinearSVM.'
        )
    if getattr(learner, "base", None) == "trees":
        raise UsageError(
            f"The trees of this {name} have no term weights, so they cannot explain a label. Boost stumps, "
            f'base="stumps" (--base stumps), or train a C45.'
        )
    kernel = getattr(learner, "kernel", None)
    what, cure = (f" with the kernel {kernel}", ", or with the linear kernel") if kernel else ("", "")
    raise UsageError(
        f"A {name}{what} has no term weights, so it cannot explain a label. Train a LinearSVM{cure}."
    )


def term_weights(learner: Any, label: Any) -> TermWeights:
    """The rule of `label`, of a learner that passed `check_term_weights`."""
    column, sign = column_of(learner, label)
    coef: Any = _weights_of(learner)
    row = coef[[column], :].toarray() if hasattr(coef, "toarray") else np.atleast_2d(coef)[column]
    intercepts = np.broadcast_to(
        np.asarray(learner.intercept_, dtype=np.float64), (learner.label_space_.n_columns,)
    )
    weights = sign * np.asarray(row, dtype=np.float64).reshape(-1)
    return TermWeights(column, sign, weights, sign * float(intercepts[column]))


def _weights_of(learner: Any) -> Any:
    """Weights, labels x features; those of a `LabelWeightedSVM` are of documents before their lengths."""
    coef = getattr(learner, "coef_", None)
    return getattr(learner, "term_weights_", None) if coef is None else coef


def column_of(learner: Any, label: Any) -> tuple[int, float]:
    """The column that scores `label`, and whether its sign is reversed."""
    classes = learner.label_space_.classes.tolist()
    label = label.item() if isinstance(label, np.generic) else label
    if label not in classes:
        shown = ", ".join(map(str, classes[:10])) + (", ..." if len(classes) > 10 else "")
        raise UsageError(f"There is no label {label!r}. The labels are {shown}.")
    place = classes.index(label)
    if learner.label_space_.kind == "binary":
        return 0, 1.0 if place == 1 else -1.0
    return place, 1.0
