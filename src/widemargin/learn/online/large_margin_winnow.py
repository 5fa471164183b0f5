"""The large-margin versions of Winnow: LM-UWin and LM-NWin of Zhang."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from widemargin.learn.online.dual_updates import DualUpdates
from widemargin.learn.online.log_weights import LogWeights


@dataclass(eq=False, repr=False, kw_only=True)
class LargeMarginWinnow(LogWeights, DualUpdates):
    """Large-margin Winnow: minimizes the relative entropy to the prior, subject to margins.

    Minimizes ``sum_j w_j ln(w_j / (e mu)) + sum_i C_i xi_i`` with ``y_i w.x_i >= 1 - xi_i`` over positive
    weights of [x, -x], by updates of one dual variable at a time; [x, -x] is not stored.

    Parameters
    ----------
    C : cost of a margin error; ``numpy.inf`` for the hard margin, which allows none
    normalize : whether the weights of [x, -x] sum to `total_weight` (LM-NWin) or not (LM-UWin)
    eta : "newton" for Newton's step, halved until the dual does not decrease; or a fixed rate, such as
        Zhang's 0.01, which may overshoot
    start_weight : the prior mu: one number, or one per feature; the constant feature and features that come
        later have their mean. For a :class:`~widemargin.TextClassifier` also a dict of terms, others having
        0.01
    total_weight : the sum W, None for the sum of the prior
    balanced : whether weights may be negative; if not, x is used instead of [x, -x]
    bias : size of the constant feature, None for no bias
    class_weight : as in :class:`~widemargin.LinearSVM`
    tol : stop when the duality gap is at most this fraction of the objective (relative to the prior); None
        makes all passes, as in the paper
    max_iter : maximum number of passes of `fit`
    shuffle, random_state, n_jobs, verbose : as in :class:`~widemargin.Perceptron`

    Attributes
    ----------
    coef_, intercept_ : weights and intercepts
    alpha_ : dual variables of the documents of `fit`
    objective_, duality_gap_, n_iter_ : for each label, after `fit`
    smallest_margin_ : the smallest margin of a document, at most 1, for each label after `fit`. With the hard
        margin it is 1 at the solution; `duality_gap_` is then that of the program with this margin
    documents_seen_, documents_wrong_ : documents of `partial_fit`, and how many were predicted wrongly before

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1]
    >>> LargeMarginWinnow(C=10).fit(X, y).predict(X).tolist()
    [0, 0, 1]
    """

    max_iter: int = 200

    def _fresh_cells(self) -> dict[str, tuple[Any, type]]:
        return {"weights": (0.0 if self.balanced else self._starts(), float), "logs": (0.0, float)}

    def _fresh_columns(self) -> dict[str, tuple[float, type]]:
        return super()._fresh_columns() | {"shift": (0.0, float)}
