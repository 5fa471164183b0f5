"""Winnow in log form, normalized or not (Zhang)."""

from __future__ import annotations

from dataclasses import dataclass

import widemargin._core as _core
from widemargin._parameters import POSITIVE, SIZE_OF_BIAS, parameter
from widemargin.learn.online.log_weights import LogWeights
from widemargin.learn.online.mistake_driven import MistakeDriven, Start


@dataclass(eq=False, repr=False, kw_only=True)
class Winnow(LogWeights, MistakeDriven):
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
    _checks_values = False

    eta: float = parameter(0.01, POSITIVE)
    bias: float | None = parameter(1.0, SIZE_OF_BIAS)

    def _rates(self) -> tuple[float, float]:
        return float(self.eta), float(self.eta)

    def _start(self) -> Start:
        return Start(0.0 if self.balanced else float(self.start_weight))
