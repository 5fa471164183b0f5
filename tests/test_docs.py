"""The Python in the documentation runs, and prints what its comments say."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path

import pytest

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


def test_every_file_that_papers_md_names_exists():
    text = (DOCS / "papers.md").read_text()
    root = DOCS.parent
    for name in set(re.findall(r"`((?:\w+/)*\w+\.(?:py|hpp))`", text)):
        assert (root / "src" / "widemargin" / name).exists() or (root / name).exists(), name
