"""Where corpora are on this machine, and how their files are opened."""

from __future__ import annotations

import json
import lzma
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from widemargin.errors import DataError, StorageError


def cache_folder() -> Path:
    """The user's cache of fetched corpora, by the custom of the platform."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "widemargin" / "corpora"


def data_folders(data_home: str | Path | None = None) -> list[Path]:
    """The folders to search, in order: `data_home` alone, or ``$WIDEMARGIN_DATA``, then the cache."""
    if data_home is not None:
        return [Path(data_home)]
    named = os.environ.get("WIDEMARGIN_DATA")
    return [*([Path(named)] if named else []), cache_folder()]


def locate(files: tuple[str, ...], data_home: str | Path | None = None) -> tuple[Path, ...] | None:
    """The paths of `files` in the first folder that has all of them, or None."""
    for folder in data_folders(data_home):
        paths = tuple(folder / name for name in files)
        if all(path.is_file() for path in paths):
            return paths
    return None


def open_xz(path: Path) -> IO[bytes]:
    """The decompressed bytes of `path`."""
    try:
        return lzma.open(path, "rb")
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error.strerror or error}).") from error


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a ``.jsonl.xz`` file."""
    number = 0
    try:
        # Binary lines end at "\n" only: some texts contain other line separators.
        with open_xz(path) as file:
            for number, line in enumerate(file, 1):  # noqa: B007 (named in the message below)
                yield json.loads(line)
    except (ValueError, EOFError, lzma.LZMAError) as error:
        raise DataError(
            f"{path}, line {number}: damaged ({error}). Delete the file and fetch the corpus again."
        ) from error
