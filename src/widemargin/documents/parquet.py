"""Parquet tables, with the extra ``parquet`` (pyarrow)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from widemargin.documents.columns import Columns, Options, choose_columns
from widemargin.documents.label_cells import labels_of_cell, labels_of_value
from widemargin.documents.record import Document, Labels
from widemargin.errors import DataError, StorageError, UsageError

_BATCH = 1024
_SAMPLE = 100


def open_parquet(path: str, options: Options) -> tuple[str, Iterator[Document]]:
    """What is read from which column, and the documents, batch by batch."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError(
            f"{path}: reading Parquet needs pyarrow. Run `pip install widemargin[parquet]`."
        ) from error
    try:
        table = pyarrow.parquet.ParquetFile(path)
        names = list(table.schema_arrow.names)
        sample = next(table.iter_batches(batch_size=_SAMPLE), None)
        columns = choose_columns(names, sample.to_pylist() if sample is not None else [], options, path)
    except pyarrow.ArrowException as error:
        raise DataError(
            f"{path}: not a Parquet file, or damaged ({error}). Get a whole copy of it."
        ) from error
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error}). Check its permissions.") from error
    return f"Parquet: {columns.describe()}", _documents(table, columns, options, path)


def _documents(table: Any, columns: Columns, options: Options, path: str) -> Iterator[Document]:
    wanted = list(dict.fromkeys(name for name in (columns.text, columns.label, columns.id) if name))
    count = 0
    for batch in table.iter_batches(batch_size=_BATCH, columns=wanted):
        for row in batch.to_pylist():
            count += 1
            where = f"{path}, row {count}"
            text = row[columns.text]
            if not isinstance(text, str):
                raise DataError(f'{where}: "{columns.text}" is {text!r}, not text. Name another with --text.')
            identifier = row[columns.id] if columns.id else None
            yield Document(
                str(count) if identifier is None else str(identifier),
                text,
                _labels(row, columns, options, where),
            )


def _labels(row: Mapping[str, object], columns: Columns, options: Options, where: str) -> Labels:
    value = row[columns.label] if columns.label else None
    if isinstance(value, str):
        return labels_of_cell(value, options.label_delimiter)
    try:
        return labels_of_value(value, options.label_delimiter)
    except ValueError as error:
        raise DataError(
            f'{where}: "{columns.label}": {error}. Labels are a string or a list of them.'
        ) from error
