"""The registry of published tables, and what a result looks like."""

from __future__ import annotations

import importlib
import inspect
import json
import types

import pytest

from widemargin.documents.corpora import list_corpora
from widemargin.errors import UsageError
from widemargin.papers import Cell, PaperResult, list_papers, registry, run_paper
from widemargin.papers.result import UNPUBLISHED

RESULT = PaperResult(
    "table-1",
    "Table 1",
    [Cell("earn", "C=0.5", 98.0, 98.04), Cell("earn", "C=1", 98.2, 97.0), Cell("acq", "C=1", 95.6, 95.6)],
    ["A note."],
)


def test_every_paper_names_a_module_and_corpora_that_exist():
    known = {description.name for description in list_corpora()}
    for paper in list_papers():
        assert registry.find_paper(paper.name) is paper
        assert set(paper.corpora) <= known
        module = importlib.import_module(f"widemargin.papers.{paper.module}")
        parameters = list(inspect.signature(module.run).parameters.values())
        required = [parameter for parameter in parameters if parameter.default is inspect.Parameter.empty]
        assert len(required) == (1 if paper.table is None else 2), "the report, and which of several tables"
        assert set(paper.to_dict()) == {"name", "title", "corpora", "plot"}
    assert len({paper.name for paper in list_papers()}) == len(list_papers())


def test_every_paper_is_run_by_a_test(entries_run):
    assert entries_run == {paper.name for paper in list_papers()}


def test_an_unknown_name_suggests_a_known_one():
    with pytest.raises(UsageError, match=r"Did you mean 'joachims-6\.7'"):
        run_paper("joachims_6.7")


def test_a_table_is_imported_and_told_when_stages_begin(monkeypatch):
    stages = []

    def run(report):
        report("Reading")
        return RESULT

    paper = registry.Paper("table-1", "Table 1", (), "table_1")
    monkeypatch.setattr(registry, "PAPERS", (paper,))
    monkeypatch.setattr(registry.importlib, "import_module", lambda name: types.SimpleNamespace(run=run))
    assert run_paper("table-1", stages.append) is RESULT
    assert run_paper("table-1") is RESULT
    assert stages == ["Reading"]


def test_one_table_of_several_in_a_module_is_named(monkeypatch):
    paper = registry.Paper("table-2", "Table 2", (), "tables", "2")
    monkeypatch.setattr(registry, "PAPERS", (paper,))
    asked = []

    def run(report, table):
        asked.append(table)
        return RESULT

    monkeypatch.setattr(registry.importlib, "import_module", lambda name: types.SimpleNamespace(run=run))
    assert run_paper("table-2") is RESULT
    assert asked == ["2"]


def test_only_what_has_curves_can_be_drawn():
    registry.check_drawable("joachims-8.4")
    with pytest.raises(UsageError, match=r"no curves to plot.*joachims-figure-8\.6"):
        registry.check_drawable("joachims-6.7")


def test_json_has_the_four_keys_of_a_cell():
    plain = json.loads(json.dumps(RESULT.to_dict()))
    assert plain["name"] == "table-1"
    assert plain["cells"][0] == {"row": "earn", "column": "C=0.5", "published": 98.0, "ours": 98.04}
    assert plain["notes"] == ["A note."]


def test_a_figure_that_the_paper_does_not_print_is_null_and_a_dash():
    cells = [Cell("q=2", "s", UNPUBLISHED, 0.126), Cell("q=4", "s", 0.5, 0.25)]
    result = PaperResult("f", "F", cells, digits={"s": 2})
    assert json.loads(json.dumps(result.to_dict()))["cells"][0]["published"] is None
    assert result.table().plain().splitlines()[2].split() == ["q=2", "-", "0.13", "-"]


def test_a_column_without_any_printed_figure_is_ours_alone():
    result = PaperResult("f", "F", [Cell("q=2", "s", UNPUBLISHED, 0.126)], digits={"s": 2})
    assert [line.split() for line in result.table().plain().splitlines()] == [["F"], ["s"], ["q=2", "0.13"]]


def test_the_table_has_published_ours_and_difference_and_room_for_missing_cells():
    lines = RESULT.table().plain().splitlines()
    assert lines[0] == "Table 1"
    assert lines[1].split()[:4] == ["C=0.5:", "published", "ours", "difference"]
    assert lines[2].split() == ["earn", "98.0", "98.0", "0.0", "98.2", "97.0", "-1.2"]
    assert lines[3].split() == ["acq", "-", "-", "-", "95.6", "95.6", "0.0"]
    assert lines[4] == "A note."


def test_a_cell_is_found_by_row_and_column():
    assert RESULT.cell("earn", "C=1").difference == pytest.approx(-1.2)
