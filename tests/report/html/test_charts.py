"""Charts and pages without a browser: colors, ids, escapes and the policy of a page."""

from __future__ import annotations

import base64
import hashlib
import re
from xml.etree import ElementTree

import pytest

from tests.model_report.tasks import HOSTILE
from widemargin.measure.intervals import Figure
from widemargin.report.html.charts import Chart, Curve
from widemargin.report.html.data_tables import data_table
from widemargin.report.html.elements import Markup
from widemargin.report.html.page import Page, Section
from widemargin.report.tables import Column, Table


def chart(key="one", **options):
    lines = [Curve(HOSTILE[0], [0, 1], [1, 0.5], key="line-0"), Curve("", [0, 1], [0.2, 0.1], color=None)]
    return Chart(key, HOSTILE[1], HOSTILE[2], "x", "y", lines, **options)


@pytest.mark.parametrize("options", [{}, {"log_x": True, "x_limits": None}, {"percent_x": False}])
def test_a_chart_has_no_style_of_its_own(options):
    svg = chart(**options).svg()
    root = ElementTree.fromstring(svg)
    assert not any("style" in element.attrib or element.tag.endswith("style") for element in root.iter())
    # No color is left that does not follow the scheme.
    assert not re.search(r"#0000[01]\d|(fill|stroke)=\"#", svg)
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert len(set(ids)) == len(ids)
    referred = set(re.findall(r"url\(#([^)]+)\)", svg)) | set(re.findall(r'href="#([^"]+)"', svg))
    assert referred <= set(ids)
    assert "line-0" in ids
    assert [element.text for element in root[:2]] == [HOSTILE[1], HOSTILE[2]]


def test_two_charts_share_no_id():
    ids = [set(re.findall(r' id="([^"]+)"', chart(key).svg())) - {"line-0"} for key in ("one", "two")]
    assert not ids[0] & ids[1]


def test_the_same_chart_twice_is_the_same_text():
    assert chart().svg() == chart().svg()


def test_names_are_escaped_in_the_legend():
    figure = chart().figure("caption")
    assert "<script" not in figure
    assert "&lt;script&gt;" in figure


def test_tables_are_sorted_by_values_not_by_what_is_shown():
    columns = [Column("a"), Column("b", "figure"), Column("c", "count")]
    rows = [["x", Figure(0.5, 0.25, 0.75, "measured"), 1234], [Markup("<b>y</b>", 2.0), None, None]]
    made = data_table(Table("", columns, rows), "caption", key="t", searchable=True)
    assert 'data-sort="0.5"' in made
    assert ">1,234<" in made
    assert 'data-sort="1234"' in made
    assert '<th scope="row" data-sort="2"><b>y</b></th>' in made
    assert made.count('scope="col"') == 3


def test_the_policy_allows_the_script_and_the_style_of_the_page_only():
    page = Page("title", "<p>lead</p>", [Section("a", "A", "<p>text</p>")], {"x": HOSTILE}).render()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for element, directive in (("script", "script-src"), ("style", "style-src")):
        (content,) = re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert " style=" not in page
    assert " onclick" not in page
