"""Which rows of `y` are marked as unlabelled; `labels.split_unlabeled` is the door to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import is_sparse
from widemargin._label_forms import is_missing, read_labels
from widemargin.errors import DataError

_CONTAINERS = (list, tuple, set, frozenset, np.ndarray)


def leave_out_unlabeled(y: Any, unlabeled: Any) -> tuple[Any, NDArray[np.bool_]]:
    """`y` without the rows that `unlabeled` marks, and which these are."""
    if isinstance(y, str | bytes) or not (isinstance(y, Sequence) or hasattr(y, "__array__") or is_sparse(y)):
        read_labels(y)  # says what is wrong
    if is_sparse(y):
        return _leave_out_rows(y, unlabeled)
    rows = y if isinstance(y, Sequence) else np.asarray(y)
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] > 1:
        return _leave_out_rows(rows, unlabeled)
    if isinstance(rows, Sequence) and any(_is_marked_row(row, unlabeled) for row in rows):
        return _leave_out_rows(np.array(rows, dtype=np.float64), unlabeled)
    if isinstance(rows, np.ndarray) and rows.ndim != 1:
        return y, np.zeros(len(rows), dtype=bool)
    mask = np.fromiter((_is_marked(label, unlabeled) for label in rows), dtype=bool, count=len(rows))
    if not mask.any():
        return y, mask
    if isinstance(rows, Sequence):
        return [label for label, marked in zip(rows, mask, strict=True) if not marked], mask
    kept = rows[~mask]
    # An array of objects is one because of its None; what is left is read as it would be without.
    return (kept.tolist() if kept.dtype.kind == "O" else kept), mask


def _is_marked(label: Any, unlabeled: Any) -> bool:
    if isinstance(label, _CONTAINERS):
        return False
    return is_missing(label) if unlabeled is None else bool(label == unlabeled)


def _is_marked_row(row: Any, unlabeled: Any) -> bool:
    """Whether a row of a list is one of an indicator and unlabelled: [NaN, NaN] or [-1, -1]."""
    if not isinstance(row, list | tuple | np.ndarray) or len(row) == 0:
        return False
    return all(
        isinstance(value, float | int | np.number) and _is_marked(value, unlabeled) for value in list(row)
    )


def _leave_out_rows(matrix: Any, unlabeled: Any) -> tuple[Any, NDArray[np.bool_]]:
    """An indicator matrix without the rows that hold the mark, which then has to fill them."""
    if unlabeled is not None and unlabeled in (0, 1):
        raise DataError(
            f"unlabeled={unlabeled!r} is a value that indicator matrices hold. Mark unlabelled rows by NaN "
            f"or -1."
        )
    sparse = is_sparse(matrix)
    kept: Any = matrix.tocsr() if sparse else np.asarray(matrix)
    values = kept.data if sparse else kept
    marked = values != values if unlabeled is None else values == unlabeled
    if sparse:
        rows = np.repeat(np.arange(kept.shape[0]), np.diff(kept.indptr))
        count = np.bincount(rows[marked], minlength=kept.shape[0])
    else:
        count = np.count_nonzero(marked, axis=1)
    broken = np.flatnonzero((count > 0) & (count < kept.shape[1]))
    if len(broken):
        raise DataError(
            f"Row {broken[0]} of y has some labels and lacks others. Mark a row as unlabelled in all "
            f"columns, or fill it."
        )
    return kept[count == 0], count > 0
