"""Winnow in log form, normalized or not (Zhang)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import widemargin._core as _core
from widemargin._parameters import POSITIVE, check_parameters, or_none
from widemargin.learn.online.mistake_driven import Average, MistakeDriven, Start
from widemargin.learn.online.online_model import Floats, LogForm
from widemargin.learn.online.stream_rows import Documents


class Winnow(MistakeDriven):
    """Zhang's Winnow: weights ``mu exp(v)`` where every mistake adds ``eta * x * y`` to v.

    Balanced by the embedding [x, -x], which is not stored: the weights are ``2 mu sinh(v)``, mu being
    `start_weight`. The threshold is 0, with a constant feature, so that both values of `normalize` make the
    same mistakes.

    Parameters
    ----------
    normalize : scale the weights so that those of [x, -x] sum to `total_weight`
    eta : learning rate
    start_weight : initial value mu of every weight
    total_weight : the sum W, None for the sum of the initial weights
    balanced : whether weights may be negative; if not, they are ``mu exp(v)``
    bias : size of the constant feature, None for no bias
    average, max_iter, shuffle, random_state, n_jobs, verbose : as in :class:`~widemargin.Perceptron`

    Attributes
    ----------
    coef_, intercept_, mistakes_, n_iter_, documents_seen_, documents_wrong_ :
        as in :class:`~widemargin.Perceptron`

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1]
    >>> Winnow(eta=0.5).fit(X, y).predict(X).tolist()
    [0, 0, 1]
    """

    _kind = _core.MistakeRule.log_winnow
    _surveys_values = False

    def __init__(
        self,
        *,
        normalize: bool = False,
        eta: float = 0.01,
        start_weight: float = 0.01,
        total_weight: float | None = None,
        balanced: bool = True,
        bias: float | None = 1.0,
        average: Average = None,
        max_iter: int = 50,
        shuffle: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.normalize = normalize
        self.eta = eta
        self.start_weight = start_weight
        self.total_weight = total_weight
        self.balanced = balanced
        self.bias = bias
        self.average = average
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

    def _rates(self) -> tuple[float, float]:
        return float(self.eta), float(self.eta)

    def _constants_from(self, documents: Documents) -> dict[str, float]:
        return {"start_sum": starting_sum(self, documents.csr.n_columns)}

    def _start(self) -> Start:
        return Start(0.0 if self.balanced else float(self.start_weight))

    def _fresh_columns(self) -> dict[str, tuple[float, type]]:
        start = (self._constants["start_sum"], float)
        return super()._fresh_columns() | {"normalizer": start, "peak": start}

    def _scale(self) -> Floats | None:
        if not self.normalize:
            return None
        scale: Floats = self._form.total / self._columns["normalizer"]
        return scale

    def grow(self, n_features: int) -> Winnow:
        check_is_fitted(self, "label_space_")
        more = starting_sum(self, n_features) - starting_sum(self, self.n_features_in_)
        super().grow(n_features)
        self._constants["start_sum"] += more
        self._columns["normalizer"] += more
        self._columns["peak"] += more
        return self

    def _check_parameters(self) -> None:
        check_parameters(self, eta=POSITIVE, start_weight=POSITIVE, total_weight=or_none(POSITIVE))
        super()._check_parameters()


def starting_sum(learner: Any, n_features: int) -> float:
    """The sum of all starting weights: of the features (twice if balanced) and of the constant feature."""
    rows = n_features + (learner.bias is not None)
    return float(np.sum(learner.start_weight) * rows * (2 if learner.balanced else 1))
