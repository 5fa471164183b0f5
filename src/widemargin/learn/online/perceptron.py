"""The Perceptron, in the form of Zhang and in that of Dagan, Karov and Roth."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import widemargin._core as _core
from widemargin._parameters import POSITIVE, SIZE_OF_BIAS, one_of, parameter
from widemargin.errors import UsageError
from widemargin.learn.online.mistake_driven import Start
from widemargin.learn.online.stream_rows import Documents
from widemargin.learn.online.threshold_range import ThresholdModel, check_strengths


@dataclass(eq=False, repr=False)
class Perceptron(ThresholdModel):
    """Perceptron: adds false negatives to the weights and subtracts false positives.

    Parameters
    ----------
    form : "bias" (Zhang): a mistake adds ``eta * x * y``; weights start at 0, the threshold is 0, and there
        is a constant feature. "threshold" (Dagan et al.): a mistake adds or subtracts `eta` for every active
        feature; weights start at ``threshold / d``, and the threshold is fixed
    eta : learning rate
    bias : size of the constant feature (form="bias"), None for no bias
    threshold : scores above it are positive (form="threshold")
    threshold_range : (low, high) around the threshold; scores within it count as mistakes in training
    document_length : d, the average number of active features per document; None uses the documents of `fit`
        or of the first batch of `partial_fit`. Pass it if results must not depend on the batches
    discard_below : discard features whose weight is in the filtering range, once a pass makes mistakes on
        less than this share of the documents; None keeps all
    filtering_range : "start": weights within one step of their start. (low, high): weights between these
        multiples of the starting weight, (-0.5, 0.5) being near zero; with form="bias", where weights start
        at 0, multiples of `eta`
    link : "first-sight" uses only the features of a label's positive documents, as SNoW does
    average : "averaged" averages the weights over all documents, "voted" lets all weight vectors vote, None
        uses the last one
    max_iter : maximum number of passes of `fit`; a label stops after a pass without mistakes
    shuffle : whether `fit` visits documents in random order
    random_state, n_jobs, verbose : as in :class:`~widemargin.LinearSVM`

    Attributes
    ----------
    coef_, intercept_ : weights and intercepts; not available for average="voted"
    mistakes_, n_iter_ : mistakes in training and number of passes, for each label
    documents_seen_, documents_wrong_ : documents of `partial_fit`, and how many were predicted wrongly before

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1]]), ["ham", "ham", "spam"]
    >>> Perceptron().fit(X, y).predict(X).tolist()
    ['ham', 'ham', 'spam']
    """

    _kind = _core.MistakeRule.additive

    form: Literal["bias", "threshold"] = parameter("bias", one_of("bias", "threshold"))
    _: KW_ONLY
    eta: float = parameter(0.01, POSITIVE)
    bias: float | None = parameter(1.0, SIZE_OF_BIAS)

    @property
    def _by_strength(self) -> bool:  # type: ignore[override]
        return self.form == "bias"

    @property
    def _bias_size(self) -> float:
        return super()._bias_size if self.form == "bias" else 0.0

    def _rates(self) -> tuple[float, float]:
        return float(self.eta), float(self.eta)

    @property
    def _checks_values(self) -> bool:  # type: ignore[override]
        return self.form == "threshold"

    @property
    def _constant_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return () if self.form == "bias" else super()._constant_names

    def _constants_from(self, documents: Documents) -> dict[str, float]:
        return {} if self.form == "bias" else super()._constants_from(documents)

    def _start(self) -> Start:
        return Start(0.0 if self.form == "bias" else self._even_share())

    def _within_one_step(self) -> tuple[float, float]:
        start = self._start().weight
        return start - self.eta, start + self.eta

    def _unit(self) -> float:
        return float(self.eta) if self.form == "bias" else super()._unit()

    def _thresholds(self) -> tuple[float, float, float]:
        return (0.0, 0.0, 0.0) if self.form == "bias" else super()._thresholds()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.form == "bias" and (self.link != "all" or self.threshold_range is not None):
            raise UsageError('threshold_range and link apply only to form="threshold".')

    def _check_documents(self, documents: Documents) -> None:
        if self.form == "threshold":
            check_strengths(self, documents)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.form == "threshold":
            tags.input_tags.positive_only = True
            tags.classifier_tags.poor_score = True  # an update ignores the strength of a feature
        return tags
