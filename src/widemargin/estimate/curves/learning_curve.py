"""Learning curves: few labeled documents, with and without unlabeled ones.

Of a collection whose labels are all known, some documents keep their label and the others are hidden from the
learner; both of its rules, the inductive one that knows the labeled documents only and the transductive one,
are measured on the hidden ones. Repeated with other documents, the curve shows what to expect of so many
labels and how far one draw differs from the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels, LabelSpace
from widemargin.measure import contingency, f_measure, macro, micro, prbep

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class Draw:
    """One run: how many documents were labeled, and how good each rule was on the others.

    `right` is the share of documents with the right label, or micro-F1 where a document may have any number
    of labels; `break_even` is the macro-averaged PRBEP. `alarms` counts the columns whose alarm fired.
    """

    labeled: int
    inductive_right: float
    transductive_right: float
    inductive_break_even: float
    transductive_break_even: float
    alarms: int


def learning_curve(
    learner: Any,
    X: Any,
    y: Any,
    sizes: Sequence[int],
    repeats: int,
    *,
    random_state: int = 0,
    report: Callable[[str], None] | None = None,
) -> Iterator[Draw]:
    """Draw after draw, `repeats` of every size, the sizes of one repeat inside each other.

    Parameters
    ----------
    learner : TransductiveSVM or SemiSupervisedBayes
    X : (n, features) all documents
    y : labels in any form that :mod:`widemargin.labels` takes, none missing
    sizes : numbers of labeled documents
    random_state : seed; repeat r is drawn with the seed (random_state, r)
    report : called with a line of text when a new draw begins
    """
    labels = Labels.of(y, X.shape[0])
    member = class_members(*labels.space_and_signs)
    check_sizes(sizes, member)
    for repeat in range(repeats):
        order = np.random.default_rng([random_state, repeat]).permutation(len(member))
        for size in sizes:
            if report is not None:
                report(f"{size} labels, draw {repeat + 1} of {repeats}")
            yield _draw(learner, X, labels, covering(member, order, size))


def covering(member: NDArray[np.bool_], order: Numbers, size: int) -> Numbers:
    """`size` documents, the first of `order`, but one of each column of `member` before all others.

    Examples
    --------
    >>> member = np.array([[True, False], [True, False], [False, True]])
    >>> covering(member, np.arange(3), 2).tolist()
    [0, 2]
    """
    chosen: list[int] = []
    for column in member.T:
        if not column[chosen].any():
            chosen.append(int(order[np.argmax(column[order])]))
    rest = order[~np.isin(order, chosen)]
    return np.concatenate([np.array(chosen, dtype=np.intp), rest])[:size]


def class_members(space: LabelSpace, signs: NDArray[Any]) -> NDArray[np.bool_]:
    """Class membership, one column per class; both of two classes, and only labels that occur."""
    member = np.hstack([signs < 0, signs > 0]) if space.kind == "binary" else signs > 0
    return member[:, member.any(axis=0)]


def check_sizes(sizes: Sequence[int], member: NDArray[np.bool_]) -> None:
    """Refuse training sets without an example of every label, or that leave no document to test on."""
    n, labels = member.shape
    if min(sizes) < labels:
        raise UsageError(
            f"{min(sizes)} labeled documents cannot have an example of each of {labels} labels. Take at "
            f"least {labels}."
        )
    if max(sizes) >= n:
        raise DataError(
            f"{max(sizes)} labeled documents of {n} leave none to test on. Take fewer, or more documents."
        )


def _draw(learner: Any, X: Any, labels: Labels, labeled: Numbers) -> Draw:
    hidden = np.ones(len(labels), dtype=bool)
    hidden[labeled] = False
    fitted = clone(learner).fit(X, labels.hide(hidden))
    space, truth = labels.space, labels.signs[hidden]
    scores = [
        np.asarray(table).reshape(len(labels), -1)[hidden] for table in (fitted.inductive_, fitted.scores_)
    ]
    decided = [space.choose(scores[0]), space.encode(fitted.transduction_)[hidden]]
    right = [_right(space, truth, choice) for choice in decided]
    break_even = [macro(np.atleast_1d(prbep(truth, table))) for table in scores]
    fired = sum(bool(alarm and alarm.fired) for alarm in getattr(fitted, "alarm_", ()))
    return Draw(len(labeled), right[0], right[1], break_even[0], break_even[1], fired)


def _right(space: LabelSpace, truth: NDArray[Any], decided: NDArray[Any]) -> float:
    if space.kind == "multilabel":
        return micro(f_measure, contingency(truth, decided))
    return float((truth == decided).all(axis=1).mean())
