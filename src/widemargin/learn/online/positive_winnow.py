"""Littlestone's Winnow with positive weights, as Dagan, Karov and Roth use it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import widemargin._core as _core
from widemargin.learn.online.mistake_driven import Start
from widemargin.learn.online.multiplicative import Multiplicative


@dataclass(eq=False, repr=False)
class PositiveWinnow(Multiplicative):
    """Littlestone's Winnow: positive weights, multiplied after a mistake.

    Parameters
    ----------
    promotion, demotion : factors on active weights after a false negative (above 1) and after a false
        positive (below 1)
    threshold : scores above it are positive
    threshold_range : (low, high) around the threshold; scores within it count as mistakes in training
    normalize : divide every document by the sum of its strengths; weights then start at `threshold` instead
        of ``threshold / d``
    document_length : d, the average number of active features per document; None uses the documents of `fit`
        or of the first batch of `partial_fit`. Pass it if results must not depend on the batches
    discard_below : discard features whose weight is within one promotion or demotion of its start, once a
        pass makes mistakes on less than this share of the documents; None keeps all. With `normalize`,
        discarded weights are reset to their start, which is neutral in an average, and are no longer updated.
    link, average, max_iter, shuffle, random_state, n_jobs, verbose : as in :class:`~widemargin.Perceptron`

    Attributes
    ----------
    coef_, intercept_, mistakes_, n_iter_, n_discarded_, documents_seen_, documents_wrong_ :
        as in :class:`~widemargin.Perceptron`

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]]), [1, 1, 0, 0]
    >>> PositiveWinnow(promotion=2, demotion=0.5).fit(X, y).predict(X).tolist()
    [1, 1, 0, 0]
    """

    _kind = _core.MistakeRule.positive_winnow

    _: KW_ONLY
    normalize: bool = False

    @property
    def _divides_documents(self) -> bool:  # type: ignore[override]
        return bool(self.normalize)

    def _start(self) -> Start:
        return Start(float(self.threshold) if self.normalize else self._even_share())

    def _filtering_range(self) -> tuple[float, float]:
        start = self._start().weight
        return start * self.demotion, start * self.promotion
