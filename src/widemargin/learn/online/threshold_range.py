"""The threshold theta, its range, the starting weights and the factors of Dagan, Karov and Roth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from widemargin._parameters import (
    ABOVE_1,
    BETWEEN_0_AND_1,
    FINITE,
    POSITIVE,
    SHARE,
    Expected,
    either,
    one_of,
    or_none,
    parameter,
)
from widemargin.errors import DataError, UsageError
from widemargin.learn.online.mistake_driven import MistakeDriven
from widemargin.learn.online.stream_rows import Documents

Link = Literal["all", "first-sight"]
FilteringRange = Literal["start"] | tuple[float, float]


def _pair(words: str) -> Expected:
    return Expected(
        words,
        lambda value: isinstance(value, tuple | list) and len(value) == 2 and all(map(FINITE.holds, value)),
    )


_AROUND_THRESHOLD = _pair("two numbers around the threshold, such as (0.9, 1.1) around 1")
_OF_WEIGHTS = _pair("two numbers of starting weights, such as (-0.5, 0.5)")


@dataclass(eq=False, repr=False, kw_only=True)
class ThresholdModel(MistakeDriven):
    """Base class of learners with a threshold; parameters as in :class:`~widemargin.PositiveWinnow`."""

    threshold: float = parameter(1.0, POSITIVE)
    threshold_range: tuple[float, float] | None = parameter(None, or_none(_AROUND_THRESHOLD))
    document_length: float | None = parameter(None, or_none(POSITIVE))
    discard_below: float | None = parameter(None, or_none(SHARE))
    filtering_range: FilteringRange = parameter("start", either(one_of("start"), _OF_WEIGHTS))
    link: Link = parameter("all", one_of("all", "first-sight"))

    _constant_names = ("document_length",)

    def _thresholds(self) -> tuple[float, float, float]:
        theta = float(self.threshold)
        if self.threshold_range is None:
            return theta, theta, theta
        low, high = self.threshold_range
        return float(low), theta, float(high)

    def _constants_from(self, documents: Documents) -> dict[str, float]:
        length = self.document_length
        if length is None:
            length = max(documents.n_nonzero / max(documents.csr.n_rows, 1), 1.0)
        return {"document_length": float(length)}

    @property
    def documents_to_begin(self) -> int:
        """How many documents the first `partial_fit` should get: enough to know how long documents are."""
        return 100 if self.document_length is None else 1

    def _within_one_step(self) -> tuple[float, float]:
        """The weights after one demotion and one promotion from the start."""
        raise NotImplementedError

    def _unit(self) -> float:
        """What `filtering_range` counts in: the starting weight."""
        return self._start().weight

    def _filtering_range(self) -> tuple[float, float]:
        if isinstance(self.filtering_range, str):
            return self._within_one_step()
        low, high = self.filtering_range
        return float(low) * self._unit(), float(high) * self._unit()

    def _even_share(self) -> float:
        """theta / d: a document of average length scores theta."""
        return float(self.threshold) / self._constants["document_length"]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.filtering_range, str) and self.filtering_range[0] > self.filtering_range[1]:
            raise UsageError(
                f"filtering_range={self.filtering_range!r}: expected the smaller number first, as in "
                f"(-0.5, 0.5)."
            )
        if self.threshold_range is not None:
            low, theta, high = ThresholdModel._thresholds(self)
            if not low <= theta <= high:
                raise UsageError(
                    f"threshold_range={self.threshold_range!r} does not contain the threshold {theta}: "
                    f"expected two numbers around it, such as (0.9, 1.1) around 1."
                )


def check_strengths(learner: Any, documents: Documents) -> None:
    """Raise an error for negative strengths, for which a promotion would lower the score."""
    if documents.least < 0:
        raise DataError(
            f"Negative values in data passed to {type(learner).__name__}: the strength of a feature must be "
            f"at least 0, since updates ignore its size. Use Winnow, or Perceptron(form='bias')."
        )


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
