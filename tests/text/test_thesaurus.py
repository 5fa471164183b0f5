"""Entries of a thesaurus against the slow oracle; its files, and what is wrong with them."""

from __future__ import annotations

import numpy as np
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import terms as reference
from tests.text.test_counts import assert_counts, vectorizer
from tests.text.test_large_collections import MIXED
from widemargin import TextClassifier, Vectorizer
from widemargin.errors import DataError, MissingFileError, UsageError
from widemargin.text.thesaurus import read_thesaurus

CARS = {
    "Car": ["automobile", "motor car", "motor car of oil", "Straße", "汽车", "été"],
    "big money": ["bank", "motor bank", "money 42"],
}
PARTS = [
    "car",
    "Motor",
    "cars",
    "of",
    "oil",
    "STRASSE",
    "汽车",
    "ete\u0301",
    "é",
    "e\u0301te\u0301",
    "Bank",
    "money",
]
PARTS += ["12", "big", "the", "automobiles", "-", "Ünïcödé"]
mixed = st.lists(st.lists(st.sampled_from(PARTS), max_size=15).map(" ".join), min_size=1, max_size=6)


def porter(word: str) -> str:
    return word if word == reference.NUMBER else Stemmer.Stemmer("porter").stemWord(word)


@settings(max_examples=300, deadline=None)
@given(
    texts=mixed,
    stemmer=st.sampled_from([None, "porter"]),
    stop_words=st.sampled_from([(), ("of", "the", "bank")]),
    pairs=st.sampled_from([None, "near:1:min=1"]),
    ngram_range=st.sampled_from([(1, 1), (1, 2)]),
)
def test_any_text(texts, stemmer, stop_words, pairs, ngram_range):
    rule = {"stop_words": stop_words, "pairs": pairs, "ngram_range": ngram_range, "thesaurus": CARS}
    vocabulary, rows = reference.counts(texts, stem=porter if stemmer else reference.same, **rule)
    found = vectorizer({**rule, "stemmer": stemmer})
    if not vocabulary:
        with pytest.raises(DataError, match="contain no terms"):
            found.fit(texts)
        return
    assert_counts(found, found.fit_transform(texts), vocabulary, rows)
    again = Vectorizer.from_state(*found.get_state())
    assert_counts(again, again.transform(texts), vocabulary, rows)
    for text, row in zip(texts, rows, strict=True):
        assert len(found.locate(text).columns) == row.total()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("stemmer", [None, "porter"])
def test_large_collections(stemmer, n_jobs):
    entries = {"grain": ["wheat", "corn", "corn up", "a b"], "日本": ["中文", "한국어 of"], "n": ["wheat 12"]}
    stem = porter if stemmer else reference.same
    vocabulary, rows = reference.counts(MIXED, stem=stem, thesaurus=entries, ngram_range=(1, 2))
    found = Vectorizer(thesaurus=entries, stemmer=stemmer, ngram_range=(1, 2), weighting=None, n_jobs=n_jobs)
    assert "<grain>" in vocabulary
    assert_counts(found, found.fit_transform(MIXED), vocabulary, rows)
    assert_counts(found, found.transform(MIXED), vocabulary, rows)


def test_hashed_terms_have_concepts():
    hashed = {"n_hashed": 4096, "weighting": None}
    found = Vectorizer(thesaurus={"car": ["automobile", "motor car"]}, **hashed).fit(["x"])
    row = found.transform(["automobile motor car motor"]).toarray()[0]
    assert row[reference.hash_column(["<car>"], 4096)] == 2
    assert row[reference.hash_column(["motor"], 4096)] == 1


def test_an_explanation_names_the_concept(tmp_path):
    texts = ["an automobile", "the motor car", "cars sold", "wheat sold", "the corn", "an oat"]
    vectorizer = Vectorizer(thesaurus={"car": ["automobile", "motor car"]}, stemmer="porter")
    fitted = TextClassifier(vectorizer, estimate=None, tune=None).fit(texts, ["car"] * 3 + ["grain"] * 3)
    fitted.save(tmp_path / "model.wm")
    for classifier in (fitted, TextClassifier.load(tmp_path / "model.wm")):
        text = "Two Motor  Cars"
        (part,) = [part for part in classifier.explain(text).contributions if part.term == "<car>"]
        assert text[part.start : part.end] == part.text == "Motor  Cars"
        assert classifier.predict([text]) == ["car"]


def test_a_profile_does_not_read_texts_without_the_thesaurus():
    # Learners that count terms in the core would not see the concepts.
    found = Vectorizer(thesaurus={"car": ["automobile"]}, weighting=None).fit(["car"])
    assert found.counted_terms is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "expected concepts"),
        ("cars.txt", "expected concepts"),
        ({"car": ["--"]}, "contains no word"),
        ({"car": 3}, "list of entries"),
        ({"car": [3]}, "not a str"),
        ({"car": ["auto"], "truck": ["Auto"]}, "'auto' of 'car' and 'Auto' of 'truck' are the same"),
        ({"car": ["auto"], "auto": ["truck"]}, "are the same"),
    ],
)
def test_what_is_not_a_thesaurus(given, message):
    with pytest.raises(UsageError, match=message):
        Vectorizer(thesaurus=given).fit(["car"])


def test_stems_that_are_the_same():
    entries = {"science": ["university"], "everything": ["universe"]}
    Vectorizer(thesaurus=entries).fit(["a university"])
    with pytest.raises(UsageError, match="the same as stems of porter"):
        Vectorizer(thesaurus=entries, stemmer="porter").fit(["a university"])
    with pytest.raises(UsageError, match="units"):
        Vectorizer(thesaurus=entries, units="chars").fit(["a university"])


def test_a_concept_may_be_called_anything():
    found = Vectorizer(thesaurus={":-)": ["smile"]}, weighting=None).fit(["smile car"])
    assert list(found.vocabulary_) == ["<:-)>", "car"]


class TestFiles:
    def written(self, tmp_path, text, encoding="utf-8"):
        path = tmp_path / "words.txt"
        path.write_bytes(text.encode(encoding))
        return path

    def test_both_forms(self, tmp_path):
        text = "\ufeff# comment\n\ncar: automobile, Motor  car,\r\nlorry\ttruck\ncar: Straße\nvan\ttruck\n"
        assert read_thesaurus(self.written(tmp_path, text)) == {
            "car": ["automobile", "Motor  car", "Straße"],
            "truck": ["lorry", "van"],
        }

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "car: auto\n\ntruck: Auto\n",
                r"words.txt, line 3: 'Auto' stands for 'truck' here and for 'car' in line 1",
            ),
            ("car: auto\nauto: truck\n", "line 2: 'auto' stands for 'auto' here and for 'car' in line 1"),
            ("car: été\ntruck: e\u0301te\u0301\n", "line 2: .* in line 1"),
            ("car automobile\n", "line 1: found neither a colon nor a tab"),
            ("car:\n", "line 1: an entry is missing"),
            (": auto\n", "line 1: the concept is missing"),
            ("# nothing\n", "has no entries"),
        ],
    )
    def test_bad_lines(self, tmp_path, text, message):
        with pytest.raises(DataError, match=message):
            read_thesaurus(self.written(tmp_path, text))

    def test_bad_files(self, tmp_path):
        with pytest.raises(MissingFileError, match="no thesaurus"):
            read_thesaurus(tmp_path / "missing.txt")
        with pytest.raises(DataError, match="byte 1: not UTF-8"):
            read_thesaurus(self.written(tmp_path, "né: x", "latin-1"))


def test_held_out_rows_have_concepts():
    texts = ["automobile sold", "motor car sold", "corn sold"]
    vectorizer = Vectorizer(thesaurus={"car": ["automobile", "motor car"]}, weighting=None)
    counts = vectorizer.fit_counts(texts)
    assert np.array_equal(counts.matrix.toarray(), vectorizer.transform(texts).toarray())
    assert list(vectorizer.vocabulary_) == ["<car>", "corn", "sold"]
