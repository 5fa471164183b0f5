"""Read documents of every format: columns are guessed, the guess is printed, and options override it."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from widemargin.documents.batches import BATCH, Batch, gathered, joined
from widemargin.documents.collection import Collection
from widemargin.documents.encoding import Decoder, Errors, Lines, check_encoding
from widemargin.documents.formats.columns import Options
from widemargin.documents.formats.jsonl import JsonLines
from widemargin.documents.formats.sniffing import (
    FORMATS,
    Format,
    checked_format,
    format_by_name,
    format_of_bytes,
    guess_format,
)
from widemargin.documents.limits import MAX_DOCUMENT, check_limit
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
    "csv": "Expected records after the header, one for each document.",
    "tsv": "Expected records after the header, one for each document.",
    "parquet": "Expected one row for each document.",
    "folder": "Expected a folder for each class, with one file for each document.",
    "svmlight": "Expected lines such as `1 3:0.5 7:1.2`.",
    "fasttext": "Expected lines such as `__label__spam Win a prize`.",
}


def read_documents(
    source: str | Path,
    *,
    format: str | None = None,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    label_delimiter: str | None = None,
    encoding: str | None = None,
    errors: Errors = "replace",
    max_document: int = MAX_DOCUMENT,
) -> DocumentReader:
    """Open a source of documents; iterating streams them.

    Parameters
    ----------
    source : path or "-"
        A file (also .gz, .xz, .zst), a folder of class folders, or "-" for standard input.
    format : str, optional
        "jsonl", "csv", "tsv", "parquet", "folder" or "fasttext"; guessed from the name, then the content.
    text, label, id : str, optional
        The columns or fields to read; guessed by name, then by content. In a table without a header they
        are numbers from "1".
    label_delimiter : str, optional
        The separator of labels in one cell. A JSON list needs none.
    encoding : str, optional
        By default UTF-8, or what the bytes look like if they are not, with a warning.
    errors : "replace" or "strict"
        Whether undecodable bytes are replaced and counted, or an error.
    max_document : int
        Largest size of a document in bytes: a line, a record of a table, a cell or a file in a folder. A
        larger one is an error with its line; it is noticed before it fills the memory.
    """
    check_encoding(encoding, errors)
    check_limit(max_document)
    options = Options(text, label, id, label_delimiter)
    return _reader(_open(source, format), options, encoding, errors, max_document)


def read_stream(
    source: str | Path,
    *,
    format: str | None = None,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    label_delimiter: str | None = None,
    encoding: str | None = None,
    errors: Errors = "replace",
    max_document: int = MAX_DOCUMENT,
) -> DocumentReader:
    """Open JSON Lines that may never end, to be read in a thread; the parameters are those of
    `read_documents`.

    A line that is not a document is skipped and reported with its number in `Batch.bad`, so that it does not
    end the stream; with ``errors="strict"`` it is an error. Ids may repeat.
    """
    check_encoding(encoding, errors)
    check_limit(max_document)
    found = checked_format(format) or format_by_name(source)
    stream = ByteSource(source, in_thread=True)
    found = found or format_of_bytes(stream.head, stream.name)
    if found != "jsonl":
        raise UsageError(
            f"{stream.name}: a stream must be JSON Lines, but this is {found}. Train without --stream, or "
            f"write one object per line."
        )
    skipped: list[DataError] | None = None if errors == "strict" else []
    # A line that is too long is skipped like one that is not a document.
    skip = None if skipped is None else skipped.append
    lines = Lines(stream.chunks(), Decoder(stream.name, encoding, errors), max_document, skip)
    blocks = JsonLines(lines, stream.name, Options(text, label, id, label_delimiter), errors, skipped)
    description = f"a stream of {blocks.description}"
    return DocumentReader(
        stream.name, "jsonl", description, blocks, stream.close, ready=stream.ready, stream=True
    )


def _reader(
    opened: Path | tuple[ByteSource, Format],
    options: Options,
    encoding: str | None,
    errors: Errors,
    max_document: int,
) -> DocumentReader:
    if isinstance(opened, Path):
        from widemargin.documents.formats.folders import open_folder

        description, documents = open_folder(opened, encoding, errors, max_document)
        return DocumentReader(str(opened), "folder", description, gathered(documents), lambda: None)
    stream, format = opened
    try:
        if format == "jsonl":
            lines = _lines(stream, format, encoding, errors, max_document)
            blocks = JsonLines(lines, stream.name, options, errors)
            return DocumentReader(
                stream.name, format, blocks.description, blocks, stream.close, ready=stream.ready
            )
        description, documents = _open_stream(stream, format, options, encoding, errors, max_document)
    except BaseException:
        stream.close()
        raise
    return DocumentReader(stream.name, format, description, gathered(documents), stream.close)


def _lines(
    stream: ByteSource, format: Format, encoding: str | None, errors: Errors, max_document: int
) -> Lines:
    if not stream.head:
        raise DataError(f"{stream.name}: is empty. {_EMPTY[format]}")
    return Lines(stream.chunks(), Decoder(stream.name, encoding, errors), max_document)


def _open(source: str | Path, format: str | None) -> Path | tuple[ByteSource, Format]:
    """A folder, or the bytes of a file with its format."""
    chosen = checked_format(format)
    if source != STDIN and not Path(source).exists():
        raise MissingFileError(f"{source}: no such file or folder. Check the path.")
    chosen = chosen or format_by_name(source)
    if chosen == "folder":
        if source == STDIN or not Path(source).is_dir():
            raise DataError(f"{source}: not a folder. Omit --format folder to read a file.")
        return Path(source)
    stream = ByteSource(source)
    try:
        return stream, chosen or format_of_bytes(stream.head, stream.name)
    except BaseException:
        stream.close()
        raise


def _open_stream(
    stream: ByteSource,
    format: Format,
    options: Options,
    encoding: str | None,
    errors: Errors,
    max_document: int,
) -> tuple[str, Iterator[Document]]:
    if format == "svmlight":
        raise UsageError(
            f"{stream.name}: contains vectors, not texts. Read it with read_collection or read_vectors."
        )
    if format == "parquet":
        from widemargin.documents.formats.parquet import open_parquet

        if stream.is_stdin:
            raise UsageError("Parquet cannot be read from standard input. Save it as a file first.")
        return open_parquet(stream.name, options, errors, max_document)
    lines = _lines(stream, format, encoding, errors, max_document)
    if format == "fasttext":
        from widemargin.documents.formats.fasttext import open_fasttext

        return open_fasttext(lines)
    from widemargin.documents.formats.tabular import open_table

    return open_table(lines, stream.name, options, "\t" if format == "tsv" else None, max_document)


def read_collection(
    source: str | Path,
    *,
    format: str | None = None,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    label_delimiter: str | None = None,
    encoding: str | None = None,
    errors: Errors = "replace",
    max_document: int = MAX_DOCUMENT,
) -> Collection | Vectors:
    """Read a whole source into memory: a `Collection`, or `Vectors` for an SVM-light file.

    The parameters are those of `read_documents`.
    """
    check_encoding(encoding, errors)
    check_limit(max_document)
    options = Options(text, label, id, label_delimiter)
    opened = _open(source, format)
    if not isinstance(opened, Path) and opened[1] == "svmlight":
        from widemargin.documents.formats.svmlight import parse_vectors

        with contextlib.closing(opened[0]) as stream:
            return parse_vectors(stream.lines(max_document), stream.name)
    collection = Collection()
    for batch in _reader(opened, options, encoding, errors, max_document).batches():
        collection.extend(batch)
    return collection
