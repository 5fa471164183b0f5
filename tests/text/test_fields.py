"""Fields: the parts of documents that are counted apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.blocks import field_of
from widemargin import TextClassifier, Vectorizer
from widemargin.documents.record import join_columns
from widemargin.errors import DataError, UsageError
from widemargin.text.fields import check_columns, columns_of, find_field, has_text_columns, joined
from widemargin.weight.blocks import Block

PIECES = ["Subject: ", "subject:", "SUBJECT:", "\n", "\n ", "\n\n", "wheat", "\x1f", " ", "é", "From: x"]
TABLE = {"title": ["Wheat up", "Oil", None, ""], "body": ["wheat sold", "", "no title", "corn"]}
ROWS = [
    {"title": "Wheat up", "body": "wheat sold"},
    {"title": "Oil"},
    {"body": "no title", "other": "ignored"},
    {"title": None, "body": "corn"},
]


class TestSpans:
    @settings(max_examples=500)
    @given(
        text=st.lists(st.sampled_from(PIECES), max_size=9).map("".join),
        field=st.sampled_from(["title", "subject", "first-line", "body"]),
        columns=st.sampled_from([("title", "body"), ("head", "body", "end"), ("body",)]),
    )
    def test_against_the_reference(self, text, field, columns):
        if columns == ("body",) and field == "body":
            text = text.replace("\x1f", " ")  # the last column keeps separators that are left over
        text = "\x1f".join(text.split("\x1f")[: len(columns)])
        start, end = find_field(text, field, columns)
        assert 0 <= start <= end <= len(text)
        assert text[start:end].strip() == field_of(text, field, columns).strip()

    @pytest.mark.parametrize(
        ("text", "field", "expected"),
        [
            ("", "subject", ""),
            ("", "title", ""),
            ("\n \n\t\n", "first-line", ""),
            ("\n  first line \nsecond", "first-line", "first line "),
            ("From: a\nSubject:  Re: wheat\n\tand corn\nTo: b\n\nbody", "subject", "Re: wheat\n\tand corn"),
            ("SUBJECT:wheat", "subject", "wheat"),
            ("Subject:\n\nbody", "subject", ""),
            ("From: a\n\nSubject: quoted", "subject", ""),
            ("no header\nSubject: late", "subject", "late"),
            ("My Subject: no", "subject", ""),
            ("x\n" * 50 + "Subject: too late", "subject", ""),
        ],
    )
    def test_found_in_texts(self, text, field, expected):
        start, end = find_field(text, field)
        assert text[start:end] == expected

    def test_columns(self):
        text, names = "a\x1f\x1fc d", ("title", "subject", "body")
        found = {name: text[slice(*find_field(text, name, names))] for name in names}
        assert found == {"title": "a", "subject": "", "body": "c d"}
        assert find_field("only", "body", names) == (4, 4)
        assert find_field("one\x1ftwo\x1fthree", "body", ("title", "body")) == (4, 13)
        assert find_field(text, None, names) == (0, len(text))
        mail = "1\x1fFrom: a\nSubject: wheat\x1fSubject: no"
        assert mail[slice(*find_field(mail, "subject", ("x", "y", "z")))] == "wheat"
        assert find_field("one\nmore\x1ftwo", "first-line", ("x", "y")) == (0, 3)


class TestTables:
    def test_every_form_is_the_same_text(self):
        expected = ["Wheat up\x1fwheat sold", "Oil\x1f", "\x1fno title", "\x1fcorn"]
        assert joined(TABLE, ("title", "body")) == expected
        assert joined(ROWS, ("title", "body")) == expected
        assert joined({"a": ["x\x1fy"], "b": [float("nan")]}, ("a", "b")) == ["x y\x1f"]
        assert join_columns(["a", None]) == "a\x1f"
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(TABLE)
        assert joined(frame, ("title", "body")) == expected
        assert has_text_columns(frame)
        assert not has_text_columns(pandas.DataFrame({"x": [1.0]}))
        assert columns_of(frame) == ("title", "body")
        assert columns_of(frame["title"]) is None

    def test_arrow_and_polars(self):
        pa = pytest.importorskip("pyarrow")
        table = pa.table(TABLE)
        assert joined(table, ("body", "title"))[0] == "wheat sold\x1fWheat up"
        assert has_text_columns(table)
        assert columns_of(pa.array(["a"])) is None
        polars = pytest.importorskip("polars")
        assert has_text_columns(polars.DataFrame(TABLE))
        assert joined(polars.DataFrame(TABLE), ("title",)) == ["Wheat up", "Oil", "", ""]

    def test_what_is_no_table(self):
        for texts in (["a"], [], ("a", "b"), np.array(["a"]), iter(["a"]), np.eye(2)):
            assert not has_text_columns(texts)

    @pytest.mark.parametrize(
        ("texts", "message"),
        [
            ({"title": ["a"]}, "no column 'body'; their columns are title"),
            ({"title": ["a"], "body": ["b", "c"]}, r"differ in length \(title: 1, body: 2\)"),
            ({"title": ["a"], "body": [3]}, "Column 'body' of document 0 .* is 3, not a text"),
            (
                [{"title": "a", "body": "b"}, "c"],
                "Document 1 .* is of type str, but the first",
            ),
        ],
    )
    def test_bad_tables(self, texts, message):
        with pytest.raises(DataError, match=message):
            joined(texts, ("title", "body"))

    @pytest.mark.parametrize("names", ["title", [], ["a", "a"], [1], 7, [""]])
    def test_bad_names(self, names):
        with pytest.raises(UsageError, match="fields="):
            check_columns(names)


class TestVectorizer:
    def test_tables_are_joined_texts(self):
        texts = joined(TABLE, ("title", "body"))
        blocks = ["words", "title:0.5", Block("body", field="body", ngram_range=(1, 2))]
        expected = Vectorizer(blocks=blocks, fields=("title", "body")).fit(texts)
        for documents in (TABLE, ROWS):
            found = Vectorizer(blocks=blocks, fields=("title", "body")).fit(documents)
            assert (found.transform(documents) != expected.transform(texts)).nnz == 0
            assert list(found.vocabulary_) == list(expected.vocabulary_)
        assert found.fields_ == ("title", "body")
        # All columns are taken, in their order, if none are named.
        assert Vectorizer(blocks=["words", "body"]).fit(TABLE).fields_ == ("title", "body")
        assert Vectorizer(fields=["body"]).fit(TABLE).transform(ROWS).shape == (4, 5)

    def test_state_keeps_the_columns(self):
        found = Vectorizer(blocks=["words", "title"]).fit(TABLE)
        restored = Vectorizer.from_state(*found.get_state())
        assert restored.fields_ == ("title", "body")
        assert (restored.transform(ROWS) != found.transform(TABLE)).nnz == 0
        assert (
            restored.reweighted("tfc").transform(ROWS) != found.reweighted("tfc").transform(ROWS)
        ).nnz == 0

    def test_columns_that_training_did_not_have(self):
        with pytest.raises(DataError, match=r"have columns \(title, body\), but those of the training"):
            Vectorizer().fit(["a"]).transform(TABLE)
        with pytest.raises(DataError, match="no column 'body'"):
            Vectorizer().fit(TABLE).transform({"title": ["a"]})
        with pytest.raises(UsageError, match="There is no block 'body'"):
            Vectorizer(blocks=["body"]).fit(["a"])

    def test_places_are_those_of_the_whole_text(self):
        found = Vectorizer(blocks=["words", "title", "body", "chars"]).fit(TABLE)
        text = "Oil\x1fwheat corn"
        located = found.locate(text)
        names = [found.vocabulary_.term(column) for column in located.columns]
        assert ("title:oil", 0, 3) in zip(names, located.starts, located.ends, strict=True)
        assert ("body:wheat", 4, 9) in zip(names, located.starts, located.ends, strict=True)
        assert ("wheat", 4, 9) in zip(names, located.starts, located.ends, strict=True)
        for name, start, end in zip(names, located.starts, located.ends, strict=True):
            term = name.rpartition(":")[2].strip("_")
            assert text[start:end].casefold() == term
        row, _ = found.located_row(text)
        assert (row.matrix != found.transform([text])).nnz == 0


class TestClassifier:
    def test_from_table_to_labels(self):
        y = ["grain", "oil", "grain", "grain"]
        classifier = TextClassifier(Vectorizer(blocks=["words", "title:0.5"]), tune=None, estimate=None).fit(
            TABLE, y
        )
        assert classifier.predict(TABLE).tolist() == y
        assert classifier.predict(ROWS).tolist() == y
        assert classifier.vectorizer_.fields_ == ("title", "body")
        found = classifier.explain({"title": "Oil", "body": "wheat"}, "oil")
        total = found.bias + sum(part.value for part in found.contributions)
        assert total == pytest.approx(found.score)
        assert {part.block for part in found.contributions} == {"words", "title"}
        by_block = {(part.term, part.block) for part in found.contributions}
        assert by_block == {("oil", "words"), ("wheat", "words"), ("title:oil", "title")}

    def test_without_blocks_there_is_no_block(self):
        classifier = TextClassifier(tune=None, estimate=None).fit(["wheat", "oil"], ["grain", "oil"])
        assert {part.block for part in classifier.explain("wheat").contributions} == {None}
        assert "block" not in classifier.explain("wheat").to_dict()["contributions"][0]
        with pytest.raises(DataError, match="those of the training were single texts"):
            classifier.predict(TABLE)

    def test_data_frames(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        y = ["grain", "oil", "grain", "grain"]
        classifier = TextClassifier(Vectorizer(blocks=["words", "title"]), tune=None, estimate=None).fit(
            pandas.DataFrame(TABLE), y
        )
        assert classifier.predict(pandas.DataFrame(TABLE)).tolist() == y
        classifier.save(tmp_path / "m.wm")
        assert TextClassifier.load(tmp_path / "m.wm").predict(pandas.DataFrame(TABLE)).tolist() == y

    @pytest.mark.parametrize("estimate", ["leave-one-out", "k-fold"])
    def test_estimates(self, estimate):
        rows = [{"title": f"{a} {i % 3}", "body": f"{b} x"} for i in range(12) for a, b in [("oil", "gas")]]
        rows += [{"title": "corn", "body": f"wheat {i % 4}"} for i in range(12)]
        y = ["oil"] * 12 + ["grain"] * 12
        classifier = TextClassifier(Vectorizer(blocks=["words", "title"]), estimate=estimate, tune=None).fit(
            rows, y
        )
        assert classifier.predict(rows).tolist() == y
