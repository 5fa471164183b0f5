"""Every way in which a source can be wrong gets an error with what, where and a cure, or a warning."""

from __future__ import annotations

import gzip
import lzma
import os
import sys
import warnings

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin.documents.collection import Collection
from widemargin.documents.reading import read_collection, read_documents
from widemargin.errors import (
    DataError,
    DataWarning,
    MissingFileError,
    StorageError,
    UsageError,
    WidemarginError,
)


def read(path, content, **options):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_documents(path, **options))


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.ft", "t.txt", "t.jsonl.gz"])
def test_an_empty_file(tmp_path, name):
    with pytest.raises(DataError, match=r"is empty. Expected"):
        read(tmp_path / name, b"")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "text,label\n"),
        ("t.tsv", "text\tlabel\n"),
        ("t.jsonl", "\n\n"),
        ("t.ft", "\n"),
        ("t.csv", "text\n\n"),
    ],
)
def test_a_header_only_or_blank_lines(tmp_path, name, content):
    with pytest.raises(DataError, match=r"has no documents. Expected"):
        read(tmp_path / name, content)


def test_an_empty_folder(tmp_path):
    with pytest.raises(DataError, match=r"is empty. Expected a folder for each class"):
        read_documents(tmp_path)
    (tmp_path / "spam").mkdir()
    with pytest.raises(DataError, match=r"has no documents"):
        list(read_documents(tmp_path))


def test_files_beside_class_folders_are_left_out(tmp_path):
    (tmp_path / "spam").mkdir()
    (tmp_path / "spam" / "1").write_text("win")
    (tmp_path / "README").write_text("read me")
    with pytest.warns(DataWarning, match=r"left out 1 file beside the class folders \(README\)"):
        assert [document.id for document in read_documents(tmp_path)] == ["spam/1"]


class TestColumns:
    def test_a_missing_column_names_those_there_are(self, tmp_path):
        with pytest.raises(
            DataError, match=r't.csv, line 1: no column "text"; columns are id, body, team. Pass --text body.'
        ):
            read(tmp_path / "t.csv", "id,body,team\n1,a,x\n", text="text")
        with pytest.raises(DataError, match=r'no column "x".*Pass one of them with --label'):
            read(tmp_path / "t.csv", "id,body\n1,a\n", label="x")

    def test_a_missing_field_of_one_record(self, tmp_path):
        with pytest.raises(DataError, match=r't.jsonl, line 2: "text" is missing; fields are body'):
            read(tmp_path / "t.jsonl", '{"text": "a"}\n{"body": "b"}\n')
        with pytest.raises(DataError, match=r'"text" is null'):
            read(tmp_path / "t.jsonl", '{"text": "a"}\n{"text": null}\n')
        with pytest.raises(DataError, match=r'"text" is not a string: 3'):
            read(tmp_path / "t.jsonl", '{"text": "a"}\n{"text": 3}\n')

    def test_no_column_with_text(self, tmp_path):
        with pytest.raises(DataError, match=r"no column holds text; columns are a, b"):
            read(tmp_path / "t.jsonl", '{"a": 1, "b": 2}\n')

    def test_a_document_in_place_of_the_header(self, tmp_path):
        with pytest.raises(DataError, match=r"does not look like the name of a column.*--label 1 --text 2"):
            read(tmp_path / "t.tsv", f"ham\t{'Go until jurong point ' * 5}\nspam\tWin\n")
        with pytest.raises(DataError, match=r'two columns are called "a"'):
            read(tmp_path / "t.csv", "a,a\n1,2\n")


class TestTables:
    @pytest.mark.parametrize("row", ["only one", "one,two,three,four"])
    def test_ragged_rows(self, tmp_path, row):
        with pytest.raises(
            DataError, match=r"t.csv, line 4: \d fields? where the header has 3 \(id, text, label\)"
        ):
            read(tmp_path / "t.csv", f'id,text,label\n1,"two\nlines",x\n{row}\n')

    def test_an_unclosed_quote_is_told_where_its_record_began(self, tmp_path):
        with pytest.raises(
            DataError, match=r"t.csv, line 4: a quote that is opened in this record is never closed"
        ):
            read(tmp_path / "t.csv", 'text,label\n"two\nlines",x\n"open,x\nb,x\nc,x\n')

    def test_text_after_a_closing_quote(self, tmp_path):
        with pytest.raises(DataError, match=r"line 2: a closing quote.*Double the quotes"):
            read(tmp_path / "t.csv", 'text,label\n"a" b,x\n')

    def test_a_carriage_return_without_quotes(self, tmp_path):
        with pytest.raises(
            DataError, match=r"t.csv, line 3: a carriage return stands in a field without quotes"
        ):
            read(tmp_path / "t.csv", "text,label\na,x\nb\rc,x\n")
        assert read(tmp_path / "t.csv", 'text,label\r\n"b\rc",x\r\n')[0].text == "b\rc"

    def test_quotes_in_tsv_may_be_ordinary_characters(self, tmp_path):
        rows = read(tmp_path / "t.tsv", 'label\ttext\nx\t"open\ny\tsay "hi"\nz\t"a" b\n')
        assert [row.text for row in rows] == ['"open', 'say "hi"', '"a" b']

    def test_a_field_larger_than_the_csv_module_likes(self, tmp_path):
        assert len(read(tmp_path / "t.csv", f"text,label\n{'x' * 500_000},y\n")[0].text) == 500_000


class TestJson:
    def test_malformed_lines(self, tmp_path):
        with pytest.raises(DataError, match=r"t.jsonl, line 2, column 10: not JSON .*found \{\"text\": "):
            read(tmp_path / "t.jsonl", '{"text": "a"}\n{"text": b}\n')
        with pytest.raises(DataError, match=r"line 1: not an object.*jq"):
            read(tmp_path / "t.json", '[{"text": "a"}]\n')
        with pytest.raises(DataError, match=r"line 1.*not JSON.*jq -c '\.\[\]'"):
            read(tmp_path / "t.json", '[\n  {"text": "a"}\n]\n')
        with pytest.raises(DataError, match=r"line 1.*not JSON.*`jq -c \.`"):
            read(tmp_path / "t.json", '{\n  "text": "a"\n}\n')

    def test_great_depth(self, tmp_path):
        deep = "[" * 200_000 + "]" * 200_000
        with pytest.raises(DataError, match=r"t.jsonl, line 2: .*nested too deeply"):
            read(tmp_path / "t.jsonl", f'{{"text": "a"}}\n{{"text": "b", "x": {deep}}}\n')
        assert read(tmp_path / "t.csv", f"text,label\na,{deep}\n")[0].labels == (deep,)

    def test_huge_numbers(self, tmp_path):
        with pytest.raises(DataError, match=r"line 1: not JSON"):
            read(tmp_path / "t.jsonl", f'{{"text": "a", "n": {"9" * 10_000}}}\n')

    def test_labels_that_are_not_strings(self, tmp_path):
        with pytest.raises(DataError, match=r'line 1: "labels": a label is an object'):
            read(tmp_path / "t.jsonl", '{"text": "a", "labels": [{"name": "x"}]}\n')
        with pytest.raises(DataError, match=r'"id" is not a string or a number'):
            read(tmp_path / "t.jsonl", '{"text": "a", "id": [1]}\n')

    def test_halves_of_surrogate_pairs(self, tmp_path):
        content = r'{"text": "a\ud800b", "labels": ["\udc00"]}' + "\n"
        (document,) = read(tmp_path / "t.jsonl", content)
        assert (document.text, document.labels) == ("a\ufffdb", ("\ufffd",))
        assert read(tmp_path / "t.jsonl", '{"text": "\\ud83d\\ude00"}\n')[0].text == "😀"
        with pytest.raises(DataError, match=r"line 1: half of a surrogate pair \(\\ud800\)"):
            read(tmp_path / "t.jsonl", content, errors="strict")


def test_duplicate_ids_are_kept_and_said_once(tmp_path):
    with pytest.warns(
        DataWarning, match=r"2 documents with the id of an earlier one .*'7'.*All are kept"
    ) as caught:
        documents = read(tmp_path / "t.csv", "id,text\n7,a\n8,b\n7,c\n7,d\n")
    assert [document.text for document in documents] == ["a", "b", "c", "d"]
    assert len(caught) == 1


class TestFiles:
    def test_missing(self, tmp_path):
        for read_it in (read_documents, read_collection):
            with pytest.raises(MissingFileError, match=r"nothing.csv: no such file or folder"):
                read_it(tmp_path / "nothing.csv")

    @pytest.mark.skipif(
        sys.platform == "win32" or os.geteuid() == 0, reason="permissions do not bind this user"
    )
    def test_unreadable(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("text\na\n")
        path.chmod(0)
        with pytest.raises(StorageError, match=r"cannot be read"):
            read_documents(path)

    def test_a_device_that_fails(self, tmp_path, monkeypatch):
        path = tmp_path / "t.csv"
        path.write_text("text\na\n")

        def refuse(*arguments, **options):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
        with pytest.raises(StorageError, match=r"t.csv: cannot be read \(Permission denied\)"):
            read_documents(path)

    def test_a_folder_in_place_of_a_file_and_the_reverse(self, tmp_path):
        with pytest.raises(DataError, match=r"is a folder; expected a file"):
            read_documents(tmp_path, format="csv")
        (tmp_path / "t.csv").write_text("text\na\n")
        with pytest.raises(DataError, match=r"is not a folder"):
            read_documents(tmp_path / "t.csv", format="folder")

    @pytest.mark.parametrize(
        ("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress), (".zst", zstandard.compress)]
    )
    def test_damaged_compression(self, tmp_path, suffix, compress):
        content = b"".join(b'{"text": "%d"}\n' % os.getpid() * i for i in range(300))
        whole = compress(content)
        with pytest.raises(DataError, match=r"damaged or cut off.*Get a whole copy"):
            read(tmp_path / f"cut.jsonl{suffix}", whole[:-8])
        with pytest.raises(DataError, match=r"damaged or cut off|not JSON"):
            read(tmp_path / f"altered.jsonl{suffix}", whole[:40] + b"\xff" * 20 + whole[60:])
        with pytest.raises(DataError, match=f"is not a {suffix} file"):
            read(tmp_path / f"plain.jsonl{suffix}", content)

    def test_damaged_parquet(self, tmp_path):
        pytest.importorskip("pyarrow")
        with pytest.raises(DataError, match=r"not a Parquet file, or damaged"):
            read(tmp_path / "t.parquet", b"PAR1 and nothing more")

    def test_unknown_formats(self, tmp_path):
        with pytest.raises(UsageError, match=r"no format 'xml'. Choose one of jsonl, csv"):
            read(tmp_path / "t.csv", "text\na\n", format="xml")
        with pytest.raises(UsageError, match=r"t.txt: neither its name nor its first line \('just words'\)"):
            read(tmp_path / "t.txt", "just words\n")


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv"])
def test_a_document_of_a_hundred_megabytes(tmp_path, name):
    path = tmp_path / name
    before, after = {"t.jsonl": (b'{"text": "', b'"}\n'), "t.csv": (b'text,label\n"', b'",x\n')}[name]
    with path.open("wb") as file:
        file.write(before)
        for _ in range(100):
            file.write(b"word " * 200_000)
        file.write(after)
    (document,) = read_documents(path)
    assert len(document.text) == 100_000_000


def test_a_great_many_tiny_documents(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label\n" + "a,x\n" * 200_000)
    assert sum(1 for _ in read_documents(path)) == 200_000


fragments = st.lists(
    st.binary(max_size=6)
    | st.sampled_from(
        [b"\n", b"\r", b",", b"\t", b'"', b"{", b"}", b"[", b'"text":', b"text,label\n", b"__label__a "]
    )
    | st.sampled_from(
        [b"1 3:4 ", b"-1", b"qid:2 ", b"#", b"\x1f\x8b", b"PAR1", b"\xff\xfe", b"\xef\xbb\xbf", b"\0"]
    ),
    max_size=12,
).map(b"".join)


@settings(max_examples=300)
@given(
    content=fragments,
    format=st.sampled_from([None, "jsonl", "csv", "tsv", "fasttext", "svmlight", "parquet"]),
)
def test_no_bytes_end_in_anything_but_documents_or_an_explained_error(content, format, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "data"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            collection = read_collection(path, format=format)
        except WidemarginError as error:
            assert str(path) in str(error)  # noqa: PT017 (either outcome is right)
        else:
            assert len(collection) > 0
            if isinstance(collection, Collection):
                "".join(collection.texts).encode()
