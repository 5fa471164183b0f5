"""Rows with the keys, labels and weights of their documents, in memory and as bytes.

The bytes are those of a block of rows (``core/on_disk/row_block.hpp``): gaps between columns of 1 to 4 bytes,
counts of 2 bits, checksums. A row of 60 counted terms takes about 2.5 bytes per term.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin.errors import DataError

Keys = NDArray[np.uint64]
Longs = NDArray[np.int64]
Numbers = NDArray[np.int32]
ValueType = Literal["counts", "float32", "float64"]

_TYPES: dict[str, Any] = {"counts": np.int32, "float32": np.float32, "float64": np.float64}
_NAMES: dict[Any, ValueType] = {
    np.dtype(np.int32): "counts",
    np.dtype(np.float32): "float32",
    np.dtype(np.float64): "float64",
}
_KINDS = {name: getattr(_core.ValueKind, name) for name in _TYPES}


class Rows(NamedTuple):
    """Some documents.

    Attributes
    ----------
    keys : hashes of the documents
    csr : their counts, or given values
    label_indptr, labels : the label columns of row i are ``labels[label_indptr[i]:label_indptr[i + 1]]``
    n_label_columns : how many columns there are
    weights : sample weights; None if all are 1
    """

    keys: Keys
    csr: Csr
    label_indptr: Longs
    labels: Numbers
    n_label_columns: int
    weights: NDArray[np.float64] | None

    @property
    def n_rows(self) -> int:
        return len(self.keys)

    @property
    def values(self) -> ValueType:
        """What the values are."""
        return _NAMES[self.csr.data.dtype]

    @property
    def n_bytes(self) -> int:
        """What they take in memory."""
        arrays = (self.keys, *self.csr[:3], self.label_indptr, self.labels, self.weights)
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def sizes(self) -> Longs:
        """The room of every row, by which blocks are cut: its entries, and 8 for itself."""
        return np.diff(self.csr.indptr) + 8


class RowEncoder:
    """Gathers rows for one block; `rows` says what they are like."""

    def __init__(self, values: ValueType, n_columns: int, n_label_columns: int, *, has_weights: bool) -> None:
        self._has_weights = has_weights
        self._writer = _core.RowBlockWriter(_KINDS[values], n_columns, n_label_columns, has_weights)

    @classmethod
    def like(cls, rows: Rows) -> RowEncoder:
        """An encoder of rows such as these."""
        return cls(
            rows.values, rows.csr.n_columns, rows.n_label_columns, has_weights=rows.weights is not None
        )

    @property
    def n_rows(self) -> int:
        return self._writer.n_rows

    @property
    def n_entries(self) -> int:
        return self._writer.n_entries

    def add(self, rows: Rows, which: NDArray[Any] | None = None) -> None:
        """Add rows, in the order of `which`."""
        places = (
            np.arange(rows.n_rows, dtype=np.int32) if which is None else which.astype(np.int32, copy=False)
        )
        self._writer.add_rows(*rows.csr[:3], places)
        self._writer.add_labels(rows.label_indptr, rows.labels, places)
        self._writer.add_keys(rows.keys, places)
        if self._has_weights:
            weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
            self._writer.add_weights(weights, places)

    def finish(self) -> NDArray[np.uint8]:
        """The block; the encoder is empty afterwards."""
        return np.asarray(self._writer.finish(), dtype=np.uint8)


def encode(rows: Rows, which: NDArray[Any] | None = None) -> NDArray[np.uint8]:
    """The block of some rows, in the order of `which`."""
    encoder = RowEncoder.like(rows)
    encoder.add(rows, which)
    return encoder.finish()


class EncodedRows:
    """A block of rows, or its head, that is decoded on request.

    Parameters
    ----------
    data : bytes of the block, or of its head alone; they are verified
    name : of the file, for messages
    """

    def __init__(self, data: Any, name: str = "a block of rows") -> None:
        self._name = name
        self._block = self._checked(lambda: _core.RowBlock(np.frombuffer(data, dtype=np.uint8)))
        self.n_rows, self.n_columns = self._block.n_rows, self._block.n_columns
        self.n_entries, self.n_label_columns = self._block.n_entries, self._block.n_label_columns
        self.has_weights = self._block.has_weights
        self.values = next(name for name in _NAMES.values() if _KINDS[name] == self._block.kind)

    def csr(self, which: Numbers | None = None) -> Csr:
        """The rows `which`, by default all."""
        places = np.arange(self.n_rows, dtype=np.int32) if which is None else np.ascontiguousarray(which)
        indptr = np.empty(len(places) + 1, dtype=np.int64)
        self._checked(lambda: self._block.sizes(places, indptr))
        indices = np.empty(indptr[-1], dtype=np.int32)
        data = np.empty(indptr[-1], dtype=_TYPES[self.values])
        self._checked(lambda: self._block.rows(places, indptr, indices, data))
        return Csr(indptr, indices, data, self.n_columns)

    def keys(self) -> Keys:
        keys = np.empty(self.n_rows, dtype=np.uint64)
        self._block.keys(keys)
        return keys

    def weights(self) -> NDArray[np.float64] | None:
        if not self.has_weights:
            return None
        weights = np.empty(self.n_rows)
        self._block.weights(weights)
        return weights

    def labels(self) -> tuple[Longs, Numbers]:
        indptr, labels = np.empty(self.n_rows + 1, np.int64), np.empty(self._block.n_labels, np.int32)
        self._checked(lambda: self._block.labels(indptr, labels))
        return indptr, labels

    def rows(self) -> Rows:
        """All of it."""
        return Rows(self.keys(), self.csr(), *self.labels(), self.n_label_columns, self.weights())

    def _checked(self, read: Any) -> Any:
        try:
            return read()
        except ValueError as error:
            raise DataError(damaged(self._name, str(error))) from None


class BlockReader:
    """Rows of several blocks, decoded together by several threads. Damaged blocks raise ValueError."""

    def __init__(self, values: ValueType, n_columns: int, n_label_columns: int) -> None:
        self._reader = _core.BlockReader(_KINDS[values], n_columns, n_label_columns)
        self._type, self._n_columns = _TYPES[values], n_columns

    def add(self, data: Any, which: Numbers, n_rows: int, n_entries: int) -> None:
        """Add the rows `which` of a block, which has so many rows and entries."""
        self._reader.add(np.frombuffer(data, dtype=np.uint8), which, n_rows, n_entries)

    def csr(self, n_threads: int) -> Csr:
        """All rows, in the order in which they were added."""
        indptr = np.empty(self._reader.n_rows + 1, dtype=np.int64)
        self._reader.sizes(indptr, n_threads)
        indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=self._type)
        self._reader.rows(indptr, indices, data, n_threads)
        return Csr(indptr, indices, data, self._n_columns)


def decode(data: Any, name: str = "a block of rows") -> Rows:
    """The rows of a block."""
    return EncodedRows(data, name).rows()


def block_size(header: Any, name: str = "a block of rows") -> tuple[int, int]:
    """The bytes of the head of a block and of all of it, given its first `HEADER` bytes."""
    try:
        head, size = _core.row_block_size(np.frombuffer(header, dtype=np.uint8))
    except ValueError as error:
        raise DataError(damaged(name, str(error))) from None
    return head, size


HEADER: int = _core.ROW_BLOCK_HEADER


def damaged(name: str, reason: str) -> str:
    """A message about a temporary file."""
    return (
        f"{name} is damaged: {reason}. It is a temporary file of this training: train again, with another "
        f"folder for temporary files (--scratch) if that does not help."
    )


def below(parts: Sequence[Rows]) -> Rows:
    """The rows of all `parts`, one after another."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    ends = np.cumsum([0, *(part.csr.indptr[-1] for part in parts)])
    label_ends = np.cumsum([0, *(len(part.labels) for part in parts)])
    indptr = [part.csr.indptr[1:] + end for part, end in zip(parts, ends[:-1], strict=True)]
    label_indptr = [part.label_indptr[1:] + end for part, end in zip(parts, label_ends[:-1], strict=True)]
    start = np.zeros(1, dtype=np.int64)
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([np.ones(p.n_rows) if p.weights is None else p.weights for p in parts])
    return Rows(
        np.concatenate([part.keys for part in parts]),
        Csr(
            np.concatenate([start, *indptr]),
            np.concatenate([part.csr.indices for part in parts]),
            np.concatenate([part.csr.data for part in parts]),
            first.csr.n_columns,
        ),
        np.concatenate([start, *label_indptr]),
        np.concatenate([part.labels for part in parts]),
        first.n_label_columns,
        weights,
    )
