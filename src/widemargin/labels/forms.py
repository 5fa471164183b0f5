"""The forms of labels, recognized once; `labels` turns each into columns of signs.

:func:`read_form` returns one of three: :class:`Values` (one label per row), :class:`Sets` (any number of
labels per row) or :class:`Indicator` (a matrix of zeros and ones). Invalid
labels raise an error here, with messages that scikit-learn's checks expect.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import is_sparse
from widemargin.errors import DataError
from widemargin.labels.columns import NamedColumns, is_missing, plain_labels

Signs = NDArray[np.int8]

# NumPy gives every string of an array the room of the longest: long labels are kept as Python strings.
LONGEST_PADDED_LABEL = 256
CONTAINERS = (list, tuple, set, frozenset, np.ndarray)


class Values:
    """One label per row."""

    def __init__(self, values: NDArray[Any] | list[str]) -> None:
        self.values = values
        self.n = len(values)

    def __str__(self) -> str:
        return "one label per row"

    def rows(self) -> NDArray[np.intp]:
        return np.arange(self.n)

    def label(self, row: int) -> Any:
        return self.values[row]

    def classes(self) -> NDArray[Any]:
        if isinstance(self.values, list):
            return _sorted_array(set(self.values))
        return self._distinct[0]

    @cached_property
    def _distinct(self) -> tuple[NDArray[Any], NDArray[np.intp]]:
        return _unique(np.asarray(self.values))

    def codes(self, code_of: dict[Any, int]) -> NDArray[np.intp]:
        """The code of the label of every row, -1 if it has none."""
        if isinstance(self.values, list):
            return _lookup(self.values, code_of)
        # Few distinct values, many rows: only the distinct ones become Python objects.
        distinct, inverse = self._distinct
        codes = _lookup(distinct.tolist(), code_of)
        return inverse if np.array_equal(codes, np.arange(len(codes))) else codes[inverse]


class Sets:
    """Any number of labels per row, flattened."""

    def __init__(self, label_sets: Sequence[Any]) -> None:
        self.n = len(label_sets)
        self.lengths = np.fromiter(map(len, label_sets), dtype=np.intp, count=self.n)
        self.flat = list(chain.from_iterable(label_sets))
        for kind in set(map(type, self.flat)) & {bytes, type(None)}:
            raise DataError(f"Some label sets hold {kind.__name__} values. Use strings as labels.")

    def __str__(self) -> str:
        return "label sets"

    def rows(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(self.n), self.lengths)

    def label(self, position: int) -> Any:
        return self.flat[position]

    def classes(self) -> NDArray[Any]:
        try:
            classes = _sorted_array(set(self.flat))
        except TypeError as error:
            raise DataError(f"A label set has a value that is not a label ({error}). Use strings.") from None
        _finite(classes)
        return classes

    def codes(self, code_of: dict[Any, int]) -> NDArray[np.intp]:
        return _lookup(self.flat, code_of)


class Indicator:
    """A matrix of zeros and ones; `names` are those of its columns, if they have any."""

    def __init__(self, matrix: Any, names: tuple[str, ...] | None = None) -> None:
        self.names = names
        self.sparse = is_sparse(matrix)
        self.matrix: Any = matrix
        if self.sparse:
            import scipy.sparse as sp

            self.matrix = sp.coo_array(matrix)
        self.shape: tuple[int, int] = self.matrix.shape
        self.n = self.shape[0]
        self.dtype = str(self.matrix.dtype.name)
        values: NDArray[Any] = self.matrix.data if self.sparse else self.matrix
        _finite(values)
        if not _zeros_and_ones(values):
            found = np.unique(values[(values != 0) & (values != 1)])
            kind = "continuous" if (found != np.floor(found)).any() else "multiclass"
            raise DataError(
                f"Unknown label type: {kind}-multioutput. y has two dimensions and holds "
                f"{some([str(value) for value in found.tolist()])} beside 0 and 1. "
                f"A label indicator has a 1 if a row has a label, otherwise a 0, such as (y > 0)."
            )
        if self.shape[1] == 0:
            raise DataError(f"The indicator matrix has shape {self.shape}: there is no class to learn.")

    def __str__(self) -> str:
        return f"an indicator matrix of shape {self.shape}"

    def classes(self) -> NDArray[Any]:
        """The names of the columns, or their numbers."""
        return np.arange(self.shape[1]) if self.names is None else label_array(self.names)

    def signs(self) -> Signs:
        if self.sparse:
            present = self.matrix.data != 0
            return signs_at(self.matrix.row[present], self.matrix.col[present], *self.shape)
        signs: Signs = np.empty(self.shape, dtype=np.int8, order="F")
        np.not_equal(self.matrix, 0, out=signs.view(bool))
        signs *= 2
        signs -= 1
        return signs


def read_form(y: Any, *, rows_are_sets: bool = False) -> Values | Sets | Indicator:
    """Which form `y` has; with `rows_are_sets` a list of rows is one of label sets, whatever it holds."""
    if isinstance(y, Values | Sets | Indicator):
        return y
    y = plain_labels(y)
    if isinstance(y, NamedColumns):
        return Indicator(y.matrix, y.names)
    if y is None:
        raise DataError("This learner requires y to be passed, but the target y is None.")
    if isinstance(y, str | bytes) or not (isinstance(y, Sequence) or hasattr(y, "__array__") or is_sparse(y)):
        raise DataError(f"Expected one label (or label set) per row in an array or a list, got {y!r:.80}.")
    if is_sparse(y):
        return Indicator(y)
    if isinstance(y, Sequence):
        kinds = set(map(type, y))
        strings = any(issubclass(kind, str) for kind in kinds)
        if strings and all(issubclass(kind, str) for kind in kinds):
            return Values(list(y))
        if any(issubclass(kind, CONTAINERS) for kind in kinds) or (rows_are_sets and not y):
            return _read_rows(y, rows_are_sets=rows_are_sets)
        # NumPy would turn the numbers among strings into strings.
        array = np.array(y, dtype=object if strings else None)
    else:
        array = np.asarray(y)
    if array.dtype.kind in "OT":
        return _read_objects(array.astype(object), rows_are_sets=rows_are_sets)
    return _read_array(array)


def _read_rows(rows: Sequence[Any], *, rows_are_sets: bool) -> Values | Sets | Indicator:
    for row, labels in enumerate(rows):
        if not isinstance(labels, CONTAINERS):
            what = "no label (None)" if labels is None else f"{labels!r:.80} where others have label sets"
            cure = "Drop unlabeled rows; a row known to be in no category has an empty label set."
            raise DataError(f"Row {row} of y has {what}. {cure}")
    if rows_are_sets or any(isinstance(labels, set | frozenset) for labels in rows):
        return Sets(rows)
    width = len(rows[0])
    if width == 0 or any(len(labels) != width for labels in rows) or isinstance(rows[0][0], str):
        return Sets(rows)
    try:
        array = np.asarray(rows)
    except (ValueError, TypeError):
        return Sets(rows)
    if array.ndim == 2 and array.dtype.kind in "iu" and width > 1 and ((array < 0) | (array > 1)).any():
        return Sets(rows)
    return _read_array(array) if array.dtype.kind in "biuf" else Sets(rows)


def _read_objects(array: NDArray[Any], *, rows_are_sets: bool) -> Values | Sets | Indicator:
    """Python objects: strings stay what they are, numbers become an array of numbers."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = _ravel(array)
    types = set(map(type, array.ravel().tolist()))
    if any(issubclass(kind, CONTAINERS) for kind in types):
        return _read_rows(array.tolist(), rows_are_sets=rows_are_sets)
    if array.ndim != 1:
        return _read_array(np.asarray(array.tolist()))
    missing = [row for row, label in enumerate(array.tolist()) if is_missing(label)]
    if missing:
        raise DataError(
            f"Input y contains NaN or None: row {missing[0]} has no label"
            f"{f', and {len(missing) - 1} more' if len(missing) > 1 else ''}. Drop unlabeled rows."
        )
    if all(issubclass(kind, str) for kind in types):
        return Values(array)
    if all(issubclass(kind, int | float | np.number | np.bool_) for kind in types):
        return _read_array(np.asarray(array.tolist()))
    names = some(sorted(kind.__name__ for kind in types))
    raise DataError(f"Unknown label type: y mixes or holds values of type {names}. Use strings or integers.")


def _read_array(array: NDArray[Any]) -> Values | Indicator:
    if array.ndim == 2 and array.shape[1] == 1:
        array = _ravel(array)
    if array.ndim not in (1, 2):
        raise DataError(
            f"Unknown label type: y has {array.ndim} dimensions. Pass one label or one row per document."
        )
    if array.dtype.kind == "S":
        raise DataError("The labels are bytes. Decode them to strings.")
    if array.dtype.kind not in "biufU":
        raise DataError(f"Unknown label type: {array.dtype}. Use strings or integers.")
    if array.ndim == 2:
        if array.dtype.kind == "U":
            raise DataError(
                "Unknown label type: multiclass-multioutput. y is a two-dimensional array of strings; "
                "pass one label per row, or a list of label sets."
            )
        return Indicator(array)
    if array.dtype.kind == "f":
        _finite(array)
        broken = array[array != np.floor(array)]
        if len(broken):
            raise DataError(
                f"Unknown label type: continuous. y holds {broken[0]}, which is not a class. "
                f"Use strings or integers as labels."
            )
    return Values(array)


def _ravel(column: NDArray[Any]) -> NDArray[Any]:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
        "(n_samples, ), for example using ravel().",
        DataConversionWarning,
        stacklevel=2,
    )
    return column.ravel()


def _finite(values: NDArray[Any]) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        if np.isnan(values).any():
            raise DataError("Input y contains NaN. Drop unlabeled rows.")
        raise DataError(f"Input y contains infinity or a value too large for {values.dtype!r}.")


def _zeros_and_ones(values: NDArray[Any]) -> bool:
    if values.dtype.kind in "biu":  # one look at every number: no bit but the last is set in any
        return int(np.bitwise_or.reduce(values, axis=None, initial=0)) in (0, 1)
    return bool(((values == 0) | (values == 1)).all())


def _unique(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    if values.dtype.kind == "O":
        # A dictionary beats sorting n Python strings; only the distinct ones are sorted.
        labels = values.tolist()
        classes = sorted(set(labels))
        distinct = np.empty(len(classes), dtype=object)
        distinct[:] = classes
        return distinct, _lookup(labels, {label: code for code, label in enumerate(classes)})
    if values.dtype.kind in "bi":
        whole = np.ascontiguousarray(values, dtype=np.int64)
        low = int(whole.min(initial=0))
        span = int(whole.max(initial=0)) - low + 1
        if span <= 4 * len(whole) + 1024:  # a mark for every number between beats sorting
            offsets = whole - low if low else whole
            present = np.zeros(span, dtype=bool)
            present[offsets] = True
            distinct = (np.flatnonzero(present) + low).astype(values.dtype)
            return distinct, offsets if len(distinct) == span else (np.cumsum(present) - 1)[offsets]
    distinct, inverse = np.unique(values, return_inverse=True)
    return distinct, inverse.astype(np.intp, copy=False)


def _lookup(labels: list[Any], code_of: dict[Any, int]) -> NDArray[np.intp]:
    try:
        return np.fromiter(map(code_of.get, labels, repeat(-1)), dtype=np.intp, count=len(labels))
    except TypeError as error:
        raise DataError(f"A label set has a value that is not a label ({error}). Use strings.") from None


def _sorted_array(labels: Iterable[Any]) -> NDArray[Any]:
    try:
        ordered = sorted(labels)
    except TypeError:
        types = some(sorted({type(label).__name__ for label in labels}))
        raise DataError(f"The labels mix values of type {types}. Use one type for all labels.") from None
    return label_array(ordered)


def label_array(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels as an array, in their order; of Python strings where NumPy's would not do."""
    if any(isinstance(label, str) and _needs_object(label) for label in labels):
        result = np.empty(len(labels), dtype=object)
        result[:] = labels
        return result
    return np.array(labels)


def _needs_object(label: str) -> bool:
    # NumPy's strings also lose NUL characters at their end.
    return len(label) > LONGEST_PADDED_LABEL or label.endswith("\0")


def signs_at(rows: NDArray[Any], columns: NDArray[Any], n: int, n_columns: int) -> Signs:
    """-1 everywhere but at the given places."""
    signs = np.full((n, n_columns), -1, dtype=np.int8, order="F")
    signs[rows, columns] = 1
    return signs


def some(words: list[str], most: int = 5) -> str:
    """A list for a message: the first few, and how many more."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(word if len(word) <= 60 else word[:57] + "..." for word in words[:most]) + more
