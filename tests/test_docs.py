"""The Python in the documentation runs, and prints what its comments say."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path

import pytest

from widemargin.papers.registry import list_papers

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.needs_corpus("reuters21578", "french-novels")
@pytest.mark.filterwarnings("ignore:20 of 115 labels .* have one example:widemargin.errors.DataWarning")
def test_the_pipeline_runs_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what it writes
    names: dict[str, object] = {}
    checked = 0
    for block in re.findall(r"```python\n(.*?)```", (DOCS / "pipeline.md").read_text(), re.DOTALL):
        *statements, last = ast.parse(block).body
        exec(compile(ast.Module(statements, []), "pipeline.md", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "pipeline.md", "eval"), names)
            _, _, promised = block.rstrip().splitlines()[-1].partition("#")
            if promised:
                assert value == ast.literal_eval(promised.strip())
                checked += 1
        else:
            exec(compile(ast.Module([last], []), "pipeline.md", "exec"), names)
    assert checked >= 3


def test_the_guide_to_few_labels():
    results = doctest.testfile(
        str(DOCS / "few_labels.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert results.attempted >= 10
    assert results.failed == 0


def test_the_guide_to_estimates():
    results = doctest.testfile(str(DOCS / "estimates.md"), module_relative=False)
    assert results.attempted >= 5
    assert results.failed == 0


def test_the_guide_to_diagnoses():
    results = doctest.testfile(str(DOCS / "diagnose.md"), module_relative=False)
    assert results.attempted >= 5
    assert results.failed == 0


def test_the_guide_to_comparing():
    results = doctest.testfile(str(DOCS / "comparing.md"), module_relative=False)
    assert results.attempted >= 5
    assert results.failed == 0


def test_the_guide_to_hierarchies():
    results = doctest.testfile(str(DOCS / "hierarchy.md"), module_relative=False)
    assert results.attempted >= 8
    assert results.failed == 0


def test_the_guide_to_theory():
    results = doctest.testfile(str(DOCS / "theory.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert results.attempted >= 10
    assert results.failed == 0


NUMBERED = {
    "joachims": {
        "Table": "2.1 4.1-4.4 5.1-5.4 6.1-6.9 8.1-8.9 9.1-9.3",
        "Figure": "2.1-2.2 3.1-3.2 4.1-4.6 5.1-5.4 7.1-7.13 8.1-8.6 9.1-9.5",
    },
    "zhang": {"Table": "1-2", "Figure": "1-1"},
    "dagan": {"Table": "1-2"},
    "teytaud": {},
    "dasgupta": {"Table": "1-1", "Figure": "1-5"},
}


def numbers(ranges):
    """ "8.1-8.3 9.1" as 8.1, 8.2, 8.3 and 9.1."""
    for each in ranges.split():
        first, _, last = each.partition("-")
        chapter, _, start = first.rpartition(".")
        for number in range(int(start), int((last or first).rpartition(".")[2]) + 1):
            yield f"{chapter}.{number}" if chapter else str(number)


@pytest.mark.parametrize("document", NUMBERED)
def test_papers_md_names_every_table_and_figure(document):
    _, listed = (DOCS / "papers.md").read_text().split("## The five documents, section by section")
    (part,) = re.findall(rf"^### {document}$(.*?)(?=^### |\Z)", listed, re.DOTALL | re.MULTILINE)
    rows = [line.split("|")[1:-1] for line in part.splitlines() if line.startswith("|")]
    expected = {f"{kind} {number}" for kind, given in NUMBERED[document].items() for number in numbers(given)}
    found = [cells[0].strip() for cells in rows if re.fullmatch(r"(Table|Figure) [0-9.]+", cells[0].strip())]
    assert set(found) == expected
    assert len(found) == len(expected)
    assert all(len(cells) == 3 and all(cell.strip() for cell in cells) for cells in rows)


def test_papers_md_names_only_papers_that_can_be_run_and_all_of_them():
    text = (DOCS / "papers.md").read_text()
    known = {paper.name for paper in list_papers()}
    named = set(re.findall(rf"`((?:{'|'.join(NUMBERED)})-[a-z0-9.-]+)`", text))
    assert named == known


def test_every_file_that_papers_md_names_exists():
    text = (DOCS / "papers.md").read_text()
    root = DOCS.parent
    for name in set(re.findall(r"`((?:\w+/)*\w+\.(?:py|hpp))`", text)):
        assert (root / "src" / "widemargin" / name).exists() or (root / name).exists(), name
