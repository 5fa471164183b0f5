"""Writing a file so that a reader sees either the old one or the whole new one, never half of it."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from widemargin.errors import MissingFileError, StorageError, WidemarginError


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes the place of `path` when the block ends without an error.

    It is written under a temporary name in the same folder, flushed to the disk and renamed. On any
    error, a full disk or Ctrl-C included, the temporary file is removed and `path` is as it was before.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder, "numbers.txt")
    ...     with replacing(target) as file:
    ...         _ = file.write(b"1 2 3")
    ...     target.read_bytes()
    b'1 2 3'
    """
    # A link keeps pointing at the same place, whose content changes.
    target = Path(os.path.realpath(path))
    mode = _mode_of_target(path, target)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        descriptor = os.open(
            temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
        )
    except OSError as error:
        raise _storage_error(path, error) from error
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        # A closed pipe is the reader's wish, not a failure of the disk; the caller knows what to do.
        if isinstance(error, OSError) and not isinstance(error, WidemarginError | BrokenPipeError):
            raise _storage_error(path, error) from error
        raise
    _sync_folder(target.parent)


def _mode_of_target(path: str | os.PathLike[str], target: Path) -> int | None:
    """The permissions to keep, or None for a new file; raise when `path` is no place for a file."""
    try:
        found = target.stat()
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise MissingFileError(
                f"{os.fspath(path)}: there is no folder {target.parent} to write to. Create the folder first."
            ) from None
        return None
    except OSError as error:
        raise _storage_error(path, error) from error
    if stat.S_ISDIR(found.st_mode):
        raise StorageError(f"{os.fspath(path)} is a folder. Give the name of a file to write.")
    if not stat.S_ISREG(found.st_mode):
        raise StorageError(f"{os.fspath(path)} is not an ordinary file and cannot be replaced. Name another.")
    return stat.S_IMODE(found.st_mode)


def _storage_error(path: str | os.PathLike[str], error: OSError) -> StorageError:
    reason = error.strerror or str(error)
    return StorageError(
        f"{os.fspath(path)} could not be written: {reason}. What was there before is unchanged. "
        f"Free some space or write to another place."
    )


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
