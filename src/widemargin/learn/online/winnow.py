"""Winnow in log form, normalized or not (Zhang)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import widemargin._core as _core
from widemargin._parameters import POSITIVE, SIZE_OF_BIAS, parameter
from widemargin.errors import UsageError
from widemargin.learn.online.log_weights import LogWeights, given_weights
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
    start_weight : initial value mu of the weights: one number, or one per feature; the constant feature and
        features that come later have their mean. For a :class:`~widemargin.TextClassifier` also a dict of
        terms, others having 0.01
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

    @property
    def _filled_by_core(self) -> frozenset[str]:  # type: ignore[override]
        """The core fills arrays with one value only."""
        return frozenset() if self._starts_differ else super()._filled_by_core

    @property
    def _starts_differ(self) -> bool:
        return not self.balanced and given_weights(self.start_weight) is not None

    def _fresh_cells(self) -> dict[str, tuple[Any, type]]:
        cells = super()._fresh_cells()
        return cells | {"weights": (self._starts(), float)} if self._starts_differ else cells

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._starts_differ and self.average == "voted":
            raise UsageError('average="voted" with balanced=False requires the same start_weight for all.')

    def _start(self) -> Start:
        return Start(0.0 if self.balanced else self._mean_start)
