"""The page of two models side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from widemargin.report.contents import CategoryDifference, ComparedModels, ModelReport
from widemargin.report.html.charts import Chart, Curve
from widemargin.report.html.data_tables import data_table
from widemargin.report.html.elements import Markup, details, listed, paragraph, plain_text, tags
from widemargin.report.html.escaping import escaped, isolated
from widemargin.report.html.model_page import card
from widemargin.report.html.page import Page, Section
from widemargin.report.tables import Column, Table

LEVEL = 0.05


def compared_page(found: ComparedModels) -> Page:
    """Figures of both models, and whether their differences are more than chance."""
    first, second = found.first.name, found.second.name
    lead = paragraph(
        f"A is {first}, B is {second}; both measured on the same {found.documents:,} test documents "
        f"({found.source})."
    )
    sections = [
        Section("glance", "At a glance", listed(verdict(found)) + listed(found.notes)),
        Section("overall", "Overall", _overall(found) + _curves(found)),
        Section("categories", "Categories", _categories(found.categories)),
        Section("apart", "Documents that only one gets right", _apart(found)),
        Section("card-a", f"A: {first}", card(found.first)),
        Section("card-b", f"B: {second}", card(found.second)),
    ]
    return Page(
        f"Report: {first} and {second}", lead, sections, {}, f"Made by widemargin {found.first.version}."
    )


def verdict(found: ComparedModels) -> list[str]:
    """Which model is better, in sentences."""
    said = []
    for one in found.overall[:3]:
        which = {
            "first": "A is better than B",
            "second": "B is better than A",
            None: "no significant difference",
        }
        values = f"{_value(one.name, one.first)} against {_value(one.name, one.second)}"
        said.append(f"{one.name}: {values}; {which[one.better]} (p {_p(one.p_value)}).")
    for name, wins in (("A", True), ("B", False)):
        better = [
            row.label
            for row in found.categories
            if row.corrected <= LEVEL and (row.only_first > row.only_second) == wins
        ]
        if better:
            more = f" and {len(better) - 10} more" if len(better) > 10 else ""
            said.append(f"{name} is significantly better at: {', '.join(better[:10])}{more}.")
    if not any(row.corrected <= LEVEL for row in found.categories):
        said.append("No single category differs significantly.")
    return said


def _overall(found: ComparedModels) -> str:
    rows: list[Sequence[Any]] = [
        [
            one.name,
            _value(one.name, one.first),
            _value(one.name, one.second),
            one.test,
            Markup(escaped(_p(one.p_value)), one.p_value),
            _better(one.better),
        ]
        for one in found.overall
    ]
    columns = [Column(name) for name in ("measure", "A", "B", "test", "p, corrected", "better")]
    words = (
        "p is how likely equally good models differ at least as much; it is corrected for the number "
        "of tests (Holm). "
        "Up to 0.05, the difference is called significant."
    )
    return paragraph(words) + data_table(
        Table("", columns, rows), "Measures of both models", key="overall-table"
    )


def _curves(found: ComparedModels) -> str:
    lines = [
        Curve(name, recall, precision, color=k)
        for k, (name, recall, precision) in enumerate(found.curves)
        if recall
    ]
    if not lines:
        return ""
    chart = Chart(
        "pr",
        "Precision and recall",
        "Precision against recall over all categories, if all thresholds are moved by the same amount.",
        "recall %",
        "precision %",
        lines,
        x_limits=(0.0, 1.02),
        y_limits=(0.0, 1.02),
    )
    return chart.figure("Over all categories, if all thresholds are moved by the same amount.")


def _categories(found: Sequence[CategoryDifference]) -> str:
    columns = [Column("category"), Column("test examples", "count"), Column("F1 % of A", "figure")]
    columns += [Column("F1 % of B", "figure"), Column("B - A", "difference", 1)]
    columns += [Column("only A right", "count"), Column("only B right", "count"), Column("p", "decimal")]
    columns += [Column("p, corrected", "decimal"), Column("better")]
    rows: list[Sequence[Any]] = [
        [
            row.label,
            row.examples,
            row.first,
            row.second,
            100 * (row.second.value - row.first.value),
            row.only_first,
            row.only_second,
            Markup(escaped(_p(row.p_value)), row.p_value),
            Markup(escaped(_p(row.corrected)), row.corrected),
            ("A" if row.only_first > row.only_second else "B") if row.corrected <= LEVEL else "",
        ]
        for row in sorted(found, key=lambda row: -row.examples)
    ]
    words = (
        "McNemar's test of the decisions on each category; p-values are corrected for the number of "
        "categories (Holm)."
    )
    return paragraph(words) + data_table(
        Table("", columns, rows), "Categories", key="categories-table", searchable=True, hidden_caption=True,
        noun="categories",
    )  # fmt: skip


def _apart(found: ComparedModels) -> str:
    parts = []
    models: tuple[ModelReport, ModelReport] = (found.first, found.second)
    for number, name in enumerate("AB", 1):
        some = [(case, right) for winner, case, right in found.apart if winner == number]
        parts.append(f"<h3>Only {name} is right</h3>")
        if not some:
            parts.append(paragraph("No document."))
        # The case has the decision of the other model.
        labels, own = models[2 - number].labels, models[number - 1].labels
        for case, right in some:
            start = " ".join((case.text or "")[:80].split())
            head = f'{isolated(case.name[:80])} <span class="muted">{escaped(start)}</span>'
            other = "B" if name == "A" else "A"
            said = tags(labels[j] for j in case.decided)
            body = f"<p>Is: {tags(own[j] for j in right)} {other} says: {said}</p>"
            parts.append(details(head, body + plain_text(case.text or "")))
    return "".join(parts)


def _value(name: str, value: float) -> str:
    """Shares in percent, and numbers of labels as they are."""
    return f"{value:g}" if name.startswith("labels") else f"{100 * value:.1f} %"


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _better(which: str | None) -> str:
    return {"first": "A", "second": "B"}.get(which or "", "")
