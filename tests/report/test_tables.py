"""Figures as people read them."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from widemargin.report.tables import Column, Table


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (Column("x"), "wheat", "wheat"),
        (Column("x"), 3, "3"),
        (Column("x", "count"), 9603, "9,603"),
        (Column("x", "percent"), 0.87449, "87.4"),
        (Column("x", "percent"), 1.0, "100.0"),
        (Column("x", "decimal", 3), 0.12345, "0.123"),
        (Column("x", "difference"), 0.26, "+0.3"),
        (Column("x", "difference"), -0.26, "-0.3"),
        (Column("x", "difference"), -0.04, "0.0"),
        (Column("x", "percent"), float("nan"), "-"),
        (Column("x", "count"), None, "-"),
    ],
)
def test_how_a_figure_is_written(column, value, text):
    assert column.write(value) == text


def rendered(table, width=100):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(table.rich())
    return console.file.getvalue()


def test_a_rich_table_shows_markup_literally():
    table = Table("[bold]", [Column("label"), Column("n", "count")], [["[red]x[/red]", 1]], notes=["[i]"])
    text = rendered(table)
    for literal in ("[bold]", "[red]x[/red]", "[i]"):
        assert literal in text


def test_a_narrow_terminal_breaks_headers_but_no_figure():
    columns = [Column("label"), *(Column(f"a long header {j}", "count") for j in range(4))]
    text = rendered(Table("", columns, [["x", 123456, 1, 2, 3]]), width=40)
    assert "a long header" not in text
    assert "123,456" in text


def test_the_footer_stands_apart():
    table = Table("", [Column("label"), Column("n", "count")], [["a", 1], ["b", 2]], footer=[["all", 3]])
    assert table.plain().splitlines() == ["label  n", "a      1", "b      2", "all    3"]
    assert [record["label"] for record in table.records()] == ["a", "b", "all"]
    lines = [line.split() for line in rendered(table).splitlines()]
    assert lines[lines.index(["b", "2"]) + 1] == []


def test_records_are_json_values():
    table = Table("", [Column("x", "percent")], [[float("nan")], [0.5]])
    assert table.records() == [{"x": None}, {"x": 0.5}]
