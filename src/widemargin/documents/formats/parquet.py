"""Parquet tables, with the extra ``parquet`` (pyarrow)."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from widemargin.documents.formats.columns import Columns, Options, choose_columns
from widemargin.documents.formats.label_cells import labels_of_cell, labels_of_value
from widemargin.documents.limits import too_large
from widemargin.documents.record import Document, LabelSet, join_columns
from widemargin.documents.times import as_cell
from widemargin.documents.wording import counted
from widemargin.errors import DataError, DataWarning, StorageError, UsageError

_BATCH = 1024
_SAMPLE = 100
_SHOWN = 40


def open_parquet(path: str, options: Options) -> tuple[str, Iterator[Document]]:
    """A description, and the documents, batch by batch."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError(
            f"{path}: reading Parquet needs pyarrow. Run `pip install widemargin[parquet]`."
        ) from error
    with _explained(path):
        table = pyarrow.parquet.ParquetFile(path)
        names = list(table.schema_arrow.names)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f'{path}: two columns are called "{twice}". Rename one.')
        strings = [field.name for field in table.schema_arrow if _is_string(field.type)]
        # A value that many rows share is stored once in memory.
        table = pyarrow.parquet.ParquetFile(path, read_dictionary=strings)
        try:
            columns = choose_columns(names, [], options, path)
        except DataError:
            # Cells matter only if no name suggests the column of the text.
            sample = _Reader(table, path, replace(options, errors="replace")).rows(strings, _SAMPLE)
            columns = choose_columns(names, list(sample), options, path)
    reader = _Reader(table, path, options)
    return f"Parquet: {columns.describe()}", _documents(reader, columns, options, path)


def _documents(reader: _Reader, columns: Columns, options: Options, path: str) -> Iterator[Document]:
    wanted = list(dict.fromkeys(name for name in (*columns.joined, columns.label, columns.id) if name))
    for count, row in enumerate(reader.rows(wanted), 1):
        where = f"{path}, row {count}"
        for name in columns.beside:
            row[name] = as_cell(row[name])
        text = _text(row, columns.joined, where)
        identifier = row[columns.id] if columns.id else None
        yield Document(
            str(count) if identifier is None else str(identifier),
            text,
            _labels(row, columns, options, where),
        )
    reader.warn()


def _text(row: Mapping[str, Any], names: tuple[str, ...], where: str) -> str:
    """The text of a row; of several columns, some may be null."""
    values = [row[name] for name in names]
    some = any(isinstance(value, str) for value in values)
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, str) and (value is not None or not some):
            shown = repr(value[:_SHOWN] if isinstance(value, bytes | list) else value)[: 2 * _SHOWN]
            raise DataError(f'{where}: "{name}" is {shown}, not text. Name another with --text.')
    return join_columns(values) if len(values) > 1 else str(values[0])


class _Reader:
    """The rows of a table with some columns; only a few rows are in memory."""

    def __init__(self, table: Any, path: str, options: Options) -> None:
        self._table = table
        self._path = path
        self._errors = options.errors
        self._limit = options.max_document
        self._replaced = 0

    def rows(self, names: list[str], most: int | None = None) -> Iterator[dict[str, Any]]:
        """The first `most` rows, or all."""
        count = 0
        with _explained(self._path):
            for group in range(self._table.num_row_groups):
                size = min(self._batch_size(group, names), most or _BATCH)
                for batch in self._table.iter_batches(size, row_groups=[group], columns=names):
                    values = [self._values(batch.column(name), name, count) for name in names]
                    for place in range(batch.num_rows):
                        if most is not None and count >= most:
                            return
                        yield {name: value[place] for name, value in zip(names, values, strict=True)}
                        count += 1

    def warn(self) -> None:
        """Warn about replaced bytes, after all rows have been read."""
        if self._replaced:
            warnings.warn(
                f"{self._path}: {counted(self._replaced, 'cell')} with undecodable bytes, which "
                f"became U+FFFD. Write the column as UTF-8.",
                DataWarning,
                stacklevel=2,
            )

    def _batch_size(self, group: int, names: list[str]) -> int:
        """Read fewer rows at a time if rows are large."""
        found = self._table.metadata.row_group(group)
        columns = (found.column(j) for j in range(found.num_columns))
        size = sum(c.total_uncompressed_size for c in columns if c.path_in_schema.split(".")[0] in names)
        return int(max(1, min(_BATCH, self._limit * max(found.num_rows, 1) // max(size, 1))))

    def _values(self, column: Any, name: str, before: int) -> list[Any]:
        """The cells of a column; `before` is how many rows came before."""
        import pyarrow
        import pyarrow.compute

        kind = column.type
        shared = pyarrow.types.is_dictionary(kind)
        values = column.dictionary if shared else column
        if not _is_string(values.type):
            try:
                return list(column.to_pylist())
            except (ValueError, OverflowError) as error:
                raise DataError(
                    f'{self._path}, rows from {before + 1}: "{name}" holds a value that cannot be read '
                    f"({error}). Name another column, or write it as text."
                ) from error
        places = column.indices.to_pylist() if shared else range(len(column))
        longest = pyarrow.compute.max(pyarrow.compute.binary_length(values)).as_py() or 0
        cells: dict[int | None, str | None] = {None: None}
        raw = values.cast(pyarrow.large_binary())
        result = []
        for row, place in enumerate(places, before + 1):
            if place not in cells:
                if not 0 <= place < len(raw):
                    raise DataError(
                        f'{self._path}, row {row}: damaged ("{name}" refers to a value that is not there). '
                        f"Get a complete copy."
                    )
                if longest > self._limit and len(raw[place].as_buffer() or b"") > self._limit:
                    raise too_large(f'{self._path}, row {row}, "{name}"', self._limit)
                cells[place] = self._text(raw[place].as_py(), name, row)
            result.append(cells[place])
        return result

    def _text(self, value: bytes | None, name: str, row: int) -> str | None:
        if value is None:
            return None
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            if self._errors == "strict":
                raise DataError(
                    f'{self._path}, row {row}: "{name}" holds byte 0x{value[error.start]:02x}, which is not '
                    f"UTF-8. Write the column as UTF-8, or pass --errors replace."
                ) from error
            self._replaced += 1
            return value.decode(errors="replace")


def _is_string(kind: Any) -> bool:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        kind = kind.value_type
    # Views of strings came with pyarrow 16.
    view = getattr(types, "is_string_view", lambda kind: False)
    return bool(types.is_string(kind) or types.is_large_string(kind) or view(kind))


@contextlib.contextmanager
def _explained(path: str) -> Iterator[None]:
    """Converts pyarrow's errors to this library's errors."""
    import pyarrow

    try:
        yield
    except (DataError, MemoryError):
        raise
    except (pyarrow.ArrowException, OSError, ValueError, LookupError, OverflowError) as error:
        # Errors of the system have a number; the others are pyarrow's, about the bytes.
        if isinstance(error, OSError) and error.errno is not None:
            raise StorageError(
                f"{path}: cannot be read ({error.strerror or error}). Check its permissions."
            ) from error
        reason = " ".join(str(error).split())
        raise DataError(f"{path}: not a Parquet file, or damaged ({reason}). Get a complete copy.") from error


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
