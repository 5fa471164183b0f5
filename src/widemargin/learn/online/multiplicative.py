"""The base of positive and balanced Winnow: a mistake multiplies the weights of active features."""

from __future__ import annotations

from typing import Any

from widemargin._parameters import ABOVE_1, BETWEEN_0_AND_1, check_parameters
from widemargin.learn.online.mistake_driven import MistakeDriven
from widemargin.learn.online.stream_rows import Documents
from widemargin.learn.online.threshold_range import ThresholdMixin, check_strengths


class Multiplicative(ThresholdMixin, MistakeDriven):
    """Active weights are multiplied by `promotion` or `demotion`, independent of the feature's strength."""

    promotion: float
    demotion: float

    def _rates(self) -> tuple[float, float]:
        return float(self.promotion), float(self.demotion)

    def _check_parameters(self) -> None:
        check_parameters(self, promotion=ABOVE_1, demotion=BETWEEN_0_AND_1)
        super()._check_parameters()
        self._check_threshold()

    def _check_documents(self, documents: Documents) -> None:
        check_strengths(self, documents)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # an update ignores the strength of a feature
        return tags
