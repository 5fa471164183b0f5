"""Sources of documents as shards: pieces that workers read on their own, in the order of the sources."""

from __future__ import annotations

import codecs
import contextlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from widemargin.documents.collection import Vectors
from widemargin.documents.formats.columns import Columns, Options
from widemargin.documents.formats.sniffing import checked_format, format_by_ending
from widemargin.documents.part_readers import opened_file, part_reader
from widemargin.documents.reader import DocumentReader
from widemargin.documents.reading import Opened, open_sources
from widemargin.documents.sources.files import STDIN, File
from widemargin.documents.sources.finding import Found, Source, find_parts, name_of
from widemargin.errors import DataError, UsageError

# A plain JSON Lines file is cut into pieces of about this many bytes, at ends of lines.
PIECE = 64 << 20
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Span:
    """Some lines of a file: bytes `start` to `stop`, and the columns of the first lines of the file."""

    start: int
    stop: int
    columns: Columns


@dataclass(frozen=True)
class Shard:
    """What one task reads.

    Attributes
    ----------
    name : in messages
    file : a file on disk or elsewhere
    sources : what is read whole, if it is not a file: archives, folders of documents, queries
    span : the lines to read, None for all
    """

    name: str
    file: File | None = None
    sources: tuple[Source, ...] = ()
    span: Span | None = None

    def reader(self, options: dict[str, Any]) -> DocumentReader:
        """The documents; `options` are those of `read_documents`."""
        if self.file is None:
            return open_sources(self.sources, **options).reader()
        file = self.file
        if self.span is not None and file.on_disk is not None:
            file = replace(file, open=_Lines(file.on_disk, self.span))
        reader = part_reader(file, Options(**options))
        if self.span is not None and _names(reader.columns) != _names(self.span.columns):
            reader.close()
            raise DataError(
                f"{self.name}: some lines have other fields than the first line. Name the fields with "
                f"--text, --label and --id."
            )
        return reader

    def vector_batches(self, options: dict[str, Any], size: int) -> Iterator[Vectors]:
        """The rows of files of vectors, about `size` values at a time."""
        if self.file is None:
            return open_sources(self.sources, **options).vector_batches(size)
        opened = Opened(self.name, Found([self.file]), Options(**options))
        if not opened.holds_vectors:
            opened.close()
            raise DataError(f"{self.name} holds texts, and other files vectors. Pass files of the same kind.")
        return opened.vector_batches(size)

    @contextlib.contextmanager
    def exact_errors(self, options: dict[str, Any]) -> Iterator[None]:
        """Let errors in the block count lines from the beginning of the file, by reading it again."""
        try:
            yield
        except DataError:
            if self.span is not None:
                for _ in replace(self, span=None).reader(options).blocks():
                    pass
            raise


def _names(columns: Columns | None) -> Columns | None:
    return None if columns is None else replace(columns, note="")


@dataclass(frozen=True)
class _Whole:
    """Opens a file; unlike a function inside another, it can be sent to a worker."""

    path: Path

    def __call__(self) -> IO[bytes]:
        return open(self.path, "rb", buffering=_CHUNK)


@dataclass(frozen=True)
class _Lines:
    """Opens some lines of a file."""

    path: Path
    span: Span

    def __call__(self) -> IO[bytes]:
        return io.BufferedReader(_Part(self.path, self.span), _CHUNK)


class _Part(io.RawIOBase):
    """The bytes of a span."""

    def __init__(self, path: Path, span: Span) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  # closed below
        self._file.seek(span.start)
        self._left = span.stop - span.start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)[: self._left]
        read = self._file.readinto(view) or 0
        self._left -= read
        return read

    def close(self) -> None:
        self._file.close()
        super().close()


@dataclass
class Shards:
    """Shards in their order, and for each the number of the part that it belongs to: a file."""

    shards: list[Shard] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def find_shards(sources: Sequence[Source], options: dict[str, Any], *, piece: int = PIECE) -> Shards:
    """Everything that `sources` name: a shard per file, or per piece of a large JSON Lines file.

    If something is not a file (an archive, a folder of documents, a query), all of it is one shard.
    """
    if STDIN in sources:
        raise UsageError("Workers of a cluster cannot read standard input. Name files.")
    chosen = Options(**options)
    found = find_parts(sources, chosen)
    try:
        files = [part for part in found.parts if isinstance(part, File) and _is_anywhere(part)]
        if len(files) < len(found.parts):
            name = name_of(sources)
            return Shards([Shard(name, sources=tuple(sources))], [0], [name])
    finally:
        found.close()
    made = Shards(names=[file.name for file in files])
    for number, file in enumerate(files):
        if file.on_disk is not None:
            absolute = file.on_disk.absolute()
            file = replace(file, open=_Whole(absolute), on_disk=absolute)
        whole = Shard(file.name, file)
        spans = _spans(file, chosen, piece)
        made.shards += [replace(whole, span=span) for span in spans] if spans else [whole]
        made.parts += [number] * max(len(spans), 1)
    return made


def _is_anywhere(file: File) -> bool:
    """Whether workers can open a file: one on disk or elsewhere, not a member of an archive."""
    return file.on_disk is not None or file.any_order is not None


def _spans(file: File, options: Options, piece: int) -> list[Span]:
    """The pieces of a file; none if it is small, or not plain JSON Lines in UTF-8."""
    path = file.on_disk
    known = checked_format(options.format or file.format) or format_by_ending(file.path)
    if path is None or file.name == STDIN:
        return []
    plain = known == "jsonl" and path.suffix.lower() in (".jsonl", ".ndjson", ".json", ".txt", "")
    encoding = options.encoding is None or codecs.lookup(options.encoding).name == "utf-8"
    if not plain or not encoding or not path.is_file() or path.stat().st_size < 2 * piece:
        return []
    ends = _line_ends(path, piece)
    if len(ends) < 2:
        return []
    reader = part_reader(file, options, opened_file(file, options))
    reader.close()
    if reader.columns is None:
        return []
    starts = [0, *ends[:-1]]
    return [Span(start, stop, reader.columns) for start, stop in zip(starts, ends, strict=True)]


def _line_ends(path: Path, piece: int) -> list[int]:
    """Where pieces end, the last at the end of the file; none if it is not UTF-8, whose decoding differs."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    ends, start, place = [], 0, 0
    try:
        for chunk in _chunks(path):
            decoder.decode(chunk)
            if b"\0" in chunk or (not place and chunk.startswith(codecs.BOM_UTF8)):
                return []
            if place + len(chunk) - start >= piece and (end := chunk.rfind(b"\n") + 1):
                start = place + end
                ends.append(start)
            place += len(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return []
    return ends if place == start else [*ends, place]


def _chunks(path: Path) -> Iterator[bytes]:
    with open(path, "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            yield chunk
