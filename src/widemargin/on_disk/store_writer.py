"""Write a store of rows, block by block."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

from widemargin.on_disk.cutting import join_pieces
from widemargin.on_disk.merging import Merged
from widemargin.on_disk.row_store import INDEX, VERSION, store_file
from widemargin.on_disk.rows import EncodedRows, block_size

FILE_BYTES = 1 << 30
"""A file of blocks ends when it has so many bytes."""


class StoreWriter:
    """Writes blocks to files, and an index in the end.

    Parameters
    ----------
    directory : the folder of the store, which exists
    merged : what the collection is
    """

    def __init__(self, directory: Path, merged: Merged, *, file_bytes: int = FILE_BYTES) -> None:
        self._directory, self._merged, self._file_bytes = directory, merged, file_bytes
        self._rows: list[int] = []
        self._entries: list[int] = []
        self._heads: list[int] = []
        self._bytes: list[int] = []
        self._files: list[int] = []
        self._file: IO[bytes] | None = None
        self._block: int | None = None
        self._parts: list[Any] = []

    def add(self, block: int, part: Any) -> None:
        """Add rows of a block, encoded; blocks and the parts of a block come in order."""
        if block != self._block:
            self._finish()
        self._block = block
        self._parts.append(part)

    def _finish(self) -> None:
        """Write the block whose parts are complete."""
        if not self._parts:
            return
        data = join_pieces(self._parts)
        self._parts = []
        block = EncodedRows(data)
        if self._file is None or self._file.tell() >= self._file_bytes:
            self._close_file()
            self._file = store_file(self._directory, len(self._files)).open("wb")
            self._files.append(0)
        self._file.write(data.data)
        self._files[-1] += 1
        self._rows.append(block.n_rows)
        self._entries.append(block.n_entries)
        self._heads.append(block_size(data)[0])
        self._bytes.append(len(data))

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def close(self) -> None:
        """Write the last block and the index, which makes the store complete."""
        self._finish()
        self._close_file()
        index = {
            "version": VERSION,
            "n_columns": self._merged.n_columns,
            "n_label_columns": self._merged.space.n_columns,
            "values": self._merged.values,
            "has_weights": self._merged.has_weights,
            "rows": self._rows,
            "entries": self._entries,
            "heads": self._heads,
            "bytes": self._bytes,
            "files": self._files,
        }
        temporary = self._directory / f"{INDEX}.part"
        temporary.write_text(json.dumps(index), encoding="ascii")
        temporary.replace(self._directory / INDEX)
