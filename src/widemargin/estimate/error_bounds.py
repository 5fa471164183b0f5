"""Bounds on the error of a support vector machine, side by side: joachims 4.2.1, 5.1 and 5.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from widemargin._arrays import is_sparse
from widemargin.errors import UsageError
from widemargin.estimate.held_out import leave_one_out
from widemargin.estimate.xi_alpha import xi_alpha_of
from widemargin.labels import Labels
from widemargin.learn.costs import balance_of
from widemargin.measure.contingency import contingency, error_rate
from widemargin.theory.bounds import hoeffding_bound, soft_margin_bound, support_vector_bound, vc_bound


@dataclass(frozen=True)
class ErrorBounds:
    """What is known of the error of one label's rule. Bounds may exceed 1.

    Attributes
    ----------
    label : the label
    n : number of training documents
    margin : delta = 1/|w|
    R2, rho, loss : the other quantities of Theorem 1, R^2, rho and the sum of slacks
    stable : false for a biased hyperplane without unbounded support vectors: its threshold is not determined,
        and none of `xi_alpha`, `support_vectors` and `expected` is a bound
    training_error : share of wrong training documents
    leave_one_out : leave-one-out error, almost unbiased; NaN if it was not asked for
    xi_alpha : the xi-alpha estimate, at least the leave-one-out error
    support_vectors : share of support vectors, Vapnik's bound: at least the xi-alpha estimate
    expected : Theorem 1, at least the xi-alpha estimate; its expectation bounds the expected error
    vc : the bound of Vapnik and Chervonenkis over all hyperplanes, with confidence 1 - eta
    test_error, hoeffding : error on test documents, and Hoeffding's bound with confidence 1 - eta; NaN
        without test documents
    """

    label: Any
    n: int
    margin: float
    R2: float
    rho: int
    loss: float
    stable: bool
    training_error: float
    leave_one_out: float
    xi_alpha: float
    support_vectors: float
    expected: float
    vc: float
    test_error: float
    hoeffding: float


def error_bounds(
    learner: Any,
    X: Any,
    y: Any,
    *,
    test: tuple[Any, Any] | None = None,
    left_out: bool = True,
    eta: float = 0.05,
) -> list[ErrorBounds]:
    """All bounds on the error of a support vector machine, for every label.

    Parameters
    ----------
    learner : `LinearSVM` or `KernelSVM` with the hinge loss, fitted on `X` and `y` without weights of
        examples
    test : test documents and their labels
    left_out : whether to compute leave-one-out errors, which takes longer than all the rest
    eta : chance that a bound does not hold

    Examples
    --------
    >>> from widemargin import LinearSVM
    >>> X, y = np.array([[3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]]), [1, 1, 0, 0, 0]
    >>> found, = error_bounds(LinearSVM(C=0.1).fit(X, y), X, y)
    >>> found.training_error <= found.leave_one_out <= found.xi_alpha <= found.expected
    True
    """
    if not hasattr(learner, "risk_constants"):
        raise UsageError(
            f'{type(learner).__name__} has no margin: use a LinearSVM (penalty="l2") or a KernelSVM.'
        )
    weighted = getattr(learner, "class_weight", None)
    balance = balance_of(getattr(learner, "balance", 0.0), weighted, learner.label_space_)
    several = weighted is not None or balance != 0 or np.ndim(learner.C) > 0
    if getattr(learner, "loss", "hinge") not in ("auto", "hinge") or several:
        raise UsageError(
            "Theorem 1 is for the hinge loss and one C. Fit with loss='hinge', class_weight=None, balance=0."
        )
    space = learner.label_space_
    signs = Labels.of(y, X.shape[0], space=space).signs
    n, n_labels = signs.shape
    rho, R2 = learner.risk_constants(X)
    norms = _squared_norms(learner, X)
    slacks = learner.xi_.sum(axis=0) if is_sparse(learner.xi_) else learner.xi_.reshape(n, -1).sum(axis=0)
    if np.isinf(learner.C):
        slacks = np.zeros(n_labels)  # a hard margin: what is there is the tolerance of the solver
    stable = np.full(n_labels, True) if rho == 1 else _has_unbounded(learner, n_labels)
    supporting = np.count_nonzero(_dual_variables(learner, n_labels) > 0, axis=0)
    none = np.full(n_labels, np.nan)
    training = _errors(learner, X, signs)
    at_risk = np.atleast_1d(error_rate(xi_alpha_of(learner, X, y)))
    left = np.atleast_1d(error_rate(leave_one_out(learner, X, y, scores=False).table)) if left_out else none
    tested, k = none, 0
    if test is not None:
        test_signs = Labels.of(test[1], test[0].shape[0], space=space).signs
        tested, k = _errors(learner, test[0], test_signs), len(test_signs)
    dimension = X.shape[1] + (learner.bias is not None)
    return [
        ErrorBounds(
            label=label,
            n=n,
            margin=float(norms[i] ** -0.5) if norms[i] > 0 else float("inf"),
            R2=R2,
            rho=rho,
            loss=float(slacks[i]),
            stable=bool(stable[i]),
            training_error=float(training[i]),
            leave_one_out=float(left[i]),
            xi_alpha=float(at_risk[i]),
            support_vectors=support_vector_bound(int(supporting[i]), n),
            expected=soft_margin_bound(
                float(norms[i]), float(slacks[i]), n, C=float(learner.C), R2=R2, biased=rho == 2
            ),
            vc=vc_bound(float(training[i]), n, dimension, eta),
            test_error=float(tested[i]),
            hoeffding=hoeffding_bound(float(tested[i]), k, eta) if k else float("nan"),
        )
        for i, label in enumerate(space.column_names.tolist())
    ]


def _squared_norms(learner: Any, X: Any) -> Any:
    """w.w of every label, with the weight of a bias feature."""
    if hasattr(learner, "margin_"):
        return np.atleast_1d(learner.margin_).astype(np.float64) ** -2.0
    coef = learner.coef_
    squares = np.asarray((coef.multiply(coef) if is_sparse(coef) else np.square(coef)).sum(axis=1)).reshape(
        -1
    )
    if learner.bias is None or isinstance(learner.bias, str):
        return squares
    return squares + np.square(np.asarray(learner.intercept_) / float(learner.bias))


def _has_unbounded(learner: Any, n_labels: int) -> Any:
    """Whether every label's rule has a support vector below its bound C."""
    alpha = _dual_variables(learner, n_labels)
    rounding = 1e-9 * min(float(learner.C), 1.0)
    return ((alpha > rounding) & (alpha < learner.C - rounding)).any(axis=0)


def _dual_variables(learner: Any, n_labels: int) -> Any:
    alpha = learner.alpha_
    return alpha.toarray() if is_sparse(alpha) else np.asarray(alpha).reshape(-1, n_labels)


def _errors(learner: Any, X: Any, signs: Any) -> Any:
    scores = np.asarray(learner.decision_function(X)).reshape(len(signs), -1)
    return np.atleast_1d(error_rate(contingency(signs, np.where(scores > 0, 1, -1))))
