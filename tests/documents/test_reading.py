"""Readers: what is guessed, what the formats mean, and that reading gives back what was written."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import threading
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from widemargin.documents.collection import Collection
from widemargin.documents.reading import guess_format, read_collection, read_documents
from widemargin.documents.record import Document
from widemargin.errors import UsageError

# No surrogates, which UTF-8 cannot write, and no NUL, which reading turns into a blank.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
names = texts.filter(lambda name: name and name == name.strip())
some_labels = st.none() | st.lists(names, unique=True, max_size=3).map(tuple)
some_documents = st.lists(
    st.tuples(names, texts, some_labels), min_size=1, unique_by=lambda fields: fields[0]
).map(lambda rows: [Document(*row) for row in rows])


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


class TestRoundTrips:
    @given(documents=some_documents)
    def test_jsonl(self, documents, tmp_path_factory):
        path = tmp_path_factory.mktemp("round") / "documents.jsonl"
        write(path, "".join(document.to_json() + "\n" for document in documents))
        assert list(read_documents(path)) == documents

    @given(documents=some_documents, delimiter=st.sampled_from([",", "\t", ";"]))
    def test_tables(self, documents, delimiter, tmp_path_factory):
        path = tmp_path_factory.mktemp("round") / ("documents.tsv" if delimiter == "\t" else "documents.csv")
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, delimiter=delimiter)
            table.writerow(["id", "text", "labels"])
            for document in documents:
                labels = "" if document.labels is None else json.dumps(document.labels)
                table.writerow([document.id, document.text, labels])
        assert list(read_documents(path)) == documents

    # What fastText can say: words with one blank between them, labels without blanks, at least one of either.
    words = st.text(st.characters(categories=["L", "N", "P"]), min_size=1).filter(
        lambda word: not word.startswith("__label__")
    )

    @given(
        rows=st.lists(
            st.tuples(st.lists(words), st.lists(words, unique=True)).filter(any),
            min_size=1,
        )
    )
    def test_fasttext(self, rows, tmp_path_factory):
        path = tmp_path_factory.mktemp("round") / "documents.ft"
        lines = [" ".join([f"__label__{label}" for label in labels] + text) for text, labels in rows]
        write(path, "\n".join(lines) + "\n")
        read = [(document.text, document.labels) for document in read_documents(path)]
        assert read == [(" ".join(text), tuple(labels) or None) for text, labels in rows]


class TestGuesses:
    def test_columns_by_name_and_said(self, tmp_path):
        path = write(tmp_path / "tickets.csv", "ticket_id,body,Team\n7,printer on fire,hardware\n")
        reader = read_documents(path)
        assert reader.description == (
            f'{path}: CSV: text from "body", labels from "Team", ids from "ticket_id".'
        )
        assert list(reader) == [Document("7", "printer on fire", ("hardware",))]

    def test_the_longest_column_is_the_text_where_no_name_tells(self, tmp_path):
        path = write(
            tmp_path / "t.csv", "who,words\nann,a long story about nothing\nbob,another such story\n"
        )
        reader = read_documents(path)
        assert 'text from "words", no labels, record numbers as ids' in reader.description
        assert list(reader)[1] == Document("2", "another such story", None)

    def test_flags_override_the_guess(self, tmp_path):
        path = write(tmp_path / "t.csv", "id,text,label,title,team\n7,long text,x,short,y\n")
        assert list(read_documents(path, text="title", label="team", id="label")) == [
            Document("x", "short", ("y",))
        ]

    def test_fields_of_jsonl(self, tmp_path):
        path = write(tmp_path / "t.jsonl", '{"newid": 3, "body": "b", "topics": ["x", "y"]}\n')
        reader = read_documents(path)
        assert 'text from "body", labels from "topics", ids from "newid"' in reader.description
        assert list(reader) == [Document("3", "b", ("x", "y"))]

    @pytest.mark.parametrize(
        "content",
        [
            '[{"id": 3, "text": "\\u00e4\\ud83d\\ude00", "tag": "x"}, {"text": "b", "tag": null}]',
            '\ufeff[\n {"id": 3, "text": "ä\U0001f600", "tag": "x"},\n {"text": "b"}\n]\n',
            '{\n "version": 1, "data": [{"id": 3, "text": "ä\U0001f600", "tag": "x"}, {"text": "b"}]\n}',
        ],
    )
    def test_a_list_of_json(self, tmp_path, content):
        expected = [Document("3", "ä\U0001f600", ("x",)), Document("2", "b", None)]
        for name in ("t.json", "t.jsonl", "t"):
            reader = read_documents(write(tmp_path / name, content))
            assert reader.description.endswith('JSON: text from "text", labels from "tag", ids from "id".')
            assert list(reader) == expected
        many = json.dumps([{"text": f"word{i}", "label": str(i % 7)} for i in range(2500)])
        read = list(read_documents(write(tmp_path / "many.json", many)))
        assert [(each.id, each.text) for each in read[-2:]] == [("2499", "word2498"), ("2500", "word2499")]

    @pytest.mark.parametrize(
        ("content", "format"),
        [
            ('{"text": "a"}\n', "jsonl"),
            ("id,text\n1,a\n", "csv"),
            ("id;text\n1;a\n", "csv"),
            ("id\ttext\n1\ta, b\n", "tsv"),
            ("__label__a b\n", "fasttext"),
            ("# comment\n+1 3:0.5 7:1 # id\n", "svmlight"),
            ("-1\n1 2:1\n", "svmlight"),
            ("-1 cost:2 1:1\n1 qid:3 cost:.5 2:1\n", "svmlight"),
            ("1,5 2:1e-3\n", "svmlight"),
        ],
    )
    def test_formats_by_content(self, tmp_path, content, format, monkeypatch):
        assert guess_format(write(tmp_path / "data", content)) == format
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        assert guess_format("-") == format

    @pytest.mark.parametrize(
        ("name", "format"),
        [
            ("a.csv.gz", "csv"),
            ("a.tsv.xz", "tsv"),
            ("a.JSONL.zst", "jsonl"),
            ("a.svm", "svmlight"),
            ("a.pq", "parquet"),
        ],
    )
    def test_formats_by_name(self, tmp_path, name, format):
        assert guess_format(tmp_path / name) == format

    def test_semicolons_and_a_header_that_says_so(self, tmp_path):
        path = write(tmp_path / "t.csv", 'text;label\n"a, b";x\n')
        assert list(read_documents(path)) == [Document("1", "a, b", ("x",))]

    def test_labels_without_a_header_repeat_more_than_anything_else(self, tmp_path):
        # Of a few long documents, most of many labels occur once.
        rows = [f"n{i},area {i % 17},document {i} has some words" for i in range(20)]
        (tmp_path / "a.csv").write_text("\n".join(rows) + "\n")
        reader = read_documents(tmp_path / "a.csv", header=False)
        assert 'text from "3", labels from "2"' in reader.description
        reader.close()

    def test_columns_by_number_where_there_is_no_header(self, tmp_path):
        path = write(tmp_path / "t.tsv", "ham\tGo on\nspam\tWin\n")
        reader = read_documents(path, label="1", text="2")
        assert "without a header" in reader.description
        assert list(reader) == [Document("1", "Go on", ("ham",)), Document("2", "Win", ("spam",))]


class TestLabels:
    def test_csv_cells(self, tmp_path):
        path = write(tmp_path / "t.csv", 'text,label\na,\nb,[]\nc,"[""x"", ""y""]"\nd,[odd\ne,x|y\n')
        assert [d.labels for d in read_documents(path)] == [None, (), ("x", "y"), ("[odd",), ("x|y",)]
        assert [d.labels for d in read_documents(path, label_delimiter="|")][-1] == ("x", "y")

    def test_jsonl_values(self, tmp_path):
        values = [{"labels": ["x"]}, {"label": "y"}, {"labels": None}, {}, {"labels": []}, {"label": 3}]
        lines = "".join(json.dumps({"text": "a", **value}) + "\n" for value in values)
        path = write(tmp_path / "t.jsonl", lines)
        assert [d.labels for d in read_documents(path)] == [("x",), ("y",), None, None, (), ("3",)]

    def test_labels_may_first_appear_late(self, tmp_path):
        lines = '{"text": "a"}\n' * 5000 + '{"text": "b", "labels": ["x"]}\n'
        path = write(tmp_path / "t.jsonl", lines)
        assert list(read_documents(path))[-1].labels == ("x",)

    def test_long_and_odd_labels(self, tmp_path):
        label = "é,\t\"'|;" + "x" * 10_000
        path = write(tmp_path / "t.jsonl", Document("1", "a", (label,)).to_json())
        assert next(iter(read_documents(path))).labels == (label,)
        with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["text", "label"], ["a", label]])
        assert next(iter(read_documents(tmp_path / "t.csv"))).labels == (label,)

    def test_fasttext_labels_anywhere_and_nowhere(self, tmp_path):
        path = write(tmp_path / "t.txt", "__label__a __label__b x y\nno label\n\nx __label__c y\n")
        documents = list(read_documents(path, format="fasttext"))
        assert documents == [
            Document("1", "x y", ("a", "b")),
            Document("2", "no label", None),
            Document("3", "x y", ("c",)),
        ]


CANONICAL = [
    Document("1", "première ligne\nseconde", ("x", "y")),
    Document("2", "", ()),
    Document("3", "z", None),
]
JSONL = "".join(document.to_json() + "\n" for document in CANONICAL).encode()


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".zst", zstandard.compress)],
)
def test_compressed_files_and_standard_input(tmp_path, suffix, compress, monkeypatch):
    path = write(tmp_path / f"t.jsonl{suffix}", compress(JSONL))
    assert list(read_documents(path)) == CANONICAL
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(compress(JSONL))))
    reader = read_documents("-")
    assert reader.description.startswith("standard input: JSON Lines: ")
    assert list(reader) == CANONICAL


def test_several_zstandard_frames_are_one_file(tmp_path):
    path = write(tmp_path / "t.jsonl.zst", b"".join(map(zstandard.compress, JSONL.splitlines(keepends=True))))
    assert list(read_documents(path)) == CANONICAL


def test_a_folder_of_class_folders(tmp_path):
    for name, text in {
        "spam/2.txt": "win",
        "spam/deep/1.txt": "prize",
        "ham/1.txt": "hello",
        ".git/x": "no",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write(tmp_path / name, text)
    reader = read_documents(tmp_path)
    assert "2 class folders (ham, spam)" in reader.description
    assert list(reader) == [
        Document("ham/1.txt", "hello", ("ham",)),
        Document("spam/2.txt", "win", ("spam",)),
        Document("spam/deep/1.txt", "prize", ("spam",)),
    ]


def test_a_folder_of_files_is_unlabeled(tmp_path):
    write(tmp_path / "b.txt", "two")
    write(tmp_path / "a.txt", "one")
    assert list(read_documents(tmp_path)) == [Document("a.txt", "one", None), Document("b.txt", "two", None)]


class TestParquet:
    def test_strings_and_lists(self, tmp_path):
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        rows = {"text": ["a", "b", "c"], "labels": [["x", "y"], [], None], "doc_id": [7, 8, 9]}
        pq.write_table(pa.table(rows), tmp_path / "t.parquet")
        documents = [Document("7", "a", ("x", "y")), Document("8", "b", ()), Document("9", "c", None)]
        assert list(read_documents(tmp_path / "t.parquet")) == documents
        (tmp_path / "t.parquet").rename(tmp_path / "renamed")
        assert list(read_documents(tmp_path / "renamed")) == documents

    def test_without_pyarrow_the_extra_is_named(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        path = write(tmp_path / "t.parquet", b"PAR1")
        with pytest.raises(UsageError, match=r"pip install widemargin\[parquet\]"):
            read_documents(path)


def test_reading_streams(tmp_path):
    """The first document is there before the rest of a pipe has been written."""
    readable, writable = os.pipe()
    release = threading.Event()

    def produce():
        with os.fdopen(writable, "wb") as pipe:
            pipe.write(b'{"text": "first"}\n')
            pipe.flush()
            release.wait(10)
            pipe.write(b'{"text": "second"}\n')

    thread = threading.Thread(target=produce)
    thread.start()
    try:
        with pytest.MonkeyPatch.context() as patch, os.fdopen(readable, "rb") as pipe:
            patch.setattr(sys, "stdin", io.TextIOWrapper(pipe))
            documents = iter(read_documents("-"))
            assert next(documents).text == "first"
            assert not release.is_set()
            release.set()
            assert next(documents).text == "second"
    finally:
        release.set()
        thread.join()


def test_a_reader_is_read_once(tmp_path):
    reader = read_documents(write(tmp_path / "t.jsonl", JSONL))
    assert len(list(reader)) == 3
    with pytest.raises(UsageError, match="already been read"):
        iter(reader)


def test_read_collection(tmp_path):
    collection = read_collection(write(tmp_path / "t.jsonl", JSONL))
    assert isinstance(collection, Collection)
    assert list(collection) == CANONICAL


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv", "t.jsonl.gz"])
def test_streaming_never_holds_the_file(tmp_path, name):
    path = tmp_path / name
    header, row = ("text,label\n", "{},x\n") if "csv" in name else ("", '{{"text": "{}"}}\n')
    content = (header + row.format("word " * 2_000) * 3_000).encode()  # 30 MB
    write(path, gzip.compress(content, 1) if name.endswith(".gz") else content)
    del content
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_documents(path)) == 3_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 12_000_000


def test_importing_the_readers_is_light():
    """The command line imports them before it knows whether it will need numbers."""
    code = (
        "import sys, widemargin.documents.reading, widemargin.documents.corpora, widemargin.documents.demo\n"
        "print({'numpy', 'scipy', 'sklearn', 'pyarrow', 'charset_normalizer', 'ssl'} & set(sys.modules))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "set()"
