"""What of `y` is marked as unlabeled; `labels.learn_partial_labels` is the door to it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import is_sparse
from widemargin.errors import DataError
from widemargin.labels.forms import is_missing, read_labels

_CONTAINERS = (list, tuple, set, frozenset, np.ndarray)


def leave_out_unlabeled(y: Any, unlabeled: Any) -> tuple[Any, NDArray[np.bool_]]:
    """`y` without the rows that `unlabeled` marks, and what it marks: rows (n,), or cells of an indicator."""
    if isinstance(y, str | bytes) or not (isinstance(y, Sequence) or hasattr(y, "__array__") or is_sparse(y)):
        read_labels(y)  # says what is wrong
    if is_sparse(y):
        return _leave_out_cells(y, unlabeled)
    rows = y if isinstance(y, Sequence) else np.asarray(y)
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] > 1:
        return _leave_out_cells(rows, unlabeled)
    if isinstance(rows, Sequence) and _is_marked_indicator(rows, unlabeled):
        return _leave_out_cells(np.array(rows), unlabeled)
    if isinstance(rows, np.ndarray) and rows.ndim != 1:
        return y, np.zeros(len(rows), dtype=bool)
    mask = np.fromiter((is_unlabeled(label, unlabeled) for label in rows), dtype=bool, count=len(rows))
    if not mask.any():
        return y, mask
    if isinstance(rows, Sequence):
        return [label for label, marked in zip(rows, mask, strict=True) if not marked], mask
    kept = rows[~mask]
    # An array of objects is one because of its None; what is left is read as it would be without.
    return (kept.tolist() if kept.dtype.kind == "O" else kept), mask


def is_unlabeled(label: Any, unlabeled: Any = None) -> bool:
    """Whether `label` is the mark of an unlabeled document: None stands for None and NaN."""
    if isinstance(label, _CONTAINERS):
        return False
    return is_missing(label) if unlabeled is None else bool(label == unlabeled)


def _is_marked_indicator(rows: Sequence[Any], unlabeled: Any) -> bool:
    """Whether a list is one of rows of an indicator, some cells of which hold the mark."""
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return False
    if len({len(row) for row in rows}) != 1:
        return False
    marked = False
    for value in chain.from_iterable(rows):
        if is_unlabeled(value, unlabeled):
            marked = True
        elif not isinstance(value, float | int | np.number | np.bool_):
            return False
        elif unlabeled is not None and value not in (0, 1):
            return False  # label sets, and the mark is one of the labels
    return marked


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
        filled = matrix.copy()
        filled[marked] = 0
        if filled.dtype.kind == "O":  # because of its None; what is left is read as it would be without
            filled = np.array(filled.tolist())
    return filled[~marked.all(axis=1)], marked


def _marked(values: NDArray[Any], unlabeled: Any) -> NDArray[np.bool_]:
    if values.dtype.kind != "O":
        return np.asarray(values != values if unlabeled is None else values == unlabeled)
    each = (is_unlabeled(value, unlabeled) for value in values.ravel())
    return np.fromiter(each, dtype=bool, count=values.size).reshape(values.shape)
