"""The published tables that can be regenerated, by name.

A table is a module of this package with a function ``run(report) -> PaperResult``, where ``report`` takes a
line of text whenever a new stage begins. To add one, write the module and add a line to ``PAPERS``; it is
imported only when somebody runs it.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, cast

from widemargin.errors import UsageError
from widemargin.papers.result import PaperResult

Report = Callable[[str], None]


@dataclass(frozen=True)
class Paper:
    """What can be run: its name, what it shows, the collections it needs, the module that does it."""

    name: str
    title: str
    corpora: tuple[str, ...]
    module: str

    def to_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "module"}


PAPERS = (
    Paper(
        "joachims-6.7",
        "Joachims, Table 6.7: PRBEP of linear SVMs on Reuters-21578",
        ("reuters21578",),
        "joachims_6_7",
    ),
)


def list_papers() -> list[Paper]:
    """Every published table that can be regenerated."""
    return list(PAPERS)


def find_paper(name: str) -> Paper:
    """The entry called `name`."""
    for paper in PAPERS:
        if paper.name == name:
            return paper
    names = [paper.name for paper in PAPERS]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise UsageError(f"There is no published table {name!r}. {hint}The tables are {', '.join(names)}.")


def run_paper(name: str, progress: Report | None = None) -> PaperResult:
    """Regenerate a published table.

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
    return cast(PaperResult, module.run(progress or (lambda stage: None)))
