"""CSV and TSV: a header, then one document per record; quoted fields may contain line ends."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from widemargin.documents.encoding import Lines
from widemargin.documents.formats.columns import Columns, Options, choose_columns
from widemargin.documents.formats.label_cells import labels_of_cell
from widemargin.documents.formats.sniffing import EmptySourceError
from widemargin.documents.formats.tables.header import check_header, has_header, numbered
from widemargin.documents.limits import too_large
from widemargin.documents.record import Document, join_columns
from widemargin.documents.wording import counted
from widemargin.errors import DataError

if TYPE_CHECKING:
    from _csv import Reader

_DELIMITERS = (",", ";", "\t", "|")
_NAMES = {",": "CSV", "\t": "TSV", ";": "CSV with semicolons", "|": "CSV with bars"}
# The csv module's limit of 128 kB is too small for many documents; this one fits any C long.
_FIELD_LIMIT = 2**31 - 1
_SAMPLE = 100
# Without names, contents decide, so more of them are looked at.
_SAMPLE_WITHOUT_HEADER = 1000


@dataclass(frozen=True)
class _Dialect:
    delimiter: str
    quoted: bool = True

    def reader(self, lines: Iterable[str], strict: bool = True) -> Reader:
        if self.quoted:
            return csv.reader(lines, delimiter=self.delimiter, strict=strict)
        return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE, strict=strict)


def open_table(
    lines: Lines,
    name: str,
    options: Options,
    delimiter: str | None = None,
) -> tuple[str, Columns, Iterator[Document]]:
    """What kind of table it is, the chosen columns, and the documents. By default, the delimiter is guessed
    from the header."""
    csv.field_size_limit(_FIELD_LIMIT)
    sample = lines.peek()
    first = next((line for line in sample if line.strip()), "")
    if not first:
        raise EmptySourceError(
            f"{name}: is empty. Expected a header such as id,text,label, then one document per record."
        )
    delimiter = delimiter or max(_DELIMITERS, key=lambda mark: (first.count(mark), mark == ","))
    dialect = _choose_dialect(delimiter, sample)
    rows = _records(lines, dialect, name, options.max_document)
    line, header = next(rows)
    headed = has_header(header, options)
    names = [cell.strip() for cell in header] if headed else numbered(len(header))
    if headed:
        check_header(names, options, f"{name}, line {line}")
    records = [dict(zip(names, row, strict=False)) for row in _sample_rows(sample, dialect, headed)]
    columns = choose_columns(names, records, options, f"{name}, line {line}", headed=headed)
    about = "" if headed else ", without a header"
    quotes = "" if dialect.quoted else ", quotes are ordinary characters"
    pushed_back = [] if headed else [(line, header)]
    documents = _documents(rows, pushed_back, names, columns, options, name)
    return f"{_NAMES[delimiter]}{about}{quotes}", columns, documents


def _documents(
    rows: Iterator[tuple[int, list[str]]],
    first: list[tuple[int, list[str]]],
    names: Sequence[str],
    columns: Columns,
    options: Options,
    name: str,
) -> Iterator[Document]:
    width = len(names)
    first_text, *more_texts = (names.index(text) for text in columns.joined)
    label = names.index(columns.label) if columns.label else None
    number = names.index(columns.id) if columns.id else None
    count = 0
    for source in (first, rows):
        for line, row in source:
            if len(row) != width:
                raise DataError(
                    f"{name}, line {line}: {counted(len(row), 'field')} where the header has {width} "
                    f"({', '.join(names)}). Quote the fields that contain the delimiter."
                )
            count += 1
            labels = None if label is None else labels_of_cell(row[label], options.label_delimiter)
            identifier = row[number] if number is not None else ""
            text = row[first_text]
            if more_texts:
                text = join_columns([text, *(row[place] for place in more_texts)])
            yield Document(identifier or str(count), text, labels)


def _records(
    lines: Iterable[str], dialect: _Dialect, name: str, max_document: int
) -> Iterator[tuple[int, list[str]]]:
    """Every record that is not blank, with its first line."""
    line = size = 0

    def measured() -> Iterator[str]:
        nonlocal size
        for text in lines:
            size += len(text)
            # Only records of several lines; single lines are already checked.
            if size > max_document and size > len(text):
                raise too_large(f"{name}, line {line}", max_document, "Is a quote never closed?")
            yield text

    reader = dialect.reader(measured())
    while True:
        line, size = reader.line_num + 1, 0
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(f"{name}, line {line}: {_explained(str(error), dialect.delimiter)}") from error
        if row:
            yield line, row


def _explained(reason: str, delimiter: str) -> str:
    if "unexpected end of data" in reason:
        return "a quote in this record is never closed. Close it, or double it if it is text."
    if "expected after" in reason:
        return (
            f"a closing quote in this record is followed by more text instead of {delimiter!r}. "
            f"Double the quotes that are part of the text."
        )
    if "new-line character" in reason:
        return (
            "a field without quotes contains a carriage return. Quote the field, or end lines with \\n only."
        )
    if "field larger than" in reason:
        return "a field has more than 2 GB. Is a quote never closed?"
    return f"the record cannot be read ({reason})."


def _choose_dialect(delimiter: str, sample: Sequence[str]) -> _Dialect:
    """Whether quotes enclose fields: always in CSV; in TSV unless that changes the number of fields."""
    if delimiter != "\t" or not any('"' in line for line in sample):
        return _Dialect(delimiter)
    plain = {line.count(delimiter) for line in sample if line.strip()}
    if len(plain) > 1:
        return _Dialect(delimiter)
    try:
        widths = {len(row) for row in _Dialect(delimiter).reader(sample) if row}
    except csv.Error:
        return _Dialect(delimiter, quoted=False)
    return _Dialect(delimiter, quoted=widths == {plain.pop() + 1})


def _sample_rows(sample: Sequence[str], dialect: _Dialect, headed: bool) -> list[list[str]]:
    rows: list[list[str]] = []
    some = sample[: _SAMPLE if headed else _SAMPLE_WITHOUT_HEADER]
    # Errors of a record are reported when it is read.
    with contextlib.suppress(csv.Error):
        rows.extend(row for row in dialect.reader(some, strict=False) if row)
    return rows[1:] if headed else rows
