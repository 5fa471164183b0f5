"""A sorted list of terms in one UTF-8 buffer, which takes less memory than a Python string per term."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError


def pack(strings: list[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The concatenated bytes of `strings` and the offset of each; the last offset is the end."""
    offsets = np.zeros(len(strings) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, strings), dtype=np.int64, count=len(strings)), out=offsets[1:])
    return np.frombuffer(b"".join(strings), dtype=np.uint8), offsets


class Vocabulary:
    """Terms in the order of their code points; the position of a term is its column.

    Parameters
    ----------
    buffer : array of uint8
        The concatenated UTF-8 bytes of the terms.
    offsets : array of int64
        Term ``i`` is ``buffer[offsets[i]:offsets[i + 1]]``.

    Examples
    --------
    >>> terms = Vocabulary.from_terms(["wheat", "corn", "corn oil"])
    >>> list(terms), terms.index("corn oil"), terms.index("oil")
    (['corn', 'corn oil', 'wheat'], 1, -1)
    """

    def __init__(self, buffer: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.buffer = np.ascontiguousarray(buffer, dtype=np.uint8)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        if (
            self.offsets.ndim != 1
            or len(self.offsets) == 0
            or self.offsets[0] != 0
            or self.offsets[-1] != len(self.buffer)
            or bool((np.diff(self.offsets) < 0).any())
        ):
            raise DataError("The vocabulary's offsets do not fit its buffer; the model is damaged.")

    @classmethod
    def from_terms(cls, terms: Iterable[str]) -> Vocabulary:
        """The vocabulary of distinct `terms`, in any order."""
        # UTF-8 sorts as code points do.
        return cls(*pack(sorted({cls._stored(term) for term in terms})))

    @staticmethod
    def _name(stored: bytes) -> str:
        return stored.decode()

    @staticmethod
    def _stored(name: str) -> bytes:
        return name.encode(errors="surrogatepass")

    def check(self) -> None:
        """Raise an error if terms from a file are not UTF-8 or not sorted by code points."""
        data = self.buffer.tobytes()
        terms = [data[begin:end] for begin, end in pairwise(self.offsets.tolist())]
        begins = self.buffer[self.offsets[:-1][np.diff(self.offsets) > 0]]
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise DataError(f"'vocabulary' is not UTF-8: {error}") from error
        # A byte of this form continues a character.
        if (begins & 0xC0 == 0x80).any() or any(a >= b for a, b in pairwise(terms)):
            raise DataError("'vocabulary' and 'vocabulary_offsets' are not a sorted list of distinct terms")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[str]:
        data = self.buffer.tobytes()
        return (self._name(data[begin:end]) for begin, end in pairwise(self.offsets.tolist()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.buffer, other.buffer)

    __hash__ = None  # type: ignore[assignment]  # equal vocabularies may be different arrays

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} terms, {self.buffer.nbytes + self.offsets.nbytes} bytes)"

    def term(self, i: int) -> str:
        """The term of column `i`."""
        if not 0 <= i < len(self):
            raise IndexError(f"column {i} of a vocabulary of {len(self)} terms")
        return self._name(self.buffer[self.offsets[i] : self.offsets[i + 1]].tobytes())

    def index(self, term: str) -> int:
        """The column of `term`, or -1 if it is not in the vocabulary."""
        wanted = self._stored(term)
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.buffer[self.offsets[middle] : self.offsets[middle + 1]].tobytes() < wanted:
                low = middle + 1
            else:
                high = middle
        if low < len(self) and self.buffer[self.offsets[low] : self.offsets[low + 1]].tobytes() == wanted:
            return low
        return -1


class ByteVocabulary(Vocabulary):
    r"""Terms of bytes, stored as strings of the first 256 characters, in the order of the bytes.

    Names show the printable characters among the bytes. Other bytes are written as in Python, such as
    ``\xc3`` for a part of a character, and a backslash is doubled, so that every term has its own name.

    Examples
    --------
    >>> terms = ByteVocabulary.from_terms(["él", r"\xa9l", "bl"])
    >>> print(*terms)
    bl \xa9l él
    >>> terms.index(r"\xa9l")
    1
    """

    @staticmethod
    def _name(stored: bytes) -> str:
        term = stored.decode().encode("latin-1").decode(errors="surrogateescape")
        if term.isprintable() and "\\" not in term:
            return term
        return "".join(map(_escaped, term))

    @staticmethod
    def _stored(name: str) -> bytes:
        parts = _ESCAPE.split(name)  # every second one is an escape
        units = b"".join(
            _unescaped(part) if i % 2 else part.encode(errors="surrogatepass") for i, part in enumerate(parts)
        )
        return units.decode("latin-1").encode()


_ESCAPE = re.compile(r"(\\\\|\\x[0-9a-f]{2})")


def _escaped(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogateescape"))


def _unescaped(escape: str) -> bytes:
    return b"\\" if escape == "\\\\" else bytes.fromhex(escape[2:])
