"""The confusion matrix, and the documents behind its cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from widemargin._printable import printable
from widemargin.report.contents import Confusions, ModelReport, Tested
from widemargin.report.html.data_tables import data_table
from widemargin.report.html.elements import Markup, paragraph, tag
from widemargin.report.html.escaping import escaped, isolated
from widemargin.report.tables import Column, Table

_MOST, _PAIRS, _BEHIND = 20, 200, 60
_NONE = "(none)"


def confusion(found: ModelReport, tested: Tested) -> str:
    """The matrix of the categories with the most errors, and the list of all confused pairs."""
    cells = tested.confusions
    shown = _shown(cells, len(found.labels))
    words = (
        "Rows are what documents are, columns what the model says. Choose a number to read the documents "
        "behind it."
    )
    if not cells.exclusive:
        words += (
            " A document with several labels counts for every label that is found, and for every "
            "pair of a label "
            f"that is missed and one that is wrong; {_NONE} stands where there is no such label."
        )
    several = len(shown) < len({j for cell in cells.cells for j in cell if j >= 0})
    matrix = _matrix(found, cells, shown)
    note = paragraph(
        f"The {len(shown)} categories with the most errors; the list below has all pairs.", "note"
    )
    documents = (
        '<div id="behind" class="needs-script" tabindex="-1" role="region" aria-label="Documents of '
        'the chosen cell" '
        'aria-live="polite"></div>'
        '<p class="only-without-script missing">The documents behind the numbers need JavaScript.</p>'
    )
    return paragraph(words) + matrix + (note if several else "") + documents + _pairs(found, cells)


def _shown(cells: Confusions, labels: int) -> list[int]:
    """The categories with the most errors, in their order."""
    errors = [0] * labels
    for (truth, decided), documents in cells.cells.items():
        if truth == decided:
            continue
        for j in (truth, decided):
            if j >= 0:
                errors[j] += len(documents)
    if labels <= _MOST:
        return list(range(labels))
    worst = sorted(range(labels), key=lambda j: (-errors[j], j))[:_MOST]
    return sorted(j for j in worst if errors[j])


def _matrix(found: ModelReport, cells: Confusions, shown: list[int]) -> str:
    with_none = any(-1 in cell for cell in cells.cells)
    places = [*shown, *([-1] if with_none else [])]
    head = "".join(f'<th scope="col"><span>{isolated(_label(found, j))}</span></th>' for j in places)
    rows = []
    for i in places:
        row = "".join(_cell(found, cells, i, j) for j in places)
        rows.append(f'<tr><th scope="row">{isolated(_label(found, i))}</th>{row}</tr>')
    table = (
        '<table id="matrix" class="matrix"><caption class="hidden">Confusion matrix</caption>'
        f'<thead><tr><th scope="col">is, and is '
        f"called</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Confusion matrix")


def _cell(found: ModelReport, cells: Confusions, i: int, j: int) -> str:
    documents = cells.cells.get((i, j), [])
    if not documents:
        return "<td></td>"
    kind = "right" if i == j else "wrong"
    strength = 1 + min(3, len(str(len(documents))))
    return tag("td", _button(found, i, j, len(documents)), class_=f"{kind} strength-{strength}")


def _button(found: ModelReport, i: int, j: int, count: int) -> str:
    """The number; with a script it is a button."""
    name = f"{count:,} documents: {_label(found, i)}, called {_label(found, j)}"
    return tag("span", f"{count:,}", data_cell=f"{i},{j}", data_name=name)


def _label(found: ModelReport, j: int) -> str:
    label = _NONE if j < 0 else found.labels[j]
    return label if len(label) <= 40 else label[:37] + "..."


def _pairs(found: ModelReport, cells: Confusions) -> str:
    wrong = sorted(
        ((len(documents), cell) for cell, documents in cells.cells.items() if cell[0] != cell[1]),
        key=lambda pair: (-pair[0], pair[1]),
    )
    if not wrong:
        return paragraph("The model makes no error on the test documents.")
    rows: list[Sequence[Any]] = [
        [_label(found, i), _label(found, j), Markup(_button(found, i, j, count), count)]
        for count, (i, j) in wrong[:_PAIRS]
    ]
    hidden = len(wrong) - len(rows)
    table = Table(
        "",
        [Column("is"), Column("is called"), Column("documents", "count")],
        rows,
        notes=[f"{hidden:,} rarer pairs are not listed."] if hidden else [],
    )
    return "<h3>All confusions</h3>" + data_table(
        table,
        "Confusions, most frequent first",
        key="pairs",
        searchable=True,
        hidden_caption=True,
        noun="pairs",
    )


def confusion_data(tested: Tested) -> dict[str, Any]:
    """The documents behind the cells: for each cell their numbers, and the documents that are named."""
    cells: dict[str, list[int]] = {}
    used: dict[int, int] = {}
    for (i, j), documents in tested.confusions.cells.items():
        behind = documents[:_BEHIND]
        cells[f"{i},{j}"] = [len(documents), *(used.setdefault(number, len(used)) for number in behind)]
    rows = []
    for number in used:
        case = tested.cases[number]
        text = None if case.text is None else printable(case.text, keep="\n\t")
        rows.append([_clipped(case.name), text, case.truth, case.decided, int(case.shortened)])
    return {"cells": cells, "cases": rows}


def _clipped(name: str) -> str:
    name = printable(name)
    return name if len(name) <= 80 else name[:77] + "..."


def none_label() -> str:
    """What stands where there is no label, escaped."""
    return escaped(_NONE)
