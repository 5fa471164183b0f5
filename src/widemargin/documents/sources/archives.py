"""The files in a .zip or .tar archive, read one after the other without unpacking them to disk.

No member is ever written under its own name, so no name can lead out of a folder. An archive that expands to
far more than real documents do, has too many members, is encrypted or contains another archive is refused.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from widemargin.documents.limits import in_words
from widemargin.documents.sources.archive_names import archive_kind
from widemargin.documents.sources.byte_source import decompressed
from widemargin.documents.sources.files import File, is_hidden
from widemargin.documents.wording import counted
from widemargin.errors import DataError, DataWarning, StorageError, WidemarginError

# Text shrinks to a third or a tenth, and even logs hardly below a hundredth.
MOST_EXPANSION = 200
# An archive of so many bytes unpacked is harmless, however small it is packed.
HARMLESS = 64_000_000
MOST_MEMBERS = 2_000_000

_BUFFER = 1 << 18
_ERRORS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    ValueError,
    LookupError,
    OverflowError,
    RuntimeError,
)


class Expansion:
    """Counts what is unpacked from an archive of `size` bytes, and stops when it is far too much."""

    def __init__(self, name: str, size: int) -> None:
        self._name, self._most, self._unpacked = name, max(HARMLESS, MOST_EXPANSION * size), 0

    def add(self, size: int) -> None:
        self._unpacked += size
        if self._unpacked > self._most:
            raise DataError(
                f"{self._name}: unpacks to more than {in_words(self._most)}, {MOST_EXPANSION} times its size "
                f"or more, as no archive of documents does. If you trust it, unpack it and name its folder."
            )


class _Counted(io.RawIOBase):
    """Bytes that are unpacked, counted."""

    def __init__(self, stream: IO[bytes], expansion: Expansion, name: str) -> None:
        self._stream, self._expansion, self._name = stream, expansion, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        with explained(self._name):
            data = self._stream.read(len(buffer))
        self._expansion.add(len(data))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


class ZipTree:
    """The files of a .zip archive, in the order of their paths."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        with explained(self.name):
            self._archive = zipfile.ZipFile(path)
        self._expansion = Expansion(self.name, path.stat().st_size)
        members = [member for member in self._archive.infolist() if not member.filename.endswith("/")]
        _check_members(self.name, len(members))
        self.is_workbook = any(member.filename == "xl/workbook.xml" for member in members)
        self.is_model = any(member.filename == "manifest.json" for member in members)
        kept = {}
        for member in members:
            where = _inside(member.filename)
            if not is_hidden(where):
                kept[where] = member
        for where, member in kept.items():
            _check_nested(self.name, where)
            if member.flag_bits & 1:
                raise DataError(
                    f"{self.name}/{where}: is encrypted. Unpack it with its password, and name the folder."
                )
        self._members = _without_common_folder(kept)

    def files(self) -> list[File]:
        return [
            File(f"{self.name}/{path}", path, functools.partial(self._open, path))
            for path in sorted(self._members)
        ]

    def _open(self, path: str) -> IO[bytes]:
        name = f"{self.name}/{path}"
        with explained(name):
            stream: Any = self._archive.open(self._members[path])
        return io.BufferedReader(_Counted(stream, self._expansion, name), _BUFFER)

    def close(self) -> None:
        self._archive.close()


class TarTree:
    """The files of a .tar archive, in their order there; opening them in this order reads it once."""

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path
        self._archive: tarfile.TarFile | None = None
        self._next = 0
        names: list[str | None] = []
        special = 0
        for member in self._walk():
            _check_members(self.name, len(names) + 1)
            where = _inside(member.name)
            regular = member.isfile() and not is_hidden(where)
            special += not member.isfile() and not member.isdir()
            if regular:
                _check_nested(self.name, where)
            names.append(where if regular else None)
        if special:
            warnings.warn(
                f"{self.name}: omitted {counted(special, 'link')} or other special member.",
                DataWarning,
                stacklevel=2,
            )
        # A path that comes twice was replaced: the last one counts, as when unpacking.
        places = {where: place for place, where in enumerate(names) if where is not None}
        self._places = _without_common_folder(places)

    def files(self) -> list[File]:
        in_order = sorted(self._places, key=lambda path: self._places[path])
        return [File(f"{self.name}/{path}", path, functools.partial(self._open, path)) for path in in_order]

    def _open(self, path: str) -> IO[bytes]:
        place, name = self._places[path], f"{self.name}/{path}"
        if self._archive is None or place < self._next:
            self._begin()
        assert self._archive is not None
        with explained(self.name):
            member = None
            while self._next <= place:
                member = self._step(self._archive)
                self._next += 1
            stream = None if member is None else self._archive.extractfile(member)
            if stream is None:
                raise EOFError("its end is missing")
        return io.BufferedReader(_Counted(stream, self._expansion, name), _BUFFER)

    def close(self) -> None:
        if self._archive is not None:
            with contextlib.suppress(Exception):
                self._archive.close()
            self._stream.close()
            self._archive = None

    def _walk(self) -> Iterator[tarfile.TarInfo]:
        self._begin()
        assert self._archive is not None
        with explained(self.name):
            while (member := self._step(self._archive)) is not None:
                yield member
        self.close()

    def _begin(self) -> None:
        self.close()
        with explained(self.name):
            size = self._path.stat().st_size
            unpacked = decompressed(self._path.open("rb", buffering=_BUFFER), self._path)
            # What is unpacked, and the members, which may have holes that are stored nowhere.
            self._expansion = Expansion(self.name, size)
            counted = _Counted(unpacked, Expansion(self.name, size), self.name)
            self._stream = io.BufferedReader(counted, _BUFFER)
            self._archive = tarfile.open(fileobj=self._stream, mode="r|")  # noqa: SIM115 (close closes it)
        self._next = 0

    def _step(self, archive: tarfile.TarFile) -> tarfile.TarInfo | None:
        member = archive.next()
        archive.members = []  # type: ignore[attr-defined] # it would keep every member in memory
        return member


def open_archive(path: Path, kind: str) -> ZipTree | TarTree:
    return ZipTree(path) if kind == "zip" else TarTree(path)


@contextlib.contextmanager
def converted(
    name: str,
    damaged: Callable[[str, Exception], DataError],
    expected: Callable[[Exception], bool] = lambda error: True,
) -> Iterator[None]:
    """Converts errors of reading a packed file: those of the system, and `expected` ones of damaged bytes."""
    try:
        yield
    except (WidemarginError, MemoryError):
        raise
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # a place before the beginning
            raise StorageError(
                f"{name}: cannot be read ({error.strerror or error}). Check its permissions."
            ) from error
        raise damaged(name, error) from error
    except Exception as error:
        if not expected(error):
            raise
        raise damaged(name, error) from error


def explained(name: str) -> contextlib.AbstractContextManager[None]:
    """Converts the errors of archives to this library's errors."""
    return converted(name, _damaged, _is_of_archives)


def _is_of_archives(error: Exception) -> bool:
    # The modules of other compressions are imported only when a member needs them.
    return isinstance(error, _ERRORS) or type(error).__name__ in ("LZMAError", "ZstdError", "error")


def _damaged(name: str, error: Exception) -> DataError:
    if isinstance(error, NotImplementedError):
        return DataError(
            f"{name}: packed in a way that cannot be read ({error}). Unpack it and name its folder."
        )
    reason = " ".join(str(error).split()) or type(error).__name__
    return DataError(f"{name}: the archive is damaged or cut off ({reason}). Get a complete copy of it.")


def _check_members(name: str, count: int) -> None:
    if count > MOST_MEMBERS:
        raise DataError(
            f"{name}: has more than {MOST_MEMBERS:,} members. Unpack it and name its folder, or pack "
            f"documents as lines of one .jsonl file."
        )


def _check_nested(name: str, path: str) -> None:
    if archive_kind(path) is not None:
        raise DataError(
            f"{name}/{path}: an archive inside an archive. Unpack {name}, and name {path} itself."
        )


def _inside(name: str) -> str:
    """The path of a member, below the top of the archive.

    >>> _inside("./a/b.txt"), _inside("/etc/passwd"), _inside("../../a.txt")
    ('a/b.txt', 'etc/passwd', 'a.txt')
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return "/".join(part for part in parts if part not in ("/", "..", ".")) or "_"


def _without_common_folder(members: dict[str, Any]) -> dict[str, Any]:
    """The members without a folder that contains all of them in several folders: that is not a class.

    >>> sorted(_without_common_folder({"mail/README": 0, "mail/spam/1": 1, "mail/ham/1": 2}))
    ['README', 'ham/1', 'spam/1']
    >>> sorted(_without_common_folder({"spam/1": 0, "spam/2": 1}))
    ['spam/1', 'spam/2']
    """
    parts = [path.split("/", 2) for path in members]
    inner = {part[1] for part in parts if len(part) > 2}
    if len({part[0] for part in parts}) > 1 or len(inner) < 2:
        return members
    return {path.partition("/")[2]: member for path, member in members.items()}
