"""The one gate to the compiled core: every array that crosses it has the right type, order and layout.

The core takes int32 column numbers, int64 row pointers and float32 or float64 values. A matrix that is
not canonical (sorted columns, no duplicates) is made so in a copy; the caller's matrix never changes.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin.errors import DataError, UsageError


def is_sparse(X: Any) -> bool:
    """Whether `X` is a SciPy sparse matrix or array."""
    return bool(sp.issparse(X))


class Csr(NamedTuple):
    """A canonical sparse matrix as the core takes it."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[Any]
    n_columns: int

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1


def canonical_csr(X: Any) -> Csr:
    """The arrays of `X` with rows sorted and duplicates added up, sharing its memory where nothing changes.

    Parameters
    ----------
    X : sparse matrix of any format, or a dense array; values other than float32 and float64 become float64
    """
    if isinstance(X, sp.csr_array | sp.csr_matrix):
        csr: Any = X  # which remembers that it is canonical, a look at every value
    else:
        csr = sp.csr_array(X if is_sparse(X) else np.asarray(X))
    if csr.nnz >= 2**31 or max(csr.shape) >= 2**31:
        raise DataError(
            f"The matrix has {csr.shape[0]} rows, {csr.shape[1]} columns and {csr.nnz} values; each "
            f"must stay below 2**31. Train on part of the documents, or raise min_df."
        )
    if csr.dtype not in (np.float32, np.float64):
        csr = csr.astype(np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return Csr(
        np.ascontiguousarray(csr.indptr, dtype=np.int64),
        np.ascontiguousarray(csr.indices, dtype=np.int32),
        np.ascontiguousarray(csr.data),
        int(csr.shape[1]),
    )


def row_squares(csr: Csr) -> NDArray[np.float64]:
    """x.x of every row.

    Examples
    --------
    >>> row_squares(canonical_csr(np.array([[0.0, 1.0], [0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]))).tolist()
    [1.0, 0.0, 25.0, 0.0]
    """
    squares = np.zeros(csr.n_rows)
    filled = np.flatnonzero(csr.indptr[1:] > csr.indptr[:-1])  # reduceat knows no empty rows
    if len(filled):
        squares[filled] = np.add.reduceat(np.square(csr.data, dtype=np.float64), csr.indptr[filled])
    return squares


def times(
    csr: Csr, V: NDArray[np.float64], n_threads: int, out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The product of a sparse matrix and dense columns, in new memory or in `out`.

    Examples
    --------
    >>> times(canonical_csr(np.array([[0.0, 2.0], [1.0, 0.0]])), np.array([[1.0], [3.0]]), 1).tolist()
    [[6.0], [1.0]]
    """
    out = np.empty((csr.n_rows, V.shape[1])) if out is None else out
    columns = np.ascontiguousarray(V, dtype=np.float64)
    nothing = np.zeros(V.shape[1])
    _core.score_rows(csr.indptr, csr.indices, csr.data, columns, nothing, out, n_threads)
    return out


def as_float64(values: Any, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    """`values` as a C-contiguous float64 array of exactly `shape`."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise UsageError(f"{name} has shape {array.shape}; expected {shape}.")
    return array


# Parameters are below this: their squares, and sums of as many as there are examples, stay finite.
LARGEST = 1e100


def number(
    name: str, value: Any, *, above: float | None = None, least: float | None = None, most: float = LARGEST
) -> float:
    """A parameter as a finite number within its bounds; otherwise an error that names it.

    Parameters
    ----------
    above, least, most : the bounds, the first of them excluded; by default any number below 1e100 either way

    Examples
    --------
    >>> number("gamma", 2, above=0)
    2.0
    >>> number("gamma", float("inf"), above=0)
    Traceback (most recent call last):
    ...
    widemargin.errors.UsageError: gamma=inf: expected a positive number up to 1e+100.
    """
    lower = least if least is not None else (-most if above is None else above)
    is_number = isinstance(value, Real)
    if is_number and lower <= float(value) <= most and value != above:
        return float(value)
    kind = f"a number {'from' if above is None else 'above'} {lower:g}" if above != 0 else "a positive number"
    limit = f" up to {most:g}" if is_number and not float(value) <= most else ""
    raise UsageError(f"{name}={value!r}: expected {kind}{limit}.")


def refuse_not_finite(learner: str, **results: NDArray[Any]) -> None:
    """The gate behind every solver: a result that is not a finite number is an error.

    Parameters
    ----------
    learner : whose results these are
    results : arrays by their names; a sparse one by its values

    Examples
    --------
    >>> refuse_not_finite("LinearSVM", coef=np.array([[1.0, 2.0]]), intercept=np.zeros(1))
    """
    for name, values in results.items():
        wrong = ~np.isfinite(values)
        if wrong.any():
            place = tuple(int(k) for k in np.argwhere(wrong)[0])
            raise DataError(
                f"{learner} came to {name}[{', '.join(map(str, place))}] = {values[place]}: numbers grew "
                f"beyond double precision. Scale the values of X, or choose less extreme parameters."
            )
