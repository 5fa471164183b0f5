"""Tables for terminals (rich), as plain text, and as records for JSON.

All formatting of figures is here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from widemargin.measure.intervals import Figure

if TYPE_CHECKING:
    from rich.table import Table as RichTable

UNDEFINED = "-"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    `kind` is the format of its values: text, a count with thousands separators, a percentage, a decimal
    number with `digits`, a difference with its sign, or a figure: a percentage with its interval, or as a
    lower bound.
    """

    name: str
    kind: Literal["text", "count", "percent", "decimal", "difference", "figure"] = "text"
    digits: int = 1

    def write(self, value: Any) -> str:
        """Format `value`; "-" if it is undefined."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return UNDEFINED
        if isinstance(value, str):
            return value
        if self.kind == "figure":
            return _figure(value)
        if self.kind == "count":
            return f"{value:,}"
        if self.kind == "percent":
            return f"{100 * value:.{self.digits}f}"
        if self.kind == "decimal":
            return f"{value:.{self.digits}f}"
        if self.kind == "difference":
            # A difference that rounds to 0 has no sign.
            rounded = round(value, self.digits)
            return f"{rounded:+.{self.digits}f}" if rounded else f"{0:.{self.digits}f}"
        return str(value)


@dataclass
class Table:
    """Columns and rows of raw values; `footer` holds rows such as averages.

    Examples
    --------
    >>> columns = [Column("topic"), Column("F1", "percent")]
    >>> print(Table("Topics", columns, [["wheat", 0.8675], ["corn", None]]).plain())
    Topics
    topic    F1
    wheat  86.8
    corn      -
    """

    title: str
    columns: list[Column]
    rows: list[Sequence[Any]]
    footer: list[Sequence[Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def written(self) -> list[list[str]]:
        """All rows as strings, those of the footer last."""
        return [
            [column.write(value) for column, value in zip(self.columns, row, strict=True)]
            for row in [*self.rows, *self.footer]
        ]

    def records(self) -> list[dict[str, Any]]:
        """One dictionary of raw values per row; undefined values are None."""
        return [
            {column.name: _plain(value) for column, value in zip(self.columns, row, strict=True)}
            for row in [*self.rows, *self.footer]
        ]

    def plain(self) -> str:
        """Aligned text without any markup."""
        lines = [[column.name for column in self.columns], *self.written()]
        widths = [max(len(line[j]) for line in lines) for j in range(len(self.columns))]
        text = [
            "  ".join(
                cell.ljust(width) if column.kind == "text" else cell.rjust(width)
                for cell, width, column in zip(line, widths, self.columns, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join(([self.title] if self.title else []) + text + self.notes)

    def _repr_html_(self) -> str:
        """For notebooks."""
        from widemargin.report.notebook.style import framed
        from widemargin.report.notebook.tables import table_html

        return framed(table_html(self))

    def rich(self) -> RichTable:
        """The table for a terminal."""
        from rich import box
        from rich.markup import escape
        from rich.table import Table as RichTable

        table = RichTable(
            title=escape(self.title) or None,
            caption=escape("\n".join(self.notes)) or None,
            box=box.SIMPLE_HEAD,
            title_justify="left",
            caption_justify="left",
        )
        lines = self.written()
        for j, column in enumerate(self.columns):
            text = column.kind == "text"
            # A long header may be wrapped, a figure must not be.
            widest = max((len(line[j]) for line in lines), default=0)
            justify: Literal["left", "right"] = "left" if text else "right"
            table.add_column(escape(column.name), justify=justify, min_width=None if text else widest)
        for number, line in enumerate(lines):
            table.add_row(*map(escape, line), end_section=bool(self.footer) and number == len(self.rows) - 1)
        return table


def _figure(figure: Figure) -> str:
    if math.isnan(figure.value):
        return UNDEFINED
    if figure.kind == "bound":
        return f">= {100 * figure.value:.1f}"
    return f"{100 * figure.value:.1f} ({100 * figure.low:.0f}-{100 * figure.high:.0f})"


def _plain(value: Any) -> Any:
    if isinstance(value, Figure):
        return value.to_dict()
    return None if isinstance(value, float) and math.isnan(value) else value
