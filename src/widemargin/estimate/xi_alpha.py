"""Xi-alpha estimates of a fitted support vector machine: a cheap bound on its leave-one-out error."""

from __future__ import annotations

from typing import Any

from widemargin.errors import UsageError
from widemargin.labels import Labels, LabelSpace
from widemargin.measure.contingency import Contingency
from widemargin.measure.quality import Quality, quality
from widemargin.measure.xi_alpha import xi_alpha_table


def xi_alpha_of(learner: Any, X: Any, y: Any, *, risk_factor: float | None = None) -> Contingency:
    """The xi-alpha table of every label, see :mod:`widemargin.measure.xi_alpha`.

    A bound for every hyperplane but the biased one, which has to be stable with and without the example.

    Parameters
    ----------
    learner : fitted on `X` and `y`, with whatever weights of examples
    risk_factor : None for the theorem; 1 for the rule of the thesis for biased hyperplanes on text

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin import LinearSVM
    >>> X, y = np.array([[3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]]), [1, 1, 0, 0, 0]
    >>> table = xi_alpha_of(LinearSVM(C=0.1).fit(X, y), X, y)
    >>> int(table.true_positive), int(table.false_negative), int(table.false_positive)
    (1, 1, 2)
    """
    if not hasattr(learner, "left_out_risk"):
        raise UsageError(
            getattr(learner, "no_left_out", None)
            or f"{type(learner).__name__} has no xi-alpha estimate: that needs the dual variables of a "
            f"LinearSVM, a KernelSVM or a LogisticRegression. Use leave-one-out or cross-validation."
        )
    risk = learner.left_out_risk(X, risk_factor=risk_factor)
    signs = Labels.of(y, space=learner.label_space_).signs
    return xi_alpha_table(risk, signs[:, 0] if risk.ndim == 1 else signs)


def bounds_of(
    learner: Any, X: Any, y: Any, *, hierarchy: bool, at_zero: bool = False, table: Contingency | None = None
) -> Quality:
    """The bounds as figures of quality; `at_zero` if thresholds or costs decide, `table` if it is known."""
    space: LabelSpace = learner.label_space_
    notes = ["Bounds: leave-one-out is no worse. They say nothing of how much better it is."]
    if space.kind == "multiclass":
        notes.append("They are of each class's own rule against the rest; the largest score decides.")
    if at_zero:
        notes.append("They are of decisions by scores alone, without thresholds or costs.")
    if hierarchy:
        notes.append("They are of each node's own machine, not of decisions along the tree.")
    table = xi_alpha_of(learner, X, y) if table is None else table
    return quality(space, table, kind="bound", method="xi-alpha", notes=notes)
