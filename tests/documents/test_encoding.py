"""Bytes that are not UTF-8, or not quite."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widemargin.documents.encoding import Decoder, Lines, detect
from widemargin.documents.reading import read_documents
from widemargin.errors import DataError, DataWarning, UsageError

FRENCH = "Les élèves étaient déjà à l'hôtel, où le garçon a mangé une crêpe brûlée"
RUSSIAN = "Съешь ещё этих мягких французских булок, да выпей чаю"
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"
POLISH = (
    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności; są obdarzeni rozumem i powinni "
    "postępować jak bracia, gdyż mają sumienie, które im to każe, i łączy ich przyjaźń"
)


def read(path, content, **options):
    path.write_bytes(content)
    return [document.text for document in read_documents(path, **options)]


@pytest.mark.parametrize(
    "mark_and_codec",
    [
        (codecs.BOM_UTF8, "utf-8"),
        (b"", "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
    ],
    ids=str,
)
def test_byte_order_marks_are_not_text(tmp_path, mark_and_codec):
    mark, codec = mark_and_codec
    content = mark + f"text,label\n{FRENCH.replace(',', '')},x\n{RUSSIAN.replace(',', '')},y\n".encode(codec)
    texts = [FRENCH.replace(",", ""), RUSSIAN.replace(",", "")]
    assert read(tmp_path / "t.csv", content) == texts
    assert read(tmp_path / "without_suffix", content) == texts


def test_a_mark_is_dropped_where_the_encoding_is_given(tmp_path):
    assert read(tmp_path / "t.csv", codecs.BOM_UTF8 + b"text,label\na,x\n", encoding="UTF-8") == ["a"]


@pytest.mark.parametrize(
    ("text", "codec", "named"),
    [
        (FRENCH, "latin-1", "cp1252"),
        (f"“{FRENCH}”", "cp1252", "cp1252"),
        (POLISH, "cp1250", "cp1250"),
        (POLISH, "iso8859-2", "iso8859_2"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8-r", "koi8_r"),
        (JAPANESE, "shift_jis", "cp932"),
        ("naïve", "latin-1", "cp1252"),
        (FRENCH, "utf-16-le", "utf-16-le"),
        (FRENCH, "utf-16-be", "utf-16-be"),
    ],
)
def test_other_encodings_are_detected_and_said(tmp_path, text, codec, named):
    with pytest.warns(DataWarning, match=f"read as {named}.*--encoding"):
        read_back = read(tmp_path / "t.tsv", f"text\tlabel\n{text}\tx\n".encode(codec))
    assert read_back == [text]


def test_other_encodings_are_detected_wherever_they_begin(tmp_path):
    plain = "ascii,x\n" * 300_000
    with pytest.warns(DataWarning, match="read as cp1252"):
        texts = read(tmp_path / "t.csv", f'text,label\n{plain}"{FRENCH}",x\n'.encode("latin-1"))
    assert texts[-1] == FRENCH


def test_the_encoding_may_be_given(tmp_path):
    assert read(tmp_path / "t.tsv", f"text\tlabel\n{RUSSIAN}\tx\n".encode("koi8-r"), encoding="koi8-r") == [
        RUSSIAN
    ]
    with pytest.raises(UsageError, match="no encoding 'klingon'"):
        read(tmp_path / "t.tsv", b"text\n", encoding="klingon")
    with pytest.raises(UsageError, match="neither 'replace' nor 'strict'"):
        read(tmp_path / "t.tsv", b"text\n", errors="ignore")


class TestInvalidBytes:
    content = f"text\tlabel\n{FRENCH}\tx\n".encode() + b"caf\xe9 \xff\tx\n"

    def test_a_few_are_replaced_and_counted(self, tmp_path):
        with pytest.warns(DataWarning, match="2 invalid bytes in UTF-8 became"):
            assert read(tmp_path / "t.tsv", self.content)[1] == "caf\ufffd \ufffd"

    def test_a_genuine_replacement_character_is_not_counted(self, tmp_path):
        with pytest.warns(DataWarning, match="2 invalid bytes"):
            read(tmp_path / "t.tsv", self.content + "\ufffd\tx\n".encode())
        assert read(tmp_path / "t.tsv", "text\tlabel\n\ufffd\tx\n".encode()) == ["\ufffd"]

    def test_strict_names_the_line(self, tmp_path):
        with pytest.raises(DataError, match=r"t\.tsv, line 3: byte 0xe9 is not UTF-8.*--encoding"):
            read(tmp_path / "t.tsv", self.content, errors="strict")
        with pytest.raises(DataError, match="line 1: byte 0xe9 is not UTF-8"):
            read(tmp_path / "t.txt", b"caf\xe9\n", errors="strict", format="fasttext")
        with pytest.raises(DataError, match="line 2: byte 0xe9 is not ascii"):
            read(tmp_path / "t.csv", b"text\ncaf\xe9\n", errors="strict", encoding="ascii")

    def test_a_character_cut_off_at_the_end(self, tmp_path):
        with pytest.warns(DataWarning, match="1 invalid byte in UTF-8"):
            assert read(tmp_path / "t.txt", "été é".encode()[:-1], format="fasttext") == ["été \ufffd"]


def test_nul_characters_become_blanks(tmp_path):
    with pytest.warns(DataWarning, match="2 NUL characters became blank"):
        assert read(tmp_path / "t.csv", b"text,label\na\0b\0c,x\n") == ["a b c"]


def test_a_folder_warns_once(tmp_path):
    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.txt").write_bytes(FRENCH.encode("latin-1"))
    with pytest.warns(DataWarning, match=r"read 3 files that are not UTF-8 .*3 as cp1252") as caught:
        assert [document.text for document in read_documents(tmp_path)] == [FRENCH] * 3
    assert len(caught) == 1


def test_old_macintosh_line_ends(tmp_path):
    assert read(tmp_path / "t.csv", b"text,label\ra,x\rb,y\r") == ["a", "b"]


def test_other_line_separators_do_not_end_a_line(tmp_path):
    assert read(tmp_path / "t.txt", "a\u2028b\x85c\x0bd\n".encode(), format="fasttext") == [
        "a\u2028b\x85c\x0bd"
    ]


@given(
    text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")), size=st.integers(1, 7)
)
def test_chunks_may_be_cut_anywhere(text, size):
    content = text.encode()
    # A byte-order mark has to come in one piece, as it does from a file.
    chunks = [content[:4], *(content[i : i + size] for i in range(4, len(content), size))]
    lines = list(Lines(chunks, Decoder("memory")))
    assert "".join(lines) == text.removeprefix("\ufeff")
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines[:-1])


def test_detecting_random_bytes_gives_some_encoding():
    codecs.lookup(detect(bytes(range(128, 256)) * 4))
