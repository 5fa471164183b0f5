"""A published table next to ours: the result of every module of this package."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.report.plots import Panel
from widemargin.report.tables import Column, Table

# `Cell.published` if the paper prints no figure, or only a curve.
UNPUBLISHED = float("nan")
SPREAD = "deviation"


@dataclass(frozen=True)
class Cell:
    """One figure of a published table, and the same figure measured here."""

    row: str
    column: str
    published: float
    ours: float

    @property
    def difference(self) -> float:
        return self.ours - self.published


def averaged(row: str, column: str, published: float, runs: NDArray[np.float64]) -> list[Cell]:
    """The mean of several runs, and the standard deviation of a run, which is undefined for a single run.

    Examples
    --------
    >>> [(cell.column, cell.ours) for cell in averaged("acq", "SVM", 67.8, np.array([66.0, 68.0, 70.0]))]
    [('SVM', 68.0), ('SVM deviation', 2.0)]
    """
    spread = float(runs.std(ddof=1)) if len(runs) > 1 else UNPUBLISHED
    return [
        Cell(row, column, published, float(runs.mean())),
        Cell(row, f"{column} {SPREAD}", UNPUBLISHED, spread),
    ]


@dataclass(frozen=True)
class PaperResult:
    """All cells of a table.

    `notes` are the differences from the published setting, `digits` the decimals of a column if not 1, and
    `panels` the content of a plot, if there is one.
    """

    name: str
    title: str
    cells: list[Cell]
    notes: list[str] = field(default_factory=list)
    digits: Mapping[str, int] = field(default_factory=dict)
    panels: list[Panel] = field(default_factory=list)

    def cell(self, row: str, column: str) -> Cell:
        """The cell at a row and a column."""
        return next(cell for cell in self.cells if (cell.row, cell.column) == (row, column))

    def to_dict(self) -> dict[str, Any]:
        """``{"name", "cells": [{"row", "column", "published", "ours"}], "notes"}``, None for no figure."""
        return {
            "name": self.name,
            "cells": [
                {**asdict(cell), "published": _figure(cell.published), "ours": _figure(cell.ours)}
                for cell in self.cells
            ],
            "notes": self.notes,
        }

    def table(self) -> Table:
        """Published, ours and the difference side by side, in the layout of the published table.

        If no figures are published, as for curves, there is only the column of ours.
        """
        rows = list(dict.fromkeys(cell.row for cell in self.cells))
        names = list(dict.fromkeys(cell.column for cell in self.cells))
        found = {(cell.row, cell.column): cell for cell in self.cells}
        compared = {cell.column for cell in self.cells if not math.isnan(cell.published)}
        columns = [Column("")]
        for name in names:
            digits = self.digits.get(name, 1)
            if name in compared:
                columns += [
                    Column(f"{name}: published", "decimal", digits),
                    Column("ours", "decimal", digits),
                    Column("difference", "difference", digits),
                ]
            else:
                columns.append(Column(name, "decimal", digits))
        lines: list[list[Any]] = []
        for row in rows:
            line: list[Any] = [row]
            for name in names:
                cell = found.get((row, name))
                if name in compared:
                    line += [cell.published, cell.ours, cell.difference] if cell else [None, None, None]
                else:
                    line.append(cell.ours if cell else None)
            lines.append(line)
        return Table(self.title, columns, list(lines), notes=self.notes)


def _figure(value: float) -> float | None:
    return None if math.isnan(value) else value
