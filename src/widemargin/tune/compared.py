"""The rows of a comparison: what was found out about each learner, and which of them are worse."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from widemargin.labels import LabelSpace
from widemargin.measure import compare_decisions, mcnemar
from widemargin.measure.intervals import Figure

Signs = NDArray[np.int8]
Status = Literal["measured", "failed", "not reached", "left out"]
LEVEL = 0.05  # of significance
# Randomly swapped decisions per pair, and at least so many that Holm's correction can find a difference.
_SAMPLES, _SAMPLES_PER_PAIR = 9999, 40


@dataclass(eq=False)
class ComparedLearner:
    """A learner in a comparison.

    Attributes
    ----------
    learner : its name
    status : "measured"; "failed" with an error; "not reached" within the budget; "left out", because it does
        not apply or would take too long
    why : the reason for any other status than "measured"
    setting : the chosen parameters
    candidates : every setting that was tried, with the figure that it was chosen by
    accuracy, micro_prbep, micro_f1, macro_f1, auc : figures with intervals; `micro_prbep` only for label
        sets, `auc` (of label sets, the mean over labels) not for several exclusive classes
    best : whether its micro-averaged F1 (accuracy, where every document has one label) is the highest
    p_value : of the difference from the best one, corrected for all pairs
    significantly_worse : whether that is at most 0.05
    vectorize_seconds, learn_seconds : training of the chosen setting on all training documents
    documents_per_second : prediction from texts (or vectors) to scores
    memory : bytes by which the resident memory of the process grew at most while it learned; None where the
        system does not tell
    model_bytes : size of its model file; of other estimators, their pickled size
    warnings : what was reported while it learned from all training documents
    """

    learner: str
    status: Status = "measured"
    why: str | None = None
    setting: dict[str, Any] = field(default_factory=dict)
    candidates: list[dict[str, Any]] = field(default_factory=list)
    accuracy: Figure | None = None
    micro_prbep: Figure | None = None
    micro_f1: Figure | None = None
    macro_f1: Figure | None = None
    auc: Figure | None = None
    best: bool = False
    p_value: float | None = None
    significantly_worse: bool | None = None
    vectorize_seconds: float | None = None
    learn_seconds: float | None = None
    documents_per_second: float | None = None
    memory: int | None = None
    model_bytes: int | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def train_seconds(self) -> float | None:
        """Seconds from texts to a model."""
        if self.vectorize_seconds is None or self.learn_seconds is None:
            return None
        return self.vectorize_seconds + self.learn_seconds

    @property
    def value(self) -> float:
        """The figure that rows are compared by; learners that were not measured come last."""
        return -1.0 if self.micro_f1 is None else self.micro_f1.value

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        found |= {"train_seconds": self.train_seconds}
        return {
            name: value.to_dict() if isinstance(value, Figure) else value for name, value in found.items()
        }


def mark_differences(
    rows: list[ComparedLearner], decisions: dict[str, Signs], truth: Signs, space: LabelSpace
) -> None:
    """Find the best learner, and those that are significantly worse.

    One label per document: McNemar's test. Label sets: randomization test of micro-averaged F1. Both with
    Holm's correction for all pairs, since the best is chosen on the same documents.

    Parameters
    ----------
    decisions : of the learners that were measured, signs (n, columns) by name
    truth : signs (n, columns)
    """
    measured_rows = [row for row in rows if row.status == "measured"]
    if not measured_rows:
        return
    best = max(measured_rows, key=lambda row: row.value)
    best.best, best.significantly_worse = True, False
    if len(measured_rows) < 2:
        return
    if space.kind == "multilabel":
        pairs = len(measured_rows) * (len(measured_rows) - 1) // 2
        found = compare_decisions(truth, decisions, samples=max(_SAMPLES, _SAMPLES_PER_PAIR * pairs))
    else:
        right = {name: (chosen == truth).all(axis=1) for name, chosen in decisions.items()}
        found = compare_decisions(
            np.ones(len(truth), dtype=bool), right, test=lambda _, first, second: mcnemar(first, second)
        )
    worse = found.worse_than(best.learner, LEVEL)
    corrected = {
        pair.second if pair.first == best.learner else pair.first: pair.corrected
        for pair in found.pairs
        if best.learner in (pair.first, pair.second)
    }
    for row in measured_rows:
        if row is not best:
            row.p_value, row.significantly_worse = corrected[row.learner], row.learner in worse
