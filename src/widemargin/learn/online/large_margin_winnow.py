"""The large-margin versions of Winnow: LM-UWin and LM-NWin of Zhang."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from widemargin._parameters import POSITIVE, check_parameters, or_none
from widemargin.learn.online.dual_updates import DualUpdates, Eta
from widemargin.learn.online.online_model import Floats, LogForm
from widemargin.learn.online.stream_rows import Documents
from widemargin.learn.online.winnow import starting_sum


class LargeMarginWinnow(DualUpdates):
    """Large-margin Winnow: minimizes the relative entropy to the prior, subject to margins.

    Minimizes ``sum_j w_j ln(w_j / (e mu)) + sum_i C_i xi_i`` with ``y_i w.x_i >= 1 - xi_i`` over positive
    weights of [x, -x], by updates of one dual variable at a time; [x, -x] is not stored.

    Parameters
    ----------
    C : cost of a margin error
    normalize : whether the weights of [x, -x] sum to `total_weight` (LM-NWin) or not (LM-UWin)
    eta : "newton" for Newton's step, halved until the dual does not decrease; or a fixed rate, such as
        Zhang's 0.01, which may overshoot
    start_weight : the prior mu, the same for every feature
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
    documents_seen_, documents_wrong_ : documents of `partial_fit`, and how many were predicted wrongly before

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1]
    >>> LargeMarginWinnow(C=10).fit(X, y).predict(X).tolist()
    [0, 0, 1]
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        normalize: bool = False,
        eta: Eta = "newton",
        start_weight: float = 0.01,
        total_weight: float | None = None,
        balanced: bool = True,
        bias: float | None = 1.0,
        class_weight: Any = None,
        tol: float | None = None,
        max_iter: int = 200,
        shuffle: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.normalize = normalize
        self.eta = eta
        self.start_weight = start_weight
        self.total_weight = total_weight
        self.balanced = balanced
        self.bias = bias
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _constant_names = ("start_sum",)

    @property
    def _form(self) -> LogForm:  # type: ignore[override]
        total = self._constants["start_sum"] if self.total_weight is None else float(self.total_weight)
        return LogForm(float(self.start_weight), bool(self.balanced), bool(self.normalize), total)

    def _constants_from(self, documents: Documents) -> dict[str, float]:
        return {"start_sum": starting_sum(self, documents.csr.n_columns)}

    def _fresh_cells(self) -> dict[str, tuple[float, type]]:
        return {"weights": (0.0 if self.balanced else float(self.start_weight), float), "logs": (0.0, float)}

    def _fresh_columns(self) -> dict[str, tuple[float, type]]:
        start = (self._constants["start_sum"], float)
        return {"normalizer": start, "peak": start, "shift": (0.0, float)}

    def _scale(self) -> Floats | None:
        if not self.normalize:
            return None
        scale: Floats = self._form.total / self._columns["normalizer"]
        return scale

    def grow(self, n_features: int) -> Self:
        check_is_fitted(self, "label_space_")
        more = starting_sum(self, n_features) - starting_sum(self, self.n_features_in_)
        super().grow(n_features)
        self._constants["start_sum"] += more
        for name in ("normalizer", "peak"):
            self._columns[name] += more * np.exp(-self._columns["shift"])
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_parameters(self, start_weight=POSITIVE, total_weight=or_none(POSITIVE))
