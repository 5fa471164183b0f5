"""No document grows without end: one that is too large is refused with its place, and is never in memory."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys

import pyarrow
import pyarrow.parquet
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin.documents.encoding import Decoder, Lines
from widemargin.documents.formats.svmlight_model import read_svmlight_model
from widemargin.documents.limits import MAX_DOCUMENT, exceeds, parse_size
from widemargin.documents.reading import read_collection, read_documents, read_stream
from widemargin.errors import DataError, UsageError

LIMIT = 1000
LONG = "word " * 300


def _jsonl(text):
    return json.dumps({"text": text, "labels": ["a"]}) + "\n"


CASES = {
    "t.jsonl": (_jsonl("short") + _jsonl(LONG), "line 2"),
    "t.csv": (f"text,label\nshort,a\n{LONG},a\n", "line 3"),
    "u.csv": ("text,label\nshort,a\n" + '"' + "word\n" * 300 + '",a\nshort,a\n', "line 3"),
    "t.tsv": (f"text\tlabel\nshort\ta\n{LONG}\ta\n", "line 3"),
    "t.ft": (f"__label__a short\n__label__a {LONG}\n", "line 2"),
    "t.svm": ("1 1:1\n-1 " + " ".join(f"{j}:1" for j in range(1, 400)) + "\n", "line 2"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_large_document_is_refused_with_its_line(tmp_path, name):
    content, place = CASES[name]
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(
        DataError, match=rf"{name}, {place}: one document has more than 1 kB\..*--max-document"
    ):
        read_collection(path, max_document=LIMIT)
    assert len(read_collection(path, max_document=10 * LIMIT)) >= 2


def test_a_large_file_of_a_folder(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1").write_text(LONG)
    with pytest.raises(DataError, match=r"a/1: one document has more than 1 kB"):
        list(read_documents(tmp_path, max_document=LIMIT))


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_a_large_cell(tmp_path, use_dictionary):
    path = tmp_path / "t.parquet"
    table = pyarrow.table({"text": ["short", "short", LONG, LONG], "label": list("abab")})
    pyarrow.parquet.write_table(table, path, use_dictionary=use_dictionary)
    with pytest.raises(DataError, match=r't.parquet, row 3, "text": one document has more than 1 kB'):
        list(read_documents(path, max_document=LIMIT))
    assert [d.text for d in read_documents(path)] == ["short", "short", LONG, LONG]


def test_a_value_that_many_rows_share_is_in_memory_once(tmp_path):
    """A thousand rows of 10 MB each in a file of a few kB."""
    path = tmp_path / "t.parquet"
    values = pyarrow.array(["x" * 10_000_000])
    shared = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 1000), values)
    pyarrow.parquet.write_table(pyarrow.table({"text": shared}), path, compression="zstd")
    texts = [document.text for document in read_documents(path)]
    assert len(texts) == 1000
    assert len({id(text) for text in texts}) == 1


def test_an_svmlight_model(tmp_path):
    path = tmp_path / "m"
    zeros = gzip.compress(b"0" * 1_000_000) * (MAX_DOCUMENT // 1_000_000 + 1)
    path.write_bytes(gzip.compress(b"SVM-light Version V6.02\n") + zeros)
    with pytest.raises(DataError, match=r"m, line 2: one document has more than 128 MB"):
        read_svmlight_model(path)


class TestStreams:
    LINES = _jsonl("one") + _jsonl(LONG) + _jsonl("three") + _jsonl(LONG * 1000) + _jsonl("five")

    def test_a_long_line_is_skipped_and_told(self, tmp_path):
        (tmp_path / "t.jsonl").write_text(self.LINES)
        batches = list(read_stream(tmp_path / "t.jsonl", max_document=LIMIT).batches())
        assert [text for batch in batches for text in batch.texts] == ["one", "three", "five"]
        assert [line for batch in batches for line in batch.lines] == [1, 3, 5]
        told = [str(error) for batch in batches for error in batch.bad]
        assert [text.partition(":")[0].rpartition(" ")[2] for text in told] == ["2", "4"]

    def test_strictly_it_is_the_end(self, tmp_path):
        (tmp_path / "t.jsonl").write_text(self.LINES)
        reader = read_stream(tmp_path / "t.jsonl", max_document=LIMIT + 10**9, errors="strict")
        assert sum(map(len, reader.batches())) == 5
        with pytest.raises(DataError, match=r"t.jsonl, line 2: one document"):
            list(read_stream(tmp_path / "t.jsonl", max_document=LIMIT, errors="strict"))


@settings(max_examples=200, deadline=None)
@given(
    lines=st.lists(st.text("aé\U0001f600", max_size=12), max_size=6),
    cut=st.integers(1, 7),
    limit=st.integers(1, 30),
)
def test_lines_are_the_same_however_they_arrive(lines, cut, limit):
    """Against the obvious way: split all of it, and look at every line."""
    data = "".join(line + "\n" for line in lines).encode()
    chunks = [data[i : i + cut] for i in range(0, len(data), cut)]
    told = []
    found = list(Lines(chunks, Decoder("t", "utf-8"), limit, told.append))
    expected = [(line if len(line.encode()) <= limit else "") + "\n" for line in lines]
    assert found == expected
    numbers = [i for i, line in enumerate(lines, 1) if len(line.encode()) > limit]
    assert [str(error).partition(":")[0] for error in told] == [f"t, line {i}" for i in numbers]


@pytest.mark.parametrize(("name", "suffix"), [("t.jsonl", "gz"), ("t.csv", "zst"), ("t.svm", "gz")])
def test_a_bomb_does_not_fill_the_memory(tmp_path, name, suffix):
    """Two gigabytes of one line, in a process that may have one."""
    begin = {"t.jsonl": b'{"text": "', "t.csv": b'text,label\n"', "t.svm": b"1 1:", "t.ft": b"__label__a "}[
        name
    ]
    # The same compressed piece many times is a file of as many members or frames.
    compress, size = (gzip.compress, 1 << 20) if suffix == "gz" else (zstandard.compress, 1 << 27)
    path = tmp_path / f"{name}.{suffix}"
    path.write_bytes(compress(begin) + compress(b"0" * size) * ((2 << 30) // size))
    program = (
        "import sys\n"
        "from widemargin.documents.reading import read_collection\n"
        "from widemargin.errors import DataError\n"
        "try:\n"
        "    read_collection(sys.argv[1])\n"
        "except DataError as error:\n"
        "    sys.exit(str(error))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, path],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
        env={"OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert "one document has more than 128 MB" in done.stderr, done.stderr


def test_sizes_in_words():
    assert [parse_size(text, "--x") for text in ("7", "7B", "1kB", "2 MB", "3gb")] == [
        7,
        7,
        1000,
        2 * 10**6,
        3 * 10**9,
    ]
    for text in ("", "0", "MB", "-1", "1.5MB", "1 minute", "9" * 30):
        with pytest.raises(UsageError, match=r"--x .*: expected a size such as 500kB"):
            parse_size(text, "--x")
    with pytest.raises(UsageError, match="max_document=0"):
        read_documents("x.jsonl", max_document=0)


@given(st.text(), st.integers(1, 40))
def test_exceeds_counts_bytes(text, limit):
    assert exceeds(text, limit) == (len(text.encode("utf-8", "surrogatepass")) > limit)
