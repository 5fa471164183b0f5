"""A rule of documents to leave undecided, chosen by a promised error on the others.

**The promise.** Documents are decided if their confidence is at least a threshold. Among held-out training
documents it is known which decisions are right, so the threshold is one of a promised precision "of being
right" (:func:`widemargin.decide.promises.precision_thresholds`): of 100 training samples, at most 5 lead to a
rule whose error on the decided documents exceeds what was promised. Label sets are right if all labels are.

**Unlike training.** A document without a known term is never decided. Neither is one that is farther from all
classes, or has a larger share of unknown terms, than 99 % of left-out training documents: a rank of one among
all, so at most 1 % of documents like those of training are lost to it (conformal prediction). These are
rejected in the choice of the threshold too.

The promise is about documents like those of training. None covers documents from elsewhere, of which the
second part only rejects what can be told apart.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataWarning, UsageError
from widemargin.monitor.observed import Observed
from widemargin.monitor.profile import LeftOutProfile

Reasons = NDArray[np.object_]

LOW, UNKNOWN, UNLIKE = "low confidence", "no known terms", "unlike training"
REASONS = (LOW, UNKNOWN, UNLIKE)
CONFIDENCE = 0.95
# The share of documents like those of training that may be called unlike them.
_LOST = 0.01
_EXPECTED = 'expected an error such as 0.05, or "confidence:0.8"'


@dataclass(frozen=True)
class Asked:
    """What was asked for: the promised share of errors, or the least probability of a decision."""

    error: float | None = None
    probability: float | None = None

    @classmethod
    def read(cls, value: Any) -> Self:
        """A number, or a string of one, or "confidence:P".

        Examples
        --------
        >>> Asked.read(0.05), Asked.read("confidence:0.8").probability
        (Asked(error=0.05, probability=None), 0.8)
        """
        if isinstance(value, Asked):
            return cls(value.error, value.probability)
        name, found, number = str(value).rpartition(":")
        try:
            share = float(number)
        except ValueError:
            share = -1.0
        if isinstance(value, bool) or name not in ("", "confidence") or (found and not name):
            share = -1.0
        if not 0 < share < 1:
            raise UsageError(f"abstain={value!r}: {_EXPECTED}.")
        return cls(probability=share) if name else cls(error=share)

    def __str__(self) -> str:
        return f"{self.error:g}" if self.error is not None else f"confidence:{self.probability:g}"


@dataclass(frozen=True)
class Rejection:
    """Which documents are not decided.

    Attributes
    ----------
    asked : what was asked for
    least_confidence : documents below are rejected; infinite if the error cannot be promised
    least_nearness, most_unknown : limits beyond which documents are unlike those of training
    kept : the share of left-out training documents that are decided; None if that is not known
    error : the share of errors among these
    documents : how many left-out documents the rule was chosen on
    """

    asked: Asked
    least_confidence: float
    least_nearness: float
    most_unknown: float
    kept: float | None = None
    error: float | None = None
    documents: int = 0

    @classmethod
    def of(cls, asked: Any, profile: LeftOutProfile | None, name: str = "This model") -> Self:
        """The rule that keeps the promise, from the profile of a model.

        Raises
        ------
        UsageError
            The model does not know scores of left-out documents.
        """
        asked = Asked.read(asked)
        if asked.error is None:
            limits = (-np.inf, np.inf) if profile is None else _limits(profile.sample)
            return cls(asked, float(asked.probability or 0.0), *limits)
        if profile is None or profile.right is None or profile.sample.confidence is None:
            raise UsageError(
                f"{name} has no scores of documents that were left out of training, by which an error could "
                f"be promised. Train with an estimate (--estimate auto, leave-one-out or k-fold)."
            )
        from widemargin.decide.promises import precision_thresholds

        sample, right, limits = profile.sample, profile.right, _limits(profile.sample)
        unlike = cls(asked, -np.inf, *limits).rejected(sample).astype(bool)
        confidence = np.where(unlike, -np.inf, profile.sample.confidence).astype(np.float64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            target = 1 - asked.error / _growth(right, profile.optimism)
            (threshold,) = precision_thresholds(confidence, np.where(right, 1, -1), target, CONFIDENCE)
        kept = confidence > threshold
        if not kept.any():
            warnings.warn(
                f"An error of at most {asked.error:g} cannot be promised with {CONFIDENCE:.0%} confidence "
                f"from {len(right):,} left-out documents: all are left undecided. Allow a larger error, or "
                f"label more documents.",
                DataWarning,
                stacklevel=3,
            )
        error = float((~right[kept]).mean()) if kept.any() else None
        least = float(np.nextafter(threshold, np.inf))
        return cls(asked, least, *limits, float(kept.mean()), error, len(right))

    def rejected(self, seen: Observed, probability: NDArray[np.float64] | None = None) -> Reasons:
        """Why each document is rejected; None for those that are decided.

        Parameters
        ----------
        probability : that decisions are right, where a least one was asked for
        """
        found: Reasons = np.full(seen.documents, None, dtype=object)
        confidence = seen.confidence
        if self.asked.probability is not None:
            if probability is None:
                raise UsageError("A least confidence needs probabilities. Train with a calibration.")
            confidence = probability
        if confidence is not None:
            found[confidence < self.least_confidence] = LOW
        if seen.nearness is not None:
            found[seen.nearness < self.least_nearness] = UNLIKE
        if seen.unknown is not None:
            found[seen.unknown > self.most_unknown] = UNLIKE
        if seen.no_terms is not None:
            found[seen.no_terms] = UNKNOWN
        return found

    def to_dict(self) -> dict[str, Any]:
        """Values for JSON."""
        return {
            "asked": str(self.asked),
            "least_confidence": self.least_confidence,
            "promised_error": self.asked.error,
            "with_confidence": CONFIDENCE if self.asked.error is not None else None,
            "expected_kept": self.kept,
            "expected_error": self.error,
        }


def _limits(sample: Observed) -> tuple[float, float]:
    """The least nearness and the largest share of unknown terms of documents like those of training."""
    known = [part is not None for part in (sample.nearness, sample.unknown)]
    lost = _LOST / max(sum(known), 1)
    near, unknown = -np.inf, np.inf
    place = int(
        lost * (sample.documents + 1)
    )  # the rank of a new document is at most this with probability `lost`
    if place and sample.nearness is not None:
        near = float(np.sort(sample.nearness)[place - 1])
    if place and sample.unknown is not None:
        unknown = float(np.sort(sample.unknown)[-place])
    return near, unknown


def _growth(right: NDArray[np.bool_], optimism: float) -> float:
    """By how much errors grow since the model was chosen on the same documents."""
    missed = 1 - float(right.mean())
    return 1.0 if missed <= 0 or optimism <= 0 else (missed + optimism) / missed
