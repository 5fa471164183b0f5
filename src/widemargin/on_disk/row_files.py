"""Files of blocks of rows, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from widemargin.errors import DataError, MissingFileError
from widemargin.on_disk.rows import HEADER, Rows, block_size, damaged, decode


def append_block(file: BinaryIO, block: Any) -> None:
    """Write a block behind those of a file."""
    file.write(block.data)


def read_blocks(path: Path, n_rows: int | None = None) -> Iterator[Rows]:
    """The blocks of a file, one at a time; a damaged one, or another number of rows, raises DataError."""
    if not path.exists():
        raise MissingFileError(missing(path))
    found = 0
    with path.open("rb") as file:
        while header := file.read(HEADER):
            _, size = block_size(header, str(path))
            if path.stat().st_size < file.tell() - len(header) + size:
                raise DataError(damaged(str(path), "it ends too early"))
            rows = decode(header + file.read(size - len(header)), str(path))
            found += rows.n_rows
            yield rows
    if n_rows is not None and found != n_rows:
        raise DataError(damaged(str(path), f"it has {found} rows instead of {n_rows}"))


def missing(path: Path) -> str:
    """A message about a temporary file that is gone."""
    return (
        f"{path} is missing: a temporary file of this training was removed. Train again, with another folder "
        f"for temporary files (--scratch)."
    )
