"""Highlighted texts: what a browser shows is the text, and nothing else."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widemargin._printable import printable
from widemargin.documents.record import SEPARATOR
from widemargin.report.html.escaping import escaped, isolated
from widemargin.report.html.highlight import LEVELS, STYLE, highlighted
from widemargin.report.pieces import FAINT, pieces


class Reader(HTMLParser):
    """Text, and the marks with their text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.marks = [], "", []
        self.open = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.open.append(tag)
        if tag == "mark":
            self.marks.append([dict(attributes), ""])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if "mark" in self.open:
            self.marks[-1][1] += data


spans = st.lists(st.tuples(st.integers(-3, 30), st.integers(-3, 30), st.floats(-2, 2)), max_size=8)


@given(st.text(max_size=25), spans)
def test_the_text_is_shown_and_nothing_else(text, spans):
    read = Reader(highlighted(text, spans))
    assert set(read.tags) <= {"bdi", "mark"}
    joined = text.replace(SEPARATOR, "\n")
    # A line break whose two characters are in different pieces has a visible "\r".
    shown = read.text.replace("\\r\n", "\n")
    assert shown == printable(joined.replace("\r\n", "\n"), keep="\n\t").replace("\\r\n", "\n")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", read.text)


@given(st.integers(0, 30), spans)
def test_pieces_cover_the_text_once_and_hold_the_sums(length, spans):
    found = pieces(length, spans)
    assert [place for piece in found for place in range(piece.start, piece.end)] == list(range(length))
    for piece in found:
        for place in range(piece.start, piece.end):
            assert piece.value == pytest.approx(
                sum(value for start, end, value in spans if start <= place < end), abs=1e-12
            )
        assert -1 <= piece.strength <= 1
        assert piece.strength == 0 or piece.strength * piece.value > 0


def test_terms_for_and_against_differ_by_more_than_color():
    read = Reader(highlighted("good bad plain", [(0, 4, 1.0), (5, 8, -0.5), (9, 14, 0.9 * FAINT)]))
    assert [text for _, text in read.marks] == ["good", "bad"]
    (for_it, _), (against, _) = read.marks
    assert for_it["title"] == "for: +1.0000"
    assert against["title"] == "against: -0.5000"
    assert "wm-for" in for_it["class"]
    assert "wm-against" in against["class"]
    assert "solid" in re.search(r"\.wm-for \{.*\}", STYLE)[0]
    assert "dotted" in re.search(r"\.wm-against \{.*\}", STYLE)[0]
    for side in ("for", "against"):
        for level in range(1, LEVELS + 1):
            assert f".wm-{side}.wm-{level} " in STYLE


def test_overlapping_terms_add_up():
    read = Reader(highlighted("crude oil price", [(0, 9, 1.0), (6, 9, 0.5), (6, 15, -1.0)]))
    assert [(text, attributes["title"]) for attributes, text in read.marks] == [
        ("crude ", "for: +1.0000"),
        ("oil", "for: +0.5000"),
        (" price", "against: -1.0000"),
    ]


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", "\"'><img src=x onerror=x>", "\u202eevil\x00"]
)
def test_hostile_text_stays_text(hostile):
    page = highlighted(hostile, [(0, len(hostile) // 2, 1.0)])
    assert set(Reader(page).tags) == {"bdi", "mark"}
    assert set(Reader(isolated(hostile)).tags) == {"bdi"}
    attribute = f'<a title="{escaped(hostile)}"></a>'
    assert Reader(attribute).tags == ["a"]
    assert "\x00" not in page
    assert "\u202e" not in page


def test_a_pair_of_words_highlights_both_words_only():
    from widemargin.classifier.explanation import Contribution

    part = Contribution(0, 14, "Oil ... Price", "oil price", 1.0, 3, 9)
    read = Reader(highlighted("Oil, the Price", [(start, end, part.value) for start, end in part.spans]))
    assert [text for _, text in read.marks] == ["Oil", "Price"]


def test_columns_stand_on_lines_of_their_own():
    assert Reader(highlighted(f"title{SEPARATOR}body", [])).text == "title\nbody"
