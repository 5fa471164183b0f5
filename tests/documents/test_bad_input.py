"""Every way in which a source can be wrong gets an error with what, where and a cure, or a warning."""

from __future__ import annotations

import bz2
import contextlib
import encodings.aliases
import gzip
import lzma
import os
import random
import sys
import warnings

import pyarrow
import pyarrow.parquet
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin.documents.collection import Collection
from widemargin.documents.formats.svmlight_model import read_svmlight_model
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
    with pytest.raises(DataError, match=r"is empty. Expected a folder for each class"):
        read_documents(tmp_path)


def test_files_beside_class_folders_are_left_out(tmp_path):
    (tmp_path / "spam").mkdir()
    (tmp_path / "spam" / "1").write_text("win")
    (tmp_path / "README").write_text("read me")
    with pytest.warns(DataWarning, match=r"omitted 1 file outside of the class folders \(README\)"):
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
        with pytest.raises(DataError, match=r"no column contains text; columns are a, b"):
            read(tmp_path / "t.jsonl", '{"a": 1, "b": 2}\n')

    def test_a_document_in_place_of_the_header(self, tmp_path):
        with pytest.raises(DataError, match=r"does not look like the name of a column.*--no-header"):
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
        with pytest.raises(DataError, match=r"t.csv, line 4: a quote in this record is never closed"):
            read(tmp_path / "t.csv", 'text,label\n"two\nlines",x\n"open,x\nb,x\nc,x\n')

    def test_text_after_a_closing_quote(self, tmp_path):
        with pytest.raises(DataError, match=r"line 2: a closing quote.*Double the quotes"):
            read(tmp_path / "t.csv", 'text,label\n"a" b,x\n')

    def test_a_carriage_return_without_quotes(self, tmp_path):
        with pytest.raises(
            DataError, match=r"t.csv, line 3: a field without quotes contains a carriage return"
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
        listed = '[\n  {"text": "a"}\n]\n'
        with pytest.raises(DataError, match=r"line 1.*not JSON.*jq -c '\.\[\]'"):
            read(tmp_path / "t.json", listed, format="jsonl")
        with pytest.raises(DataError, match=r"line 1.*not JSON.*`jq -c \.`"):
            read(tmp_path / "t.json", '{\n  "text": "a"\n}\n', format="jsonl")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ('[{"text": "a"},]', r"t.json, line 1, column 16: not JSON .*Expected a list"),
            ('[{"text": "a"}, "b"]', r't.json, record 2: not an object; found "b"'),
            ('[{"text": "a"}, {"text": 1}]', r't.json, record 2: "text" is not a string: 1'),
            ('{\n "text": "a"\n}', r"t.json: one object with no list of objects"),
            ('{\n "a": [{"text": "a"}],\n "b": [{"text": "a"}]}', r"several lists of objects \(a, b\)"),
            ("[]", r"t.json: has no documents"),
            ("[" * 100_000, r"t.json: .*nested too deeply"),
        ],
    )
    def test_malformed_lists(self, tmp_path, content, message):
        with pytest.raises(DataError, match=message):
            read(tmp_path / "t.json", content)

    def test_a_large_record_of_a_list(self, tmp_path):
        content = '[{"text": "a"}, {"text": "' + 500 * "b" + '"}]'
        with pytest.raises(DataError, match=r"t.json, record 2: one document has more than 300 bytes"):
            read(tmp_path / "t.json", content, max_document=300)

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
        with pytest.raises(DataError, match=r"is empty. Expected a folder"):
            read_documents(tmp_path, format="csv")
        (tmp_path / "t.csv").write_text("text\na\n")
        with pytest.raises(DataError, match=r"not a folder"):
            read_documents(tmp_path / "t.csv", format="folder")

    @pytest.mark.parametrize(
        ("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress), (".zst", zstandard.compress)]
    )
    def test_damaged_compression(self, tmp_path, suffix, compress):
        content = b"".join(b'{"text": "%d"}\n' % os.getpid() * i for i in range(300))
        whole = compress(content)
        with pytest.raises(DataError, match=r"damaged or cut off.*Get a complete copy"):
            read(tmp_path / f"cut.jsonl{suffix}", whole[:-8])
        with pytest.raises(DataError, match=r"damaged or cut off|not JSON"):
            read(tmp_path / f"altered.jsonl{suffix}", whole[:40] + b"\xff" * 20 + whole[60:])
        with pytest.raises(DataError, match=f"not a {suffix} file"):
            read(tmp_path / f"plain.jsonl{suffix}", content)

    def test_damaged_parquet(self, tmp_path):
        pytest.importorskip("pyarrow")
        with pytest.raises(DataError, match=r"not a Parquet file, or damaged"):
            read(tmp_path / "t.parquet", b"PAR1 and nothing more")

    def test_unknown_formats(self, tmp_path):
        with pytest.raises(UsageError, match=r"no format 'xml'. Choose one of jsonl, json, csv"):
            read(tmp_path / "t.csv", "text\na\n", format="xml")
        with pytest.raises(
            UsageError,
            match=r"t.txt: the format cannot be guessed from its name or its first line \('just words'\)",
        ):
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


class TestEncodings:
    @pytest.mark.parametrize("encoding", ["utf-16", "UTF_16", "utf-32"])
    def test_two_byte_orders_and_no_mark(self, tmp_path, encoding):
        bits = encoding[-2:]
        content = "text,label\na,x\n"
        with pytest.raises(DataError, match=rf"t.csv, line 1: .*byte-order mark.*--encoding utf-{bits}-le"):
            read(tmp_path / "t.csv", content.encode(f"utf-{bits}-le"), encoding=encoding)
        assert len(read(tmp_path / "t.csv", content.encode(f"utf-{bits}-le"), encoding=f"utf-{bits}-le")) == 1
        assert len(read(tmp_path / "t.csv", content.encode(f"utf-{bits}"), encoding=encoding)) == 1

    @pytest.mark.parametrize("encoding", ["zlib", "rot13", "base64", "undefined", "x\0y", "no-such", ""])
    def test_codecs_that_make_no_text(self, tmp_path, encoding):
        with pytest.raises(UsageError, match="There is no encoding"):
            read(tmp_path / "t.csv", "text,label\na,x\n", encoding=encoding)

    @pytest.mark.parametrize("errors", ["replace", "strict"])
    @pytest.mark.parametrize(
        "content",
        [b"text,label\na,x\n", bytes(range(256)) * 20, b"\xff\xfe\x00\xd8", b"a" * 70_001 + b"\xd8\n"],
    )
    def test_no_codec_of_python_fails_otherwise(self, tmp_path, content, errors):
        for encoding in sorted(
            set(encodings.aliases.aliases.values()) | {"idna", "punycode", "unicode_escape"}
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with contextlib.suppress(WidemarginError):
                    read(tmp_path / "t.csv", content, encoding=encoding, errors=errors)


class TestParquet:
    def write(self, path, **columns):
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
        return path

    def strings(self, *values):
        """A column of strings that need not be UTF-8."""
        return pyarrow.Array.from_buffers(
            pyarrow.string(), len(values), pyarrow.array(values, pyarrow.binary()).buffers()
        )

    def test_bytes_that_are_not_utf8(self, tmp_path):
        path = self.write(tmp_path / "t.parquet", text=self.strings(b"caf\xe9", b"ok"), label=["x", "y"])
        with pytest.warns(DataWarning, match=r"t.parquet: 1 cell with undecodable bytes"):
            assert [document.text for document in read_documents(path)] == ["caf\ufffd", "ok"]
        with pytest.raises(DataError, match=r't.parquet, row 1: "text" holds byte 0xe9, which is not UTF-8'):
            list(read_documents(path, errors="strict"))

    def test_they_do_not_matter_in_other_columns(self, tmp_path):
        path = self.write(tmp_path / "t.parquet", text=["a", "b"], other=self.strings(b"\xff", b"\xfe"))
        assert len(list(read_documents(path, text="text"))) == 2

    def test_in_lists_of_labels(self, tmp_path):
        labels = pyarrow.ListArray.from_arrays([0, 1, 2], self.strings(b"x", b"\xff"))
        path = self.write(tmp_path / "t.parquet", text=["a", "b"], labels=labels)
        with pytest.raises(DataError, match=r't.parquet, rows from 1: "labels" holds a value that cannot be'):
            list(read_documents(path))

    def test_two_columns_of_one_name(self, tmp_path):
        table = pyarrow.table([pyarrow.array(["a"]), pyarrow.array(["b"])], names=["text", "text"])
        pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
        with pytest.raises(DataError, match='two columns are called "text"'):
            read_documents(tmp_path / "t.parquet")

    def test_cells_that_are_no_text(self, tmp_path):
        path = self.write(tmp_path / "t.parquet", text=pyarrow.array([b"x" * 10**6, b""], pyarrow.binary()))
        with pytest.raises(DataError, match=r'row 1: "text" is .{,90}, not text') as caught:
            list(read_documents(path, text="text"))
        assert len(str(caught.value)) < 400

    def test_years_beyond_python(self, tmp_path):
        late = pyarrow.array([2**61], pyarrow.timestamp("us"))
        path = self.write(tmp_path / "t.parquet", text=["a"], date=late)
        assert len(list(read_documents(path))) == 1
        with pytest.raises(DataError, match=r'"date" holds a value that cannot be read'):
            list(read_documents(path, label="date"))

    def test_damage_is_not_a_matter_of_permissions(self, tmp_path):
        """Every byte of a small file changed in turn, and the file cut off at every tenth."""
        path = self.write(
            tmp_path / "t.parquet", text=[f"text {i}" for i in range(20)], label=["x", "y"] * 10
        )
        whole = path.read_bytes()
        told = 0
        versions = [whole[:i] + bytes([whole[i] ^ 0xFF]) + whole[i + 1 :] for i in range(0, len(whole), 3)]
        for damaged in versions + [whole[:size] for size in range(4, len(whole), 10)]:
            path.write_bytes(damaged)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                try:
                    list(read_documents(path, errors="strict"))
                except DataError as error:
                    assert "t.parquet" in str(error)  # noqa: PT017 (what was changed may not matter)
                    assert "permissions" not in str(error)  # noqa: PT017
                    told += 1
        assert told > len(versions) / 4


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (bz2.compress(b'{"text": "a"}\n'), "bzip2"),
        (b"7z\xbc\xaf\x27\x1c\x00\x04", "7z"),
    ],
)
def test_compression_that_is_not_read(tmp_path, content, name):
    for suffix in (".jsonl", ".zip", ""):
        with pytest.raises(
            DataError, match=f"data{suffix}: a {name} file cannot be read directly. Unpack it"
        ):
            read(tmp_path / f"data{suffix}", content)


def test_a_text_of_lists_without_end(tmp_path):
    deep = "[" * 900 + "]" * 900
    with pytest.raises(
        DataError, match=r't.jsonl, line 2: ("text" is not a string|lists or objects are nested)'
    ):
        read(tmp_path / "t.jsonl", '{"text": "a"}\n{"text": ' + deep + "}\n")


DAMAGE = {
    "t.jsonl": b'{"id": "1", "text": "caf\xc3\xa9", "labels": ["a"]}\n' * 5,
    "t.csv": b'id,text,label\n1,"two\nlines, and ""more""",a\n2,x,"[""a"", ""b""]"\n',
    "t.tsv": b"id\ttext\tlabel\n1\tone\ta\n2\ttwo\tb\n",
    "t.ft": b"__label__a some words\n__label__b others\n",
    "t.svm": b"1 1:0.5 7:1e-3 # first\n-1 qid:3 cost:2 2:1\n0 5:1\n1,2 3:1\n",
    "t.jsonl.gz": gzip.compress(b'{"text": "a", "labels": ["x"]}\n' * 50, mtime=0),
    "t.jsonl.xz": lzma.compress(b'{"text": "a", "labels": ["x"]}\n' * 50),
    "t.jsonl.zst": zstandard.compress(b'{"text": "a", "labels": ["x"]}\n' * 50),
}
SPLICES = [
    b"\0",
    b"\xff\xfe",
    b"\n",
    b'"',
    b"[" * 3000,
    b"9" * 5000,
    b"-1e999",
    b"\\ud800",
    b"{",
    b"\r",
    b":",
    b"\x1b",
]


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_told_as_such(tmp_path, name):
    """Bytes changed, cut out and put in, at random: an explained error or documents."""
    generator = random.Random(name)
    whole = DAMAGE[name]
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(generator.randint(1, 3)):
            place = generator.randrange(len(content) + 1)
            what = generator.randrange(4)
            if what == 0:
                content[place : place + 1] = bytes([generator.randrange(256)])
            elif what == 1:
                del content[place : place + generator.randint(1, 20)]
            elif what == 2:
                content[place:place] = generator.choice(SPLICES)
            else:
                del content[place:]
        (tmp_path / name).write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            try:
                read_collection(tmp_path / name, errors=generator.choice(["replace", "strict"]))
            except WidemarginError as error:
                assert name in str(error)  # noqa: PT017 (either outcome is right)


def test_damaged_svmlight_models(tmp_path):
    whole = (
        b"SVM-light Version V6.02\n2 # type\n3 # -d\n0.5 # -g\n1 # -s\n1 # -r\nempty# -u\n9 # highest\n"
        b"2 # number\n3 # number\n0.99 # threshold b\n-0.5 1:0.5 9:1 #\n0.5 2:1 #\n"
    )
    (tmp_path / "m").write_bytes(whole)
    assert len(read_svmlight_model(tmp_path / "m").coefficients) == 2
    generator = random.Random(0)
    for _ in range(400):
        place, end = generator.randrange(len(whole)), generator.randrange(len(whole))
        middle = generator.choice([*SPLICES, bytes([generator.randrange(256)])])
        (tmp_path / "m").write_bytes(
            whole[:place] + middle + whole[max(place, end) if place % 2 else place + 1 :]
        )
        try:
            read_svmlight_model(tmp_path / "m")
        except DataError as error:
            assert str(error).startswith(str(tmp_path / "m"))  # noqa: PT017 (either outcome is right)


def test_standard_input_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    for options in ({}, {"format": "jsonl"}):
        with pytest.raises(DataError, match="standard input is closed"):
            read_documents("-", **options)
