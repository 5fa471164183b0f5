"""Patterns that are compiled into automata: the reference is Python's `re`."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from widemargin.errors import DataError, UsageError
from widemargin.text.patterns import CompiledPattern, compile_pattern

ATOMS = [
    *"abAB_1- ",
    "é",
    "ß",
    r"\w",
    r"\W",
    r"\d",
    r"\D",
    r"\s",
    r"\S",
    ".",
    "[ab]",
    "[^a]",
    r"[\w-]",
    r"[^\s_]",
    "[A-Z]",
    r"\b",
    r"\B",
    r"\.",
    "中",
]
QUANTIFIERS = ["", "", "", "+", "*", "?", "{2}", "{1,3}", "{2,}", "+?", "*?", "??", "{1,2}?"]
TEXT = st.text(alphabet="abAB_1- .éßẞ中\u0301\n\U0001d51e", max_size=30)


@st.composite
def patterns(draw, depth=2):
    """Random expressions: alternatives of sequences of repeated atoms and groups."""
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        items = []
        for _ in range(draw(st.integers(1, 3))):
            atom = draw(st.sampled_from(ATOMS))
            if depth and draw(st.integers(0, 3)) == 0:
                opening = draw(st.sampled_from(["(?:", "(?:", "(?i:"]))
                atom = f"{opening}{draw(patterns(depth=depth - 1))})"
            items.append(atom + ("" if atom in (r"\b", r"\B") else draw(st.sampled_from(QUANTIFIERS))))
        parts.append("".join(items))
    return "|".join(parts)


@settings(max_examples=300, deadline=None)
@given(
    pattern=patterns(),
    flags=st.sampled_from(["", "", "(?i)", "(?a)", "(?s)"]),
    texts=st.lists(TEXT, max_size=4),
)
def test_as_re(pattern, flags, texts):
    """Whatever is accepted finds the same as `re.findall`."""
    try:
        found = compile_pattern(flags + pattern)
    except UsageError:
        assume(False)
    for text in texts:
        assert found.find_all(text) == re.findall(flags + pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?u)\b\w\w+\b",
        r"\b(\w+)\b",
        r"<[^>]*>|https?://\S+",
        r"[a-z]+(?:['-][a-z]+)*",
        r"a+?b|a",
        r"(?:ab|a)(?:c|bcd)",
        r"(?i)straße|ﬁ|[k-m]+",
        r"\B\w\B|x\b",
        r"\d{1,3}(?:,\d{3})*(?:\.\d+)?",
        r"(?x) \w+  # a word",
        r"#\w+|@\w+|[\U0001f300-\U0001faff]",
    ],
)
def test_of_practice(pattern):
    text = (
        "Hello, wörld! aaab abcd <b>x</b> http://a.b/c it's well-known 1,234.56 #tag @you \U0001f600 "
        "STRASSE Straße ﬁ Kelvin K abcx xx foo_bar 中文"
    )
    found = compile_pattern(pattern)
    assert found.find_all(text) == re.findall(pattern, text)
    assert pickle.loads(pickle.dumps(found)).find_all(text) == re.findall(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a*", "matches the empty text"),
        (r"\b", "matches the empty text"),
        ("^a", "has an anchor"),
        ("a$", "has an anchor"),
        ("(a)(b)", r"captured. Write \(\?:...\)"),
        ("a(b)", "captured"),
        ("a(?=b)", "look-around, which no automaton can match. Pass a callable"),
        ("(?<!a)b", "look-around"),
        (r"(?P<x>a)(?P=x)", "captured"),
        ("(?>a+)b", "an atomic group"),
        ("a++b", "a possessive repetition"),
        ("(?:a*)*", "repeats a part that may be empty"),
        ("a{1,5000}", "more than 2000 positions"),
        ("(?:a|b)*a(?:a|b){12}", "more than 2000 states"),
        ("[a-z", "unterminated character set"),
        ("", "expected a regular expression"),
        (r"\b(?a:\b)a", r"with and without \(\?a\)"),
    ],
)
def test_refused(pattern, message):
    with pytest.raises(UsageError, match=message):
        compile_pattern(pattern)


def test_damaged_tables():
    parts = compile_pattern("ab").state()
    for name, values in (
        ("table", parts["table"] + 1000),
        ("table", parts["table"][:-1]),
        ("table", -parts["table"] - 1),
        ("starts", parts["starts"][::-1].copy()),
        ("classes", parts["classes"] + 100),
        ("first", np.array([99, 0], np.int32)),
        ("words", parts["words"][:0]),
    ):
        with pytest.raises(DataError, match="The pattern 'ab' is damaged"):
            CompiledPattern("ab", **{**parts, name: np.ascontiguousarray(values)})
