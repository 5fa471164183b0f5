"""Read documents of every format: columns are guessed, the guess is printed, and options override it."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Unpack

from widemargin.documents.batches import BATCH, Batch, gathered, joined
from widemargin.documents.collection import Collection
from widemargin.documents.encoding import Decoder, Lines
from widemargin.documents.formats.columns import Options, ReadOptions
from widemargin.documents.formats.jsonl import JsonLines
from widemargin.documents.formats.plain import PlainLines, WholeText
from widemargin.documents.formats.sniffing import (
    FORMATS,
    Format,
    checked_format,
    format_by_name,
    format_of_bytes,
    found_format,
    guess_format,
)
from widemargin.documents.opening import STDIN, ByteSource
from widemargin.documents.record import Document
from widemargin.documents.wording import counted
from widemargin.errors import DataError, DataWarning, MissingFileError, UsageError

if TYPE_CHECKING:
    from widemargin.documents.collection import Vectors

__all__ = [
    "FORMATS",
    "DocumentReader",
    "Format",
    "format_by_name",
    "guess_format",
    "read_collection",
    "read_documents",
    "read_stream",
]

# Enough to notice a column that does not contain ids, without storing every id of an endless stream.
_IDS_REMEMBERED = 1 << 22


class DocumentReader:
    """The documents of one source, to be read once: one at a time, or in `batches`.

    `description` tells which columns are read.
    """

    def __init__(
        self,
        name: str,
        format: Format,
        description: str,
        blocks: Iterable[Batch],
        close: Callable[[], None],
        *,
        ready: Callable[[], bool] = lambda: False,
        stream: bool = False,
    ) -> None:
        self.name = name
        self.format = format
        self.description = f"{name}: {description}."
        self._blocks: Iterable[Batch] | None = blocks
        self._close = close
        self._ready = ready
        self._stream = stream

    def __iter__(self) -> Iterator[Document]:
        return itertools.chain.from_iterable(self._checked())

    def batches(self, size: int = BATCH) -> Iterator[Batch]:
        """The documents that have arrived together, at most `size` at a time."""
        return joined(self._checked(), self._ready, size)

    def _checked(self) -> Iterator[Batch]:
        if self._blocks is None:
            raise UsageError(
                f"{self.name} has already been read. Call read_documents again to read it twice."
            )
        blocks, self._blocks = self._blocks, None
        return iter(blocks) if self._stream else self._watched(blocks)

    def _watched(self, blocks: Iterable[Batch]) -> Iterator[Batch]:
        """Yields documents; reports an empty source and duplicate ids."""
        seen: set[int] = set()
        count, repeated, example = 0, 0, ""
        with contextlib.closing(self):
            for block in blocks:
                count += len(block)
                for identifier in block.ids:
                    key = hash(identifier)
                    if key in seen:
                        repeated += 1
                        example = example or identifier
                    elif len(seen) < _IDS_REMEMBERED:
                        seen.add(key)
                yield block
        if not count:
            raise DataError(f"{self.name}: has no documents. {_EMPTY[self.format]}")
        if repeated:
            warnings.warn(
                f"{self.name}: {counted(repeated, 'document')} with the id of an earlier one (first "
                f"{example[:40]!r}). All are kept. If this column does not contain ids, choose another "
                f"with --id.",
                DataWarning,
                stacklevel=2,
            )

    def close(self) -> None:
        """Close the file; reading all documents also closes it."""
        self._close()

    def __enter__(self) -> DocumentReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_EMPTY: dict[Format, str] = {
    "jsonl": 'Expected lines such as {"text": "...", "labels": ["..."]}.',
    "json": 'Expected a list such as [{"text": "...", "labels": ["..."]}].',
    "csv": "Expected records after the header, one for each document.",
    "tsv": "Expected records after the header, one for each document.",
    "parquet": "Expected one row for each document.",
    "folder": "Expected a folder for each class, with one file for each document.",
    "svmlight": "Expected lines such as `1 3:0.5 7:1.2`.",
    "fasttext": "Expected lines such as `__label__spam Win a prize`.",
    "lines": "Expected a document per line.",
    "text": "Expected text.",
}


def read_documents(source: str | Path, **options: Unpack[ReadOptions]) -> DocumentReader:
    """Open a source of documents; iterating streams them.

    Parameters
    ----------
    source : path or "-"
        A file (also .gz, .xz, .zst), a folder of class folders, or "-" for standard input.
    options : the attributes of :class:`~widemargin.documents.formats.columns.Options`
    """
    chosen = Options(**options)
    return _reader(_open(source, chosen), chosen)


def read_stream(source: str | Path, **options: Unpack[ReadOptions]) -> DocumentReader:
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
    blocks = JsonLines(_lines(stream, chosen, skip), stream.name, chosen, skipped)
    description = f"a stream of {blocks.description}"
    return DocumentReader(
        stream.name, "jsonl", description, blocks, stream.close, ready=stream.ready, stream=True
    )


def _reader(opened: Path | tuple[ByteSource, Format], options: Options) -> DocumentReader:
    if isinstance(opened, Path):
        from widemargin.documents.formats.folders import open_folder

        description, documents = open_folder(opened, options)
        return DocumentReader(str(opened), "folder", description, gathered(documents), lambda: None)
    stream, format = opened
    try:
        if format in ("jsonl", "json"):
            blocks = _json(stream, format, options)
            return DocumentReader(
                stream.name, format, blocks.description, blocks, stream.close, ready=stream.ready
            )
        if format in ("lines", "text"):
            lines = _filled(stream, format, options)
            whole = format == "text"
            plain = WholeText(lines, stream.name, options.max_document) if whole else PlainLines(lines)
            return DocumentReader(
                stream.name, format, plain.description, plain, stream.close, ready=stream.ready, stream=True
            )
        description, documents = _open_stream(stream, format, options)
    except BaseException:
        stream.close()
        raise
    return DocumentReader(stream.name, format, description, gathered(documents), stream.close)


def _json(stream: ByteSource, format: Format, options: Options) -> JsonLines:
    if format == "jsonl":
        return JsonLines(_filled(stream, format, options), stream.name, options)
    from widemargin.documents.formats.json_array import JsonArray

    decoder = Decoder(stream.name, options.encoding, options.errors)
    records = JsonArray(stream.chunks(), decoder, options.max_document)
    return JsonLines(records, stream.name, options, unit="record")


def _lines(stream: ByteSource, options: Options, skip: Callable[[DataError], None] | None = None) -> Lines:
    decoder = Decoder(stream.name, options.encoding, options.errors)
    return Lines(stream.chunks(), decoder, options.max_document, skip)


def _filled(stream: ByteSource, format: Format, options: Options) -> Lines:
    """The lines of a source, which must not be empty."""
    if not stream.head:
        raise DataError(f"{stream.name}: is empty. {_EMPTY[format]}")
    return _lines(stream, options)


def _open(source: str | Path, options: Options) -> Path | tuple[ByteSource, Format]:
    """A folder, or the bytes of a file with its format."""
    opened = _opened(source, options)
    format = "folder" if isinstance(opened, Path) else opened[1]
    columns = options.texts if len(options.texts) > 1 else ()
    columns = (*columns, *options.beside)
    if columns and format not in ("jsonl", "json", "csv", "tsv", "parquet", "svmlight"):
        if not isinstance(opened, Path):
            opened[0].close()
        raise DataError(
            f"{source}: a source of format {format} has no columns {', '.join(columns)}. Pass a table or "
            f"JSON Lines, or name one column with --text and none with --time or --group."
        )
    return opened


def _opened(source: str | Path, options: Options) -> Path | tuple[ByteSource, Format]:
    chosen = checked_format(options.format)
    if source != STDIN and not Path(source).exists():
        raise MissingFileError(f"{source}: no such file or folder. Check the path.")
    by_name = None if chosen else format_by_name(source)
    if "folder" in (chosen, by_name):
        if source == STDIN or not Path(source).is_dir():
            raise DataError(f"{source}: not a folder. Omit --format folder to read a file.")
        return Path(source)
    stream = ByteSource(source)
    try:
        return stream, chosen or found_format(by_name, stream)
    except BaseException:
        stream.close()
        raise


def _open_stream(stream: ByteSource, format: Format, options: Options) -> tuple[str, Iterator[Document]]:
    if format == "svmlight":
        raise UsageError(
            f"{stream.name}: contains vectors, not texts. Read it with read_collection or read_vectors."
        )
    if format == "parquet":
        from widemargin.documents.formats.parquet import open_parquet

        if stream.is_stdin:
            raise UsageError("Parquet cannot be read from standard input. Save it as a file first.")
        return open_parquet(stream.name, options)
    lines = _filled(stream, format, options)
    if format == "fasttext":
        from widemargin.documents.formats.fasttext import open_fasttext

        return open_fasttext(lines)
    from widemargin.documents.formats.tabular import open_table

    return open_table(lines, stream.name, options, "\t" if format == "tsv" else None)


def read_collection(source: str | Path, **options: Unpack[ReadOptions]) -> Collection | Vectors:
    """Read a whole source into memory: a `Collection`, or `Vectors` for an SVM-light file.

    The parameters are those of `read_documents`.
    """
    chosen = Options(**options)
    opened = _open(source, chosen)
    if not isinstance(opened, Path) and opened[1] == "svmlight":
        from widemargin.documents.formats.svmlight import parse_vectors

        with contextlib.closing(opened[0]) as stream:
            return parse_vectors(stream.lines(chosen.max_document), stream.name)
    collection = Collection()
    for batch in _reader(opened, chosen).batches():
        collection.extend(batch)
    collection.take_beside(chosen)
    return collection
