"""Sorted lists of terms with their frequencies: in memory, in files of pages, and merged.

A file is a sequence of pages, each with a checksum, so that files are merged with one page of each in memory.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin.errors import DataError, MissingFileError
from widemargin.on_disk.row_files import missing
from widemargin.on_disk.rows import damaged
from widemargin.text.vocabulary import Vocabulary

Longs = NDArray[np.int64]

PAGE = 1 << 14
"""Terms per page."""
_HEADER = struct.Struct("<8sqqQ")
_MAGIC = b"TERMPG01"
_SEED = 0x5DEECE66D
# Merged terms that are handed on at a time.
_AT_ONCE = 1 << 17


class Terms(NamedTuple):
    """Distinct terms in the order of their bytes.

    Attributes
    ----------
    buffer, offsets : term i is ``buffer[offsets[i]:offsets[i + 1]]``, in UTF-8
    frequencies : the number of documents that contain each term
    totals : the number of its occurrences

    Examples
    --------
    >>> corn = Terms.of(Vocabulary.from_terms(["corn", "oil"]), np.array([2, 1]), np.array([3, 1]))
    >>> oil = Terms.of(Vocabulary.from_terms(["oil"]), np.array([1]), np.array([4]))
    >>> merged = merge_terms([corn, oil])
    >>> list(merged.vocabulary), merged.frequencies.tolist(), merged.totals.tolist()
    (['corn', 'oil'], [2, 2], [3, 5])
    """

    buffer: NDArray[np.uint8]
    offsets: Longs
    frequencies: Longs
    totals: Longs

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, frequencies: NDArray[np.integer], totals: NDArray[np.integer]
    ) -> Terms:
        return cls(
            vocabulary.buffer,
            vocabulary.offsets,
            frequencies.astype(np.int64, copy=False),
            totals.astype(np.int64, copy=False),
        )

    @property
    def n_terms(self) -> int:
        return len(self.frequencies)

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.buffer, self.offsets)

    def part(self, start: int, stop: int) -> Terms:
        """Some terms that follow each other."""
        begin, end = self.offsets[start], self.offsets[stop]
        some = slice(start, stop)
        return Terms(
            self.buffer[begin:end],
            self.offsets[start : stop + 1] - begin,
            self.frequencies[some],
            self.totals[some],
        )

    def kept(self, marked: NDArray[np.bool_]) -> Terms:
        """The terms that are marked."""
        if marked.all():
            return self
        lengths = np.diff(self.offsets)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[marked])])
        buffer = self.buffer[np.repeat(marked, lengths)]
        return Terms(buffer, offsets, self.frequencies[marked], self.totals[marked])


NO_TERMS = Terms(np.empty(0, np.uint8), np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))


def joined(parts: list[Terms]) -> Terms:
    """Parts of one list, in order. `parts` is emptied, so that terms are in memory once only."""
    if len(parts) <= 1:
        return parts.pop() if parts else NO_TERMS
    ends = np.cumsum([0, *(part.offsets[-1] for part in parts)])
    buffers, offsets, frequencies, totals = (list(arrays) for arrays in zip(*parts, strict=True))
    parts.clear()
    for i, end in enumerate(ends[:-1]):
        offsets[i] = offsets[i][i > 0 :] + end
    return Terms(
        _concatenated(buffers),
        _concatenated(offsets),
        _concatenated(frequencies),
        _concatenated(totals),
    )


def _concatenated(arrays: list[Any]) -> Any:
    together = np.concatenate(arrays)
    arrays.clear()
    return together


def write_terms(file: BinaryIO, parts: Iterable[Terms]) -> int:
    """Write the parts of one list as pages; returns the number of terms."""
    n_terms = 0
    for part in parts:
        n_terms += part.n_terms
        for start in range(0, part.n_terms, PAGE):
            page = part.part(start, min(start + PAGE, part.n_terms))
            body = b"".join(
                (
                    np.diff(page.offsets).astype(np.uint32).tobytes(),
                    page.frequencies.astype(np.uint32).tobytes(),
                    page.totals.tobytes(),
                    page.buffer.tobytes(),
                )
            )
            file.write(_HEADER.pack(_MAGIC, page.n_terms, len(body), _checksum(body)))
            file.write(body)
    return n_terms


def read_terms(path: Path, n_terms: int) -> Iterator[Terms]:
    """The pages of a file of so many terms; a damaged one raises DataError."""
    if not path.exists():
        raise MissingFileError(missing(path))
    found, n_bytes = 0, path.stat().st_size
    with path.open("rb") as file:
        while header := file.read(_HEADER.size):
            if len(header) < _HEADER.size:
                raise DataError(damaged(str(path), "it ends too early"))
            magic, n, size, checksum = _HEADER.unpack(header)
            left = n_bytes - file.tell()  # so that a damaged size cannot ask for more memory than there is
            if magic != _MAGIC or not 0 < n <= PAGE or not 16 * n <= size <= left:
                raise DataError(damaged(str(path), "a page does not begin as one"))
            body = file.read(size)
            if len(body) != size or _checksum(body) != checksum:
                raise DataError(damaged(str(path), "its checksum does not match"))
            lengths, frequencies = np.frombuffer(body, np.uint32, 2 * n).reshape(2, n).astype(np.int64)
            totals = np.frombuffer(body, np.int64, n, offset=8 * n)
            buffer = np.frombuffer(body, np.uint8, offset=16 * n)
            offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
            if offsets[-1] != len(buffer):
                raise DataError(damaged(str(path), "its terms have other lengths"))
            found += n
            yield Terms(buffer, offsets, frequencies, totals)
    if found != n_terms:
        raise DataError(damaged(str(path), f"it has {found} terms instead of {n_terms}"))


def _checksum(data: bytes) -> int:
    return _core.hash_bytes(np.frombuffer(data, np.uint8), _SEED)


def merge_pages(sources: Sequence[Iterable[Terms]]) -> Iterator[Terms]:
    """Merge sorted lists, given in pages, into one, in parts. Frequencies and totals of a term are added."""
    pages = [iter(source) for source in sources]
    merge = _core.TermMerge(len(pages))

    def feed(source: int) -> None:
        page = next(pages[source], None)
        merge.feed(source, *(NO_TERMS if page is None else page), last=page is None)

    try:
        for source in range(len(pages)):
            feed(source)
        while (source := merge.advance()) >= 0:
            feed(source)
            if merge.n_ready >= _AT_ONCE:
                yield Terms(*merge.take())
        yield Terms(*merge.take())
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise DataError(damaged("A list of terms", str(error))) from None


def merge_terms(lists: Sequence[Terms]) -> Terms:
    """One list of the terms of several; the order of `lists` does not matter."""
    return joined(list(merge_pages([[each] if each.n_terms else [] for each in lists])))


def columns_among(terms: Terms, known: Vocabulary) -> NDArray[np.int32]:
    """Where each term is in `known`, or -1.

    Examples
    --------
    >>> terms = Terms.of(Vocabulary.from_terms(["a", "c"]), np.ones(2, int), np.ones(2, int))
    >>> columns_among(terms, Vocabulary.from_terms(["b", "c"])).tolist()
    [-1, 1]
    """
    found = np.empty(terms.n_terms, dtype=np.int32)
    _core.find_terms(terms.buffer, terms.offsets, known.buffer, known.offsets, found)
    return found
