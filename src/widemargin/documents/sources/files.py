"""A file that can be read: on disk, elsewhere, or a member of an archive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

COMPRESSED = {".gz": b"\x1f\x8b", ".xz": b"\xfd7zXZ\x00", ".zst": b"\x28\xb5\x2f\xfd"}
STDIN = "-"
_CHUNK = 1 << 20
# A member that must be read in any order is copied to disk beyond this size.
_IN_MEMORY = 1 << 24


@dataclass(frozen=True)
class File:
    """A file to read.

    Attributes
    ----------
    name : in messages, such as "mail.zip/spam/1.txt"; "-" is standard input
    path : below the folder or archive that it was found in, such as "spam/1.txt"
    open : opens its bytes
    on_disk : its path on disk; None for a member of an archive, a file elsewhere and standard input
    any_order : opens the bytes of a file elsewhere to be read in any order without a copy; yields None if its
        server does not allow that
    label : the label of all its documents, if the name or folder of the file says so
    format : what it was found to be
    """

    name: str
    path: str
    open: Callable[[], IO[bytes]] | None = None
    on_disk: Path | None = None
    any_order: Callable[[], AbstractContextManager[IO[bytes] | None]] | None = None
    label: str | None = None
    format: str | None = None

    @property
    def stem(self) -> str:
        """The name without its folder and endings.

        >>> [named(name).stem for name in ("data/spam.txt", "spam.csv.gz", "v1.2.tsv")]
        ['spam', 'spam', 'v1.2']
        """
        path = PurePosixPath(self.path)
        if path.suffix.lower() in COMPRESSED and path.with_suffix("").suffix:
            path = path.with_suffix("")
        return path.stem

    @property
    def folder(self) -> str:
        """The class folder: the first one below where the file was found, or the one that it is in."""
        parts = PurePosixPath(self.path).parts
        if self.on_disk is not None and self.name == self.path:
            return self.on_disk.absolute().parent.name
        if self.name == self.path:  # elsewhere
            return PurePosixPath(self.path).parent.name
        return parts[0] if len(parts) > 1 else ""

    @contextmanager
    def seekable(self, *, in_pieces: bool = False) -> Iterator[str | IO[bytes]]:
        """Its path, or its bytes to be read in any order.

        `in_pieces`: in few and large pieces, so that those of a file elsewhere can be fetched one by one.
        """
        if self.on_disk is not None:
            yield str(self.on_disk)
            return
        if in_pieces and self.any_order is not None:
            with self.any_order() as file:
                if file is not None:
                    yield file
                    return
        import shutil
        import tempfile

        assert self.open is not None
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as copy, self.open() as member:
            shutil.copyfileobj(member, copy, _CHUNK)
            copy.seek(0)
            yield copy


def named(source: str | Path) -> File:
    """The file that is named, or standard input."""
    if source == STDIN:
        return File(STDIN, STDIN)
    return file_on_disk(Path(source), str(source))


def file_on_disk(place: Path, path: str) -> File:
    """A file with its path below the folder that it was found in."""

    def opened() -> IO[bytes]:
        return open(place, "rb", buffering=_CHUNK)

    return File(str(place), path, opened, place)


def is_hidden(path: str) -> bool:
    """Whether a file is not a document: hidden, or what macOS adds to archives.

    >>> is_hidden("spam/.DS_Store"), is_hidden("__MACOSX/spam/1.txt"), is_hidden("spam/1.txt")
    (True, True, False)
    """
    parts = PurePosixPath(path).parts
    return any(part.startswith(".") for part in parts) or "__MACOSX" in parts
