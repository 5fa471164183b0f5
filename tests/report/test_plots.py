"""Picture files from lines, and what is refused before anything is computed."""

from __future__ import annotations

import sys

import pytest

from widemargin.errors import MissingFileError, UsageError
from widemargin.report.plots import Line, Panel, check_plot, save_plot

PANEL = Panel(
    "Adult", "examples", "seconds", [Line("ours", [1, 10], [2, 30]), Line("then", [1], [5], published=True)]
)


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_a_file_of_the_format_that_its_name_ends_in(tmp_path, ending, magic):
    target = tmp_path / f"plot.{ending}"
    save_plot([PANEL, PANEL], target, "Training time")
    assert target.read_bytes().startswith(magic)


def test_an_svg_names_the_axes_and_lines(tmp_path):
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        save_plot([PANEL], tmp_path / "plot.svg")
    text = (tmp_path / "plot.svg").read_text()
    for words in ("Adult", "examples", "seconds", "ours", "then"):
        assert words in text


def test_logarithmic_axes_change_the_picture(tmp_path):
    save_plot([PANEL], tmp_path / "linear.png")
    save_plot([Panel(PANEL.title, "n", "s", PANEL.lines, log=True)], tmp_path / "log.png")
    assert (tmp_path / "linear.png").read_bytes() != (tmp_path / "log.png").read_bytes()


def test_unknown_formats_are_named(tmp_path):
    with pytest.raises(UsageError, match=r"ends in \.pdf, \.png, \.svg, found \.doc"):
        check_plot(tmp_path / "plot.doc")
    with pytest.raises(UsageError, match="found no ending"):
        check_plot(tmp_path / "plot")


def test_a_missing_folder_is_found_before_anything_is_computed(tmp_path):
    with pytest.raises(MissingFileError, match="there is no folder"):
        check_plot(tmp_path / "nowhere" / "plot.png")


def test_without_matplotlib_the_cure_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match=r"pip install 'widemargin\[plots\]'"):
        check_plot(tmp_path / "plot.png")
