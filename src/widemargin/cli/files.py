"""Files that verbs read whole, and those that they are going to write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from widemargin.cli.output import note
from widemargin.errors import MissingFileError, StorageError

if TYPE_CHECKING:
    from widemargin.documents.collection import Collection, Vectors


def read_all(source: str, quiet: bool, reading: dict[str, Any]) -> Collection | Vectors:
    """Every document of `source`, with a note on what was guessed and a progress bar."""
    from widemargin.documents.collection import Collection
    from widemargin.documents.reading import guess_format, read_collection, read_documents
    from widemargin.progress import track

    reading["format"] = reading["format"] or guess_format(source)
    if reading["format"] == "svmlight":
        return read_collection(source, **reading)
    reader = read_documents(source, **reading)
    note(reader.description, quiet)
    return Collection.of(track(reader, "Reading", enabled=False if quiet else None))


def check_target(output: Path) -> None:
    """Fail before the work rather than after it."""
    if output.is_dir():
        example = output / "model.wm"
        raise StorageError(f"{output} is a folder. Give the name of a file to write, such as {example}.")
    if not output.parent.is_dir():
        raise MissingFileError(
            f"There is no folder {output.parent} to write {output.name} to. Create it first."
        )
    if (output.exists() and not output.is_file()) or not os.access(output.parent, os.W_OK):
        raise StorageError(f"{output} cannot be written. Give the name of a file that can.")
