"""The reader of one part of a source: a file of any format, files that are documents, a dataset, a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from widemargin.documents.batches import Batch, gathered
from widemargin.documents.encoding import Decoder, Lines
from widemargin.documents.formats.columns import Columns, Options
from widemargin.documents.formats.jsonl import JsonLines
from widemargin.documents.formats.plain import PlainLines, WholeText
from widemargin.documents.formats.sniffing import (
    EmptySourceError,
    Format,
    checked_format,
    format_by_ending,
    found_format,
)
from widemargin.documents.reader import EXPECTED, DocumentReader
from widemargin.documents.record import Document
from widemargin.documents.sources.byte_source import ByteSource
from widemargin.documents.sources.files import STDIN, File
from widemargin.documents.sources.parts import FileDocuments, Part, SavedDataset, SqlQuery
from widemargin.errors import DataError, UsageError


def name_of_part(part: Part) -> str:
    return str(part) if isinstance(part, SqlQuery) else part.name


def opened_file(file: File, options: Options) -> tuple[ByteSource | None, Format]:
    """The bytes of a file, None if they are read in any order, with their format."""
    chosen = checked_format(options.format or file.format)
    by_name = None if chosen else format_by_ending(file.path) if file.name != STDIN else None
    if (chosen or by_name) in ("excel", "parquet"):
        _check_columns(file.name, chosen or by_name or "", options)
        if file.name == STDIN:
            kind = "Excel" if chosen == "excel" else "Parquet"
            raise UsageError(f"{kind} cannot be read from standard input. Save it as a file first.")
        return None, chosen or by_name or "excel"
    stream = ByteSource(file)
    try:
        format = chosen or found_format(by_name, stream, options, labeled=file.label is not None)
        if format == "parquet" and file.name == STDIN:
            raise UsageError("Parquet cannot be read from standard input. Save it as a file first.")
        _check_columns(file.name, format, options)
    except BaseException:
        stream.close()
        raise
    if format == "parquet":
        stream.close()
        return None, format
    return stream, format


def _check_columns(name: str, format: str, options: Options) -> None:
    """Refuse the names of several columns where there are none."""
    columns = options.texts if len(options.texts) > 1 else ()
    columns = (*columns, *options.beside)
    if columns and format in ("folder", "fasttext", "lines", "text"):
        name = "standard input" if name == STDIN else name
        example = ", ".join(f'"{column}": "..."' for column in columns)
        raise DataError(
            f"{name}: a source of format {format} has no columns {', '.join(columns)}. Pass a table with "
            f"these columns, or JSON Lines such as {{{example}}}."
        )


def part_reader(
    part: Part, options: Options, opened: tuple[ByteSource | None, Format] | None = None
) -> DocumentReader:
    if isinstance(part, FileDocuments):
        from widemargin.documents.formats.file_documents import open_file_documents

        _check_columns(part.name, "folder", options)
        description, documents = open_file_documents(part, options)
        labeled = any("/" in file.path for file in part.files)
        blocks = gathered(documents)
        return DocumentReader(part.name, "folder", description, blocks, lambda: None, labeled=labeled)
    if isinstance(part, SavedDataset):
        from widemargin.documents.formats.tables.saved_dataset import open_saved_dataset

        return _of_table(part.name, "dataset", "saved dataset", *open_saved_dataset(part, options), options)
    if isinstance(part, SqlQuery):
        from widemargin.documents.sources.sql import open_query

        return _of_table(str(part), "sql", "query", *open_query(part, options), options)
    return _file_reader(part, options, *(opened or opened_file(part, options)))


def _file_reader(file: File, options: Options, stream: ByteSource | None, format: Format) -> DocumentReader:
    name = "standard input" if file.name == STDIN else file.name
    try:
        if stream is None:
            return _labeled(_table_reader(file, format, options), file)
        reader = _stream_reader(stream, name, format, options)
    except BaseException:
        if stream is not None:
            stream.close()
        raise
    return _labeled(reader, file)


def _table_reader(file: File, format: Format, options: Options) -> DocumentReader:
    if format == "parquet":
        from widemargin.documents.formats.tables.parquet import open_parquet

        return _of_table(file.name, format, "Parquet", *open_parquet(file, options), options)
    from widemargin.documents.formats.tables.excel import open_excel

    what, columns, documents = open_excel(file, options)
    return _of_table(file.name, format, what, columns, documents, options)


def _stream_reader(stream: ByteSource, name: str, format: Format, options: Options) -> DocumentReader:
    if format in ("jsonl", "json"):
        json = _json(stream, format, options)
        return DocumentReader(
            name,
            format,
            json.description,
            json,
            stream.close,
            ready=stream.ready,
            columns=json.columns,
            reading=reading_of(options, format, json.columns),
        )
    if format in ("lines", "text"):
        lines = _filled(stream, format, options)
        whole = format == "text"
        plain = WholeText(lines, name, options.max_document) if whole else PlainLines(lines)
        reading = reading_of(options, format, None)
        return DocumentReader(
            name,
            format,
            plain.description,
            plain,
            stream.close,
            ready=stream.ready,
            stream=True,
            reading=reading,
        )
    if format == "svmlight":
        raise DataError(f"{name}: contains vectors, but texts are expected. Pass files of the same kind.")
    lines = _filled(stream, format, options)
    if format == "fasttext":
        from widemargin.documents.formats.fasttext import open_fasttext

        description, documents = open_fasttext(lines)
        return DocumentReader(name, format, description, gathered(documents), stream.close, labeled=True)
    from widemargin.documents.formats.tabular import open_table

    what, columns, documents = open_table(lines, name, options, "\t" if format == "tsv" else None)
    return _of_table(name, format, what, columns, documents, options, stream.close)


def _of_table(
    name: str,
    format: str,
    what: str,
    columns: Columns,
    documents: Iterator[Document],
    options: Options,
    close: Callable[[], None] = lambda: None,
) -> DocumentReader:
    reading = reading_of(options, format, columns)
    description = f"{what}: {columns.describe()}"
    return DocumentReader(
        name, format, description, gathered(documents), close, columns=columns, reading=reading
    )


def reading_of(options: Options, format: str, columns: Columns | None) -> dict[str, Any]:
    """What a later command needs to read other documents in the same way."""
    found: dict[str, Any] = {
        name: getattr(options, name)
        for name in ("label_delimiter", "encoding", "label_from", "sheet")
        if getattr(options, name) is not None
    }
    if format in ("lines", "text"):
        found["format"] = format
    if columns is not None:
        found["text"] = list(columns.texts)
        for name in ("label", "id"):
            if getattr(columns, name) is not None:
                found[name] = getattr(columns, name)
        if columns.width is not None:
            found |= {"header": False, "width": columns.width}
    return found


def _labeled(reader: DocumentReader, file: File) -> DocumentReader:
    """A reader whose documents all have the label of their file, if it has one."""
    if file.label is None:
        return reader
    label = (file.label,)
    reader.labeled = True

    def relabeled(blocks: Iterable[Batch]) -> Iterator[Batch]:
        for block in blocks:
            block.labels = [label] * len(block)
            yield block

    where = "name" if file.label == file.stem else "folder"
    return reader.changed(relabeled, f"{reader.what}; the {where} of the file is the label")


def _json(stream: ByteSource, format: Format, options: Options) -> JsonLines:
    if format == "jsonl":
        return JsonLines(_filled(stream, format, options), stream.name, options)
    from widemargin.documents.formats.json_array import JsonArray

    decoder = Decoder(stream.name, options.encoding, options.errors, options.likely_encoding)
    records = JsonArray(stream.chunks(), decoder, options.max_document)
    return JsonLines(records, stream.name, options, unit="record")


def lines_of(stream: ByteSource, options: Options, skip: Callable[[DataError], None] | None = None) -> Lines:
    decoder = Decoder(stream.name, options.encoding, options.errors, options.likely_encoding)
    return Lines(stream.chunks(), decoder, options.max_document, skip)


def _filled(stream: ByteSource, format: Format, options: Options) -> Lines:
    """The lines of a source, which must not be empty."""
    if not stream.head:
        raise EmptySourceError(f"{stream.name}: is empty. {EXPECTED[format]}")
    return lines_of(stream, options)
