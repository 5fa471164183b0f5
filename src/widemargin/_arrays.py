"""The one gate to the compiled core: every array that crosses it has the right type, order and layout.

The core takes int32 column numbers, int64 row pointers and float32 or float64 values. One pass checks that
row pointers and column numbers are in range, that column numbers increase within each row, and that all
values are finite (core/sparse/csr_check.hpp). SciPy's cached flags are not used, because SciPy does not
notice changes of the arrays. A matrix that is not canonical (sorted columns, no duplicates) is copied and
made canonical; the caller's matrix never changes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin.errors import DataError, UsageError

if TYPE_CHECKING:
    import scipy.sparse as sp


def is_sparse(X: Any) -> bool:
    """Whether `X` is a SciPy sparse matrix or array."""
    # If X is a sparse matrix, SciPy is already imported; a short prediction does not import it.
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(X))


class Csr(NamedTuple):
    """A canonical sparse matrix as the core takes it."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[Any]
    n_columns: int

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def matrix(self) -> sp.csr_array:
        """The same as a SciPy array, which shares the column numbers and values."""
        import scipy.sparse as sp

        shape = self.n_rows, self.n_columns
        # SciPy needs one type for both index arrays; 32 bits are enough, as checked before.
        parts = self.data, self.indices, self.indptr.astype(np.int32)
        made: sp.csr_array = sp.csr_array(parts, shape=shape)
        made.has_sorted_indices = made.has_canonical_format = True
        return made

    def rows(self, start: int, stop: int) -> Csr:
        """The rows from `start` up to `stop`; they share the memory of these."""
        begin, end = self.indptr[start], self.indptr[stop]
        return Csr(
            self.indptr[start : stop + 1] - begin,
            self.indices[begin:end],
            self.data[begin:end],
            self.n_columns,
        )

    def below(self, others: Csr) -> Csr:
        """These rows and then those of `others`, which have the same columns."""
        indptr = np.concatenate([self.indptr, self.indptr[-1] + others.indptr[1:]])
        indices = np.concatenate([self.indices, others.indices])
        return Csr(indptr, indices, np.concatenate([self.data, others.data]), self.n_columns)

    def native(self) -> _core.Csr:
        """The same as a struct of the core, which reads this memory."""
        return _core.Csr(*self)


class ValueCheck(NamedTuple):
    """Properties of the values of a matrix.

    Attributes
    ----------
    least : the least stored value, 0 if there are none
    n_nonzero : number of values that are not 0
    """

    least: float
    n_nonzero: int


# Upper limit of parameters and values of X, so that their squares and sums of many of them stay finite.
LARGEST = 1e100

# The states of a matrix that the core distinguishes.
_CANONICAL, _UNORDERED = 0, 1
_NO_VALUES = np.zeros(0)


def canonical_csr(X: Any, *, finite: bool = True) -> Csr:
    """The arrays of `X` with sorted rows and duplicates summed; memory is shared where nothing changes.

    Parameters
    ----------
    X : sparse matrix of any format, or a dense array; values other than float32 and float64 become float64
    finite : reject values that are infinite, NaN or beyond 1e100, whose squares would not be finite

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> damaged = sp.csr_array(np.eye(2))
    >>> damaged.indices[1] = 7
    >>> canonical_csr(damaged)
    Traceback (most recent call last):
    ...
    widemargin.errors.DataError: Row 1 of X names column 7, but X has 2 columns. ...
    """
    return csr_with_value_check(X, finite=finite)[0]


def csr_with_value_check(X: Any, *, finite: bool = True) -> tuple[Csr, ValueCheck]:
    """Like :func:`canonical_csr`, with the properties of the values; these need `finite`."""
    csr = as_csr(X)
    return arrays_with_value_check(csr.indptr, csr.indices, csr.data, csr.shape, finite=finite)


def arrays_with_value_check(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    shape: tuple[int, int],
    *,
    finite: bool = True,
) -> tuple[Csr, ValueCheck]:
    """Like :func:`csr_with_value_check`, for the arrays of a matrix; SciPy is needed only to sort rows."""
    n_rows, n_columns = (int(size) for size in shape)
    n_values = _n_values(indptr, min(len(indices), len(data)), n_rows)
    if max(n_values, n_rows, n_columns) >= 2**31:
        raise DataError(
            f"The matrix has {n_rows} rows, {n_columns} columns and {n_values} values; each "
            f"must stay below 2**31. Train on part of the documents, or raise min_df."
        )
    indices = indices[:n_values]
    if indices.dtype != np.int32:  # checked first: conversion to 32 bits could wrap around
        if n_values and not 0 <= indices.min() <= indices.max() < n_columns:
            _refuse_damaged(indptr, indices, n_columns)
        indices = indices.astype(np.int32)
    found = Csr(
        np.ascontiguousarray(indptr, dtype=np.int64),
        np.ascontiguousarray(indices),
        _as_real(data[:n_values]),
        n_columns,
    )
    state, all_finite, least, greatest, n_nonzero = _core.check_csr(*_looked_at(found, finite), n_columns)
    if state == _UNORDERED:
        ordered = found.matrix.copy()
        ordered.has_sorted_indices = ordered.has_canonical_format = False
        ordered.sum_duplicates()
        return csr_with_value_check(ordered, finite=finite)
    if state != _CANONICAL:
        _refuse_damaged(found.indptr, found.indices, n_columns)
    if not all_finite or max(-least, greatest) > LARGEST:
        refuse_infinite(found)
    return found, ValueCheck(least, n_nonzero if finite else n_values)


def _as_real(values: NDArray[Any]) -> NDArray[Any]:
    """Values in a type that the core reads. Not by astype of the matrix, which sums duplicates."""
    real = values.dtype in (np.float32, np.float64)
    return np.ascontiguousarray(values, dtype=None if real else np.float64)


def _looked_at(csr: Csr, finite: bool) -> tuple[Any, Any, Any]:
    return csr.indptr, csr.indices, csr.data if finite else _NO_VALUES


def as_csr(X: Any) -> Any:
    """`X` as a CSR matrix or array; other formats are checked before SciPy converts them.

    The arrays of a CSR matrix are checked by :func:`canonical_csr`.
    """
    import scipy.sparse as sp

    if isinstance(X, sp.csr_array | sp.csr_matrix):
        return X
    if not is_sparse(X):
        return sp.csr_array(np.asarray(X))
    if isinstance(X, sp.csc_array | sp.csc_matrix):
        turned = sp.csr_array((X.shape[1], X.shape[0]), dtype=X.dtype)
        turned.data, turned.indices, turned.indptr = X.data, X.indices, X.indptr
        down = canonical_csr(turned, finite=False)  # columns become rows
        return sp.csc_array((down.data, down.indices, down.indptr), shape=X.shape).tocsr()
    coordinates = X.tocoo()
    for axis, places in enumerate(coordinates.coords):
        if len(places) and not 0 <= places.min() <= places.max() < coordinates.shape[axis]:
            raise DataError(
                f"X has {coordinates.shape[axis]} {('rows', 'columns')[axis]} and names number "
                f"{places.min() if places.min() < 0 else places.max()}. {_DAMAGED}"
            )
    return coordinates.tocsr()


_DAMAGED = "Its arrays do not match: build the matrix again."


def _n_values(indptr: NDArray[Any], stored: int, n_rows: int) -> int:
    """The number of values according to the row pointers; arrays may be longer, not shorter."""
    if len(indptr) != n_rows + 1:
        raise DataError(f"X has {n_rows} rows and {len(indptr)} row pointers, not one more. {_DAMAGED}")
    if not 0 <= int(indptr[-1]) <= stored:
        raise DataError(f"The row pointers of X end at {indptr[-1]}; it stores {stored} values. {_DAMAGED}")
    return int(indptr[-1])


def _refuse_damaged(indptr: NDArray[Any], indices: NDArray[Any], n_columns: int) -> NoReturn:
    """Raise an error that says where a matrix is damaged."""
    if indptr[0] != 0:
        raise DataError(f"The row pointers of X begin with {indptr[0]}, not with 0. {_DAMAGED}")
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(falls):
        raise DataError(f"The row pointers of X fall after row {falls[0]}. {_DAMAGED}")
    place = int(np.flatnonzero((indices < 0) | (indices >= n_columns))[0])
    row = int(np.searchsorted(indptr, place, side="right")) - 1
    raise DataError(
        f"Row {row} of X names column {indices[place]}, but X has {n_columns} columns. {_DAMAGED}"
    )


def refuse_infinite(csr: Csr) -> None:
    """Reject values that are infinite, NaN or beyond `LARGEST`, with the position of the first one."""
    wrong = np.flatnonzero(~(np.abs(csr.data) <= LARGEST))
    if not len(wrong):
        return
    value, (row, column) = float(csr.data[wrong[0]]), place_of(csr, int(wrong[0]))
    if np.isfinite(value):
        raise DataError(
            f"Input X contains {value:g}: row {row}, column {column}. Values up to {LARGEST:g} keep squares "
            f"and sums finite: scale X down."
        )
    what = "NaN" if np.isnan(value) else "infinity"
    raise DataError(f"Input X contains {what}: row {row}, column {column}. Pass finite numbers.")


def place_of(csr: Csr, stored: int) -> tuple[int, int]:
    """The row and the column of a stored value.

    Examples
    --------
    >>> place_of(canonical_csr(np.array([[0.0, 0.0], [0.0, 5.0]])), 0)
    (1, 1)
    """
    return int(np.searchsorted(csr.indptr, stored, side="right")) - 1, int(csr.indices[stored])


def checked_csr(estimator: Any, X: Any, *, first: bool, finite: bool = True) -> Csr:
    """`X`, checked by scikit-learn and by this module: the first step of every `fit`, score and
    transformation.

    Parameters
    ----------
    estimator : stores the number and names of features if `first`, otherwise compares them
    X : sparse or dense matrix (n, features)
    first : whether `X` are the documents that the estimator is fitted on
    finite : reject values that are infinite or NaN
    """
    return documents_with_value_check(estimator, X, first=first, finite=finite)[0]


def documents_with_value_check(
    estimator: Any, X: Any, *, first: bool, finite: bool = True
) -> tuple[Csr, ValueCheck]:
    """Like :func:`checked_csr`, with the properties of the values."""
    from sklearn.utils.validation import validate_data

    if _is_as_wanted(X) and not hasattr(estimator, "feature_names_in_"):
        # scikit-learn would return it unchanged, after checks that take as long as learning from it.
        if first:
            estimator.n_features_in_ = X.shape[1]
        else:
            validate_data(estimator, X, skip_check_array=True, reset=False)
    else:
        if is_sparse(X) and X.dtype.kind == "c":
            # scikit-learn's message shows the matrix, and SciPy cannot print one with mismatched arrays.
            raise DataError("Complex data not supported. Pass real numbers.")
        X = validate_data(
            estimator,
            # Checked before scikit-learn and SciPy convert it, since they trust the arrays.
            canonical_csr(X, finite=False).matrix if is_sparse(X) and X.ndim == 2 else X,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            reset=first,
        )
    return csr_with_value_check(X, finite=finite)


def checked_matrix(estimator: Any, X: Any, *, first: bool) -> Any:
    """Like :func:`checked_csr`, but a dense `X` stays dense."""
    if is_sparse(X):
        return checked_csr(estimator, X, first=first).matrix
    from sklearn.utils.validation import validate_data

    X = validate_data(estimator, X, dtype=(np.float64, np.float32), ensure_all_finite=False, reset=first)
    # Both comparisons are false for NaN. Only a rejected matrix is converted, to find the position.
    if not (float(X.min()) >= -LARGEST and float(X.max()) <= LARGEST):
        refuse_infinite(canonical_csr(X, finite=False))
    return X


def _is_as_wanted(X: Any) -> bool:
    return (
        is_sparse(X)
        and X.format == "csr"
        and X.ndim == 2
        and X.dtype in (np.float64, np.float32)
        and X.indices.dtype == np.int32
        and min(X.shape) > 0
    )


def row_squares(csr: Csr) -> NDArray[np.float64]:
    """x.x of every row.

    Examples
    --------
    >>> row_squares(canonical_csr(np.array([[0.0, 1.0], [0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]))).tolist()
    [1.0, 0.0, 25.0, 0.0]
    """
    squares = np.zeros(csr.n_rows)
    filled = np.flatnonzero(csr.indptr[1:] > csr.indptr[:-1])  # reduceat does not support empty rows
    if len(filled):
        squares[filled] = np.add.reduceat(np.square(csr.data, dtype=np.float64), csr.indptr[filled])
    return squares


def times(
    csr: Csr,
    V: NDArray[np.float64],
    n_threads: int,
    out: NDArray[np.float64] | None = None,
    plus: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """The product of a sparse matrix and dense columns, in new memory or in `out`.

    `plus` is added to the columns, one number each.

    Examples
    --------
    >>> times(canonical_csr(np.array([[0.0, 2.0], [1.0, 0.0]])), np.array([[1.0], [3.0]]), 1).tolist()
    [[6.0], [1.0]]
    """
    out = np.empty((csr.n_rows, V.shape[1])) if out is None else out
    columns = np.ascontiguousarray(V, dtype=np.float64)
    plus = np.zeros(V.shape[1]) if plus is None else plus
    _core.score_rows(csr.native(), columns, plus, out, n_threads)
    return out


def as_float64(values: Any, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    """`values` as a C-contiguous float64 array of exactly `shape`."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise UsageError(f"{name} has shape {array.shape}; expected {shape}.")
    return array
