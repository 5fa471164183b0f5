"""The files in a folder and in the folders below it, without hidden ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from widemargin.documents.sources.files import File, file_on_disk
from widemargin.errors import StorageError


class Tree(Protocol):
    """Files below one name: a folder, or an archive."""

    name: str

    def files(self) -> list[File]:
        """All files that are not hidden."""

    def close(self) -> None:
        """Close what is open."""


class Folder:
    """The files of a folder on disk, in the order of their paths."""

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path

    def files(self) -> list[File]:
        found: list[File] = []
        for parent, folders, names in os.walk(self._path, onerror=self._raise):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                place = Path(parent) / name
                if not name.startswith(".") and place.is_file():
                    found.append(file_on_disk(place, place.relative_to(self._path).as_posix()))
        return found

    def close(self) -> None:
        pass

    def _raise(self, error: OSError) -> None:
        raise StorageError(
            f"{self.name}: cannot be read ({error.strerror}). Check its permissions."
        ) from error
