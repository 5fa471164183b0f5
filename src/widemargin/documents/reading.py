"""Read documents of every format: columns are guessed, the guess is printed, and options override it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from widemargin.documents.collection import Collection
from widemargin.documents.formats.columns import Options, ReadOptions
from widemargin.documents.formats.jsonl import JsonLines
from widemargin.documents.formats.sniffing import (
    FORMATS,
    Format,
    checked_format,
    format_by_name,
    format_of_bytes,
    guess_format,
)
from widemargin.documents.part_readers import lines_of, name_of_part, opened_file, part_reader, reading_of
from widemargin.documents.reader import DocumentReader, read_in_turn
from widemargin.documents.sources.byte_source import ByteSource
from widemargin.documents.sources.files import File
from widemargin.documents.sources.finding import Found, Source, find_parts, name_of
from widemargin.documents.sources.urls import Url
from widemargin.errors import DataError, UsageError

if TYPE_CHECKING:
    from widemargin.documents.collection import Vectors

__all__ = [
    "FORMATS",
    "DocumentReader",
    "Format",
    "Opened",
    "Source",
    "format_by_name",
    "guess_format",
    "open_sources",
    "read_collection",
    "read_documents",
    "read_stream",
]


def read_documents(source: Source | Sequence[Source], **options: Unpack[ReadOptions]) -> DocumentReader:
    """Open a source of documents, or several; iterating streams them.

    Parameters
    ----------
    source : path, pattern, URL, "-", query, or several of them
        A file (also .gz, .xz, .zst), a folder or archive of files, a pattern such as "data/*.csv", a URL such
        as "s3://bucket/*.parquet" (extra ``remote``), "-" for standard input, or a
        :class:`~widemargin.documents.sources.parts.SqlQuery`.
    options : the attributes of :class:`~widemargin.documents.formats.columns.Options`
    """
    return open_sources(source, **options).reader()


def read_collection(
    source: Source | Sequence[Source], **options: Unpack[ReadOptions]
) -> Collection | Vectors:
    """Read whole sources into memory: a `Collection`, or `Vectors` for SVM-light files.

    The parameters are those of `read_documents`.
    """
    opened = open_sources(source, **options)
    if opened.holds_vectors:
        return opened.vectors()
    reader = opened.reader()
    collection = Collection(reading=reader.reading)
    for batch in reader.batches():
        collection.extend(batch)
    collection.take_beside(opened.options)
    return collection


def open_sources(source: Source | Sequence[Source], **options: Unpack[ReadOptions]) -> Opened:
    """Open sources to find out whether they hold texts or vectors; the parameters are those of
    `read_documents`."""
    chosen = Options(**options)
    found = find_parts(source, chosen)
    return Opened(name_of(source), found, chosen)


def read_stream(source: str | Path | Url, **options: Unpack[ReadOptions]) -> DocumentReader:
    """Open JSON Lines that may never end, to be read in a thread; the parameters are those of
    `read_documents`.

    A line that is not a document is skipped and reported with its number in `Batch.bad`, so that it does not
    end the stream; with ``errors="strict"`` it is an error. Ids may repeat.
    """
    chosen = Options(**options)
    found = checked_format(chosen.format) or format_by_name(source)
    stream = ByteSource(source, in_thread=True)
    found = found or format_of_bytes(stream.head, stream.name)
    if found != "jsonl":
        raise UsageError(
            f"{stream.name}: a stream must be JSON Lines, but this is {found}. Train without --stream, or "
            f"write one object per line."
        )
    skipped: list[DataError] | None = None if chosen.errors == "strict" else []
    # A line that is too long is skipped like one that is not a document.
    skip = None if skipped is None else skipped.append
    blocks = JsonLines(lines_of(stream, chosen, skip), stream.name, chosen, skipped)
    description = f"a stream of {blocks.description}"
    return DocumentReader(
        stream.name,
        "jsonl",
        description,
        blocks,
        stream.close,
        ready=stream.ready,
        stream=True,
        columns=blocks.columns,
        reading=reading_of(chosen, "jsonl", blocks.columns),
    )


class Opened:
    """Sources of documents whose first file is open, so that it is known what they hold.

    Attributes
    ----------
    name : what to call them in messages
    options : how they are read
    holds_vectors : whether they are SVM-light files
    """

    def __init__(self, name: str, found: Found, options: Options) -> None:
        self.name, self.options, self._found = name, options, found
        first = found.parts[0]
        self._first: tuple[ByteSource | None, Format] | None = None
        try:
            if isinstance(first, File):
                self._first = opened_file(first, options)
        except BaseException:
            found.close()
            raise
        self.holds_vectors = self._first is not None and self._first[1] == "svmlight"

    def reader(self) -> DocumentReader:
        """The documents of all parts, in their order."""
        if self.holds_vectors:
            self.close()
            raise UsageError(
                f"{self.name}: contains vectors, not texts. Read it with read_collection or read_vectors."
            )
        parts = self._found.parts
        try:
            if len(parts) == 1:
                reader = part_reader(parts[0], self.options, self._first)
                reader.when_closed(self._found.close)
                return reader
            openers = [
                functools.partial(part_reader, part, self.options, self._first if place == 0 else None)
                for place, part in enumerate(parts)
            ]
            return read_in_turn(
                self.name,
                [name_of_part(part) for part in parts],
                openers,
                self._found.close,
                ignore_labels=self.options.ignore_labels,
            )
        except BaseException:
            self.close()
            raise

    def vectors(self) -> Vectors:
        """The rows of all files."""
        from widemargin.documents.collection import Vectors
        from widemargin.documents.formats.svmlight import parse_vectors

        found = [
            parse_vectors(stream.lines(self.options.max_document), stream.name)
            for stream in self._vector_files()
        ]
        return found[0] if len(found) == 1 else Vectors.joined(found)

    def vector_batches(self, size: int) -> Iterator[Vectors]:
        """The rows of all files, about `size` values at a time, each part as wide as it has to be."""
        from widemargin.documents.formats.svmlight import vector_batches

        for stream in self._vector_files():
            yield from vector_batches(stream.lines(self.options.max_document), stream.name, size)

    def _vector_files(self) -> Iterator[ByteSource]:
        """The files, each open until the next is asked for."""
        try:
            for place, part in enumerate(self._found.parts):
                opened = None
                if isinstance(part, File):
                    opened = self._first if place == 0 else opened_file(part, self.options)
                if opened is None or opened[0] is None or opened[1] != "svmlight":
                    raise DataError(_mixed(name_of_part(self._found.parts[0]), name_of_part(part)))
                with contextlib.closing(opened[0]) as stream:
                    yield stream
        finally:
            self.close()

    def close(self) -> None:
        if self._first is not None and self._first[0] is not None:
            self._first[0].close()
        self._found.close()


def _mixed(vectors: str, texts: str) -> str:
    return f"{vectors} holds vectors and {texts} holds texts. Pass files of the same kind."
