"""The published tables that can be regenerated, by name.

A table is a module of this package with a function ``run(report) -> PaperResult``, where ``report`` takes a
line of text whenever a new stage begins; a module with several closely related tables has
``run(report, table)``. To add one, write the module and add a line to ``PAPERS``; it is imported only when
somebody runs it.
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
    """What can be run: its name, what it shows, the collections it needs, the module that does it.

    `table` says which one of a module with several. `plot` is true where it can be drawn as well.
    """

    name: str
    title: str
    corpora: tuple[str, ...]
    module: str
    table: str | None = None
    plot: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key not in ("module", "table")}


_REUTERS, _WEBKB, _OHSUMED = ("reuters21578",), ("webkb",), ("ohsumed",)
_NEWSGROUPS = ("20newsgroups",)
_ADULT = ("a1a", "a2a", "a3a", "a4a", "a7a", "a8a", "a9a")
_WEB = ("w1a", "w4a", "w6a", "w7a", "w8a")


PAPERS = (
    Paper(
        "joachims-4.1",
        "Joachims, Table 4.1: normalized inverse margins of text-classification tasks",
        (*_REUTERS, *_WEBKB, *_OHSUMED),
        "joachims.table_4_1",
    ),
    Paper(
        "joachims-figure-4.2",
        "Joachims, Figure 4.2: learning without the best features",
        _REUTERS,
        "joachims.table_4_2",
        plot=True,
    ),
    *(
        Paper(
            f"joachims-{table}",
            f"Joachims, Table {table}: estimates and hold-out tests on {data}",
            corpora,
            "joachims.table_5_1",
            table,
        )
        for table, data, corpora in (
            ("5.1", "Reuters-21578", _REUTERS),
            ("5.2", "WebKB", _WEBKB),
            ("5.3", "Ohsumed", _OHSUMED),
        )
    ),
    Paper(
        "joachims-5.4",
        "Joachims, Table 5.4: retraining steps of exact leave-one-out",
        (*_REUTERS, *_WEBKB, *_OHSUMED),
        "joachims.table_5_4",
    ),
    *(
        Paper(
            f"joachims-figure-{figure}",
            f"Joachims, Figure {figure}: estimates against the size of the training set, {topic}",
            _REUTERS,
            "joachims.figures_5",
            figure,
            plot=True,
        )
        for figure, topic in (("5.2", "earn"), ("5.3", "acq"), ("5.4", "money-fx"))
    ),
    *(
        Paper(
            f"joachims-{table}",
            f"Joachims, Table {table}: {what}",
            (*_REUTERS, *_WEBKB, *_OHSUMED),
            "joachims.table_6_1",
            table,
        )
        for table, what in (
            ("6.1", "selecting the representation by xi-alpha and leave-one-out"),
            ("6.2", "representations and how often each is selected"),
            ("6.3", "selecting C by xi-alpha and leave-one-out"),
            ("6.4", "values of C and how often each is selected"),
            ("6.5", "selecting the width of an RBF kernel by xi-alpha and leave-one-out"),
            ("6.6", "widths of an RBF kernel and how often each is selected"),
        )
    ),
    Paper(
        "joachims-6.7", "Joachims, Table 6.7: PRBEP of SVMs on Reuters-21578", _REUTERS, "joachims.table_6_7"
    ),
    Paper("joachims-6.8", "Joachims, Table 6.8: PRBEP of SVMs on WebKB", _WEBKB, "joachims.table_6_8", "6.8"),
    Paper(
        "joachims-6.9", "Joachims, Table 6.9: PRBEP of SVMs on Ohsumed", _OHSUMED, "joachims.table_6_8", "6.9"
    ),
    Paper(
        "joachims-figure-7.3",
        "Joachims, Figure 7.3: a transductive SVM on a TCat-concept",
        (),
        "joachims.table_7_3",
        plot=True,
    ),
    *(
        Paper(
            f"joachims-figure-{figure}",
            f"Joachims, Figure {figure}: inductive and transductive SVMs with few labels on {data}",
            corpora,
            "joachims.table_7_5",
            figure,
        )
        for figure, data, corpora in (
            ("7.5", "Reuters-21578", _REUTERS),
            ("7.8", "WebKB", _WEBKB),
            ("7.11", "Ohsumed", _OHSUMED),
        )
    ),
    *(
        Paper(
            f"joachims-figure-{figure}",
            f"Joachims, Figure {figure}: {what}",
            corpora,
            "joachims.table_7_6",
            figure,
            plot=True,
        )
        for figure, what, corpora in (
            ("7.6", "transductive SVMs against the number of training documents, Reuters-21578", _REUTERS),
            ("7.7", "transductive SVMs against the number of test documents, Reuters-21578", _REUTERS),
            ("7.9", "transductive SVMs against the number of training documents, WebKB course", _WEBKB),
            ("7.10", "transductive SVMs against the number of training documents, WebKB project", _WEBKB),
            ("7.12", "what the alarm of transductive SVMs compares, WebKB", _WEBKB),
        )
    ),
    *(
        Paper(
            f"joachims-{table}",
            f"Joachims, Table {table}: training time and support vectors on {data}",
            corpora,
            "joachims.table_8_1",
            table,
        )
        for table, data, corpora in (
            ("8.1", "Reuters-21578", _REUTERS),
            ("8.2", "WebKB", _WEBKB),
            ("8.3", "Ohsumed", _OHSUMED),
        )
    ),
    *(
        Paper(
            f"joachims-{table}",
            f"Joachims, Table {table}: training time against n, {data}",
            corpora,
            "joachims.table_8_4",
            table,
            plot=True,
        )
        for table, data, corpora in (
            ("8.4", "adult, linear", _ADULT),
            ("8.5", "adult, RBF", _ADULT),
            ("8.6", "web, linear", _WEB),
            ("8.7", "web, RBF", _WEB),
            ("8.8", "Ohsumed, linear", _OHSUMED),
            ("8.9", "Ohsumed, RBF", _OHSUMED),
        )
    ),
    *(
        Paper(
            f"joachims-figure-{figure}",
            f"Joachims, Figure {figure}: training time against {what}, Ohsumed",
            _OHSUMED,
            "joachims.figures_8",
            figure,
            plot=True,
        )
        for figure, what in (
            ("8.4", "the size of the working set"),
            ("8.5", "the size of the cache"),
            ("8.6", "n, with and without shrinking"),
        )
    ),
    *(
        Paper(
            f"joachims-{table}",
            f"Joachims, Table {table}: training time and switches of transductive SVMs on {data}",
            corpora,
            "joachims.table_9_1",
            table,
        )
        for table, data, corpora in (
            ("9.1", "Reuters-21578", _REUTERS),
            ("9.2", "WebKB", _WEBKB),
            ("9.3", "Ohsumed", _OHSUMED),
        )
    ),
    *(
        Paper(
            f"joachims-figure-{figure}",
            f"Joachims, Figure {figure}: {what}",
            _REUTERS,
            "joachims.figures_9",
            figure,
            plot=True,
        )
        for figure, what in (
            ("9.3", "the margin of transductive SVMs against the number of switches"),
            ("9.4", "training time of transductive SVMs against the number of training documents"),
            ("9.5", "training time of transductive SVMs against the number of test documents"),
        )
    ),
    *(
        Paper(
            f"dasgupta-figure-{figure}",
            f"Dasgupta, Figure {figure}: {what}",
            corpora,
            module,
            figure,
            plot=True,
        )
        for figure, what, corpora, module in (
            ("2", "least squares on 20 Newsgroups against lambda", _NEWSGROUPS, "dasgupta.figures_5"),
            ("3", "feature selection on small tasks", _NEWSGROUPS, "dasgupta.figures_3"),
            ("4", "spread, singular vectors and distances on small tasks", _NEWSGROUPS, "dasgupta.figures_3"),
            ("5", "feature selection on large collections", (*_NEWSGROUPS, *_REUTERS), "dasgupta.figures_5"),
        )
    ),
    *(
        Paper(f"zhang-{table}", f"Zhang, {title}", corpora, "zhang.tables", table, plot=table == "figure-1")
        for table, title, corpora in (
            ("1", "Table 1: break-even points with 10,000 features", _REUTERS),
            ("2", "Table 2: break-even points with all features", _REUTERS),
            ("figure-1", "Figure 1: precision and recall", _REUTERS),
            ("webkb", "section 4: accuracy on WebKB, seven classes", _WEBKB),
        )
    ),
    Paper(
        "zhang-readings",
        "Zhang, Table 1: what it leaves open, read in several ways, on training documents",
        _REUTERS,
        "zhang.readings",
    ),
    *(
        Paper(f"dagan-{table}", f"Dagan, Karov, Roth, Table {table}: {what}", _REUTERS, "dagan.tables", table)
        for table, what in (("1", "versions of the algorithms"), ("2", "break-even points"))
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


def check_drawable(name: str) -> None:
    """Refuse a table that has no curves to draw, before it is computed."""
    if not find_paper(name).plot:
        drawable = ", ".join(paper.name for paper in PAPERS if paper.plot)
        raise UsageError(
            f"{name} is a table without curves: there is no plot of it. Plots exist of {drawable}."
        )


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
    which = () if paper.table is None else (paper.table,)
    return cast(PaperResult, module.run(progress or (lambda stage: None), *which))
