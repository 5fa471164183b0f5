"""What of `y` is marked as unlabeled; `Labels.partial` leaves it out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import is_sparse
from widemargin.errors import DataError
from widemargin.labels.columns import NamedColumns, is_missing, plain_labels
from widemargin.labels.forms import CONTAINERS, read_form


def labeled_rows(y: Any, unlabeled: Any = None) -> list[int]:
    """The numbers of the documents that have a label, or are known to have none.

    Examples
    --------
    >>> labeled_rows([("ham",), None, ()])
    [0, 2]
    """
    marked = leave_out_unlabeled(y, unlabeled)[1]
    return np.flatnonzero(~marked if marked.ndim == 1 else ~marked.all(axis=1)).tolist()


def leave_out_unlabeled(y: Any, unlabeled: Any) -> tuple[Any, NDArray[np.bool_]]:
    """`y` without unlabeled rows, and what is marked: rows (n,), or cells of an indicator.

    None and NaN are marks, and `unlabeled` unless it is None.
    """
    y = plain_labels(y)
    if isinstance(y, NamedColumns):
        known, marked = leave_out_unlabeled(y.matrix, unlabeled)
        return NamedColumns(known, y.names), marked
    if isinstance(y, str | bytes) or not (isinstance(y, Sequence) or hasattr(y, "__array__") or is_sparse(y)):
        read_form(y)  # says what is wrong
    rows = y if isinstance(y, Sequence) or is_sparse(y) else np.asarray(y)
    cells = _cells(rows, unlabeled) if isinstance(rows, Sequence) else rows if rows.ndim == 2 else None
    if cells is not None and (cells.shape[1] > 1 or cells is not rows or is_sparse(rows)):
        return _leave_out_cells(cells, unlabeled)
    if isinstance(rows, Sequence):
        if unlabeled is None and set(map(type, rows)) <= {str, int, bool, list, tuple}:
            return y, np.zeros(len(rows), dtype=bool)
        each = (_is_marked(label, unlabeled) for label in rows)
        mask = np.fromiter(each, dtype=bool, count=len(rows))
        return [label for label, marked in zip(rows, mask, strict=True) if not marked], mask
    if rows.ndim != 1:  # a column of labels, or nothing that can be labels: `read_form` has words for both
        return y, np.zeros(len(rows) if rows.ndim else 0, dtype=bool)
    mask = _marked(rows, unlabeled)
    if not mask.any():
        return y, mask
    # An array of objects is one because of its None; what is left is read as it would be without.
    return (rows[~mask].tolist() if rows.dtype.kind == "O" else rows[~mask]), mask


def _is_marked(label: Any, unlabeled: Any) -> bool:
    if isinstance(label, CONTAINERS):
        return False
    return is_missing(label) or (unlabeled is not None and bool(label == unlabeled))


def _cells(rows: Sequence[Any], unlabeled: Any) -> NDArray[Any] | None:
    """A list of rows of an indicator, some cells of which are marked, as an array; None for other lists."""
    if not rows or not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return None
    if len({len(row) for row in rows}) != 1 or any(isinstance(value, str) for value in rows[0]):
        return None
    try:
        array = np.array(rows)
    except ValueError:
        return None
    if array.ndim != 2 or array.dtype.kind not in "biufO":
        return None
    marked = _marked(array, unlabeled)
    others = array[~marked]
    if array.dtype.kind == "O" and not all(isinstance(value, int | float | np.number) for value in others):
        return None
    if not marked.any() or (unlabeled is not None and not np.isin(others, (0, 1)).all()):
        return None  # nothing is marked, or these are label sets, and the mark is one of the labels
    return array


def _leave_out_cells(matrix: Any, unlabeled: Any) -> tuple[Any, NDArray[np.bool_]]:
    """An indicator matrix without the rows that are full of marks, 0 in place of the other marks."""
    if unlabeled is not None and unlabeled in (0, 1):
        raise DataError(
            f"unlabeled={unlabeled!r} is a value that indicator matrices hold. Mark unlabeled documents by "
            f"NaN or -1."
        )
    filled: Any
    if is_sparse(matrix):
        filled = matrix.tocsr(copy=True)
        stored = _marked(filled.data, unlabeled)
        rows = np.repeat(np.arange(filled.shape[0]), np.diff(filled.indptr))
        marked = np.zeros(filled.shape, dtype=bool)
        marked[rows[stored], filled.indices[stored]] = True
        filled.data[stored] = 0
    else:
        marked = _marked(matrix, unlabeled)
        if not marked.any():
            return matrix, marked
        filled = matrix.copy()
        filled[marked] = 0
        if filled.dtype.kind == "O":  # because of its None; what is left is read as it would be without
            filled = np.array(filled.tolist())
    return filled[~marked.all(axis=1)], marked


def _marked(values: NDArray[Any], unlabeled: Any) -> NDArray[np.bool_]:
    if values.dtype.kind == "O":
        each = (_is_marked(value, unlabeled) for value in values.ravel())
        return np.fromiter(each, dtype=bool, count=values.size).reshape(values.shape)
    missing: NDArray[np.bool_] = values != values
    return missing if unlabeled is None else missing | (values == unlabeled)
