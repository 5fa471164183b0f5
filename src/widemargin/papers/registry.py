"""The published tables that can be reproduced, by name.

A table is a module of this package with a function ``run(report) -> PaperResult``. It calls ``report`` with a
line of text when a new stage begins. A module with several related tables has ``run(report, table)``. To add
a table, write the module and add a row to ``index.csv``. Modules are imported only when they run.
"""

from __future__ import annotations

import csv
import importlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any, cast

from widemargin.documents.wording import did_you_mean
from widemargin.errors import UsageError
from widemargin.papers.result import PaperResult

Report = Callable[[str], None]


@dataclass(frozen=True)
class Paper:
    """A table that can be run: its name, what it shows, the collections it needs, and its module.

    `table` is the name within a module of several tables. `plot` is true if it can be drawn.
    """

    name: str
    title: str
    corpora: tuple[str, ...]
    module: str
    table: str | None = None
    plot: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key not in ("module", "table")}


def _read_index() -> tuple[Paper, ...]:
    index = files("widemargin.papers").joinpath("index.csv").read_text(encoding="utf-8")
    return tuple(
        Paper(
            name=row["name"],
            title=row["title"],
            corpora=tuple(row["corpora"].split()),
            module=row["module"],
            table=row["table"] or None,
            plot=row["plot"] == "yes",
        )
        for row in csv.DictReader(index.splitlines())
    )


PAPERS = _read_index()


def list_papers() -> list[Paper]:
    """Every published table that can be reproduced."""
    return list(PAPERS)


def find_paper(name: str) -> Paper:
    """The entry called `name`."""
    for paper in PAPERS:
        if paper.name == name:
            return paper
    names = [paper.name for paper in PAPERS]
    hint = did_you_mean(name, names)
    raise UsageError(f"There is no published table {name!r}. {hint}The tables are {', '.join(names)}.")


def check_drawable(name: str) -> None:
    """Raise an error for a table that cannot be drawn, before it is computed."""
    if not find_paper(name).plot:
        drawable = ", ".join(paper.name for paper in PAPERS if paper.plot)
        raise UsageError(f"{name} has no curves to plot. These have: {drawable}.")


def run_paper(name: str, progress: Report | None = None) -> PaperResult:
    """Reproduce a published table.

    Parameters
    ----------
    name : such as "joachims-6.7"
    progress : called with a line of text when a new stage begins

    Raises
    ------
    MissingFileError
        A collection that it needs is not on this machine.
    """
    paper = find_paper(name)
    module = importlib.import_module(f"widemargin.papers.{paper.module}")
    which = () if paper.table is None else (paper.table,)
    return cast(PaperResult, module.run(progress or (lambda stage: None), *which))
