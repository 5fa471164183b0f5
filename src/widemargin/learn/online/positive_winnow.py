"""Littlestone's Winnow with positive weights, as Dagan, Karov and Roth use it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

import widemargin._core as _core
from widemargin._arrays import Csr, checked_csr, times
from widemargin._one_fit import require_not_fitting
from widemargin._parameters import one_of, parameter, require_finite
from widemargin._threads import thread_count
from widemargin.errors import UsageError
from widemargin.learn.online.mistake_driven import DISCARDED, Start
from widemargin.learn.online.online_model import Floats
from widemargin.learn.online.threshold_range import Multiplicative


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
    normalize_by : "all" counts every feature in that sum, "kept" for every label only those that it has not
        discarded
    document_length : d, the average number of active features per document; None uses the documents of `fit`
        or of the first batch of `partial_fit`. Pass it if results must not depend on the batches
    discard_below : discard features whose weight is in the filtering range, once a pass makes mistakes on
        less than this share of the documents; None keeps all. With `normalize`, discarded weights are reset
        to their start, which is neutral in an average, and are no longer updated; with normalize_by="kept"
        they leave the average, and the rule is not linear: there is no `coef_`
    filtering_range : "start": weights within one promotion or demotion of their start. (low, high): weights
        between these multiples of the starting weight, (0, 0.5) being near zero
    link, average, max_iter, shuffle, random_state, n_jobs, verbose : as in :class:`~widemargin.Perceptron`

    Attributes
    ----------
    coef_, intercept_, mistakes_, n_iter_, n_discarded_, documents_seen_, documents_wrong_ :
        as in :class:`~widemargin.Perceptron`

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]]), [1, 1, 0, 0]
    >>> PositiveWinnow(promotion=2, demotion=0.5, normalize=False).fit(X, y).predict(X).tolist()
    [1, 1, 0, 0]
    """

    _kind = _core.MistakeRule.positive_winnow

    _: KW_ONLY
    normalize: bool = True
    normalize_by: Literal["all", "kept"] = parameter("all", one_of("all", "kept"))

    @property
    def _divides_documents(self) -> bool:  # type: ignore[override]
        return bool(self.normalize)

    @property
    def _sums_of_kept(self) -> bool:  # type: ignore[override]
        return bool(self.normalize) and self.normalize_by == "kept" and self.discard_below is not None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.normalize_by == "kept" and not self.normalize:
            raise UsageError('normalize_by="kept" requires normalize=True.')
        if self._sums_of_kept and self.average is not None:
            raise UsageError(f'average={self.average!r} does not apply to normalize_by="kept". Omit one.')

    @property
    def coef_(self) -> Any:
        """Weights, labels x features; there are none where every label divides documents in its own way."""
        if self._sums_of_kept:
            raise AttributeError('there are no weights with normalize_by="kept"')
        return super().coef_

    def decision_function(self, X: Any) -> Floats:
        """Scores of the documents: (n,) for a binary task, otherwise (n, labels)."""
        if not self._sums_of_kept:
            return super().decision_function(X)
        check_is_fitted(self, "label_space_")
        require_not_fitting(self)
        csr = self._as_learned(checked_csr(self, X, first=False))
        weights, intercepts = self._finished()
        scores = times(csr, weights, thread_count(self.n_jobs)) / self._sums(csr) + intercepts
        require_finite(self, csr, scores=scores)
        result: Floats = scores[:, 0] if self.label_space_.kind == "binary" else scores
        return result

    def _sums(self, csr: Csr) -> Floats:
        """The sums of the features that each label keeps, 1 where there are none: (n, labels)."""
        kept = np.ascontiguousarray((self._cells["links"] != DISCARDED).T, dtype=np.float64)
        sums = times(csr, kept, thread_count(self.n_jobs))
        return np.where(sums > 0, sums, 1.0)

    def _start(self) -> Start:
        return Start(float(self.threshold) if self.normalize else self._even_share())

    def _within_one_step(self) -> tuple[float, float]:
        start = self._start().weight
        return start * self.demotion, start * self.promotion
