"""The cost of an error on an example: C, times the weight of its class, times its own weight.

Positive examples of rare labels cost more: ``C+ = C (n-/n+)^balance``, from the same cost for all (0) to the
same total cost for both sides (1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from widemargin._arrays import LARGEST, as_float64
from widemargin._parameters import FROM_0_TO_1, either, one_of
from widemargin.errors import DataError, UsageError
from widemargin.labels import LabelSpace

Floats = NDArray[np.float64]
Balance = float | Literal["auto"]
BALANCE = either(FROM_0_TO_1, one_of("auto"))
# Chosen by cross-validation on the training documents of several collections with label sets; there is no
# gain for exclusive classes, where scores are compared with each other and not with 0.
BALANCE_OF_LABEL_SETS = 0.15


def sample_weights(sample_weight: Any, n: int) -> Floats:
    """Check the weights of `n` examples; returns an empty array if there are none."""
    if sample_weight is None:
        return np.zeros(0)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    weights = as_float64(weights, (n,), "sample_weight")
    wrong = ~((weights >= 0) & (weights <= LARGEST))
    if wrong.any():
        at = int(wrong.argmax())
        raise DataError(
            f"sample_weight[{at}] = {weights[at]:g} is negative, not finite, or above 1e100. "
            f"Expected numbers of at least 0."
        )
    if not weights.any():
        raise DataError("sample_weight is zero for every example: there is nothing to learn from.")
    return weights


def weights_for(learner: Any, sample_weight: Any) -> dict[str, Any]:
    """The keyword arguments of `fit` for these weights: none if there are no weights.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> weights_for(KNeighborsClassifier(), None)
    {}
    """
    if sample_weight is None:
        return {}
    if not has_fit_parameter(learner, "sample_weight"):
        raise UsageError(f"{type(learner).__name__} does not accept sample_weight. Omit it.")
    return {"sample_weight": sample_weight}


def costs_of(C: Any, n_columns: int) -> Floats:
    """C of every column: the same number for all, or one each.

    Examples
    --------
    >>> costs_of(2.0, 2).tolist(), costs_of([1.0, 3.0], 2).tolist()
    ([2.0, 2.0], [1.0, 3.0])
    """
    costs = np.asarray(C, dtype=np.float64)
    if costs.ndim == 1 and len(costs) != n_columns:
        raise UsageError(
            f"C has {len(costs)} numbers, but there are {n_columns} labels to tell from the others. Pass one "
            f"number for all, or one for each."
        )
    return np.broadcast_to(costs, (n_columns,))


def training_costs(
    learner: Any, space: LabelSpace, signs: NDArray[np.int8], weights: Floats
) -> tuple[Floats, Floats]:
    """The costs of a learner with `C`, `class_weight` and `balance`: see :func:`label_costs`.

    Examples
    --------
    >>> from widemargin import LinearSVM
    >>> from widemargin.labels import Labels
    >>> space, signs = Labels.of([["rare"], [], [], [], []]).space_and_signs
    >>> training_costs(LinearSVM(C=2, balance=0.5), space, signs, np.zeros(0))
    (array([4.]), array([2.]))
    """
    balance = balance_of(learner.balance, learner.class_weight, space)
    return label_costs(learner.C, learner.class_weight, space, signs, weights, balance)


def costs_by_totals(
    learner: Any, space: LabelSpace, total: Floats, everything: Floats
) -> tuple[Floats, Floats]:
    """The costs of :func:`training_costs` from sums over the examples, where these are not in memory.

    Parameters
    ----------
    total, everything : (columns,) the weights, or numbers, of the positive examples and of all examples

    Examples
    --------
    >>> from widemargin import LinearSVM
    >>> from widemargin.labels import Labels
    >>> space = Labels.of([["rare"], [], [], [], []]).space
    >>> costs_by_totals(LinearSVM(C=2, balance=0.5), space, np.array([1.0]), np.array([5.0]))
    (array([4.]), array([2.]))
    """
    balance = balance_of(learner.balance, learner.class_weight, space)
    return _costs_of_labels(learner.C, learner.class_weight, space, lambda: (total, everything), balance)


def balance_of(balance: Any, class_weight: Any, space: LabelSpace) -> float:
    """The exponent of n-/n+ that a learner uses for the labels of `space`.

    "auto" is 0.15 for label sets, and 0 for exclusive classes or beside a `class_weight`.

    Examples
    --------
    >>> from widemargin.labels import Labels
    >>> sets, classes = Labels.of([["a"], ["a", "b"]]).space, Labels.of(["a", "b", "c"]).space
    >>> balance_of("auto", None, sets), balance_of("auto", None, classes), balance_of(0.3, None, classes)
    (0.15, 0.0, 0.3)
    """
    if isinstance(balance, str):
        return BALANCE_OF_LABEL_SETS if space.kind == "multilabel" and class_weight is None else 0.0
    if balance and class_weight is not None:
        raise UsageError(
            f"balance={balance:g} and class_weight={class_weight!r} both set the costs of the classes. "
            f"Pass only one of them."
        )
    return float(balance)


def label_costs(
    C: Any,
    class_weight: Any,
    space: LabelSpace,
    signs: NDArray[np.int8],
    weights: Floats,
    balance: float = 0.0,
) -> tuple[Floats, Floats]:
    """Cost of the positive and of the negative examples of each column of signs.

    Parameters
    ----------
    C : one number, or one for each column
    class_weight : None; "balanced" gives the positive and the negative examples of each label the same
        total cost; a dict multiplies the cost of a label's positive examples (binary: of either class)
    signs : (n, columns); 0 if an example is unlabeled
    weights : the result of :func:`sample_weights`
    balance : multiplies the cost of the positive examples of a label by ``(n-/n+)^balance``, where n+ and
        n- are their total weights; a label without positive or without negative examples keeps its cost
    """
    return _costs_of_labels(C, class_weight, space, lambda: _total_weights(signs, weights), balance)


def _costs_of_labels(
    C: Any, class_weight: Any, space: LabelSpace, totals: Callable[[], tuple[Floats, Floats]], balance: float
) -> tuple[Floats, Floats]:
    """The costs of :func:`label_costs`; `totals` are the weights of positive and of all examples."""
    positive, negative = np.ones(space.n_columns), np.ones(space.n_columns)
    if isinstance(class_weight, str) and class_weight == "balanced":
        total, everything = totals()
        # A label that all documents have, or none, keeps its cost.
        np.divide(everything, 2 * total, out=positive, where=total > 0)
        np.divide(everything, 2 * (everything - total), out=negative, where=total < everything)
    elif isinstance(class_weight, dict):
        column_of = {label: k for k, label in enumerate(space.column_names.tolist())}
        for label, weight in class_weight.items():
            if label in column_of:
                positive[column_of[label]] = weight
            elif space.kind == "binary" and label == space.classes[0]:
                negative[0] = weight
            else:
                raise UsageError(
                    f"class_weight has {label!r}, which is not a label of the training data. "
                    f"The labels are {space.classes.tolist()[:10]}."
                )
    elif class_weight is not None:
        raise UsageError(f'class_weight={class_weight!r}: expected "balanced", a dict, or None.')
    weights_of_classes = np.concatenate([positive, negative])
    if not ((weights_of_classes >= 0) & (weights_of_classes <= LARGEST)).all():
        raise UsageError(
            "class_weight has a weight that is negative, too large or not a number: expected numbers "
            "from 0 to 1e100."
        )
    if balance:
        total, everything = totals()
        both = (total > 0) & (everything > total)
        positive[both] *= ((everything - total)[both] / total[both]) ** balance
    costs = costs_of(C, space.n_columns)
    return _times_cost(costs, positive), _times_cost(costs, negative)


def class_costs(
    C: float, class_weight: Any, space: LabelSpace, signs: NDArray[np.int8], weights: Floats
) -> Floats:
    """The cost of an error on an example of each class, for machines that learn all classes together.

    Parameters are those of :func:`label_costs`; "balanced" gives all classes the same total cost.

    Examples
    --------
    >>> from widemargin.labels import Labels
    >>> space, signs = Labels.of(["a", "a", "b", "c"]).space_and_signs
    >>> class_costs(1.0, "balanced", space, signs, np.zeros(0)).round(3).tolist()
    [0.667, 1.333, 1.333]
    """
    positive, negative = label_costs(C, class_weight, space, signs, weights)
    costs = np.concatenate([negative, positive]) if space.kind == "binary" else positive
    if isinstance(class_weight, str):  # label_costs divides the total between two sides
        costs *= 2 / len(space.classes)
    return costs


def _total_weights(signs: NDArray[np.int8], weights: Floats) -> tuple[Floats, Floats]:
    """The weights of the positive examples of every column, and of all examples that are labeled."""
    each = weights if len(weights) else np.ones(len(signs))
    total, everything = (
        np.array([each @ some[:, k] for k in range(signs.shape[1])]) for some in (signs > 0, signs != 0)
    )
    return total, everything


def _times_cost(C: Floats, factors: Floats) -> Floats:
    """Costs; a class of weight 0 costs 0, even if C is infinite."""
    return np.multiply(C, factors, out=np.zeros_like(factors), where=factors > 0)


def upper_bounds(signs: NDArray[np.int8], costs: tuple[Floats, Floats], weights: Floats) -> Floats:
    """The upper bound of every alpha, (columns, n): the cost of an error on the example.

    Parameters
    ----------
    signs : (columns, n)
    costs : the result of `label_costs`
    weights : the result of `sample_weights`

    Examples
    --------
    >>> signs, costs = np.array([[1, -1]], dtype=np.int8), (np.array([2.0]), np.array([1.0]))
    >>> upper_bounds(signs, costs, np.array([0.5, 0.0])).tolist()
    [[1.0, 0.0]]
    """
    return times_weights(np.where(signs > 0, costs[0][:, None], costs[1][:, None]), weights)


def times_weights(upper: Floats, weights: Floats) -> Floats:
    """Costs times weights; an example of weight 0 costs 0, even if C is infinite."""
    if not len(weights):
        return upper
    with np.errstate(invalid="ignore"):
        weighted: Floats = np.where(weights > 0, upper * weights, 0.0)
    return weighted
