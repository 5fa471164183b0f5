"""Rows of named, typed cells to documents, whatever table they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from widemargin.documents.formats.columns import Columns, Options
from widemargin.documents.formats.label_cells import labels_of_cell, labels_of_value
from widemargin.documents.record import Document, LabelSet, join_columns
from widemargin.documents.times import as_cell
from widemargin.errors import DataError

_SHOWN = 40


def check_names(names: Sequence[str], where: str) -> None:
    """Refuse two columns of one name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f'{where}: two columns are called "{twice}". Rename one.')


def documents_of(
    rows: Iterable[dict[str, Any]], columns: Columns, options: Options, name: str
) -> Iterator[Document]:
    """A document for each row."""
    for count, row in enumerate(rows, 1):
        where = f"{name}, row {count}"
        for beside in columns.beside:
            row[beside] = as_cell(row[beside])
        text = _text(row, columns.joined, where)
        identifier = row[columns.id] if columns.id else None
        yield Document(
            str(count) if identifier in (None, "") else str(identifier),
            text,
            _labels(row, columns, options, where),
        )


def _text(row: Mapping[str, Any], names: tuple[str, ...], where: str) -> str:
    """The text of a row; of several columns, some may be null."""
    values = [row[name] for name in names]
    some = any(isinstance(value, str) for value in values)
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, str) and (value is not None or not some):
            shown = repr(value[:_SHOWN] if isinstance(value, bytes | list) else value)[: 2 * _SHOWN]
            raise DataError(f'{where}: "{name}" is {shown}, not text. Name another with --text.')
    return join_columns(values) if len(values) > 1 else str(values[0])


def _labels(row: Mapping[str, object], columns: Columns, options: Options, where: str) -> LabelSet:
    value = row[columns.label] if columns.label else None
    if isinstance(value, str):
        return labels_of_cell(value, options.label_delimiter)
    try:
        return labels_of_value(value, options.label_delimiter)
    except ValueError as error:
        raise DataError(
            f'{where}: "{columns.label}": {error}. Labels are a string or a list of them.'
        ) from error
