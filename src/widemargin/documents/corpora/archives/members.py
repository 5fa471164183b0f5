"""The files in an archive (tar or zip) or in a folder; those that gzip compressed are decompressed."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from widemargin.documents.limits import MAX_DOCUMENT

Records = Iterator[dict[str, Any]]
# Larger than any collection; such a file is not one of them.
_MOST = 4_000_000_000
_LONGEST_LINE = 10_000_000


def streams(path: Path) -> Iterator[tuple[tuple[str, ...], IO[bytes]]]:
    """The parts of the path of every file, without a last ``.gz``, and the file, open."""
    for parts, file in _opened(path):
        if parts and parts[-1].endswith(".gz"):
            yield (*parts[:-1], parts[-1].removesuffix(".gz")), cast(IO[bytes], gzip.GzipFile(fileobj=file))
        else:
            yield parts, file


def _opened(path: Path) -> Iterator[tuple[tuple[str, ...], IO[bytes]]]:
    if path.is_dir():
        for each in sorted(path.rglob("*")):
            if each.is_file():
                with each.open("rb") as file:
                    yield each.relative_to(path).parts, file
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    with archive.open(entry) as inside:
                        yield _parts(entry.filename), inside
    else:
        with tarfile.open(path) as tar:
            for member in tar:
                if member.isfile() and (content := tar.extractfile(member)) is not None:
                    yield _parts(member.name), content


def contents(path: Path) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """The same with the bytes of every file."""
    size = 0
    for parts, file in streams(path):
        content = file.read(MAX_DOCUMENT + 1)
        check_size("/".join(parts), len(content), MAX_DOCUMENT)
        size += len(content)
        check_size("the whole archive", size, _MOST)
        yield parts, content


def lines(name: str, file: IO[bytes]) -> Iterator[str]:
    """The lines of a file without their ends; bytes above 127 are Latin-1."""
    while line := file.readline(_LONGEST_LINE + 1):
        check_size(f"a line of {name}", len(line), _LONGEST_LINE)
        yield line.decode("latin-1").rstrip("\r\n")


def check_size(name: str, size: int, most: int) -> None:
    if size > most:
        raise ValueError(f"{name} has {size:,} bytes, more than {most:,}")


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in name.split("/") if part not in ("", "."))
