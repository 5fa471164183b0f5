"""The notebooks of the documentation run, and show what they showed; progress bars work in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def run(notebook, folder):
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    return client.execute()


def words(cell):
    """The stable text that a cell shows: without times, addresses and the numbers that a machine adds."""
    shown = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        text = output.get("text") or data.get("text/plain") or ""
        shown.append(re.sub(r"\d+(\.\d+)?( m?s\b)|0x[0-9a-f]+", "", text))
    return "\n".join(shown).strip()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_showed(path, tmp_path):
    written = nbformat.read(path, as_version=4)
    again = run(nbformat.read(path, as_version=4), tmp_path)
    checked = 0
    for before, after in zip(written.cells, again.cells, strict=True):
        # The demo corpus changes with the versions of Python, NumPy and SciPy.
        if "varies" in before.metadata.get("tags", []):
            assert bool(words(after)) == bool(words(before)), before.source
            continue
        assert words(after) == words(before), before.source
        checked += bool(words(before))
    assert checked >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_holds_no_paths_of_a_machine(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|work|tmp|Users)/", text)
    assert "Traceback" not in text


def test_progress_bars_of_a_notebook_end_in_words(tmp_path):
    code = """
import numpy as np
from widemargin.progress import track, watch
for _ in track(range(200), "Reading <b>"):
    pass
counter = np.zeros(1, dtype=np.int64)
with watch(counter, "Training", total=10, unit="passes"):
    counter[0] = 10
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    (cell,) = run(notebook, tmp_path).cells
    shown = [output["data"]["text/plain"] for output in cell.outputs]
    assert shown == ["Reading <b>: 200/200 documents", "Training: 10/10 passes"]
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", "".join(shown))
