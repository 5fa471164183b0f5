"""The columns that a fitted selection keeps, as arrays, so that one short document is reduced at once."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr, canonical_csr, is_sparse, row_squares
from widemargin._stored import Stored
from widemargin.errors import DataError

Floats = NDArray[np.float64]


class MadeOf(NamedTuple):
    """Columns that one new column is made of, the strongest first, and their weights."""

    columns: NDArray[Any]
    weights: Floats


class KeptColumns(NamedTuple):
    """The kept columns, the new column of every old one (-1: dropped), and factors on the kept values.

    With `unit_length`, rows are then scaled to length 1.
    """

    columns: NDArray[Any]
    place: NDArray[np.int32]
    factors: Floats | None = None
    unit_length: bool = False

    @classmethod
    def at(
        cls,
        columns: NDArray[Any],
        n_features: int,
        factors: Floats | None = None,
        *,
        unit_length: bool = False,
    ) -> Self:
        """Keep the sorted `columns` of this many features."""
        place = np.full(n_features, -1, dtype=np.int32)
        place[columns] = np.arange(len(columns), dtype=np.int32)
        return cls(columns, place, factors, unit_length)

    @classmethod
    def of(cls, selection: Any) -> Self:
        """The columns that a fitted `SelectFeatures` or `SampleFeatures` keeps."""
        support = selection.get_support()
        factors, unit_length = getattr(selection, "factors", None), getattr(selection, "unit_length", False)
        return cls.at(np.flatnonzero(support), len(support), factors, unit_length=unit_length)

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The kept columns from the result of `get_state` of a selection."""
        stored = Stored(config, arrays)
        n_features, columns = stored_columns(stored)
        parameters = stored.inner("parameters")
        unit_length = "unit_length" in parameters and parameters.flag("unit_length")
        factors = 1 / np.sqrt(stored_chances(stored, columns)) if stored.has_array("chances") else None
        return cls.at(columns, n_features, factors, unit_length=unit_length)

    @property
    def n_features(self) -> int:
        """The number of columns before selection."""
        return len(self.place)

    @property
    def n_columns(self) -> int:
        """The number of columns after it."""
        return len(self.columns)

    def apply(self, csr: Csr) -> Csr:
        """The kept columns of a canonical matrix, canonical.

        Examples
        --------
        >>> X = canonical_csr(np.array([[1.0, 0.0, 3.0], [0.0, 4.0, 5.0]]))
        >>> KeptColumns.at(np.array([1, 2]), 3, np.array([1.0, 2.0])).apply(X).matrix.toarray().tolist()
        [[0.0, 6.0], [4.0, 10.0]]
        """
        found = self.place[csr.indices]
        kept = found >= 0
        indices, data = found[kept], csr.data[kept]
        if self.factors is not None:
            data = data * self.factors[indices].astype(data.dtype)
        indptr = np.concatenate([[0], np.cumsum(kept)])[csr.indptr]
        rows = Csr(indptr, indices, data, len(self.columns))
        return unit_length(rows) if self.unit_length else rows

    def reaches(self, columns: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of these columns the learner sees."""
        return np.asarray(self.place[columns] >= 0)

    def carried_back(self, before: Csr, row: Csr, parts: Floats) -> tuple[NDArray[Any], Floats]:
        """What the columns of one document add to a score, given what its kept columns add."""
        return self.columns[row.indices], parts

    def spread(self, weights: Floats) -> Floats | None:
        """Kept columns have their own names and weights."""
        return None

    def made_of(self, column: int) -> MadeOf:
        """The one column that a kept column is."""
        return MadeOf(self.columns[[column]], np.ones(1))


def stored_columns(stored: Stored) -> tuple[int, NDArray[np.int32]]:
    """The number of features and the kept ones among them, from the state of a selection."""
    n_features = stored.integer("n_features", least=1)
    stored.check_room("n_features", n_features)
    columns = stored.array("columns", (None,), np.int32, least=0, most=n_features - 1)
    if not len(columns) or not (np.diff(columns) > 0).all():
        raise DataError("'columns' in arrays.safetensors are not sorted feature numbers")
    return n_features, columns


def stored_chances(stored: Stored, columns: NDArray[np.int32]) -> Floats:
    """The keep probabilities of sampled columns."""
    return stored.array("chances", columns.shape, least=float(np.finfo(float).tiny), most=1)


def unit_rows(X: Any) -> Any:
    """Scale rows to length 1, except zero rows; sparse input stays sparse.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).round(6).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    if is_sparse(X):
        return unit_length(canonical_csr(X)).matrix
    if X.dtype.kind != "f":
        X = X.astype(np.float64)
    return X * _inverse_lengths(np.square(X, dtype=np.float64).sum(axis=1), X.dtype)[:, None]


def unit_length(csr: Csr) -> Csr:
    """Canonical rows, scaled to length 1, except zero rows."""
    factors = _inverse_lengths(row_squares(csr), csr.data.dtype)
    return csr._replace(data=csr.data * np.repeat(factors, np.diff(csr.indptr)))


def _inverse_lengths(squares: Floats, dtype: Any) -> NDArray[Any]:
    factors = np.divide(1.0, np.sqrt(squares), out=np.ones_like(squares), where=squares > 0)
    return factors.astype(dtype)
