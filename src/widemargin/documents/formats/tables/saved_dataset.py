"""Datasets of Hugging Face as ``save_to_disk`` writes them, read with pyarrow (the extra ``parquet``)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from widemargin.documents.formats.columns import Columns, Options, choose_columns
from widemargin.documents.formats.tables.arrow_cells import (
    ArrowCells,
    classes_of_features,
    classes_of_schema,
    explained,
    is_string,
    require_pyarrow,
)
from widemargin.documents.formats.tables.rows import check_names, documents_of
from widemargin.documents.record import Document
from widemargin.documents.sources.files import File
from widemargin.documents.sources.parts import SavedDataset
from widemargin.errors import DataError, UsageError

_STATE, _INFO, _SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"
_DATA = "datasets saved on disk"
_LARGEST_JSON = 1 << 24
_SAMPLE = 100


def is_saved_dataset(files: list[File]) -> bool:
    paths = {file.path for file in files}
    return _SPLITS in paths or {_STATE, _INFO} <= paths


def find_saved_dataset(name: str, files: list[File], split: str | None) -> SavedDataset:
    """The dataset in a folder, or the split that is asked for."""
    by_path = {file.path: file for file in files}
    prefix = ""
    if _SPLITS in by_path:
        splits = _read(by_path[_SPLITS]).get("splits")
        if not isinstance(splits, list) or not splits or not all(isinstance(each, str) for each in splits):
            raise DataError(f"{name}/{_SPLITS}: names no splits. Save the dataset again.")
        if split is None and len(splits) > 1:
            raise UsageError(
                f"{name}: the dataset has the splits {', '.join(splits)}. Choose one: --split {splits[0]}."
            )
        chosen = splits[0] if split is None else split
        if chosen not in splits:
            raise UsageError(f"--split {chosen}: the splits of {name} are {', '.join(splits)}.")
        prefix = f"{chosen}/"
        name = f"{name}/{chosen}"
    elif split is not None:
        raise UsageError(f"--split {split}: {name} has no splits. Omit --split.")
    if f"{prefix}{_STATE}" not in by_path:
        raise DataError(f"{name}: {_STATE} is missing. Save the dataset again.")
    state = _read(by_path[f"{prefix}{_STATE}"])
    info = _read(by_path[f"{prefix}{_INFO}"]) if f"{prefix}{_INFO}" in by_path else {}
    data = state.get("_data_files")
    parts = []
    for each in data if isinstance(data, list) else [None]:
        part = each.get("filename") if isinstance(each, dict) else None
        path = None if not isinstance(part, str) else by_path.get(f"{prefix}{PurePosixPath(part)}")
        if path is None:
            raise DataError(f"{name}: the file {part} is missing. Get a complete copy of the dataset.")
        parts.append(path)
    return SavedDataset(name, tuple(parts), info.get("features"))


def open_saved_dataset(source: SavedDataset, options: Options) -> tuple[Columns, Iterator[Document]]:
    """The chosen columns, and the documents, one record batch at a time."""
    require_pyarrow(source.name, _DATA)
    names, classes, sample = _first_rows(source, options)
    check_names(names, source.name)
    columns = choose_columns(names, sample, options, source.name)
    cells = ArrowCells(source.name, options, classes)
    return columns, _documents(source, columns, options, cells)


def _documents(
    source: SavedDataset, columns: Columns, options: Options, cells: ArrowCells
) -> Iterator[Document]:
    wanted = list(dict.fromkeys(name for name in (*columns.joined, columns.label, columns.id) if name))
    yield from documents_of(_rows(source, wanted, cells), columns, options, source.name)
    cells.warn()


def _rows(source: SavedDataset, names: list[str], cells: ArrowCells) -> Iterator[dict[str, Any]]:
    count = 0
    for file in source.files:
        for batch in _batches(file):
            missing = [name for name in names if name not in batch.schema.names]
            if missing:
                raise DataError(f'{file.name}: no column "{missing[0]}". Get a complete copy of the dataset.')
            with explained(file.name, "an Arrow file"):
                values = [cells.values(batch.column(name), name, count) for name in names]
            for place in range(batch.num_rows):
                yield {name: value[place] for name, value in zip(names, values, strict=True)}
            count += batch.num_rows


def _batches(file: File) -> Iterator[Any]:
    import pyarrow

    assert file.open is not None
    with explained(file.name, "an Arrow file"), file.open() as stream:
        reader = pyarrow.ipc.open_stream(pyarrow.PythonFile(stream, mode="r"))
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
            batch.validate(full=True)
            yield batch


def _first_rows(source: SavedDataset, options: Options) -> tuple[list[str], Any, list[dict[str, Any]]]:
    """The names of the columns, the names of classes, and texts of the first rows."""
    import pyarrow

    first = source.files[0]
    assert first.open is not None
    with explained(first.name, "an Arrow file"), first.open() as stream:
        schema = pyarrow.ipc.open_stream(pyarrow.PythonFile(stream, mode="r")).schema
    classes = classes_of_features(source.features) or classes_of_schema(schema)
    strings = [field.name for field in schema if is_string(field.type)]
    batch = next(_batches(first), None)
    if batch is None:
        return list(schema.names), classes, []
    cells = ArrowCells(source.name, Options(max_document=options.max_document), classes)
    some = batch.slice(0, _SAMPLE)
    values = [cells.values(some.column(name), name, 0) for name in strings]
    rows = [dict(zip(strings, row, strict=True)) for row in zip(*values, strict=True)]
    return list(schema.names), classes, rows


def _read(file: File) -> dict[str, Any]:
    assert file.open is not None
    try:
        with file.open() as stream:
            found = json.loads(stream.read(_LARGEST_JSON))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file.name}: not JSON ({error}). Save the dataset again.") from error
    if not isinstance(found, dict):
        raise DataError(f"{file.name}: not an object. Save the dataset again.")
    return found
