"""Vectors of documents: what a callable makes of texts, and rows that come with the documents.

A callable, such as a sentence encoder, gets a list of texts and returns an array with a row for each. Its
values are checked, and carried in single precision.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import is_sparse
from widemargin.errors import DataError, DataWarning

Floats = NDArray[np.float32]

# Texts that an encoder gets at a time.
_AT_ONCE = 4096


def encoded(encode: Callable[[list[str]], Any], texts: list[str], name: str, dims: int | None) -> Floats:
    """One row of finite numbers per text.

    Parameters
    ----------
    name : what errors call the block
    dims : the numbers of a row; None if any number will do, but the same for all
    """
    parts = []
    for first in range(0, len(texts), _AT_ONCE):
        some = texts[first : first + _AT_ONCE]
        rows = _checked(encode(some), len(some), name)
        if dims is not None and rows.shape[1] != dims:
            raise DataError(
                f"Block {name!r}: the vectors have {rows.shape[1]} numbers, but earlier ones had {dims}. Use "
                f"the same encoder for all documents."
            )
        dims = rows.shape[1]
        parts.append(rows)
    return np.concatenate(parts) if parts else np.empty((0, dims or 0), dtype=np.float32)


def _checked(found: Any, n_texts: int, name: str) -> Floats:
    """The result of a callable as a matrix in single precision."""
    expected = f"expected an array of {n_texts} rows, one per text, with the same number of values each"
    if is_sparse(found):
        raise DataError(f"Block {name!r}: the vectors are a sparse matrix; {expected}. Return toarray().")
    try:
        rows = np.asarray(found)
    except Exception as error:  # a tensor on another device, rows of several lengths
        raise DataError(
            f"Block {name!r}: the vectors cannot be read ({error}); {expected}. Return a NumPy array."
        ) from error
    if rows.ndim != 2 or len(rows) != n_texts or rows.shape[1] == 0 or rows.dtype.kind not in "fiu":
        raise DataError(f"Block {name!r}: the vectors are {rows.dtype} of shape {rows.shape}; {expected}.")
    with np.errstate(over="ignore"):
        made = np.array(rows, dtype=np.float32, order="C")
    if not np.isfinite(made).all():
        row = int(np.flatnonzero(~np.isfinite(made).all(axis=1))[0])
        raise DataError(
            f"Block {name!r}: the vector of text {row} (counting from 0) is not finite. Repair the encoder, "
            f"or replace such values."
        )
    return made


class DocumentVectors:
    """A callable that knows the vectors of some documents, by their texts.

    Folds and shuffled documents find their vectors without further ado. New documents need theirs
    (:meth:`add`) before they are scored.

    Parameters
    ----------
    texts : the documents; none is allowed if they are added later
    rows : a vector for each

    Examples
    --------
    >>> known = DocumentVectors(["wheat", "corn"], [[1, 0], [0.5, 0.5]])
    >>> known(["corn", "wheat"]).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """

    def __init__(self, texts: Sequence[str] = (), rows: Any = ()) -> None:
        self._places: dict[str, int] = {}
        self._rows: list[Floats] = []
        if len(texts) or len(rows):
            self.add(texts, rows)

    def __len__(self) -> int:
        return len(self._places)

    def add(self, texts: Sequence[str], rows: Any) -> None:
        """Add documents with their vectors, in the same order."""
        if len(texts) != len(rows):
            raise DataError(
                f"There are {len(rows)} vectors for {len(texts)} documents. Pass one vector per document, in "
                f"the same order."
            )
        made = _checked(rows, len(texts), "vectors of documents")
        if self._rows and made.shape[1] != len(self._rows[0]):
            raise DataError(
                f"The vectors have {made.shape[1]} numbers, but earlier ones had {len(self._rows[0])}. Use "
                f"the same encoder for all documents."
            )
        n_other = 0
        for text, row in zip(texts, made, strict=True):
            place = self._places.setdefault(text, len(self._rows))
            if place == len(self._rows):
                self._rows.append(row)
            else:
                n_other += not np.allclose(row, self._rows[place], rtol=1e-3, atol=1e-6)
        if n_other:
            warnings.warn(
                f"{n_other} documents have the text of another one, but another vector; the first vector is "
                f"used for all of them.",
                DataWarning,
                stacklevel=2,
            )

    def clear(self) -> None:
        """Forget all documents."""
        self._places.clear()
        self._rows.clear()

    def __call__(self, texts: Sequence[str]) -> Floats:
        missing = next((place for place, text in enumerate(texts) if text not in self._places), None)
        if missing is not None:
            raise DataError(
                f"Document {missing} (counting from 0) has no vector: the model was trained with vectors of "
                f"documents. Pass those of these documents too (--vectors FILE.npy, one row per document; in "
                f"Python DocumentVectors.add)."
            )
        return np.stack([self._rows[self._places[text]] for text in texts])

    def __deepcopy__(self, memo: Any) -> DocumentVectors:
        return self  # clones of an estimator share their documents
