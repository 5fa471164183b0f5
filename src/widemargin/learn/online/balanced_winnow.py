"""Balanced Winnow of Dagan, Karov and Roth: a weight for and a weight against every feature."""

from __future__ import annotations

from typing import Any

import widemargin._core as _core
from widemargin.learn.online.mistake_driven import Average, Start
from widemargin.learn.online.multiplicative import Multiplicative
from widemargin.learn.online.threshold_range import Link


class BalancedWinnow(Multiplicative):
    """Winnow with a positive and a negative weight per feature, whose difference is the weight.

    They start with ``2 threshold / d`` and ``threshold / d``. Only weights of active features are updated.

    Parameters
    ----------
    promotion, demotion : a false negative multiplies the positive weights by `promotion` and the negative
        ones by `demotion`; a false positive the other way round
    threshold, threshold_range, document_length, discard_below, link, average, max_iter, shuffle,
    random_state, n_jobs, verbose : as in :class:`~widemargin.PositiveWinnow`

    Attributes
    ----------
    coef_, intercept_, mistakes_, n_iter_, n_discarded_, documents_seen_, documents_wrong_ :
        as in :class:`~widemargin.Perceptron`

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1]
    >>> BalancedWinnow(promotion=1.5, demotion=0.5).fit(X, y).predict(X).tolist()
    [0, 0, 1]
    """

    _kind = _core.MistakeRule.balanced_winnow

    def __init__(
        self,
        promotion: float = 1.1,
        demotion: float = 0.9,
        *,
        threshold: float = 1.0,
        threshold_range: tuple[float, float] | None = None,
        document_length: float | None = None,
        discard_below: float | None = None,
        link: Link = "all",
        average: Average = None,
        max_iter: int = 50,
        shuffle: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.promotion = promotion
        self.demotion = demotion
        self.threshold = threshold
        self.threshold_range = threshold_range
        self.document_length = document_length
        self.discard_below = discard_below
        self.link = link
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _start(self) -> Start:
        share = self._even_share()
        return Start(2 * share - share, 2 * share, share)

    def _filtering_range(self) -> tuple[float, float]:
        _, plus, minus = self._start()
        up = plus * self.promotion - minus * self.demotion
        return plus * self.demotion - minus * self.promotion, up
