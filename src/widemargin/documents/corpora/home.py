"""Where corpora are on this machine, and how their files are opened."""

from __future__ import annotations

import json
import lzma
import os
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from widemargin.documents.limits import MAX_DOCUMENT
from widemargin.errors import DataError, StorageError

# Exceptions from reading a damaged or wrong file. They are caught only around the conversion of files, where
# they mean that the data are wrong.
DAMAGED = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    # An encrypted zip, one with an unknown method of compression, nesting without end.
    *(RuntimeError, NotImplementedError, RecursionError),
    # Other content than expected.
    *(ValueError, LookupError, TypeError, AttributeError),
)


def described(error: BaseException) -> str:
    """The message of an error, or a description if it has none."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, KeyError):
        return f"no {error}"
    if isinstance(error, TypeError | AttributeError):
        return f"other content than expected: {error}"
    return str(error) or type(error).__name__


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
            while line := file.readline(MAX_DOCUMENT + 1):
                if len(line) > MAX_DOCUMENT:
                    raise ValueError(f"more than {MAX_DOCUMENT:,} bytes")
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError("not an object")
                yield record
                number += 1
    except DAMAGED as error:
        raise DataError(
            f"{path}, line {number + 1}: damaged ({described(error)}). Delete the file and fetch the corpus "
            f"again."
        ) from error
