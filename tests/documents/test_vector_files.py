"""Files of word vectors: the formats, against plain Python, and what is wrong with them."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin.documents.formats.vector_files import WordLines, open_matrix, open_word_vectors
from widemargin.errors import DataError, DataWarning, MissingFileError

WORDS = ["the", "wheat", "Corn", "New_York", "naïve", "<unk>", "3"]
ROWS = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)


def text(separator: str = " ", *, header: bool = False, end: str = "\n") -> str:
    lines = [
        separator.join([word, *(repr(float(value)) for value in row)])
        for word, row in zip(WORDS, ROWS, strict=True)
    ]
    return "".join(line + end for line in ([f"{len(WORDS)} 5"] if header else []) + lines)


@pytest.mark.parametrize(
    "content",
    [
        text(),
        text(header=True),
        text("\t"),
        text("\t", header=True),
        text(header=True, end=" \n"),  # as word2vec writes it
        text(header=True, end="\r\n"),
        text(end="\n\n"),
        text().rstrip("\n"),
        "\ufeff" + text(header=True),
    ],
)
def test_text_formats(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tiny.vec"
    path.write_bytes(content.encode())
    found = open_word_vectors(path)
    assert list(found.words) == WORDS
    assert found.dims == 5
    np.testing.assert_array_equal(found.vectors(np.arange(len(WORDS))), ROWS)
    # Some words, in any order, also twice.
    places = np.array([4, 0, 6, 0])
    np.testing.assert_array_equal(found.vectors(places), ROWS[places])
    assert found.vectors(np.array([], dtype=np.intp)).shape == (0, 5)


def test_compressed(tmp_path: Path) -> None:
    for suffix, compress in ((".gz", gzip.compress), (".xz", lzma.compress)):
        path = tmp_path / f"tiny.txt{suffix}"
        path.write_bytes(compress(text().encode()))
        np.testing.assert_array_equal(open_word_vectors(path).vectors(np.arange(len(WORDS))), ROWS)


def test_words_may_contain_spaces(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("the 1 2\n. . . 3 4\nat me@example.org 5 6\n")
    found = open_word_vectors(path)
    assert found.words == ["the", ". . .", "at me@example.org"]
    assert found.vectors(np.array([1, 2])).tolist() == [[3, 4], [5, 6]]


def test_more_lines_than_are_read_at_a_time(tmp_path: Path) -> None:
    rows = np.arange(3000, dtype=np.float32).reshape(1500, 2)
    path = tmp_path / "long.txt"
    path.write_text("".join(f"w{i} {a} {b}\n" for i, (a, b) in enumerate(rows.tolist())))
    places = np.random.default_rng(1).permutation(1500)
    np.testing.assert_array_equal(open_word_vectors(path).vectors(places), rows[places])


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1), min_size=1, unique=True),
    st.integers(1, 4),
    st.booleans(),
    st.integers(0, 100),
)
def test_text_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], dims: int, header: bool, seed: int
) -> None:
    rows = np.random.default_rng(seed).normal(size=(len(words), dims)).astype(np.float32)
    lines = [" ".join([word, *map(repr, row)]) for word, row in zip(words, rows.tolist(), strict=True)]
    if dims == 1 and not header and words[0].isdigit() and lines[0].split()[1].isdigit():
        return  # such a line is a header
    path = tmp_path_factory.mktemp("words") / "some.txt"
    path.write_text("\n".join(([f"{len(words)} {dims}"] if header else []) + lines), encoding="utf-8")
    found = open_word_vectors(path)
    assert list(found.words) == words
    np.testing.assert_array_equal(found.vectors(np.arange(len(words))), rows)


def read_all(path: Path) -> np.ndarray:
    found = WordLines(path)
    return found.vectors(np.arange(len(found.words)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "there are no words: it is empty"),
        (b"\n\n", "there are no words: it is empty"),
        (b"5 3\n", "there are no words: it is empty"),
        (b"wheat\n", "line 1: expected a word and its numbers"),
        (b"the 1 2 3\nwheat 1 2\n", "line 2: 2 numbers after 'wheat'; expected 3"),
        (b"the 1 2 3\nwheat 1 2 3 4\n", "line 2: 4 numbers after 'wheat'; expected 3"),
        (b"2 3\nwheat 1 2 3\ncorn 1\n", "line 3: 1 numbers after 'corn'; expected 3"),
        (b"the 1 2\nwheat 1 nan\n", "line 2: value 2 is nan"),
        (b"the 1 2\nwheat inf 0\n", "line 2: value 1 is inf"),
        (b"the 1 2\nwheat 1e60 0\n", "line 2: value 1 is inf"),
        (b"the 1 2\nwheat 1 x\n", "line 2: 'x' is not a number"),
        (b"2 3\nwheat \x00\x01\x02\x00\x00\ncorn \x00", "binary file of word2vec cannot be read"),
        (b"caf\xe9 1 2\n", "all of them are not UTF-8"),
    ],
)
def test_wrong_text_names_the_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "wrong.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_all(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("none.txt", "none.npy"):
        with pytest.raises(MissingFileError, match=name):
            open_word_vectors(tmp_path / name)
    with pytest.raises(DataError, match="folder"):
        open_word_vectors(tmp_path)
    (tmp_path / "x.npy").mkdir()
    with pytest.raises(DataError, match="folder"):
        open_word_vectors(tmp_path / "x.npy")


def test_words_that_are_not_utf_8_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"the 1 2\ncaf\xe9 3 4\nwheat 5 6\n")
    with pytest.warns(DataWarning, match="1 words are not UTF-8 and are ignored .the first in line 2"):
        found = open_word_vectors(path)
    assert found.words == ["the", "wheat"]
    assert found.vectors(np.array([1])).tolist() == [[5, 6]]


def test_words_that_occur_again_are_said(tmp_path: Path) -> None:
    path = tmp_path / "again.txt"
    path.write_text("the 1 2\nwheat 3 4\nthe 5 6\n")
    with pytest.warns(DataWarning, match="1 words occur again, such as 'the'; the first vector"):
        open_word_vectors(path)


def test_a_file_that_changes_between_the_passes(tmp_path: Path) -> None:
    path = tmp_path / "short.txt"
    path.write_text("the 1 2\nwheat 3 4\n")
    found = open_word_vectors(path)
    path.write_text("the 1 2\n")
    with pytest.raises(DataError, match="changed while it was read"):
        found.vectors(np.array([1]))


@pytest.mark.parametrize("beside", ["rows.words.txt", "rows.txt"])
def test_matrix_with_words_beside_it(tmp_path: Path, beside: str) -> None:
    np.save(tmp_path / "rows.npy", ROWS.astype(np.float64))
    (tmp_path / beside).write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    found = open_word_vectors(tmp_path / "rows.npy")
    assert list(found.words) == WORDS
    np.testing.assert_array_equal(found.vectors(np.array([2, 0])), ROWS[[2, 0]])


def test_wrong_words_beside_a_matrix(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", ROWS)
    with pytest.raises(DataError, match=r"words of its rows are missing. Put them into .*rows\.words\.txt"):
        open_word_vectors(tmp_path / "rows.npy")
    (tmp_path / "rows.txt").write_text("the\nwheat\n")
    with pytest.raises(DataError, match=r"2 words, but .* has 7 rows"):
        open_word_vectors(tmp_path / "rows.npy")
    (tmp_path / "rows.txt").write_bytes(b"a\nb\xe9\nc\nd\ne\nf\ng\n")
    with pytest.warns(DataWarning, match="1 words are not UTF-8 and are ignored .the first in line 2"):
        found = open_word_vectors(tmp_path / "rows.npy")
    np.testing.assert_array_equal(found.vectors(np.array([1])), ROWS[[2]])
    wrong = ROWS.copy()
    wrong[3, 1] = np.nan
    np.save(tmp_path / "wrong.npy", wrong)
    (tmp_path / "wrong.txt").write_text("\n".join(WORDS), encoding="utf-8")
    with pytest.raises(DataError, match=r"wrong\.npy, word 'New_York': value 2 is nan"):
        open_word_vectors(tmp_path / "wrong.npy").vectors(np.array([0, 3]))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3), r"float64 of shape \(3,\)"),
        (np.zeros((2, 0)), r"float64 of shape \(2, 0\)"),
        (np.zeros((2, 2), dtype=complex), "complex128"),
        (np.array([["a", "b"]]), "<U1 of shape"),
        (np.array([[None, {}]], dtype=object), "Python objects, which are never read"),
    ],
)
def test_arrays_that_are_not_matrices_of_numbers(tmp_path: Path, array: np.ndarray, message: str) -> None:
    np.save(tmp_path / "x.npy", array, allow_pickle=True)
    with pytest.raises(DataError, match=message):
        open_matrix(tmp_path / "x.npy")


def test_files_that_are_not_npy(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    for content, message in (
        (b"", "is empty"),
        (b"wheat 1 2\n", "is not a .npy file"),
        (b"\x80\x04K\x01.", "is not a .npy file"),  # a pickle
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=message):
            open_matrix(path)
    np.save(path, ROWS)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(DataError, match="cut off"):
        open_matrix(path)
    with path.open("wb") as file:
        np.savez(file, a=ROWS)
    with pytest.raises(DataError, match="several arrays"):
        open_matrix(path)
