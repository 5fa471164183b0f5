"""A collection on disk: blocks of rows, sorted by the keys of documents.

A store is a folder with the blocks, one after another in a few files, and ``store.json``, which is written
last. Its bytes depend on the set of documents only. Blocks are small, so that a solver can mix them. They are
read into buffers, not mapped, so that nothing of them stays in memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import weakref
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr
from widemargin.errors import DataError, MissingFileError, StorageError
from widemargin.on_disk.row_files import missing
from widemargin.on_disk.rows import BlockReader, EncodedRows, Keys, Longs, Numbers, ValueType, damaged

INDEX = "store.json"
VERSION = 1


class RowStore:
    """The rows of a collection.

    Any number of threads may read at the same time.

    Parameters
    ----------
    directory : the folder, as :func:`~widemargin.on_disk.build_store` wrote it

    Attributes
    ----------
    n_rows, n_columns, n_entries, n_blocks : sizes of all of it
    n_label_columns : of the labels
    first_rows : (n_blocks + 1,): block b has the rows from ``first_rows[b]`` up to ``first_rows[b + 1]``
    n_bytes : on disk
    has_weights : whether some documents have other weights than 1
    values : "counts", which are int32 on decoding, "float32" or "float64"
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        index = _read_index(self.directory / INDEX)
        self.n_columns: int = index["n_columns"]
        self.n_label_columns: int = index["n_label_columns"]
        self.has_weights: bool = index["has_weights"]
        self.values: ValueType = index["values"]
        self.n_blocks = len(index["rows"])
        self.first_rows: Longs = np.cumsum([0, *index["rows"]], dtype=np.int64)
        self.entries: Longs = np.array(index["entries"], dtype=np.int64)
        self._heads: list[int] = index["heads"]
        self._sizes: list[int] = index["bytes"]
        self._places = _places(self._sizes, index["files"])
        self._files = _Files(self.directory, index["files"], self._sizes)

    @property
    def n_rows(self) -> int:
        return int(self.first_rows[-1])

    @property
    def n_entries(self) -> int:
        return int(self.entries.sum())

    @property
    def n_bytes(self) -> int:
        return sum(self._sizes)

    def __reduce__(self) -> Any:
        return RowStore, (self.directory,)

    def __repr__(self) -> str:
        return f"RowStore({self.n_rows} rows, {self.n_entries} entries in {self.n_blocks} blocks)"

    def rows(self, block: int, which: Numbers | None = None) -> Csr:
        """The rows of a block, decoded; `which` are ascending row numbers within the block."""
        return self._read(block).csr(which)

    def rows_of(self, wanted: Sequence[tuple[int, Numbers]], n_threads: int) -> Csr:
        """Rows of several blocks below each other, decoded by several threads; each with ascending row
        numbers within the block."""
        reader = BlockReader(self.values, self.n_columns, self.n_label_columns)
        try:
            for block, which in wanted:
                n_rows = int(self.first_rows[block + 1] - self.first_rows[block])
                reader.add(self._bytes(block, self._sizes[block]), which, n_rows, int(self.entries[block]))
            return reader.csr(n_threads)
        except ValueError:
            for block, which in wanted:  # raises an error that names the block
                self.rows(block, which)
            raise

    def read_ahead(self, blocks: Iterable[int]) -> None:
        """Ask the system to read blocks that will be needed soon, while something else is done."""
        if not hasattr(os, "posix_fadvise"):
            return
        for block in blocks:
            self._files.read_ahead(*self._places[block], self._sizes[block])

    def labels(self, block: int) -> tuple[Longs, Numbers]:
        """The columns of the labels of the rows of a block, and where those of each row begin."""
        return self._read(block, head=True).labels()

    def weights(self, block: int) -> NDArray[np.float64] | None:
        """The sample weights of the rows of a block; None if all documents have the weight 1."""
        return self._read(block, head=True).weights()

    def keys(self, block: int) -> Keys:
        """The keys of the rows of a block; they ascend over the whole store."""
        return self._read(block, head=True).keys()

    def _read(self, block: int, *, head: bool = False) -> EncodedRows:
        if not 0 <= block < self.n_blocks:
            raise IndexError(f"block {block} of a store of {self.n_blocks}")
        data = self._bytes(block, self._heads[block] if head else self._sizes[block])
        name = f"Block {block} in {store_file(self.directory, self._places[block][0])}"
        encoded = EncodedRows(data, name)
        rows = self.first_rows[block + 1] - self.first_rows[block]
        if (
            encoded.n_rows != rows
            or encoded.n_entries != self.entries[block]
            or encoded.n_columns != self.n_columns
            or encoded.n_label_columns != self.n_label_columns
            or encoded.values != self.values
        ):
            raise DataError(damaged(name, "it is not the block that the index names"))
        return encoded

    def _bytes(self, block: int, size: int) -> bytes:
        """The first bytes of a block."""
        file, begin = self._places[block]
        return self._files.read(file, begin, size)


class _Files:
    """The files of a store, opened when they are needed."""

    def __init__(self, directory: Path, blocks: list[int], sizes: list[int]) -> None:
        self._directory, self._lock = directory, threading.Lock()
        ends = np.cumsum([0, *sizes])[np.cumsum([0, *blocks])]
        self._sizes: list[int] = np.diff(ends).tolist()
        self._open: dict[int, int] = {}
        weakref.finalize(self, _close, self._open)

    def read(self, file: int, begin: int, size: int) -> bytes:
        """Some bytes of a file."""
        path = store_file(self._directory, file)
        try:
            if (descriptor := self._open.get(file)) is None:
                descriptor = self._opened(file, path)
            data = os.pread(descriptor, size, begin)
        except FileNotFoundError:
            raise MissingFileError(missing(path)) from None
        except OSError as error:
            raise StorageError(
                f"{path} could not be read: {error.strerror or error}. Train again."
            ) from error
        if len(data) != size:
            raise DataError(damaged(str(path), "it ends too early"))
        return data

    def read_ahead(self, file: int, begin: int, size: int) -> None:
        """Bytes of a file that was read before."""
        if (descriptor := self._open.get(file)) is not None:
            with contextlib.suppress(OSError):  # it is only advice
                os.posix_fadvise(descriptor, begin, size, os.POSIX_FADV_WILLNEED)

    def _opened(self, file: int, path: Path) -> int:
        with self._lock:
            if file not in self._open:
                descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
                found, expected = os.fstat(descriptor).st_size, self._sizes[file]
                if found != expected:
                    os.close(descriptor)
                    raise DataError(damaged(str(path), f"it has {found} bytes instead of {expected}"))
                self._open[file] = descriptor
            return self._open[file]


def _close(descriptors: dict[int, int]) -> None:
    while descriptors:
        os.close(descriptors.popitem()[1])


def _places(sizes: list[int], blocks: list[int]) -> list[tuple[int, int]]:
    """The file of every block, and where it begins there; `blocks` are the numbers of blocks per file."""
    found, first = [], 0
    for file, n_blocks in enumerate(blocks):
        begins = np.cumsum([0, *sizes[first : first + n_blocks]]).tolist()
        found += [(file, begin) for begin in begins[:-1]]
        first += n_blocks
    return found


def store_file(directory: Path, file: int) -> Path:
    """A file with blocks of a store."""
    return directory / f"rows-{file:03d}"


def _read_index(path: Path) -> dict[str, Any]:
    try:
        index = json.loads(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        raise MissingFileError(missing(path)) from None
    except OSError as error:
        raise StorageError(f"{path} could not be read: {error.strerror or error}. Train again.") from error
    except ValueError as error:
        raise DataError(damaged(str(path), str(error))) from None
    names = ("rows", "entries", "heads", "bytes", "files")
    lists = [index.get(name) for name in names] if isinstance(index, dict) else [None]
    if (
        not all(isinstance(each, list) and each and all(_is_size(n) for n in each) for each in lists)
        or len({len(each) for each in lists[:-1] if each}) != 1
        or sum(index["files"]) != len(index["rows"])
        or any(head > size for head, size in zip(index["heads"], index["bytes"], strict=True))
        or not all(_is_size(index.get(name)) for name in ("n_columns", "n_label_columns"))
        or index.get("version") != VERSION
        or index.get("values") not in ("counts", "float32", "float64")
        or type(index.get("has_weights")) is not bool
    ):
        raise DataError(damaged(str(path), "it does not describe a store of rows"))
    return dict(index)


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**48
