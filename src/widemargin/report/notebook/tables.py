"""A table as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from widemargin.report.html.escaping import escaped, isolated

if TYPE_CHECKING:
    from widemargin.report.tables import Table


def table_html(table: Table) -> str:
    """The table with its title, header cells, footer and notes; every text is escaped.

    Examples
    --------
    >>> from widemargin.report.tables import Column, Table
    >>> table_html(Table("", [Column("n", "count")], [[3]]))  # doctest: +NORMALIZE_WHITESPACE
    '<table><thead><tr><th scope="col" class="wm-number">n</th></tr></thead><tbody><tr><td
    class="wm-number">3</td></tr></tbody></table>'
    """
    number = ["" if column.kind == "text" else ' class="wm-number"' for column in table.columns]
    head = "".join(
        f'<th scope="col"{style}>{escaped(column.name)}</th>'
        for column, style in zip(table.columns, number, strict=True)
    )
    lines = [
        "<tr>" + "".join(_cell(text, style) for text, style in zip(line, number, strict=True)) + "</tr>"
        for line in table.written()
    ]
    body, footer = lines[: len(table.rows)], lines[len(table.rows) :]
    caption = f"<caption>{isolated(table.title)}</caption>" if table.title else ""
    foot = f"<tfoot>{''.join(footer)}</tfoot>" if footer else ""
    notes = "".join(f"<p>{escaped(note)}</p>" for note in table.notes)
    return (
        f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>{foot}</table>{notes}"
    )


def _cell(text: str, style: str) -> str:
    return f"<td{style}>{escaped(text) if style else isolated(text)}</td>"
