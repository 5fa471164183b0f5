"""Several sources as one: patterns, folders of data files, ids, and where files disagree."""

from __future__ import annotations

import json

import pytest

from widemargin.documents.collection import Vectors
from widemargin.documents.reading import read_collection, read_documents
from widemargin.documents.record import Document
from widemargin.errors import DataError, DataWarning, MissingFileError, UsageError


@pytest.fixture
def write(tmp_path):
    def write_files(**files):
        for name, content in files.items():
            path = tmp_path / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return tmp_path

    return write_files


def test_files_are_read_in_the_order_given_and_patterns_sorted(write):
    folder = write(b_csv="text,label\ntwo,y\n", a_csv="text,label\none,x\n", c_txt="no")
    assert read_collection([folder / "b.csv", folder / "a.csv"]).texts == ["two", "one"]
    assert read_collection(str(folder / "*.csv")).texts == ["one", "two"]
    assert read_collection([str(folder / "[b].csv"), folder / "a.csv"]).texts == ["two", "one"]
    with pytest.raises(MissingFileError, match=r"no file matches this pattern"):
        read_documents(str(folder / "*.tsv"))
    with pytest.raises(MissingFileError, match=r"d.csv: no such file"):
        read_documents([folder / "a.csv", folder / "d.csv"])


def test_a_pattern_below_folders(write):
    folder = write(x__a_csv="text\none\n", y__z__b_csv="text\ntwo\n")
    assert read_collection(str(folder / "**/*.csv")).texts == ["one", "two"]
    # A name with brackets is a name if there is such a file.
    (folder / "[1].csv").write_text("text\nthree\n")
    assert read_collection(str(folder / "[1].csv")).texts == ["three"]


def test_ids_stay_unique(write):
    folder = write(a_csv="id,text\n7,one\n8,two\n", b_csv="id,text\n8,three\n9,four\n")
    with pytest.warns(DataWarning, match=r"some ids occur in several files; those of b.csv \(1\) now begin"):
        assert read_collection([folder / "a.csv", folder / "b.csv"]).ids == ["7", "8", "b.csv:8", "9"]
    write(c_csv="text\none\n", d_csv="text\ntwo\nthree\n")
    reader = read_documents([folder / "c.csv", folder / "d.csv"])
    assert "ids of later files begin with the file's name" in reader.description
    assert [document.id for document in reader] == ["1", "d.csv:1", "d.csv:2"]
    write(x__a_csv="text\none\n", y__a_csv="text\ntwo\n")
    ids = read_collection([folder / "x/a.csv", folder / "y/a.csv"]).ids
    assert ids == ["1", f"{folder / 'y/a.csv'}:1"]


def test_disagreements_are_told(write):
    folder = write(
        a_csv="text,label\none,x\n",
        b_jsonl=json.dumps({"id": "9", "body": "two", "label": "x"}) + "\n",
        c_csv="text\nthree\n",
    )
    with pytest.warns(
        DataWarning, match=r'b.jsonl: the text is read from "body", but that of .*a.csv from "text"'
    ):
        assert read_collection([folder / "a.csv", folder / "b.jsonl"]).texts == ["one", "two"]
    with pytest.warns(DataWarning, match=r"c.csv: has no labels, but .*a.csv has"):
        assert read_collection([folder / "a.csv", folder / "c.csv"]).labels == [("x",), None]
    with pytest.warns(DataWarning, match=r"c.csv: has no labels, but .*a.csv has"):
        read_collection([folder / "c.csv", folder / "a.csv"])
    read_collection([folder / "c.csv", folder / "a.csv"], ignore_labels=True)


def test_several_text_columns_in_every_table(tmp_path):
    rows = [{"title": "one", "body": "two", "label": "x"}, {"title": "three", "body": "four", "label": "y"}]
    expected = ["one\x1ftwo", "three\x1ffour"]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "t.json").write_text(json.dumps(rows))
    (tmp_path / "nested.json").write_text(json.dumps({"data": rows}, indent=1))
    for ending, mark in (("csv", ","), ("tsv", "\t")):
        lines = [mark.join(rows[0]), *(mark.join(row.values()) for row in rows)]
        (tmp_path / f"t.{ending}").write_text("\n".join(lines) + "\n")
    names = ["t.jsonl", "t.json", "nested.json", "t.csv", "t.tsv"]
    for name in names:
        found = read_collection(tmp_path / name, text=["title", "body"])
        assert (found.texts, found.labels) == (expected, [("x",), ("y",)]), name
        assert read_collection(tmp_path / name, text=["body", "title"]).texts[0] == "two\x1fone"
    with pytest.raises(DataError, match='no column "subject"'):
        read_documents(tmp_path / "t.csv", text=["title", "subject"])


def test_empty_files_among_others_are_skipped(write):
    folder = write(a_csv="", b_csv="text,label\n", c_csv="text,label\none,x\n")
    with pytest.warns(DataWarning, match=r"(a.csv: is empty|b.csv: has no documents).*other files are read"):
        assert read_collection(str(folder / "*.csv")).texts == ["one"]
    with pytest.warns(DataWarning), pytest.raises(DataError, match=r"no documents"):
        read_collection([folder / "a.csv", folder / "b.csv"])


def test_folders_of_data_files(write):
    folder = write(d__a_csv="text,label\none,x\n", d__b_csv="text,label\ntwo,y\n")
    assert read_collection(folder / "d").texts == ["one", "two"]
    # Every file is a document if that is said.
    found = read_collection(folder / "d", format="folder")
    assert found.ids == ["a.csv", "b.csv"]
    assert found.labels == [None, None]
    write(d__README_md="about")
    with pytest.raises(DataError, match=r"2 data files \(a.csv\) and 1 other file \(README.md\)"):
        read_documents(folder / "d")


def test_lines_of_files_in_folders(write):
    folder = write(
        spam__1_txt="win\nprize\n", ham__1_txt="hello\n", flat__a_txt="one\ntwo\n", flat__b_txt="three\n"
    )
    found = read_collection(folder / "flat", format="lines")
    assert (found.texts, found.labels) == (["one", "two", "three"], [None] * 3)
    found = read_collection(folder / "flat", label_from="name")
    assert found.labels == [("a",), ("a",), ("b",)]
    (folder / "flat").rename(folder / ".hidden")
    found = read_collection(folder, format="lines")
    assert list(zip(found.texts, found.labels, strict=True)) == [
        ("hello", ("ham",)),
        ("win", ("spam",)),
        ("prize", ("spam",)),
    ]


def test_labels_from_names(write):
    folder = write(
        spam_txt="win, a, prize\nmore\n", ham_csv="text,label\nhello,ignored\n", x__y_jsonl='{"text": "a"}\n'
    )
    found = read_collection([folder / "spam.txt", folder / "ham.csv"], label_from="name")
    assert found.texts == ["win, a, prize", "more", "hello"]
    assert found.labels == [("spam",), ("spam",), ("ham",)]
    assert read_collection(folder / "x/y.jsonl", label_from="folder").labels == [("x",)]
    with pytest.raises(UsageError, match=r"Use either --label or --label-from"):
        read_documents(folder / "ham.csv", label="label", label_from="name")
    with pytest.raises(UsageError, match=r"standard input is not a file"):
        read_documents("-", label_from="name")


def test_vectors_of_several_files(write):
    folder = write(a_svm="1 1:1\n", b_svm="-1 3:2\n", c_csv="text\na\n")
    found = read_collection([folder / "a.svm", folder / "b.svm"])
    assert isinstance(found, Vectors)
    assert found.X.toarray().tolist() == [[1, 0, 0], [0, 0, 2]]
    assert found.labels == [("1",), ("-1",)]
    for names in (("a.svm", "c.csv"), ("c.csv", "a.svm")):
        with pytest.raises(DataError, match=r"files of the same kind"):
            read_collection([folder / name for name in names])


def test_options_that_apply_to_nothing(write):
    folder = write(a_csv="text\na\n")
    with pytest.raises(UsageError, match=r"--sheet x: .*a.csv is not an Excel workbook"):
        read_documents(folder / "a.csv", sheet="x")
    with pytest.raises(UsageError, match=r"--split x: .*a.csv is not a saved dataset"):
        read_documents(folder / "a.csv", split="x")
    with pytest.raises(UsageError, match=r"No documents are given"):
        read_documents([])


class TestWithoutHeader:
    def test_content_decides(self, write):
        rows = "".join(f"{i},{'spam' if i % 3 else 'ham'},the text of ticket {i}\n" for i in range(30))
        folder = write(t_csv=rows)
        found = read_documents(folder / "t.csv", header=False)
        assert 'without a header: text from "3", labels from "2"' in found.description
        assert found.reading == {"text": ["3"], "label": "2", "header": False, "width": 3}
        assert next(iter(found)) == Document("1", "the text of ticket 0", ("ham",))

    def test_few_records(self, write):
        folder = write(t_csv="spam,win a prize\nham,see you\n", n_csv="1,win a prize\n2,see you\n")
        assert read_collection(folder / "t.csv", header=False).labels == [("spam",), ("ham",)]
        assert read_collection(folder / "n.csv", header=False).labels == [None, None]

    def test_columns_may_be_named_by_number(self, write):
        folder = write(t_csv="a,b,long text\nc,d,longer text\n")
        found = read_collection(folder / "t.csv", header=False, text=["1", "2"], label="3")
        assert found.texts == ["a\x1fb", "c\x1fd"]
        assert found.labels == [("long text",), ("longer text",)]
