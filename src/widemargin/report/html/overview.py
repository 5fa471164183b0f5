"""The beginning of a page: the figures that matter most, in cards and sentences; and the table of "
"categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from widemargin.measure.intervals import Figure
from widemargin.measure.quality import LabelQuality
from widemargin.report.contents import CategoryPart, ModelReport
from widemargin.report.html.data_tables import data_table
from widemargin.report.html.elements import Markup, listed, paragraph, tag
from widemargin.report.html.escaping import escaped, isolated
from widemargin.report.tables import Column, Table

_FEW = 5  # test examples below which a figure says little
_NAMED = 5


def overview(found: ModelReport) -> str:
    """Cards with the most important figures, and what to notice first."""
    cards = []
    quality = found.estimated if found.tested is None else found.tested.quality
    word = "estimated" if found.tested is None else "measured"
    if quality is not None:
        expected = None if found.tested is None else found.estimated
        right = (
            "of documents have all labels right" if found.task == "multilabel" else "of documents are right"
        )
        if quality.accuracy is not None:
            cards.append(
                figure_card(right, word, quality.accuracy, None if expected is None else expected.accuracy)
            )
        for name, figures in (("micro-F1", quality.micro), ("macro-F1", quality.macro)):
            average = None if expected is None else getattr(expected, name.partition("-")[0])["f1"]
            if found.task != "multilabel" and name == "micro-F1":
                continue  # the same as the share that is right
            cards.append(figure_card(name, word, figures["f1"], average))
    documents = [] if found.tested is None else [("test documents", found.tested.documents)]
    for name, count in [("categories", len(found.labels)), *documents]:
        cards.append(number_card(name, count))
    return f'<ul class="cards">{"".join(cards)}</ul>' + listed(remarks(found))


def number_card(name: str, count: int) -> str:
    """A number in a card."""
    return f'<li class="card"><strong>{count:,}</strong> <span>{escaped(name)}</span></li>'


def figure_card(name: str, word: str, figure: Figure, expected: Figure | None = None) -> str:
    """A figure in a card, with its interval and what training expected."""
    if math.isnan(figure.value):
        return ""
    at_least = "at least " if figure.kind == "bound" else ""
    interval = f"{100 * figure.low:.1f} to {100 * figure.high:.1f} %"
    small = escaped(f"{word}; 95 % interval {interval}")
    if expected is not None and not math.isnan(expected.value):
        small += "<br>" + escaped(
            f"estimated in training: {100 * expected.value:.1f} % ({100 * expected.low:.1f} to "
            f"{100 * expected.high:.1f})"
        )
    value = f"<strong>{at_least}{100 * figure.value:.1f} %</strong> <span>{escaped(name)}</span>"
    return f'<li class="card">{value}<small>{small}</small></li>'


def remarks(found: ModelReport) -> list[str]:
    """What to notice first, in sentences."""
    said = []
    measured = [(part, part.measured) for part in found.categories if part.measured is not None]
    known = [(part, row) for part, row in measured if row.examples >= _FEW and not math.isnan(_f1(row))]
    if known:
        known.sort(key=lambda pair: _f1(pair[1]))
        if len(known) > 3:
            said.append(f"Weakest of the categories with at least {_FEW} test examples: {_named(known[:3])}.")
            said.append(f"Strongest: {_named(known[:-4:-1])}.")
        below = [
            part.label
            for part, row in known
            if part.estimated is not None and row.figures["f1"].high < part.estimated.figures["f1"].low
        ]
        if below:
            said.append(f"Worse than training expected, beyond chance: {_some(below)}.")
    rare = [part.label for part, row in measured if row.examples < _FEW]
    if rare:
        said.append(f"{len(rare):,} of {len(measured):,} categories have fewer than {_FEW} test examples.")
    if found.copies is not None and found.copies.documents:
        said.append(f"{found.copies.documents:,} test documents are copies of training documents, or nearly.")
    if found.tested is not None:
        said += found.tested.notes
    return said


def _named(rows: Sequence[tuple[CategoryPart, LabelQuality]]) -> str:
    return ", ".join(f"{_short(part.label)} (F1 {100 * _f1(row):.0f})" for part, row in rows)


def _some(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    return ", ".join(map(_short, labels[:_NAMED])) + more


def _short(label: str) -> str:
    return label if len(label) <= 40 else label[:37] + "..."


def _f1(row: LabelQuality) -> float:
    return row.figures["f1"].value


def categories(found: ModelReport) -> str:
    """The table of categories: estimates and measured figures with intervals, and examples."""
    tested, estimated = found.tested is not None, found.estimated is not None
    columns = [Column("category")]
    columns += [Column("training examples", "count")] if estimated else []
    columns += [Column("test examples", "count")] if tested else []
    columns += [Column("estimated F1 %", "figure")] if estimated else []
    columns += [Column("measured F1 %", "figure")] if tested else []
    columns += [Column("0 to 100 %")] if tested or estimated else []
    source = "measured" if tested else "estimated"
    columns += [Column(f"{source} precision %", "figure"), Column(f"{source} recall %", "figure")]
    decided = any(one is not None and one.threshold is not None for part in found.categories
                  for one in (part.measured, part.estimated))  # fmt: skip
    columns += [Column("assigned", "count")]
    columns += [Column("threshold", "decimal", 3)] if decided else []
    columns += [Column("how sure")]
    rows: list[Sequence[Any]] = []
    for number, part in enumerate(found.categories):
        own = part.measured or part.estimated
        if own is None:
            continue
        before = part.estimated
        row: list[Any] = [_name(number, part)]
        row += [None if before is None else before.examples] if estimated else []
        row += [own.examples] if tested else []
        expected = None if before is None else before.figures["f1"]
        shown = own.figures["f1"] if tested else None
        row += [expected] if estimated else []
        row += [shown] if tested else []
        row += [Markup(_strip(expected, shown), own.figures["f1"].value)] if tested or estimated else []
        row += [own.figures["precision"], own.figures["recall"], own.predicted]
        row += [own.threshold] if decided else []
        row += [own.sure]
        rows.append(row)
    order = 2 if tested and estimated else 1
    rows.sort(key=lambda row: -(row[order] or 0))
    if not rows:
        return paragraph("This model has no estimates, and there are no test documents.", "missing")
    table = Table("", columns, rows)
    kinds = "Of the picture in each row, the line is the interval of the estimate" if estimated else ""
    words = (
        "F1 is the harmonic mean of precision (how many assignments are right) and recall (how many of the "
        f"category's documents are found); 95 % intervals in brackets. {kinds}"
        f"{', the dot what was measured' if kinds and tested else ''}{'.' if kinds else ''}"
    )
    return paragraph(words) + data_table(
        table, "Categories", key="categories-table", searchable=True, hidden_caption=True, noun="categories"
    )


def _name(number: int, part: CategoryPart) -> Markup:
    """The name, which chooses the category below if there is a script."""
    link = tag("a", isolated(part.label), href="#thresholds", data_category=number)
    return Markup(link if part.tradeoff is not None else isolated(part.label), part.label)


def _strip(estimated: Figure | None, measured: Figure | None) -> str:
    """A small picture: the interval of the estimate, the interval that was measured, and the figure."""
    parts = ['<line x1="0" x2="100" y1="8" y2="8" class="s-faint"/>']
    if estimated is not None and not math.isnan(estimated.value):
        low, high = 100 * estimated.low, 100 * estimated.high
        parts.append(
            f'<rect x="{low:.1f}" y="4" width="{max(high - low, 0.5):.1f}" height="8" class="f-band"/>'
        )
        parts.append(
            f'<rect x="{100 * estimated.value - 0.5:.1f}" y="2" width="1" height="12" class="f-ink"/>'
        )
    if measured is not None and not math.isnan(measured.value):
        low, high = 100 * measured.low, 100 * measured.high
        parts.append(f'<line x1="{low:.1f}" x2="{high:.1f}" y1="8" y2="8" class="s-c0"/>')
        parts.append(f'<circle cx="{100 * measured.value:.1f}" cy="8" r="3" class="f-c0"/>')
    return f'<svg class="strip" viewBox="-4 0 108 16" aria-hidden="true">{"".join(parts)}</svg>'


def average_rows(found: ModelReport) -> str:
    """The averages as a table of their own."""
    rows: list[Sequence[Any]] = []
    for name, quality in (
        ("measured", found.tested and found.tested.quality),
        ("estimated", found.estimated),
    ):
        if quality is None:
            continue
        for average in ("micro", "macro"):
            figures = getattr(quality, average)
            rows.append(
                [f"{average}-average, {name}", *(figures[key] for key in ("precision", "recall", "f1"))]
            )
    if not rows:
        return ""
    columns = [Column("average"), *(Column(f"{name} %", "figure") for name in ("precision", "recall", "F1"))]
    return data_table(
        Table("", columns, rows), "Averages over all categories", key="averages", sortable=False
    )
