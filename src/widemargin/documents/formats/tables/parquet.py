"""Parquet tables, with the extra ``parquet`` (pyarrow)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any

from widemargin.documents.formats.columns import Columns, Options, choose_columns
from widemargin.documents.formats.tables.arrow_cells import (
    ArrowCells,
    classes_of_schema,
    explained,
    is_string,
    require_pyarrow,
)
from widemargin.documents.formats.tables.rows import check_names, documents_of
from widemargin.documents.record import Document
from widemargin.documents.sources.files import File
from widemargin.errors import DataError

_BATCH = 1024
_SAMPLE = 100
_KIND = "a Parquet file"


def open_parquet(file: File, options: Options) -> tuple[Columns, Iterator[Document]]:
    """The chosen columns, and the documents, batch by batch."""
    name = file.name
    require_pyarrow(name, "Parquet")
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(file.seekable(in_pieces=True))
        table, strings = _open_table(source, name)
        names = list(table.schema_arrow.names)
        try:
            columns = choose_columns(names, [], options, name)
        except DataError:
            # Cells matter only if no name suggests the column of the text.
            sample = _Reader(table, name, replace(options, errors="replace")).rows(strings, _SAMPLE)
            columns = choose_columns(names, list(sample), options, name)
        reader = _Reader(table, name, options)
        return columns, _documents(reader, columns, options, name, stack.pop_all())


def _open_table(source: str | IO[bytes], name: str) -> tuple[Any, list[str]]:
    """The table, and the names of its columns of strings."""
    import pyarrow.parquet

    with explained(name, _KIND):
        schema = pyarrow.parquet.ParquetFile(source).schema_arrow
        check_names(list(schema.names), name)
        strings = [field.name for field in schema if is_string(field.type)]
        # A value that many rows share is stored once in memory.
        return pyarrow.parquet.ParquetFile(source, read_dictionary=strings), strings


def _documents(
    reader: _Reader, columns: Columns, options: Options, name: str, opened: contextlib.ExitStack
) -> Iterator[Document]:
    wanted = list(dict.fromkeys(name for name in (*columns.joined, columns.label, columns.id) if name))
    with opened:
        yield from documents_of(reader.rows(wanted), columns, options, name)
        reader.cells.warn()


class _Reader:
    """The rows of a table with some columns; only a few rows are in memory."""

    def __init__(self, table: Any, name: str, options: Options) -> None:
        self._table = table
        self._name = name
        self._limit = options.max_document
        self.cells = ArrowCells(name, options, classes_of_schema(table.schema_arrow))

    def rows(self, names: list[str], most: int | None = None) -> Iterator[dict[str, Any]]:
        """The first `most` rows, or all."""
        count = 0
        with explained(self._name, _KIND):
            for group in range(self._table.num_row_groups):
                size = min(self._batch_size(group, names), most or _BATCH)
                for batch in self._table.iter_batches(size, row_groups=[group], columns=names):
                    values = [self.cells.values(batch.column(name), name, count) for name in names]
                    for place in range(batch.num_rows):
                        if most is not None and count >= most:
                            return
                        yield {name: value[place] for name, value in zip(names, values, strict=True)}
                        count += 1

    def _batch_size(self, group: int, names: list[str]) -> int:
        """Read fewer rows at a time if rows are large."""
        found = self._table.metadata.row_group(group)
        columns = (found.column(j) for j in range(found.num_columns))
        size = sum(c.total_uncompressed_size for c in columns if c.path_in_schema.split(".")[0] in names)
        return int(max(1, min(_BATCH, self._limit * max(found.num_rows, 1) // max(size, 1))))
