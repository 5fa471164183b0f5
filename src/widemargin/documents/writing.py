"""Write documents as canonical JSON Lines, completely or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from widemargin._files import replacing
from widemargin.documents.collection import Collection
from widemargin.documents.record import SEPARATOR, Document
from widemargin.errors import UsageError


def write_jsonl(documents: Iterable[Document], path: str | Path) -> int:
    """Write canonical JSON Lines to `path`; return the number of documents."""
    return _write((document.to_json() for document in documents), path)


def write_collection(collection: Collection, path: str | Path, columns: Sequence[str] = ()) -> int:
    """Write canonical JSON Lines to `path`; return the number of documents.

    Parameters
    ----------
    columns : the names of the columns of the texts, if there are several. Every column is then a field of its
        own, in place of "text". So are the cells of `collection.beside`, after the labels
    """
    return _write(_lines(collection, columns), path)


def check_columns(columns: Sequence[str]) -> None:
    """Refuse columns of texts whose names are taken by other fields of a canonical record."""
    taken = [name for name in columns if name in ("id", "labels", "label")]
    if len(columns) > 1 and taken:
        raise UsageError(
            f'--text {taken[0]}: a column of this name would become the field "{taken[0]}", which has '
            f"another meaning in JSON Lines. Rename the column."
        )


def _lines(collection: Collection, columns: Sequence[str]) -> Iterator[str]:
    names = columns if len(columns) > 1 else ("text",)
    for place, document in enumerate(collection):
        values = document.text.split(SEPARATOR, len(names) - 1) if len(names) > 1 else [document.text]
        texts = dict(zip(names, [*values, *[""] * (len(names) - len(values))], strict=True))
        record = {"id": document.id, **texts, "labels": document.labels}
        for name, cells in collection.beside.items():
            record.setdefault(name, cells[place])
        yield json.dumps(record, ensure_ascii=False)


def _write(lines: Iterable[str], path: str | Path) -> int:
    count = 0
    with replacing(path) as file:
        for line in lines:
            file.write(line.encode() + b"\n")
            count += 1
    return count
