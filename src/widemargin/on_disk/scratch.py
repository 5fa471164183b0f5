"""A folder for temporary files: removed at the end, and later if the process was killed.

The folder holds a file that its process keeps locked. The lock of a process that has ended can be taken, so
whoever makes a new folder removes such leftovers.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO

from widemargin.errors import MissingFileError, StorageError, WidemarginError

try:
    import fcntl
except ImportError:  # not on Windows: leftovers stay there
    fcntl = None  # type: ignore[assignment]

_PREFIX = "widemargin-"
_LOCK = "lock"


class Scratch:
    """A new folder below `parent`, for as long as the ``with`` block lasts.

    Parameters
    ----------
    parent : the folder to make it in; by default that of temporary files (``$TMPDIR``)

    Examples
    --------
    >>> with Scratch() as folder:
    ...     _ = (folder / "counts").write_bytes(b"1 2 3")
    >>> folder.exists()
    False
    """

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        self._parent = Path(tempfile.gettempdir() if parent is None else parent)
        self._lock: IO[bytes] | None = None
        self.directory: Path | None = None

    def __enter__(self) -> Path:
        if not self._parent.is_dir():
            raise MissingFileError(
                f"There is no folder {self._parent} for temporary files. Create it, or name another one "
                f"(--scratch)."
            )
        remove_leftovers(self._parent)
        with writing_to(self._parent):
            try:
                self.directory = self._made()
                self._lock = _locked(self.directory)
            except BaseException:
                self.close()
                raise
        return self.directory

    def _made(self) -> Path:
        """A new folder; its name is known before it is made, so that no interrupt leaves it behind."""
        while True:
            self.directory = self._parent / f"{_PREFIX}{secrets.token_hex(4)}"
            try:
                self.directory.mkdir(mode=0o700)
            except FileExistsError:
                self.directory = None  # that of another process
                continue
            return self.directory

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder; it may be gone already."""
        if self.directory is not None:
            shutil.rmtree(self.directory, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
        self._lock = self.directory = None


def _locked(directory: Path) -> IO[bytes]:
    """The lock file of a folder. It gets its name once it is locked, so that no one takes it in between."""
    new = directory / f"{_LOCK}.new"
    file = new.open("wb")
    with contextlib.suppress(OSError):  # some network file systems have no locks
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            new.rename(directory / _LOCK)
    return file


def remove_leftovers(parent: Path) -> None:
    """Remove the folders below `parent` whose processes have ended; keep them in case of doubt."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for folder in sorted(parent.glob(f"{_PREFIX}*")):
            with contextlib.suppress(OSError), (folder / _LOCK).open("rb") as file:
                if os.fstat(file.fileno()).st_uid == os.geteuid():
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def writing_to(directory: str | os.PathLike[str], needed: int | None = None) -> Iterator[None]:
    """Turn an error of writing temporary files into one that says where, how much was needed and what helps.

    Parameters
    ----------
    needed : the bytes that are needed in `directory`, if they are known: refuse to begin without
    """
    if needed is not None and needed > free_bytes(directory):
        raise _full(directory, needed)
    try:
        yield
    except OSError as error:
        if isinstance(error, WidemarginError):
            raise
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full(directory, needed) from error
        raise StorageError(
            f"{os.fspath(directory)}: temporary files could not be written: {error.strerror or error}. Name "
            f"another folder (--scratch)."
        ) from error


def free_bytes(directory: str | os.PathLike[str]) -> int:
    """The bytes that are free where `directory` is."""
    return shutil.disk_usage(directory).free


def _full(directory: str | os.PathLike[str], needed: int | None) -> StorageError:
    free = 0
    with contextlib.suppress(OSError):
        free = free_bytes(directory)
    what = "" if needed is None else f"about {_size(needed)} are needed there, and "
    return StorageError(
        f"{os.fspath(directory)}: the disk is full: {what}{_size(free)} are free. Free some space, or name "
        f"a folder on another disk (--scratch)."
    )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.1f} MB"
