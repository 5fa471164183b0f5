"""All measures of scores on labeled examples, per label and on average."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError
from widemargin.labels import LabelSpace
from widemargin.measure.break_even import micro_prbep, prbep
from widemargin.measure.contingency import (
    confusion,
    contingency,
    f_measure,
    hamming_loss,
    macro,
    micro,
    precision,
    recall,
)
from widemargin.measure.rankings.roc import MOST_SCORES, roc_auc

# A larger confusion matrix is hard to read and may not fit in memory.
MOST_CONFUSED_CLASSES = 500


@dataclass(frozen=True)
class Scores:
    """Precision, recall, F1, the precision/recall break-even point, and the area under the ROC curve."""

    precision: float
    recall: float
    f1: float
    prbep: float
    auc: float


@dataclass(frozen=True)
class LabelRow(Scores):
    """The measures of one label; `support` examples have it, `predicted` are predicted to have it."""

    label: Any
    support: int
    predicted: int


@dataclass(frozen=True)
class Summary:
    """The result of :func:`summarize`.

    Attributes
    ----------
    kind : "binary", "multiclass" or "multilabel"
    n : number of examples
    rows : one per label, in the order of the classes; both classes of a binary task
    accuracy : share of examples whose label (multi-label: whole label set) is right
    hamming_loss : mean number of wrong labels per example, multi-label only
    micro, macro : averages over the labels; the micro-averages of PRBEP and AUC rank all pairs of a document
        and a label by their scores
    confusion : [i][j], how often class i was predicted as class j; None for multi-label tasks and for
        more than 500 classes
    notes : remarks on the figures
    """

    kind: str
    n: int
    rows: list[LabelRow]
    accuracy: float
    hamming_loss: float | None
    micro: Scores
    macro: Scores
    confusion: list[list[int]] | None = None
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; undefined measures are None."""
        plain: dict[str, Any] = _without_nan(asdict(self))
        return plain


def summarize(
    space: LabelSpace, truth: NDArray[Any], scores: NDArray[Any], predicted: NDArray[Any] | None = None
) -> Summary:
    """Measure scores against the truth, label by label and on average.

    Parameters
    ----------
    space : the labels
    truth : signs (n, columns), such as ``space.encode(y)``; a multi-class row without a positive column has
        an unknown label and counts as an error
    scores : array (n,) or (n, columns)
    predicted : signs (n, columns) of the decisions; by default the largest score, or the sign of the score

    Examples
    --------
    >>> from widemargin.labels import Labels
    >>> space, truth = Labels.of(["ham", "spam", "ham", "ham"]).space_and_signs
    >>> summary = summarize(space, truth, np.array([-1.0, 2.0, 0.5, -3.0]))
    >>> summary.accuracy, [(row.label, row.precision, row.recall) for row in summary.rows]
    (0.75, [('ham', 1.0, 0.6666666666666666), ('spam', 0.5, 1.0)])
    """
    n = len(truth)
    if n == 0:
        raise UsageError("There are no examples to measure on.")
    truth = np.asarray(truth).reshape(n, -1)
    scores = np.asarray(scores).reshape(n, -1)
    if truth.shape != scores.shape or truth.shape[1] != space.n_columns:
        raise UsageError(
            f"The truth has shape {truth.shape} and the scores {scores.shape}; "
            f"expected {space.n_columns} columns."
        )
    chosen = space.choose(scores) if predicted is None else np.asarray(predicted).reshape(n, -1)
    if space.kind == "binary":
        # The negative class is a label too.
        truth, scores, chosen = (np.hstack([-part, part]) for part in (truth, scores, chosen))
    table = contingency(truth, chosen)
    small = scores.size <= MOST_SCORES
    columns = {
        "precision": precision(table),
        "recall": recall(table),
        "f1": f_measure(table),
        "prbep": prbep(truth, scores),
        "auc": roc_auc(truth, scores) if small else np.full(truth.shape[1], np.nan),
    }
    rows = [
        LabelRow(
            **{name: float(values[j]) for name, values in columns.items()},
            label=label,
            support=int(table.positives[j]),
            predicted=int(table.predicted[j]),
        )
        for j, label in enumerate(space.classes.tolist())
    ]
    notes = []
    empty = sum(row.support == 0 for row in rows)
    if empty:
        notes.append(
            f"{empty} of {len(rows)} labels {'has' if empty == 1 else 'have'} no example here: "
            f"macro-averages ignore them, micro-averages count their false positives."
        )
    single = space.kind != "multilabel"
    known = (truth > 0).any(axis=1)
    if single and not known.all():
        notes.append(f"{np.count_nonzero(~known)} of {n} examples have an unknown label and count as errors.")
    return Summary(
        kind=space.kind,
        n=n,
        rows=rows,
        accuracy=float(((truth > 0) == (chosen > 0)).all(axis=1).mean()),
        hamming_loss=None if single else hamming_loss(table),
        micro=Scores(
            micro(precision, table),
            micro(recall, table),
            micro(f_measure, table),
            micro_prbep(truth, scores),
            roc_auc(truth.ravel(), scores.ravel()) if small else float("nan"),
        ),
        macro=Scores(**{name: macro(values) for name, values in columns.items()}),
        confusion=_confusion(truth[known], chosen[known]) if single else None,
        notes=notes,
    )


def _confusion(truth: NDArray[Any], chosen: NDArray[Any]) -> list[list[int]] | None:
    n_classes = truth.shape[1]
    if n_classes > MOST_CONFUSED_CLASSES:
        return None
    counts: list[list[int]] = confusion(truth.argmax(axis=1), chosen.argmax(axis=1), n_classes).tolist()
    return counts


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and np.isnan(value) else value
