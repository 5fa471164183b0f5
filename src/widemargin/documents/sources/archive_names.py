"""Whether a file is an archive, by its name or its first bytes."""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath

from widemargin.documents.sources.files import COMPRESSED
from widemargin.errors import DataError

_SHORT = {".tgz": ".tar.gz", ".txz": ".tar.xz", ".tzst": ".tar.zst", ".tbz": ".tar.bz2", ".tbz2": ".tar.bz2"}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_MAGIC = slice(257, 262)


def archive_kind(name: str) -> str | None:
    """ "zip" or "tar", if a name says that the file is an archive.

    >>> [archive_kind(name) for name in ("mail.zip", "mail.tar.gz", "mail.tgz", "mail.csv.gz")]
    ['zip', 'tar', 'tar', None]
    """
    path = PurePosixPath(name.lower())
    path = path.with_suffix(_SHORT.get(path.suffix, path.suffix))
    if path.suffix in COMPRESSED or path.suffix == ".bz2":
        path = path.with_suffix("")
    return {".zip": "zip", ".tar": "tar"}.get(path.suffix)


def archive_kind_of_file(path: Path) -> str | None:
    """ "zip" or "tar", by the name of a file, otherwise by its first bytes."""
    by_name = archive_kind(path.name)
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe keeps no bytes for a second look
            return by_name
        with path.open("rb") as file:
            head = file.read(_TAR_MAGIC.stop)
    except OSError:
        return by_name
    if head.startswith(_ZIP):
        return "zip"
    if by_name == "zip" and not head.startswith((b"BZh", b"7z")):  # of these, reading says more
        raise DataError(f"{path}: not a .zip file despite its name. Rename it, or get a complete copy.")
    if by_name == "zip":
        return None
    return "tar" if head[_TAR_MAGIC] == b"ustar" else by_name
