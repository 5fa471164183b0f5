"""Labels in columns and tables of other libraries (pandas, polars, Arrow), read without importing these.

:func:`plain_labels` makes lists and NumPy arrays of them, which :mod:`widemargin.labels.forms` recognizes. A
table with several columns of 0 and 1 is a label indicator whose columns have names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import is_sparse
from widemargin.errors import DataError


class NamedColumns(NamedTuple):
    """A label indicator and the names of its columns."""

    matrix: NDArray[Any]
    names: tuple[str, ...]


def plain_labels(y: Any) -> Any:
    """Labels of a column as a list or an array, those of a table as `NamedColumns`, others as they are.

    Examples
    --------
    >>> plain_labels(label for label in ("ham", "spam"))
    ['ham', 'spam']
    """
    if y is None or isinstance(y, list | tuple | str | bytes | NamedColumns) or is_sparse(y):
        return y
    if isinstance(y, np.ndarray):
        # Both hold missing values in a way of their own, which become None or NaN.
        return y.tolist() if isinstance(y, np.ma.MaskedArray) or y.dtype.kind == "T" else y
    if isinstance(y, set | frozenset | Mapping):
        raise DataError(
            f"y is a {type(y).__name__}, so its labels cannot be matched with documents. Pass a list with "
            f"one label (or label set) per document."
        )
    if (names := table_names(y)) is not None:
        return _of_table(y, names)
    dtype = getattr(y, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return np.asarray(y)
    for method in ("to_pylist", "to_list", "tolist"):  # of Arrow, polars and pandas
        if hasattr(y, method):
            return getattr(y, method)()
    return list(y) if isinstance(y, Iterable) and not hasattr(y, "__array__") else y


def table_names(table: Any) -> tuple[str, ...] | None:
    """The names of the columns of a data frame or an Arrow table; None for anything else."""
    names = getattr(table, "column_names", None)
    if names is None:
        names = getattr(table, "columns", None)
    return None if names is None or callable(names) else tuple(str(name) for name in names)


def column_at(table: Any, place: int) -> Any:
    """One column of a data frame of pandas or polars, or of an Arrow table, by its place."""
    if hasattr(table, "iloc"):
        return table.iloc[:, place]
    if hasattr(table, "get_columns"):
        return table.get_columns()[place]
    return table.column(place) if hasattr(table, "column") else table[table_names(table)[place]]  # type: ignore[index]


def is_missing(value: Any) -> bool:
    """Whether a value means nothing is known: None, NaN, or a missing value of pandas."""
    # pandas marks missing values with objects of its own, which refuse to be compared.
    if value is None or value is np.nan or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(value != value)


def _of_table(table: Any, names: tuple[str, ...]) -> Any:
    if not names:
        raise DataError("y is a table without columns. Pass a column of labels.")
    if len(names) == 1:
        return plain_labels(column_at(table, 0))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"y has two columns {twice!r}. Rename one: columns of y are labels.")
    columns = [_cells(table, place, name, names) for place, name in enumerate(names)]
    sizes = {len(column) for column in columns}
    assert len(sizes) == 1
    matrix = np.empty((sizes.pop(), len(names)), dtype=object)
    for place, column in enumerate(columns):
        matrix[:, place] = column
    if not any(value is None for column in columns for value in column):
        matrix = np.array(matrix.tolist()).reshape(matrix.shape)
    # pandas numbers columns without names.
    if names == tuple(map(str, range(len(names)))):
        return matrix
    return NamedColumns(matrix, names)


def _cells(table: Any, place: int, name: str, names: tuple[str, ...]) -> list[Any]:
    values = plain_labels(column_at(table, place))
    values = [None if is_missing(value) else value for value in list(values)]
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, int | float | np.number | np.bool_):
            raise DataError(
                f"y has {len(names)} columns ({', '.join(names[:5])}{', ...' if len(names) > 5 else ''}), "
                f"and {name!r} holds {value!r:.60} in row {row}. Pass one column of labels, such as "
                f"y[{name!r}], or columns of 0 and 1, one per label."
            )
    return values
