"""A diagnosis as a page for a browser, with the same parts as the report of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from widemargin import __version__
from widemargin.diagnose.copies import Copies
from widemargin.diagnose.diagnosis import Diagnosis
from widemargin.diagnose.in_words import (
    describe,
    drift_sections,
    finding_sections,
    labels_table,
    summary_lines,
)
from widemargin.diagnose.plotting import panels
from widemargin.report.contents import Doubt
from widemargin.report.html.charts import Chart, Curve
from widemargin.report.html.data_tables import data_table
from widemargin.report.html.documents import doubts
from widemargin.report.html.elements import details, listed, paragraph, tag
from widemargin.report.html.escaping import escaped, isolated
from widemargin.report.html.overview import figure_card, number_card
from widemargin.report.html.page import Page, Section
from widemargin.report.tables import Column, Table

_NAMED, _LONGEST, _MOST = 20, 600, 200


def page(found: Diagnosis, name: str = "documents", texts: Mapping[Any, str] | None = None) -> Page:
    """The page of a diagnosis.

    Parameters
    ----------
    name : what the documents are called
    texts : of the training documents, by their names: for labels that look wrong
    """
    sections = [
        Section("glance", "At a glance", _glance(found)),
        Section("advice", "What to do next", _advice(found)),
        Section("labels", "Labels", _labels(found)),
        Section("curves", "Learning curves", _curves(found)),
        Section("described", "Every label in sentences", _described(found)),
        Section("doubts", "Labels that look wrong", _doubts(found, texts or {})),
        Section("copies", "Copies", _copies(found.copies)),
    ]
    others = [*finding_sections(found), *drift_sections(found)]
    for number, part in enumerate(others):
        if part.table is None:
            title, _, rest = part.lines[0].partition(":")
            body = (paragraph(rest.strip()) if rest else "") + listed(line.strip() for line in part.lines[1:])
        else:
            title, body = part.table.title, listed(part.lines)
            body += data_table(
                part.table, title, key=f"finding-{number}-table", hidden_caption=True, searchable=True
            )
        sections.append(Section(f"finding-{number}", title, body))
    lead = paragraph(
        f"{found.documents:,} labeled documents, figures by a linear SVM on documents it was not trained on."
    )
    return Page(f"Diagnosis: {name}", lead, sections, {}, f"Made by widemargin {__version__}.")


def _glance(found: Diagnosis) -> str:
    quality = found.quality
    cards = []
    if quality.accuracy is not None:
        cards.append(figure_card("of documents right", "estimated", quality.accuracy))
    several = (
        [figure_card("micro-F1", "estimated", quality.micro["f1"])] if found.task == "multilabel" else []
    )
    cards += [
        *several,
        figure_card("macro-F1", "estimated", quality.macro["f1"]),
        number_card("labels", len(found.categories)),
        number_card("documents", found.documents),
    ]
    return f'<ul class="cards">{"".join(cards)}</ul>' + listed(summary_lines(found))


def _advice(found: Diagnosis) -> str:
    if not found.advice:
        return paragraph("Nothing was found that is wrong or missing.")
    items = []
    for one in found.advice:
        more = len(one.documents) - _NAMED
        names = ", ".join(isolated(str(name)[:80]) for name in one.documents[:_NAMED])
        rest = escaped(f" and {more:,} more") if more > 0 else ""
        items.append(
            f"<li>{escaped(one.text)}" + (f"<br><small>{names}{rest}</small>" if names else "") + "</li>"
        )
    return f"<ol>{''.join(items)}</ol>"


def _labels(found: Diagnosis) -> str:
    table = labels_table(found, len(found.categories))
    return data_table(table, table.title, key="labels-table", searchable=True, noun="labels")


def _curves(found: Diagnosis) -> str:
    panel = panels(found)[0]
    if not panel.lines:
        return paragraph("No label has examples enough for a learning curve.", "missing")
    curves: list[Curve] = []
    number = -1
    for line in panel.lines:
        number += 0 if line.expected else 1
        name = "" if line.expected else line.name
        curves.append(
            Curve(name, line.x, line.y, None, number, line.low, line.high, dots=True, dotted=line.expected)
        )
    ends = [
        f"{curve.name[:40]} {100 * curve.y[0]:.0f} % to {100 * curve.y[-1]:.0f} %"
        for curve in curves
        if curve.name
    ]
    chart = Chart(
        "growth",
        "Learning curves",
        f"F1 by number of training documents: {'; '.join(ends)}.",
        panel.x_label,
        "F1 %",
        curves,
        x_limits=None,
        y_limits=(0.0, 1.02),
        percent_x=False,
    )
    words = "Solid lines were measured; dotted ones, with 90 % intervals, are expected with more documents."
    return chart.figure(words)


def _described(found: Diagnosis) -> str:
    parts = []
    for one in found.categories[:_MOST]:
        first, *rest = describe(one, found.documents)
        parts.append(details(escaped(first), listed(line.strip() for line in rest)))
    return "".join(parts)


def _doubts(found: Diagnosis, texts: Mapping[Any, str]) -> str:
    if not found.suspects:
        return paragraph("Held-out scores contradict no label strongly.")
    made = []
    for one in found.suspects[:_MOST]:
        text = texts.get(one.document)
        made.append(
            Doubt(
                str(one.document),
                None if one.given is None else str(one.given),
                None if one.suggested is None else str(one.suggested),
                one.margin,
                None if text is None else text[:_LONGEST],
            )
        )
    return doubts(made, "doubt", f"{len(found.suspects):,} labels that look wrong")


def _copies(found: Copies) -> str:
    if not found.groups:
        return paragraph("No document is a copy of another one, or nearly.")
    words = (
        f"{found.exact:,} training documents repeat others exactly, {found.near:,} nearly; "
        f"{found.leaked_exact:,} test documents are also in training exactly, {found.leaked_near:,} nearly; "
        f"{len(found.contradictory):,} groups have different labels."
    )
    first = [*found.leaks, *found.contradictory, *found.groups]
    groups = list({id(group): group for group in first}.values())[:_MOST]
    rows: list[Sequence[Any]] = [
        [
            ", ".join(str(name)[:60] for name in group.documents[:6]),
            ", ".join(str(name)[:60] for name in group.test[:6]),
            group.similarity,
            " / ".join(
                dict.fromkeys(
                    "?" if one is None else " + ".join(map(str, one)) or "none" for one in group.labels
                )
            ),
            "yes" if group.contradictory else "",
        ]
        for group in groups
    ]
    columns = [Column("training documents"), Column("test documents"), Column("similarity", "decimal", 2)]
    columns += [Column("labels"), Column("labels differ")]
    table = data_table(
        Table("", columns, rows), "Groups of copies", key="copies-table", searchable=True, noun="groups"
    )
    return tag("p", escaped(words)) + table
