"""An explanation as HTML: the highlighted text, and the terms with their contributions."""

from __future__ import annotations

from typing import Any

from widemargin.report.html.escaping import isolated
from widemargin.report.html.highlight import highlighted
from widemargin.report.notebook.style import framed
from widemargin.report.notebook.tables import table_html
from widemargin.report.tables import Column, Table

TERMS = 10


def explanation_html(explanation: Any) -> str:
    """An :class:`~widemargin.classifier.explanation.Explanation` for a notebook."""
    against = "" if explanation.threshold is None else f", threshold {explanation.threshold:+.4f}"
    head = f"<p><strong>{isolated(explanation.label)}</strong>: score {explanation.score:+.4f}{against}</p>"
    spans = [(start, end, part.value) for part in explanation.contributions for start, end in part.spans]
    text = "" if explanation.text is None else f"<p>{highlighted(explanation.text, spans)}</p>"
    legend = (
        '<p class="wm-text"><mark class="wm-for wm-2">for the label</mark> '
        '<mark class="wm-against wm-2">against the label</mark></p>'
        if text
        else ""
    )
    found = explanation.by_term()
    rows: list[Any] = [[term, count, value] for term, value, count in found[:TERMS]]
    if len(found) > TERMS:
        rest = found[TERMS:]
        rows.append([f"({len(rest)} more)", sum(c for _, _, c in rest), sum(v for _, v, _ in rest)])
    rows.append(["(bias)", None, explanation.bias])
    columns = [Column("term"), Column("times", "count"), Column("contribution", "difference", 4)]
    table = Table("", columns, rows, footer=[["sum: the score", None, explanation.score]])
    return framed(head, text, legend, table_html(table))
