"""Vectors that a callable makes of whole texts: their rows among counts, and document vectors.

An encoder may take a thousand times as long as counting words, so its rows are made once and travel with
the counts of the other blocks, through folds and samples. Counts are whole numbers of 32 bits; a row holds
the bits of its values in single precision. Nothing but :class:`EncodedVectors` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr
from widemargin._stored import Stored
from widemargin.errors import DataError
from widemargin.text.vocabulary import Vocabulary
from widemargin.weight.document_vectors import encoded

Floats = NDArray[np.float64]

# Relative differences from the mean that are smaller are due to rounding.
_ROUNDING = 1e-6
# Values that are in double precision at a time.
_AT_ONCE = 1 << 21


def as_counts(rows: NDArray[np.float32]) -> Csr:
    """Dense rows as the counts of a block.

    Examples
    --------
    >>> from_counts(as_counts(np.array([[0.5, -2.0]], dtype=np.float32)))
    array([[ 0.5, -2. ]], dtype=float32)
    """
    n_rows, dims = rows.shape
    indptr = np.arange(n_rows + 1, dtype=np.int64) * dims
    indices = np.tile(np.arange(dims, dtype=np.int32), n_rows)
    return Csr(indptr, indices, np.ascontiguousarray(rows, dtype=np.float32).view(np.int32).ravel(), dims)


def from_counts(counts: Csr) -> NDArray[np.float32]:
    """The dense rows that :func:`as_counts` packed."""
    data = np.ascontiguousarray(counts.data, dtype=np.int32)
    return data.view(np.float32).reshape(counts.n_rows, counts.n_columns)


def numbered(dims: int) -> Vocabulary:
    """Names of dimensions, in their order."""
    return Vocabulary.from_terms(str(number).zfill(len(str(dims))) for number in range(1, dims + 1))


class EncoderIndex:
    """Encodes texts, where the index of another block counts terms.

    Parameters
    ----------
    encode : from a list of texts to an array
    name : what errors call the block
    dims : the numbers of a row; None if they are not known yet
    """

    def __init__(self, encode: Any, name: str, dims: int | None) -> None:
        self._encode, self._name, self._dims = encode, name, dims

    @property
    def n_columns(self) -> int:
        return self._dims or 0

    def count(self, texts: list[str]) -> Csr:
        """The rows of texts, as counts."""
        return as_counts(encoded(self._encode, texts, self._name, self._dims))

    def locate(self, text: str) -> tuple[NDArray[Any], ...]:
        """The whole text, as one occurrence of the first column."""
        zero, end = np.zeros(1, dtype=np.int64), np.array([len(text)], dtype=np.int64)
        return np.zeros(1, dtype=np.int32), zero, end, end, end


@dataclass(frozen=True, eq=False)
class EncodedVectors:
    """Vectors of texts less their mean over the training documents.

    Attributes
    ----------
    center : (dims,)
    """

    center: Floats

    @classmethod
    def learned(cls, counts: Csr) -> Self:
        """The mean of the vectors of the training documents, which are among their counts."""
        rows = from_counts(counts)
        return cls(rows.mean(axis=0, dtype=np.float64) if len(rows) else np.zeros(counts.n_columns))

    @property
    def dims(self) -> int:
        return len(self.center)

    used = dims

    def rows(self, counts: Csr, n_threads: int) -> NDArray[np.float32]:
        """The vectors of documents: of length 1, or 0."""
        raw = from_counts(counts)
        found = np.zeros(raw.shape, dtype=np.float32)
        at_once = max(_AT_ONCE // max(self.dims, 1), 1)
        for first in range(0, len(raw), at_once):
            some = slice(first, first + at_once)
            apart = raw[some] - self.center
            length = np.sqrt(np.square(apart).sum(axis=1))
            # A vector of zeros says nothing, as a document without known words does; nor does the mean.
            size = np.sqrt(np.square(raw[some].astype(np.float64)).sum(axis=1))
            known = (size > 0) & (length > _ROUNDING * size)
            np.divide(apart, length[:, None], out=found[some], where=known[:, None], casting="same_kind")
        return found

    def divided(self, weights: Csr, parts: Floats, values: Floats) -> Floats:
        """What the whole text adds to a score: all that the dimensions add."""
        return np.array([parts.sum()])

    def of_words(self, weights: Floats) -> Floats:
        """Nothing: dimensions of an encoder have no words."""
        return np.zeros_like(weights)

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays for :meth:`from_stored`."""
        return {"center": self.center}

    @classmethod
    def from_stored(cls, stored: Stored, prefix: str, n_columns: int, dims: int) -> Self:
        """The vectors from the arrays of :meth:`state`, each after `prefix`."""
        if n_columns != dims:
            raise DataError(f"'block_columns' in manifest.json has {n_columns} for {dims} dimensions")
        return cls(stored.array(f"{prefix}center", (dims,), np.float64).astype(np.float64))
