"""The quality of a classifier: figures per label, each with its interval and its kind.

Estimates from training (kind "bound" or "estimate") and figures on a test set ("measured") have the same
form, so that they can be compared.

Recall, precision and error have Clopper and Pearson's intervals; those of F1 and of macro-averages are
sampled, see :mod:`widemargin.measure.intervals`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError
from widemargin.labels import LabelSpace
from widemargin.measure.contingency import Contingency, error_rate, f_measure, macro, precision, recall
from widemargin.measure.dependence import dependence
from widemargin.measure.intervals import (
    Figure,
    bootstrap_interval,
    clopper_pearson,
    macro_estimate,
    widened,
)
from widemargin.measure.rankings.roc import MOST_SCORES, auc_figures

Floats = NDArray[np.float64]
Kind = Literal["bound", "estimate", "measured"]
CONFIDENCE = 0.95
MEASURES: dict[str, Callable[[Contingency], Floats]] = {
    "precision": precision,
    "recall": recall,
    "f1": f_measure,
    "error": error_rate,
}
# Half the width of the interval of F1 up to which figures are called good or fair.
SURE, FAIR = 0.05, 0.15
# Models of other samples of documents differ in quality, and estimates do not follow. The factor was chosen
# on splits of Reuters-21578 and Ohsumed (benchmarks/coverage.py).
_SPREAD = 1.1
_MOST_DRAWN = 1_000_000  # tables that one interval of all labels takes


@dataclass(frozen=True)
class LabelQuality:
    """The figures of one label.

    Attributes
    ----------
    examples : number of documents with the label
    predicted : number of documents that are predicted to have it
    figures : "precision", "recall", "f1" and "error"
    threshold : the score above which the label is assigned; "never" or "always"; None if the largest score
        decides
    sure : how reliable the figures are: "good", "fair", "low" or "none"; "bound" for bounds
    weak : why they are unreliable, or None
    auc : area under the ROC curve; None for exclusive classes, for bounds, and where there are no scores
    """

    label: Any
    examples: int
    predicted: int
    figures: dict[str, Figure]
    threshold: float | str | None = None
    sure: str = "good"
    weak: str | None = None
    auc: Figure | None = None

    def to_dict(self) -> dict[str, Any]:
        figures: dict[str, Any] = {name: figure.to_dict() for name, figure in self.figures.items()}
        figures["auc"] = _plain(self.auc)
        rest = {"threshold": self.threshold, "sure": self.sure, "weak": self.weak}
        return {
            "label": self.label,
            "examples": self.examples,
            "predicted": self.predicted,
            **figures,
            **rest,
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> LabelQuality:
        kept = {name: state[name] for name in ("label", "examples", "predicted", "threshold", "sure", "weak")}
        return cls(**kept, figures=_figures(state), auc=_read(state.get("auc")))


@dataclass(frozen=True)
class Quality:
    """The result of :func:`quality`.

    Attributes
    ----------
    method : where the figures come from, such as "leave-one-out"
    kind : "bound", "estimate" or "measured"
    n : number of documents
    labels : one entry per label, in the order of the classes; both classes of a binary task
    micro, macro : the averages of the figures
    accuracy : share of the documents whose label (multi-label: whole label set) is right; None for bounds
    confidence : confidence of the intervals
    notes : remarks on the figures
    auc : the mean area under the ROC curves of the labels, as for labels
    """

    method: str
    kind: Kind
    n: int
    labels: list[LabelQuality]
    micro: dict[str, Figure]
    macro: dict[str, Figure]
    accuracy: Figure | None
    confidence: float = CONFIDENCE
    notes: list[str] = field(default_factory=list)
    auc: Figure | None = None

    def on_test_set(self, size: int) -> Quality:
        """The same figures with the intervals in which a test set of this size shows them.

        A test set is a sample too: the smaller it is, the farther its figures are from the quality of the
        model, which the intervals of estimates are about.

        Examples
        --------
        >>> from widemargin.labels import Labels
        >>> table = Contingency(*map(np.array, ([450], [50], [50], [450])))
        >>> space = Labels.of(["a", "b"]).space
        >>> found = quality(space, table, kind="estimate", method="leave-one-out", right=900)
        >>> ends = (found.accuracy, found.on_test_set(1000).accuracy, found.on_test_set(100).accuracy)
        >>> [(round(each.low, 3), round(each.high, 3)) for each in ends]
        [(0.88, 0.918), (0.871, 0.925), (0.833, 0.959)]
        """
        if size < 1:
            raise UsageError(f"A test set of {size} documents: expected at least 1.")
        factors = dict.fromkeys((*MEASURES, ""), math.sqrt(1 + self.n / size))

        def wider(figure: Figure | None) -> Figure | None:
            return None if figure is None else widened({"": figure}, factors)[""]

        return replace(
            self,
            labels=[
                replace(row, figures=widened(row.figures, factors), auc=wider(row.auc)) for row in self.labels
            ],
            micro=widened(self.micro, factors),
            macro=widened(self.macro, factors),
            accuracy=wider(self.accuracy),
            auc=wider(self.auc),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; undefined figures are None."""
        return {
            "method": self.method,
            "kind": self.kind,
            "n": self.n,
            "confidence": self.confidence,
            "accuracy": _plain(self.accuracy),
            "auc": _plain(self.auc),
            "micro": {name: figure.to_dict() for name, figure in self.micro.items()},
            "macro": {name: figure.to_dict() for name, figure in self.macro.items()},
            "labels": [row.to_dict() for row in self.labels],
            "notes": self.notes,
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Quality:
        """Restore from the result of `to_dict`."""
        return cls(
            **{name: state[name] for name in ("method", "kind", "n", "confidence", "notes")},
            labels=[LabelQuality.from_dict(row) for row in state["labels"]],
            micro=_figures(state["micro"]),
            macro=_figures(state["macro"]),
            accuracy=_read(state["accuracy"]),
            auc=_read(state.get("auc")),
        )


def quality(
    space: LabelSpace,
    table: Contingency,
    *,
    kind: Kind,
    method: str,
    right: float | None = None,
    thresholds: Floats | None = None,
    weak: Mapping[int, str] | None = None,
    notes: list[str] | None = None,
    decisions: tuple[NDArray[np.int8], NDArray[np.int8]] | None = None,
    gain: Floats | None = None,
    ranking: tuple[NDArray[np.int8], Floats] | None = None,
) -> Quality:
    """The figures of a contingency table with one entry per column of `space`.

    Parameters
    ----------
    right : number of documents with the right label, or the right set of labels; may be an expected number
    thresholds : (columns,), if labels are decided by thresholds
    weak : why figures are unreliable, by column number
    decisions : the truth and the decisions as signs (n, columns), for the intervals of averages
    gain : (columns,) how many more examples of a label are expected to be found by a rule that has learned
        from all of them (:mod:`widemargin.estimate.rare_labels`). Macro-averages take them for found, and the
        intervals of labels allow for them.
    ranking : the truth and the scores (n, columns), for areas under ROC curves

    Examples
    --------
    >>> from widemargin.labels import Labels
    >>> space = Labels.of([["wheat"], ["corn"], []]).space
    >>> table = Contingency(np.array([40, 1]), np.array([5, 0]), np.array([10, 1]), np.array([45, 98]))
    >>> found = quality(space, table, kind="estimate", method="leave-one-out", right=80)
    >>> wheat = found.labels[1].figures["recall"]
    >>> wheat.value, round(wheat.low, 3), round(wheat.high, 3), found.labels[1].sure
    (0.5, 0.013, 0.987, 'low')
    """
    weak = dict(weak or {})
    limits = None if thresholds is None else np.asarray(thresholds, dtype=np.float64)
    if space.kind == "binary":
        # The negative class is a label too; an error on one class is an error on the other.
        table = table.of_both_classes()
        limits = None if limits is None else np.array([-limits[0], limits[0]])
        weak = dict.fromkeys(range(2), weak[0]) if 0 in weak else {}
    n = round(float(np.max(table.n)))
    columns = figures_of(table, kind)
    gained = table
    if gain is not None:
        # What one of several exclusive classes finds is no false positive of another one.
        wrong = float(np.sum(table.false_positive))
        moved = table.false_positive * (gain.sum() / wrong if space.kind == "multiclass" and wrong else 0.0)
        gained = Contingency(
            table.true_positive + gain,
            table.false_positive - moved,
            table.false_negative - gain,
            table.true_negative + moved,
        )
        columns = _allowing_for(columns, figures_of(gained, kind))
    if space.kind != "multilabel" and right is not None:
        micro = _micro_of_one_label(right, n, len(space.classes), kind)
    else:
        micro = {name: each[0] for name, each in figures_of(table.merged(), kind).items()}
    macro_figures = {name: _macro_figure(name, gained, kind) for name in MEASURES}
    if decisions is not None:
        if space.kind == "binary":
            decisions = np.hstack([-decisions[0], decisions[0]]), np.hstack([-decisions[1], decisions[1]])
        macro_figures = widened(macro_figures, dependence(*decisions, "macro"))
        if space.kind == "multilabel":
            micro = widened(micro, dependence(*decisions, "micro"))
    areas = None
    if ranking is not None and space.kind != "multiclass" and ranking[1].size <= MOST_SCORES:
        areas = auc_figures(ranking[0], ranking[1].reshape(ranking[0].shape), kind)
    labels = []
    for j, label in enumerate(space.classes.tolist()):
        figures = {name: each[j] for name, each in columns.items()}
        examples = round(float(table.positives[j]))
        reason = weak.get(j) or _too_few(examples, n)
        labels.append(
            LabelQuality(
                label=label,
                examples=examples,
                predicted=round(float(table.predicted[j])),
                figures=figures,
                threshold=None if limits is None else _threshold(float(limits[j])),
                sure=_how_sure(figures["f1"], kind, examples, reason),
                weak=reason,
                auc=None if areas is None else areas.labels[j if space.kind == "multilabel" else 0],
            )
        )
    return Quality(
        method=method,
        kind=kind,
        n=n,
        labels=labels,
        micro=micro,
        macro=macro_figures,
        accuracy=None if right is None else _accuracy(right, n, kind),
        notes=list(notes or []),
        auc=None if areas is None else areas.macro,
    )


def figures_of(table: Contingency, kind: Kind) -> dict[str, list[Figure]]:
    """The four figures of every task in `table`, with their intervals."""
    hits = np.atleast_1d(table.true_positive)
    wrong = np.atleast_1d(table.false_positive + table.false_negative)
    shares = {
        "precision": (hits, np.atleast_1d(table.predicted)),
        "recall": (hits, np.atleast_1d(table.positives)),
        "error": (wrong, np.atleast_1d(table.n)),
    }
    found = {}
    for name, measure in MEASURES.items():
        if name in shares:
            low, high = clopper_pearson(*shares[name], CONFIDENCE)
        else:
            low, high = bootstrap_interval(measure, table, confidence=CONFIDENCE, samples=_samples(len(hits)))
        ends = np.atleast_1d(low), np.atleast_1d(high)
        values = np.atleast_1d(measure(table))
        found[name] = [_figure(name, *each, kind) for each in zip(values, *ends, strict=True)]
    return found


def _figure(name: str, value: float, low: float, high: float, kind: Kind) -> Figure:
    value, low, high = float(value), float(low), float(high)
    if math.isnan(value):
        low = high = value
    elif kind == "bound":
        # A lower bound: the upper end of the interval is 1.
        low, high = (0.0, high) if name == "error" else (low, 1.0)
    # Six digits, since the last ones may depend on the CPU, and a model must not.
    return Figure(round(value, 6), round(low, 6), round(high, 6), kind)


def _macro_figure(name: str, table: Contingency, kind: Kind) -> Figure:
    measure, samples = MEASURES[name], _samples(len(table.n))
    if kind == "estimate":
        corrected = macro_estimate(
            measure, table, confidence=CONFIDENCE, samples=samples, correct=name in ("f1", "precision")
        )
        return widened({name: _figure(name, *corrected, kind)}, {name: _SPREAD})[name]
    low, high = bootstrap_interval(measure, table, average="macro", confidence=CONFIDENCE, samples=samples)
    return _figure(name, macro(measure(table)), float(low), float(high), kind)


def _micro_of_one_label(right: float, n: int, n_labels: int, kind: Kind) -> dict[str, Figure]:
    """Micro-averages where every document has one label: each error is a false positive and a miss, so they
    are all the accuracy."""
    accuracy = _accuracy(right, n, kind)
    share = 2 / n_labels
    error = _figure(
        "error", share * (1 - right / n), share * (1 - accuracy.high), share * (1 - accuracy.low), kind
    )
    return {name: error if name == "error" else accuracy for name in MEASURES}


def _allowing_for(
    counted: dict[str, list[Figure]], gained: dict[str, list[Figure]]
) -> dict[str, list[Figure]]:
    """Figures as they were counted, with intervals that reach as far as those of better ones."""
    return {
        name: [
            figure
            if math.isnan(figure.value)
            else replace(figure, low=min(figure.low, better.low), high=max(figure.high, better.high))
            for figure, better in zip(figures, gained[name], strict=True)
        ]
        for name, figures in counted.items()
    }


def _samples(n_labels: int) -> int:
    """Number of draws per label: fewer for thousands of labels."""
    return int(np.clip(_MOST_DRAWN // n_labels, 100, 1000))


def _accuracy(right: float, n: int, kind: Kind) -> Figure:
    low, high = clopper_pearson(np.array([right]), np.array([n]), CONFIDENCE)
    return _figure("accuracy", right / n, float(low[0]), float(high[0]), kind)


def _too_few(examples: int, n: int) -> str | None:
    if examples == 0:
        return "no example"
    if examples == n:
        return "every document has it"
    return "one example only" if examples == 1 else None


def _how_sure(f1: Figure, kind: Kind, examples: int, reason: str | None) -> str:
    if math.isnan(f1.value) or examples <= 1:
        return "none"
    if kind == "bound":
        return "bound"
    half = (f1.high - f1.low) / 2
    if reason is not None or half > FAIR:
        return "low"
    return "good" if half <= SURE else "fair"


def _threshold(value: float) -> float | str:
    if math.isinf(value):
        return "never" if value > 0 else "always"
    return round(value, 6) + 0.0  # not -0.0


def _figures(state: Mapping[str, Any]) -> dict[str, Figure]:
    return {name: Figure.from_dict(state[name]) for name in MEASURES}


def _plain(figure: Figure | None) -> dict[str, Any] | None:
    return None if figure is None else figure.to_dict()


def _read(state: Mapping[str, Any] | None) -> Figure | None:
    return None if state is None else Figure.from_dict(state)
