"""A label hierarchy for people: its tree with counts, and figures level by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from widemargin.labels.hierarchy import LabelTree
from widemargin.report.tables import Column, Table


def levels_table(
    levels: Sequence[Mapping[str, Any]],
    estimated: Sequence[Mapping[str, Any]] = (),
    notes: Sequence[str] = (),
) -> Table:
    """One row per level of :func:`widemargin.measure.levels.by_level`, as dicts.

    Parameters
    ----------
    estimated : the same from training, whose F1 is shown beside
    notes : remarks below the table
    """
    columns = [Column("level"), Column("labels", "count"), Column("examples", "count")]
    columns += [Column(name, "percent") for name in ("precision", "recall", "F1", "macro-F1", "right")]
    expected = {each["level"]: each["micro"]["f1"] for each in estimated}
    if expected:
        columns.append(Column("estimated: F1", "percent"))
    rows: list[Sequence[Any]] = []
    for each in levels:
        row = [each["level"], each["labels"], each["examples"], *each["micro"].values()]
        row += [each["macro"]["f1"], each["right"]]
        rows.append(row + ([expected.get(each["level"])] if expected else []))
    return Table("", columns, rows, notes=list(notes))


def tree_table(tree: LabelTree, most: int | None = None) -> Table:
    """One row per label, indented below its parent, with its numbers of training documents.

    Parameters
    ----------
    most : show at most this many rows
    """
    columns = [Column("label"), Column("documents", "count"), Column("most specific", "count")]
    rows: list[Sequence[Any]] = []
    for node, name in in_order(tree):
        indent = "  " * (int(tree.levels[node]) - 1)
        rows.append([indent + name, int(tree.documents[node]), int(tree.own[node])])
    notes = []
    if most is not None and len(rows) > most:
        notes.append(f"... and {len(rows) - most} more labels; --json has them all.")
        rows = rows[:most]
    return Table("", columns, rows, notes=notes)


def tree_list(tree: LabelTree) -> list[dict[str, Any]]:
    """The same for JSON."""
    names = tree.nodes.tolist()
    return [
        {
            "label": names[node],
            "parent": None if tree.parents[node] < 0 else names[int(tree.parents[node])],
            "level": int(tree.levels[node]),
            "documents": int(tree.documents[node]),
            "most_specific": int(tree.own[node]),
        }
        for node, _ in in_order(tree)
    ]


def in_order(tree: LabelTree) -> list[tuple[int, str]]:
    """The nodes with the last parts of their paths, each one followed by what is below it."""
    found = []
    waiting = [int(node) for node in tree.children[-1][::-1]]
    while waiting:
        node = waiting.pop()
        if not tree.stops[node]:
            found.append((node, str(tree.nodes[node]).split(tree.separator)[-1]))
            waiting += [int(child) for child in tree.children[node][::-1]]
    return found
