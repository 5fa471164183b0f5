"""Balanced Winnow of Dagan, Karov and Roth: a weight for and a weight against every feature."""

from __future__ import annotations

import widemargin._core as _core
from widemargin.learn.online.mistake_driven import Start
from widemargin.learn.online.multiplicative import Multiplicative


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

    def _start(self) -> Start:
        share = self._even_share()
        return Start(2 * share - share, 2 * share, share)

    def _filtering_range(self) -> tuple[float, float]:
        _, plus, minus = self._start()
        up = plus * self.promotion - minus * self.demotion
        return plus * self.demotion - minus * self.promotion, up
