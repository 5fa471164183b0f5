"""Columns of a matrix as ranges: those of named blocks, and rows that are restricted to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr, row_squares
from widemargin.errors import UsageError

Ranges = list[tuple[int, int]]


def told_blocks(learner: Any, blocks: Mapping[str, slice] | None) -> Any:
    """The learner, told the columns of every block if it needs to know them."""
    if blocks is None or not getattr(learner, "needs_blocks", False):
        return learner
    return learner.with_blocks(dict(blocks))


def check_blocks(blocks: Any) -> None:
    """Refuse what is not a mapping from names to column ranges."""
    if blocks is None:
        return
    if not isinstance(blocks, Mapping) or not all(
        isinstance(name, str) and _is_range(part) for name, part in blocks.items()
    ):
        raise UsageError(
            f"blocks={blocks!r}: expected names with their columns, such as {{'words': slice(0, 1000)}}, or "
            f"None."
        )


def ranges_of(columns: Any, blocks: Mapping[str, Any] | None, n_columns: int) -> Ranges:
    """The columns that a member of an average names, as ranges in ascending order.

    Parameters
    ----------
    columns : None for all; names of `blocks`; a slice; or numbers of columns

    Examples
    --------
    >>> ranges_of(["words", "title"], {"words": slice(0, 3), "chars": slice(3, 9), "title": slice(9, 11)}, 11)
    [(0, 3), (9, 11)]
    >>> ranges_of([4, 2, 3], None, 5), ranges_of(None, None, 5)
    ([(2, 5)], [(0, 5)])
    """
    if columns is None:
        return [(0, n_columns)]
    names = [columns] if isinstance(columns, str) else columns
    if isinstance(names, Sequence) and len(names) and all(isinstance(name, str) for name in names):
        numbers = np.concatenate([_block(name, blocks, n_columns) for name in names])
    elif isinstance(columns, slice):
        numbers = np.arange(n_columns)[columns]
    else:
        numbers = np.asarray(columns)
    if numbers.ndim != 1 or (len(numbers) and numbers.dtype.kind not in "iu"):
        raise UsageError(
            f"A member of an average learns from {columns!r}: expected names of blocks, a slice or numbers "
            f"of columns, or None for all columns."
        )
    if not len(numbers):
        return []
    if numbers.min() < 0 or numbers.max() >= n_columns:
        raise UsageError(
            f"A member of an average learns from column {int(numbers[np.argmax(np.abs(numbers))])}, but "
            f"there are {n_columns:,} columns."
        )
    numbers = np.unique(numbers)
    edges = [0, *(np.flatnonzero(np.diff(numbers) > 1) + 1).tolist(), len(numbers)]
    return [(int(numbers[a]), int(numbers[b - 1]) + 1) for a, b in pairwise(edges)]


def width(ranges: Ranges) -> int:
    """The number of columns in `ranges`.

    Examples
    --------
    >>> width([(0, 3), (9, 11)])
    5
    """
    return sum(end - begin for begin, end in ranges)


def restricted(csr: Csr, ranges: Ranges) -> tuple[Csr, NDArray[np.bool_]]:
    """The rows in the columns of `ranges`, scaled to length 1, and which values are in them.

    Rows without values stay empty.

    Examples
    --------
    >>> from widemargin._arrays import canonical_csr
    >>> X = canonical_csr(np.array([[3.0, 1.0, 4.0], [0.0, 1.0, 0.0]]))
    >>> rows, inside = restricted(X, [(0, 1), (2, 3)])
    >>> rows.matrix.toarray().round(3).tolist(), inside.tolist()
    ([[0.6, 0.8], [0.0, 0.0]], [True, False, True, False])
    """
    place = np.full(csr.n_columns, -1, dtype=np.int32)
    first = 0
    for begin, end in ranges:
        place[begin:end] = np.arange(first, first + end - begin, dtype=np.int32)
        first += end - begin
    columns = place[csr.indices]
    inside = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(inside)])[csr.indptr].astype(np.int64)
    rows = Csr(indptr, columns[inside], csr.data[inside], first)
    lengths = np.sqrt(row_squares(rows))
    factors = np.divide(1.0, lengths, out=np.zeros(rows.n_rows), where=lengths > 0)
    scaled = rows.data * np.repeat(factors, np.diff(indptr))
    return rows._replace(data=scaled.astype(csr.data.dtype, copy=False)), inside


def _is_range(part: Any) -> bool:
    begin, end = (part.start, part.stop) if isinstance(part, slice) else _pair(part)
    return all(isinstance(edge, int | np.integer) for edge in (begin, end)) and 0 <= begin <= end


def _pair(part: Any) -> tuple[Any, Any]:
    return tuple(part) if isinstance(part, list | tuple) and len(part) == 2 else (None, None)


def _block(name: str, blocks: Mapping[str, Any] | None, n_columns: int) -> NDArray[np.int64]:
    if not blocks:
        raise UsageError(
            f"A member of an average learns from the block {name!r}, but the columns have no names. Pass "
            f"texts to a TextClassifier, or ranges of columns, or None for all columns."
        )
    if name not in blocks:
        raise UsageError(
            f"A member of an average learns from the block {name!r}, which the vectorizer does not have. Its "
            f"blocks are {', '.join(blocks)}."
        )
    part = blocks[name]
    begin, end = (part.start, part.stop) if isinstance(part, slice) else part
    if end > n_columns:
        raise UsageError(f"The block {name!r} ends at column {end:,}, but there are {n_columns:,} columns.")
    return np.arange(begin, end)
