"""Files of vectors: matrices of NumPy, which are never unpickled, and word vectors.

Word vectors are words and their numbers, which may be larger than memory. There are two forms:

- text, also compressed (.gz, .xz, .zst), one word a line with its numbers after it, divided by spaces
  or tabs: the text format of word2vec and the .vec files of fastText begin with a line "words dimensions",
  those of GloVe do not;
- a matrix ``NAME.npy``, one row per word, with the words in ``NAME.words.txt`` or ``NAME.txt``, one a line.

Such files are sorted by frequency, the most frequent word first. All words are read first, and then only the
numbers of those that are needed, which is what takes time.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from widemargin.documents.sources.byte_source import ByteSource
from widemargin.errors import DataError, DataWarning, MissingFileError, StorageError

Floats = NDArray[np.float32]
_SPACES = b" \t\r\n"
# Lines whose numbers are read at a time.
_AT_ONCE = 512
_TO_TEXT = (
    "Convert it to text, for example with gensim: KeyedVectors.load_word2vec_format(name, "
    "binary=True).save_word2vec_format('vectors.txt')."
)


def open_matrix(path: str | os.PathLike[str]) -> NDArray[Any]:
    """The matrix of numbers in a file, mapped into memory; whether its values are finite is not checked.

    Raises
    ------
    DataError
        The file is not a .npy file, or contains something other than a matrix of real numbers.
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        raise DataError(f"{name}: is a folder; expected a .npy file.")
    try:
        found: Any = np.load(name, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise MissingFileError(f"{name}: no such file. Check the path.") from error
    except (ValueError, EOFError) as error:
        if "objects" in str(error) or "Object" in str(error):
            why = (
                "contains Python objects, which are never read from a file. Save numbers: array.astype('f4')"
            )
        elif os.path.getsize(name) == 0:
            why = "is empty. Save it again with numpy.save"
        else:
            why = "is not a .npy file, or is cut off. Save it again with numpy.save"
        raise DataError(f"{name}: {why}.") from error
    except OSError as error:
        raise StorageError(f"{name} could not be read: {error.strerror or error}.") from error
    if not isinstance(found, np.ndarray):
        found.close()
        raise DataError(f"{name}: contains several arrays. Save one with numpy.save, not numpy.savez.")
    if found.ndim != 2 or found.dtype.kind not in "fiu" or 0 in found.shape:
        kind = f"{found.dtype} of shape {found.shape}"
        raise DataError(f"{name}: contains {kind}; expected real numbers, one row of them per vector.")
    return found


def finite_rows(rows: NDArray[Any], where: str, row_names: Any = None) -> NDArray[np.float32]:
    """These rows in single precision; a value that is not finite is an error.

    Parameters
    ----------
    where : what errors call the source
    row_names : what errors call each row; by default its number
    """
    found = np.array(rows, dtype=np.float32, order="C")
    if not np.isfinite(found).all():
        row, column = np.argwhere(~np.isfinite(found))[0].tolist()
        name = f"row {row} (counting from 0)" if row_names is None else row_names(row)
        raise DataError(
            f"{where}, {name}: value {column + 1} is {rows[row][column]}, which is not a finite number in "
            f"single precision. Remove the row, or repair it."
        )
    return found


class WordVectors(Protocol):
    """Words with vectors of `dims` numbers.

    Attributes
    ----------
    name : what errors call the source
    words : in the order of the source; those that are not UTF-8 are left out
    """

    name: str
    dims: int
    words: Sequence[str]

    def vectors(self, places: NDArray[np.intp]) -> Floats:
        """The vectors of the words at some places, one row each, all finite."""
        ...


def open_word_vectors(path: str | os.PathLike[str]) -> WordVectors:
    """The words of a file, whose numbers are read when they are needed."""
    return WordMatrix.open(path) if os.fspath(path).lower().endswith(".npy") else WordLines(path)


def words_beside(path: str | os.PathLike[str]) -> Path | None:
    """The file with the words of a .npy file; None if there is none."""
    path = Path(path)
    places = (path.with_suffix(".words.txt"), path.with_suffix(".txt"))
    return next((place for place in places if place.is_file()), None)


class WordLines:
    """Word vectors as text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "tiny.vec")
    ...     _ = file.write_text("2 3\\nwheat 1 0 0.5\\ncorn 0.9 0.1 0.5\\n")
    ...     tiny = WordLines(file)
    ...     tiny.words, tiny.vectors(np.array([1])).round(1).tolist()
    (['wheat', 'corn'], [[0.8999999761581421, 0.10000000149011612, 0.5]])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self.dims = 0
        words, numbers, undecodable = [], [], []
        for number, word, _ in self._parts():
            try:
                words.append(word.decode())
                numbers.append(number)
            except UnicodeDecodeError:
                undecodable.append(number)
        _check_words(words, undecodable, self.name)
        self.words: Sequence[str] = words
        self._numbers = np.array(numbers, dtype=np.int64)

    def vectors(self, places: NDArray[np.intp]) -> Floats:
        """The vectors of the words at some places, one row each, all finite."""
        found = np.empty((len(places), self.dims), dtype=np.float32)
        wanted = self._numbers[places]
        order = np.argsort(wanted, kind="stable")
        done = 0
        for numbers, lines in self._some_lines(wanted[order].tolist()):
            rows = self._values(numbers, lines)
            found[order[done : done + len(rows)]] = rows
            done += len(rows)
        if done < len(places):
            raise DataError(f"{self.name} changed while it was read. Try again.")
        return found

    def _some_lines(self, wanted: list[int]) -> Iterator[tuple[list[int], list[bytes]]]:
        """The numbers of the wanted lines, some lines at a time."""
        numbers: list[int] = []
        lines: list[bytes] = []
        remaining = iter(wanted)
        next_one = next(remaining, None)
        for number, _, values in self._parts():
            if next_one is None:
                break
            while number == next_one:
                numbers.append(number)
                lines.append(values)
                next_one = next(remaining, None)
            if len(lines) >= _AT_ONCE:
                yield numbers, lines
                numbers, lines = [], []
        if lines:
            yield numbers, lines

    def _parts(self) -> Iterator[tuple[int, bytes, bytes]]:
        """Line number, word and numbers of every word."""
        source = ByteSource(self.name)
        try:
            # A header may be preceded by a byte order mark.
            for number, line in enumerate(source.lines(), start=1):
                line = line.rstrip(_SPACES)
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if not line:
                    continue
                if b"\t" in line:
                    line = line.replace(b"\t", b" ")
                if number == 1 and self._is_header(line):
                    continue
                word, _, values = line.partition(b" ")
                if values.count(b" ") + 1 != self.dims:
                    word, values = self._split(line, number)
                yield number, word, values
        finally:
            source.close()

    def _is_header(self, line: bytes) -> bool:
        """Whether the first line holds the numbers of words and dimensions; sets the dimensions."""
        parts = line.split()
        header = len(parts) == 2 and all(part.isdigit() for part in parts)
        self.dims = int(parts[1]) if header else len(parts) - 1
        if self.dims < 1:
            raise DataError(
                f"{self.name}, line 1: expected a word and its numbers, or 'words dimensions', found "
                f"{_shown(line)}. Pass a text file of word vectors."
            )
        return header

    def _split(self, line: bytes, number: int) -> tuple[bytes, bytes]:
        """Word and numbers of a line with spaces in the word, or with several spaces in a row."""
        parts = line.split()
        first = len(parts) - self.dims
        # A word may contain spaces; a number there means that there are too many.
        if first < 1 or (first > 1 and _is_number(parts[first - 1])):
            if b"\x00" in line or not _is_number(parts[-1]):
                raise DataError(
                    f"{self.name}, line {number}: this is not text, or not a word with numbers: "
                    f"{_shown(line)}. A binary file of word2vec cannot be read. {_TO_TEXT}"
                )
            raise DataError(
                f"{self.name}, line {number}: {len(parts) - 1} numbers after {_shown(parts[0])}; expected "
                f"{self.dims} as in the first line. Repair or remove the line."
            )
        return b" ".join(parts[:first]), b" ".join(parts[first:])

    def _values(self, numbers: list[int], lines: list[bytes]) -> Floats:
        try:
            with np.errstate(over="ignore"):  # too large is not finite, which is checked
                values = np.array(b" ".join(lines).split(), dtype=np.float32)
        except ValueError:
            for number, line in zip(numbers, lines, strict=True):
                wrong = next((part for part in line.split() if not _is_number(part)), None)
                if wrong is not None:
                    raise DataError(
                        f"{self.name}, line {number}: {_shown(wrong)} is not a number. Repair or remove the "
                        f"line. A binary file of word2vec cannot be read. {_TO_TEXT}"
                    ) from None
            raise
        rows = values.reshape(len(lines), self.dims)
        return finite_rows(rows, self.name, lambda row: f"line {numbers[row]}")


class WordMatrix:
    """Word vectors as rows of a matrix, and their words in the same order."""

    def __init__(self, words: Sequence[str], matrix: NDArray[Any], name: str) -> None:
        self.name, self.words, self.dims, self._matrix = name, words, int(matrix.shape[1]), matrix

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> WordMatrix:
        """The matrix of a .npy file, with the words of the file beside it."""
        matrix, beside = open_matrix(path), words_beside(path)
        if beside is None:
            stem = os.fspath(path)[:-4]
            raise DataError(
                f"{os.fspath(path)}: the words of its rows are missing. Put them into {stem}.words.txt, one "
                f"a line."
            )
        source = ByteSource(beside)
        try:
            lines = [line.rstrip(b"\r\n") for line in source.lines()]
        finally:
            source.close()
        if len(lines) != len(matrix):
            raise DataError(
                f"{beside}: {len(lines)} words, but {os.fspath(path)} has {len(matrix)} rows. Write one word "
                f"for each row."
            )
        words, kept, undecodable = [], [], []
        for place, line in enumerate(lines):
            try:
                words.append(line.decode("utf-8-sig" if place == 0 else "utf-8"))
                kept.append(place)
            except UnicodeDecodeError:
                undecodable.append(place + 1)
        _check_words(words, undecodable, str(beside))
        return cls(words, matrix if not undecodable else matrix[kept], os.fspath(path))

    def vectors(self, places: NDArray[np.intp]) -> Floats:
        """The vectors of the words at some places, one row each, all finite."""
        return finite_rows(
            self._matrix[places], self.name, lambda row: f"word {self.words[int(places[row])]!r}"
        )


def _check_words(words: Sequence[str], undecodable: Sequence[int], name: str) -> None:
    """Warn of words that cannot be used; without any, raise an error."""
    if not words:
        some = "all of them are not UTF-8" if undecodable else "it is empty"
        raise DataError(f"{name}: there are no words: {some}. Pass a file of word vectors in UTF-8.")
    if undecodable:
        warnings.warn(
            f"{name}: {len(undecodable)} words are not UTF-8 and are ignored (the first in line "
            f"{undecodable[0]}).",
            DataWarning,
            stacklevel=4,
        )
    n_again = len(words) - len(set(words))
    if n_again:
        first = {word: place for place, word in reversed(list(enumerate(words)))}
        again = next(word for place, word in enumerate(words) if first[word] < place)
        warnings.warn(
            f"{name}: {n_again} words occur again, such as {again!r}; the first vector of a word is used.",
            DataWarning,
            stacklevel=4,
        )


def _is_number(part: bytes) -> bool:
    try:
        float(part)
    except ValueError:
        return False
    return True


def _shown(part: bytes) -> str:
    """The beginning of some bytes for an error message."""
    text = part[:40].decode(errors="replace")
    return repr(text if len(part) <= 40 else text + "...")
