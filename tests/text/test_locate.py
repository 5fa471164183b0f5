"""Where terms are: the occurrences give the counts, and the characters they cover give the terms back."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from tests.text.test_counts import rules, texts, vectorizer
from widemargin import Vectorizer
from widemargin.errors import DataError


@settings(max_examples=200, deadline=None)
@given(texts=texts, rule=rules)
def test_occurrences_are_the_counts(texts, rule):
    found = vectorizer(rule)
    try:
        matrix = found.fit_transform(texts)
    except DataError:
        return
    for i, text in enumerate(texts):
        columns, starts, ends, *_ = found.locate(text)
        row = np.bincount(columns, minlength=matrix.shape[1])
        assert np.array_equal(row, matrix[[i]].toarray()[0])
        assert (starts >= 0).all()
        assert (starts <= ends).all()
        assert (ends <= len(text)).all()


@settings(max_examples=200, deadline=None)
@given(texts=texts)
def test_a_word_covers_its_own_characters(texts):
    text = " ".join(texts)
    found = Vectorizer(tokens="unicode", weighting=None)
    try:
        found.fit([text])
    except DataError:
        return
    columns, starts, ends, *_ = found.locate(text)
    for column, start, end in zip(columns, starts, ends, strict=True):
        assert text[start:end].casefold() == found.vocabulary_.term(column)


def test_an_ngram_covers_everything_between():
    text = "Die STRASSE, die ŉ Straße 42!"
    found = Vectorizer(ngram_range=(1, 2), weighting=None).fit([text])
    spans = {
        (found.vocabulary_.term(column), text[start:end])
        for column, start, end in zip(*found.locate(text)[:3], strict=True)
    }
    assert ("strasse", "STRASSE") in spans
    assert ("strasse", "Straße") in spans
    assert ("die strasse", "Die STRASSE") in spans
    assert ("strasse die", "STRASSE, die") in spans
    assert ("ʼn strasse", "ŉ Straße") in spans
    assert ("strasse <number>", "Straße 42") in spans


def test_characters_and_boundaries():
    text = "a  Bß"
    chars = Vectorizer(units="chars", ngram_range=(2, 2), weighting=None).fit([text])
    found = [
        (chars.vocabulary_.term(c), int(s), int(e)) for c, s, e in zip(*chars.locate(text)[:3], strict=True)
    ]
    assert found == [("a ", 0, 3), (" b", 1, 4), ("bs", 3, 5), ("ss", 4, 5)]
    inside = Vectorizer(units="chars_in_words", ngram_range=(3, 3), weighting=None).fit([text])
    found = [
        (inside.vocabulary_.term(c), int(s), int(e)) for c, s, e in zip(*inside.locate(text)[:3], strict=True)
    ]
    assert found == [("_a_", 0, 1), ("_bs", 3, 5), ("bss", 3, 5), ("ss_", 4, 5)]


def test_stems_are_located_as_words():
    found = Vectorizer(stemmer="porter", stop_words=["the"], ngram_range=(1, 2), weighting=None)
    found.fit(["the connections, the connected"])
    text = "Connecting the CONNECTION"
    spans = [
        (found.vocabulary_.term(column), text[start:end])
        for column, start, end in zip(*found.locate(text)[:3], strict=True)
    ]
    assert spans == [("connect", "Connecting"), ("connect", "CONNECTION"), ("connect connect", text)]
