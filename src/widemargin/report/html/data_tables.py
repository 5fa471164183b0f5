"""Tables in a page: captions, scopes, and what the script needs to sort and search them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from widemargin.measure.intervals import Figure
from widemargin.report.html.elements import Markup, tag
from widemargin.report.html.escaping import escaped, isolated
from widemargin.report.tables import Column, Table


def data_table(
    table: Table,
    caption: str,
    *,
    key: str,
    sortable: bool = True,
    searchable: bool = False,
    hidden_caption: bool = False,
    noun: str = "rows",
) -> str:
    """A table of a page; its first column names the rows.

    Parameters
    ----------
    caption : what the table is of
    key : its id in the page
    sortable, searchable : whether the script may sort it by a column, and search it
    noun : what the rows are called, for the number of those found
    """
    head = "".join(_header(column, sortable) for column in table.columns)
    body = "".join(_row(table.columns, row) for row in table.rows)
    foot = "".join(_row(table.columns, row) for row in table.footer)
    inner = tag("caption", escaped(caption), class_="hidden" if hidden_caption else None)
    inner += f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    inner += f"<tfoot>{foot}</tfoot>" if foot else ""
    made = tag("table", inner, id=key, data_sortable=sortable, data_noun=noun)
    search = ""
    if searchable:
        search = tag(
            "p",
            tag("label", escaped(f"Search {noun}"), for_=f"{key}-search")
            + f' <input type="search" id="{escaped(key)}-search" data-search="{escaped(key)}" '
            f'autocomplete="off" spellcheck="false"> '
            + tag("output", "", id=f"{key}-found", for_=f"{key}-search", aria_live="polite"),
            class_="search needs-script",
        )
    # A wide table scrolls by itself, also by keyboard, and the page does not.
    region = tag("div", made, class_="scroll", tabindex="0", role="region", aria_label=caption)
    notes = "".join(tag("p", escaped(note), class_="note") for note in table.notes)
    return search + region + notes


def _header(column: Column, sortable: bool) -> str:
    words = escaped(column.name)
    numeric = None if column.kind == "text" else "number"
    if not sortable:
        return tag("th", words, scope="col", class_=numeric)
    # Without a script, the button is not there.
    return tag("th", f'<span class="heading">{words}</span>', scope="col", class_=numeric, aria_sort="none")


def _row(columns: Sequence[Column], row: Sequence[Any]) -> str:
    cells = [
        _cell(column, value, first=j == 0) for j, (column, value) in enumerate(zip(columns, row, strict=True))
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _cell(column: Column, value: Any, *, first: bool) -> str:
    kind = None if column.kind == "text" else "number"
    sort = _sort(value)
    content = value.html if isinstance(value, Markup) else _content(column, value)
    if first:
        return tag("th", content, scope="row", data_sort=sort)
    return tag("td", content, class_=kind, data_sort=sort)


def _content(column: Column, value: Any) -> str:
    if isinstance(value, Figure) and not math.isnan(value.value) and value.kind != "bound":
        ends = f"{100 * value.low:.0f}&ndash;{100 * value.high:.0f}"
        return f'{100 * value.value:.1f} <span class="interval">({ends})</span>'
    written = column.write(value)
    return escaped(written) if column.kind != "text" else isolated(written)


def _sort(value: Any) -> str | None:
    """What to sort by, where it is not what is shown."""
    if isinstance(value, Markup):
        value = value.sort
        if isinstance(value, str):
            return value
    if isinstance(value, Figure):
        value = value.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return "" if math.isnan(value) else f"{value:.6g}"
