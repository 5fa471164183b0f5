"""The Python in the documentation runs, and prints what its comments say."""

from __future__ import annotations

import ast
import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import widemargin
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


def pages(marks: str) -> list[str]:
    """The pages that contain `marks`, which show that something in them can be run."""
    found = [
        path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md")) if marks in path.read_text()
    ]
    assert len(found) >= 5
    return found


@pytest.mark.parametrize("page", pages("\n>>> "))
def test_the_python_of_a_page_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what it writes
    shutil.copy(DOCS / "data/tickets.csv", tmp_path)
    results = doctest.testfile(
        str(DOCS / page), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert results.attempted >= 1
    assert results.failed == 0


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    """The folder that `widemargin demo` writes."""
    folder = tmp_path_factory.mktemp("demo") / "widemargin-demo"
    subprocess.run([sys.executable, "-m", "widemargin", "demo", "-o", folder, "--quiet"], check=True)
    return folder


SLOW = "<!-- slow"


@pytest.mark.parametrize("page", pages("```console"))
def test_the_commands_of_a_page_print_what_it_says(page, demo, tmp_path):
    run_commands(DOCS / page, demo, tmp_path, slow=False)


@pytest.mark.slow
@pytest.mark.needs_corpus("reuters21578")
@pytest.mark.parametrize("page", [page for page in pages("```console") if SLOW in (DOCS / page).read_text()])
def test_the_long_commands_of_a_page_print_what_it_says(page, demo, tmp_path):
    run_commands(DOCS / page, demo, tmp_path, slow=True)


def run_commands(page: Path, demo: Path, folder: Path, *, slow: bool) -> None:
    """Type the commands of a page one after the other, where the demo and the tickets are.

    Every line that the page shows must be printed, up to its numbers; others may be omitted, as "..." does.
    The demo changes with releases, and the lines about it with it: half of those must be printed.
    """
    shutil.copytree(demo, folder / "widemargin-demo")
    shutil.copy(DOCS / "data/tickets.csv", folder)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "200", "NO_COLOR": "1"}
    text = page.read_text()
    for block in re.finditer(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if text[: block.start()].rstrip().rpartition("\n")[2].startswith(SLOW) != slow:
            continue
        for typed, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block[1], re.MULTILINE):
            done = subprocess.run(
                typed, shell=True, cwd=folder, capture_output=True, text=True, env=environment, check=False
            )
            assert done.returncode == 0, f"{typed}\n{done.stderr}"
            printed = [without_numbers(line) for line in (done.stderr + done.stdout).splitlines()]
            missing = [
                line
                for line in shown.splitlines()
                if not any(matches(without_numbers(line), found) for found in [*printed, "", "..."])
            ]
            allowed = len(shown.splitlines()) / 2 if "demo" in typed or "demo" in shown else 0
            assert len(missing) <= allowed, (
                f"not printed: {missing}; {typed} prints\n{done.stderr}{done.stdout}"
            )


def without_numbers(line: str) -> str:
    """A line with every number as #, and single blanks.

    >>> without_numbers("earn    1,234  98.2 (97-99)  good")
    'earn # # (#-#) good'
    """
    return " ".join(re.sub(r"\d[\d.,]*", "#", line).split())


def matches(expected: str, found: str) -> bool:
    """Whether a line is as expected, where "..." in it stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, expected.split("..."))), found) is not None


def test_every_page_is_in_the_site():
    """mkdocs itself warns of pages outside of the navigation, and `make docs` makes warnings errors."""
    navigation = (DOCS.parent / "mkdocs.yml").read_text()
    missing = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert [page for page in missing if page not in navigation] == []


def test_every_public_name_is_in_the_reference():
    text = "".join(path.read_text() for path in (DOCS / "api").glob("*.md"))
    named = set(re.findall(r"^::: widemargin\.(\w+)$", text, re.MULTILINE))
    assert named == set(widemargin.__all__) - {"__version__"}


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
