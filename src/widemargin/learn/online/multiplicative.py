"""The base of positive and balanced Winnow: a mistake multiplies the weights of active features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from widemargin._parameters import ABOVE_1, BETWEEN_0_AND_1, parameter
from widemargin.learn.online.stream_rows import Documents
from widemargin.learn.online.threshold_range import ThresholdModel, check_strengths


@dataclass(eq=False, repr=False)
class Multiplicative(ThresholdModel):
    """Active weights are multiplied by `promotion` or `demotion`, independent of the feature's strength."""

    promotion: float = parameter(1.1, ABOVE_1)
    demotion: float = parameter(0.9, BETWEEN_0_AND_1)

    def _rates(self) -> tuple[float, float]:
        return float(self.promotion), float(self.demotion)

    def _check_documents(self, documents: Documents) -> None:
        check_strengths(self, documents)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # an update ignores the strength of a feature
        return tags
