"""Write a file so that a reader sees either the old one or the complete new one.

If the system supports files without a name (O_TMPFILE), the new file gets its name only when it is complete,
so a killed process leaves nothing behind. Otherwise it is written under a temporary name that contains the
process, and a later save of the same file removes the leftovers of dead processes.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from widemargin.errors import MissingFileError, StorageError, UsageError, WidemarginError

STDIN = "-"
_PRIVATE = 0o600


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that replaces `path` when the block ends without an error.

    It is written next to `path`, readable only by its owner, flushed to disk, given the permissions of the
    file that it replaces, and renamed. After any error, including a full disk or Ctrl-C, `path` is unchanged.

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
    refuse_url(path)
    # A symbolic link stays; the file that it points to is replaced.
    target = Path(os.path.realpath(path))
    replaced = _replaced_file(path, target)
    _remove_stale(target)
    temporary = target.with_name(_temporary_name(target))
    named = False  # whether a file named `temporary` may exist
    try:
        descriptor = _open_nameless(target.parent)
        if descriptor is None:
            descriptor, named = _create(temporary), True
        with os.fdopen(descriptor, "w+b") as file:
            new = os.fstat(descriptor)  # the permissions given by the umask
            _set_mode(file, _PRIVATE)
            yield file
            file.flush()
            _take_permissions(file, new if replaced is None else replaced)
            os.fsync(descriptor)
            if not named:
                named = True
                _give_name(file, temporary)
        os.replace(temporary, target)
    except BaseException as error:
        if named:
            with contextlib.suppress(OSError):
                temporary.unlink()
        # A closed pipe is not a failure of the disk; the caller handles it.
        if isinstance(error, OSError) and not isinstance(error, WidemarginError | BrokenPipeError):
            raise _storage_error(path, error) from error
        raise
    sync_folder(target.parent)


def refuse_url(path: str | os.PathLike[str]) -> None:
    """Raise if `path` is an address: documents can be read from elsewhere, but output is written to disk.

    >>> refuse_url("models/tickets.wm")
    """
    # A path has one slash where an address had two.
    name = os.fspath(path)
    found = re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", name)
    if found is not None and not os.path.isdir(name.partition("/")[0]):
        scheme = name.partition(":")[0]
        raise UsageError(
            f"Output is always written to disk, not to {scheme}://. Name a local file, and copy it there "
            f"afterwards."
        )


def refuse_inputs(path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise if writing `path` would destroy one of `inputs`: files, or "-" for standard input.

    Symbolic and hard links are resolved: two names of the same file count as one.
    """
    try:
        target = os.stat(path)
    except OSError:
        return  # there is no file to destroy
    if not stat.S_ISREG(target.st_mode):
        return  # a terminal or pipe stores nothing, and a folder is rejected elsewhere
    for source in inputs:
        try:
            found = os.fstat(sys.stdin.fileno()) if os.fspath(source) == STDIN else os.stat(source)
        except (OSError, ValueError, AttributeError):
            continue  # the reader reports what cannot be read
        if os.path.samestat(target, found):
            name = "standard input" if os.fspath(source) == STDIN else os.fspath(source)
            same = "" if os.fspath(path) == name else f" (the same file as {name})"
            raise UsageError(
                f"{os.fspath(path)}{same} is an input of this command, and writing the output there would "
                f"destroy it. Write to another file."
            )


def _replaced_file(path: str | os.PathLike[str], target: Path) -> os.stat_result | None:
    """The file whose permissions to keep, None for a new file; raise if `path` cannot be a file."""
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
    return found


# ---------------------------------------------------------------------- files without a name


def _open_nameless(folder: Path) -> int | None:
    """A new file in `folder` without a name, or None if the system does not support that."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        # No other process can open it, so it may have the permissions that the umask gives.
        return os.open(folder, flag | os.O_RDWR, 0o666)
    except OSError:
        return None  # not on this file system; other errors will recur with a named file


def _give_name(file: BinaryIO, temporary: Path) -> None:
    """Give `file`, which is complete and on disk, the name `temporary`."""
    folder = os.open(temporary.parent, os.O_RDONLY)
    try:
        # With a folder's descriptor this is linkat(2), which follows the link in /proc to the file itself.
        source = f"/proc/self/fd/{file.fileno()}"
        os.link(source, temporary.name, dst_dir_fd=folder, follow_symlinks=True)
    except OSError:
        _copy(file, temporary)
    finally:
        os.close(folder)


def _copy(file: BinaryIO, temporary: Path) -> None:
    with os.fdopen(_create(temporary), "w+b") as copy:
        _set_mode(copy, _PRIVATE)
        file.seek(0)
        shutil.copyfileobj(file, copy)
        copy.flush()
        _take_permissions(copy, os.fstat(file.fileno()))
        os.fsync(copy.fileno())


# ---------------------------------------------------------------------- permissions


def _create(temporary: Path) -> int:
    """A new, empty file with the permissions given by the umask."""
    return os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)


def _take_permissions(file: BinaryIO, like: os.stat_result) -> None:
    """Copy the owner, group and permissions of `like`; if the group cannot be set, drop the group's
    permissions."""
    mode, found = stat.S_IMODE(like.st_mode), os.fstat(file.fileno())
    if hasattr(os, "fchown"):
        if found.st_uid != like.st_uid:
            with contextlib.suppress(OSError):
                os.fchown(file.fileno(), like.st_uid, -1)
        if found.st_gid != like.st_gid:
            try:
                os.fchown(file.fileno(), -1, like.st_gid)
            except OSError:
                mode &= ~(stat.S_IRWXG | stat.S_ISGID)
    _set_mode(file, mode)


def _set_mode(file: BinaryIO, mode: int) -> None:
    if hasattr(os, "fchmod"):
        os.fchmod(file.fileno(), mode)


# ---------------------------------------------------------------------- temporary names


def _temporary_name(target: Path) -> str:
    """A unique name that contains the target and the process."""
    pid = os.getpid()
    return f"{_prefix(target)}{pid}-{_started(pid)}-{secrets.token_hex(6)}.part"


def _prefix(target: Path) -> str:
    """The prefix of temporary files of `target` on this machine: short, whatever its name."""
    written = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    return f".widemargin-{written}-{_machine()}-"


def _remove_stale(target: Path) -> None:
    """Remove temporary files of `target` whose processes have ended; keep them in case of doubt."""
    if os.name != "posix":  # on other systems, os.kill(pid, 0) may end the process
        return
    prefix = _prefix(target)
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if not (entry.name.startswith(prefix) and entry.name.endswith(".part")):
                continue
            pid, _, rest = entry.name.removeprefix(prefix).partition("-")
            started = rest.partition("-")[0]
            with contextlib.suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
                if own and pid.isdecimal() and _is_dead(int(pid), started):
                    os.unlink(entry.path)


def _is_dead(pid: int, started: str) -> bool:
    """Whether the process `pid` that began at `started` has ended; its number may have been reused."""
    if not 0 < pid < 1 << 31:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # a process of another user: it is running
    now = _started(pid)
    return "0" not in (now, started) and now != started


def _started(pid: int) -> str:
    """Start time of a process, in ticks since boot; "0" if the system does not provide it."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The program name, in parentheses, may contain any character.
            return file.read().rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError, ValueError):
        return "0"


@functools.cache
def _machine() -> str:
    """Identifies a machine or container among those that share a file system: process numbers are local to
    one."""
    parts = [os.uname().nodename if hasattr(os, "uname") else ""]
    with contextlib.suppress(OSError):
        # It differs between clones of a machine, and changes when a machine is restarted.
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii", errors="replace"))
    with contextlib.suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _storage_error(path: str | os.PathLike[str], error: OSError) -> StorageError:
    reason = error.strerror or str(error)
    return StorageError(
        f"{os.fspath(path)} could not be written: {reason}. The previous content is unchanged. "
        f"Free some space or write to another place."
    )


def sync_folder(folder: Path) -> None:
    """Make the rename itself durable, if the system allows opening a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
