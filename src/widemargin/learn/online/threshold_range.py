"""The threshold theta, its range, and the starting weights of Dagan, Karov and Roth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from widemargin._parameters import FINITE, POSITIVE, SHARE, Expected, one_of, or_none, parameter
from widemargin.errors import DataError, UsageError
from widemargin.learn.online.mistake_driven import MistakeDriven
from widemargin.learn.online.stream_rows import Documents

Link = Literal["all", "first-sight"]


_PAIR = Expected(
    "two numbers around the threshold, such as (0.9, 1.1) around 1",
    lambda value: isinstance(value, tuple | list) and len(value) == 2 and all(map(FINITE.holds, value)),
)


@dataclass(eq=False, repr=False, kw_only=True)
class ThresholdModel(MistakeDriven):
    """Base class of learners with a threshold; parameters as in :class:`~widemargin.PositiveWinnow`."""

    threshold: float = parameter(1.0, POSITIVE)
    threshold_range: tuple[float, float] | None = parameter(None, or_none(_PAIR))
    document_length: float | None = parameter(None, or_none(POSITIVE))
    discard_below: float | None = parameter(None, or_none(SHARE))
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

    def _even_share(self) -> float:
        """theta / d: a document of average length scores theta."""
        return float(self.threshold) / self._constants["document_length"]

    def _check_parameters(self) -> None:
        super()._check_parameters()
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
