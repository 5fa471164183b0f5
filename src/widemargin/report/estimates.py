"""Tables of the quality of a classifier: estimates from training, and figures on a test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from widemargin.measure.intervals import Figure
from widemargin.measure.quality import LabelQuality, Quality
from widemargin.measure.summary import Summary
from widemargin.report.tables import Column, Table

_NAMES = {"precision": "precision", "recall": "recall", "f1": "F1"}


def quality_table(quality: Quality, title: str = "", most: int | None = None) -> Table:
    """One row per label: examples, precision, recall and F1 with intervals, AUC, threshold, reliability.

    Parameters
    ----------
    most : show at most this many labels, the most frequent ones
    """
    rows = sorted(quality.labels, key=lambda row: -row.examples)
    notes = list(quality.notes)
    if most is not None and len(rows) > most:
        hidden = rows[most:]
        unsure = sum(row.sure in ("low", "none") for row in hidden)
        doubt = f", {unsure} of which have figures that are not sure" if unsure else ""
        notes.append(f"... and {len(hidden)} labels with fewer examples{doubt}; --json has them all.")
        rows = rows[:most]
    columns = [Column("label"), Column("examples", "count")]
    columns += [Column(name, "figure") for name in _NAMES.values()]
    decided = any(row.threshold is not None for row in quality.labels)
    if decided:
        columns.append(Column("threshold", "decimal", 3))
    ranked = quality.auc is not None
    columns[5:5] = [Column("AUC", "decimal", 3)] if ranked else []
    columns.append(Column("how sure"))
    total = sum(row.examples for row in quality.labels)

    def line(
        label: Any, examples: int, figures: Mapping[str, Any], auc: Any, threshold: Any, sure: str
    ) -> list[Any]:
        between = ([_value(auc)] if ranked else []) + ([threshold] if decided else [])
        return [label, examples, *(figures[name] for name in _NAMES), *between, sure]

    return Table(
        title,
        columns,
        [line(row.label, row.examples, row.figures, row.auc, row.threshold, _sure(row)) for row in rows],
        footer=[
            line("micro-average", total, quality.micro, None, None, ""),
            line("macro-average", total, quality.macro, quality.auc, None, ""),
        ],
        notes=notes,
    )


def comparison_table(
    summary: Summary,
    measured: Quality,
    estimated: Quality | None,
    title: str = "",
    *,
    break_even: bool = False,
) -> Table:
    """One row per label with the measured figures and the F1 that was estimated in training.

    Parameters
    ----------
    summary, measured : figures of the same decisions
    estimated : estimates from training, or None
    break_even : add the precision/recall break-even points
    """
    columns = [Column("label"), Column("examples", "count")]
    columns += [Column("precision", "percent"), Column("recall", "percent"), Column("F1", "figure")]
    ranked = measured.auc is not None
    columns += [Column("AUC", "decimal", 3)] if ranked else []
    columns += [Column("PRBEP", "percent")] if break_even else []
    expected_f1: dict[Any, Any] = {}
    if estimated is not None:
        word = "at least" if estimated.kind == "bound" else "estimated"
        columns.append(Column(f"{word}: F1", "figure"))
        expected_f1 = {row.label: row.figures["f1"] for row in estimated.labels}

    def line(label: Any, support: int, scores: Any, f1: Any, expected: Any) -> list[Any]:
        more = ([scores.auc] if ranked else []) + ([scores.prbep] if break_even else [])
        last = [expected] if estimated is not None else []
        return [label, support, scores.precision, scores.recall, f1, *more, *last]

    pairs = sorted(zip(summary.rows, measured.labels, strict=True), key=lambda pair: -pair[0].support)
    support = sum(row.support for row in summary.rows)
    averages = []
    for name in ("micro", "macro"):
        expected = None if estimated is None else getattr(estimated, name)["f1"]
        found = getattr(measured, name)["f1"]
        averages.append(line(f"{name}-average", support, getattr(summary, name), found, expected))
    return Table(
        title,
        columns,
        [
            line(row.label, row.support, row, own.figures["f1"], expected_f1.get(row.label))
            for row, own in pairs
        ],
        footer=list(averages),
        notes=list(summary.notes),
    )


def suspects_table(suspects: Sequence[Mapping[str, Any]], by: str, title: str = "") -> Table:
    """One row per label that is probably wrong, the worst first.

    Parameters
    ----------
    by : the method that contradicts the labels, such as "leave-one-out"
    """
    columns = [Column("document"), Column("has label"), Column(f"{by} suggests")]
    columns += [Column("score", "difference", 2), Column("margin", "decimal", 2)]
    rows = [
        [
            str(each["document"]),
            "(not given)" if each["given"] is None else str(each["given"]),
            "(not this label)" if each["suggested"] is None else str(each["suggested"]),
            each["score"],
            each["margin"],
        ]
        for each in suspects
    ]
    return Table(title, columns, list(rows))


def _value(figure: Figure | None) -> float | None:
    return None if figure is None else figure.value


def _sure(row: LabelQuality) -> str:
    return row.sure if row.weak is None else f"{row.sure}: {row.weak}"
