"""What positive and balanced Winnow share: weights of active features are multiplied after a mistake."""

from __future__ import annotations

from typing import Any

from widemargin.errors import UsageError
from widemargin.learn.checked_documents import Documents
from widemargin.learn.mistake_driven import MistakeDriven
from widemargin.learn.threshold_range import ThresholdMixin, check_positive, check_strengths


class Multiplicative(ThresholdMixin, MistakeDriven):
    """Active weights are multiplied by `promotion` or `demotion`, whatever the strength of the feature."""

    promotion: float
    demotion: float

    def _rates(self) -> tuple[float, float]:
        return float(self.promotion), float(self.demotion)

    def _check_parameters(self) -> None:
        check_positive(self, "promotion", "demotion")
        if not self.promotion > 1:
            raise UsageError(f"promotion={self.promotion!r}: expected a number above 1, such as 1.1.")
        if not self.demotion < 1:
            raise UsageError(f"demotion={self.demotion!r}: expected a number between 0 and 1, such as 0.9.")
        super()._check_parameters()
        self._check_threshold()

    def _check_documents(self, documents: Documents) -> None:
        check_strengths(self, documents)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # active or not is all that an update sees of a feature
        return tags
