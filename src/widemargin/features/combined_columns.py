"""Columns that are made of several others, as arrays: projections and sums of groups.

Like :class:`~widemargin.features.kept_columns.KeptColumns`, they need neither SciPy nor scikit-learn, so that
one short document is scored at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr, times
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import DataError
from widemargin.features.kept_columns import Floats, MadeOf, unit_length

# Values of new columns that are dense in memory at a time.
_VALUES_AT_ONCE = 2**21


class Reduction(Protocol):
    """What stands between the columns of documents and those that a learner sees."""

    @property
    def n_features(self) -> int:
        """The number of columns before."""

    @property
    def n_columns(self) -> int:
        """The number of columns that the learner sees."""

    def apply(self, csr: Csr) -> Csr:
        """The rows that the learner sees, canonical."""

    def reaches(self, columns: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of these columns of documents have an influence on what the learner sees."""

    def carried_back(self, before: Csr, row: Csr, parts: Floats) -> tuple[NDArray[Any], Floats]:
        """What every column of one document adds to a score.

        Parameters
        ----------
        before, row : the document before and after `apply`
        parts : what the columns of `row` add
        """

    def spread(self, weights: Floats) -> Floats | None:
        """Weights of the columns of documents, given those of the learner's; None if its own are shown."""

    def made_of(self, column: int) -> MadeOf:
        """The columns of documents that a column of the learner is made of."""


class Projection(NamedTuple):
    """New columns that are weighted sums of all columns: ``X @ weights``.

    Attributes
    ----------
    weights : (columns before, new columns)
    unit_length : whether rows are then scaled to length 1
    n_jobs : number of threads, None for all cores
    """

    weights: Floats
    unit_length: bool = False
    n_jobs: int | None = None

    @classmethod
    def at(cls, components: NDArray[Any], *, unit_length: bool = False, n_jobs: int | None = None) -> Self:
        """On the rows of `components`, in single precision, as a model file stores them."""
        weights = np.ascontiguousarray(components.T, dtype=np.float32)
        return cls(weights.astype(np.float64), unit_length, n_jobs)

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The projection from the result of `get_state` of a `LatentSemanticIndexing`."""
        stored = Stored(config, arrays)
        return cls.at(stored_components(stored).T, unit_length=stored.inner("parameters").flag("unit_length"))

    @property
    def n_features(self) -> int:
        return len(self.weights)

    @property
    def n_columns(self) -> int:
        return int(self.weights.shape[1])

    def apply(self, csr: Csr) -> Csr:
        """The projections of canonical rows; every row has a value in every column.

        Examples
        --------
        >>> from widemargin._arrays import canonical_csr
        >>> X = canonical_csr(np.array([[1.0, 0.0, 3.0], [0.0, 4.0, 5.0]]))
        >>> Projection.at(np.array([[1.0, 1.0, 0.0]])).apply(X).matrix.toarray().tolist()
        [[1.0], [4.0]]
        """
        n, k = csr.n_rows, self.n_columns
        data = np.empty((n, k), np.float32)
        for some, rows in _pieces(csr, k):
            data[some] = times(rows, self.weights, 1 if n == 1 else thread_count(self.n_jobs))
        indices = np.tile(np.arange(k, dtype=np.int32), n)
        made = Csr(np.arange(0, n * k + 1, k, dtype=np.int64), indices, data.reshape(-1), k)
        return unit_length(made) if self.unit_length else made

    def reaches(self, columns: NDArray[Any]) -> NDArray[np.bool_]:
        return np.ones(len(columns), dtype=bool)

    def carried_back(self, before: Csr, row: Csr, parts: Floats) -> tuple[NDArray[Any], Floats]:
        """A part is divided in the proportion of what the columns add to the projection.

        For linear weights w this is x * (V w), with V the weights of the projection.
        """
        own, values = self.weights[before.indices], before.data.astype(np.float64)
        made = (values @ own)[row.indices]
        per_unit = np.divide(parts, made, out=np.zeros_like(made), where=made != 0)
        return before.indices, values * (own[:, row.indices] @ per_unit)

    def spread(self, weights: Floats) -> Floats | None:
        found: Floats = self.weights @ weights
        return found

    def made_of(self, column: int) -> MadeOf:
        weights = self.weights[:, column]
        order = np.argsort(-np.abs(weights), kind="stable")
        return MadeOf(order, weights[order])


class GroupSums(NamedTuple):
    """New columns that are the sums of groups of columns.

    Attributes
    ----------
    place : (columns before,) the group of each, -1 for columns that are left out
    strengths : (columns before,) by which the members of a group are ordered
    n_columns : number of groups
    unit_length : whether rows are then scaled to length 1
    """

    place: NDArray[np.int32]
    strengths: NDArray[np.float64]
    n_columns: int
    unit_length: bool = False

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The groups from the result of `get_state` of a clustering of terms."""
        stored = Stored(config, arrays)
        place, strengths, n_columns = stored_groups(stored)
        return cls(place, strengths, n_columns, stored.inner("parameters").flag("unit_length"))

    @property
    def n_features(self) -> int:
        return len(self.place)

    def apply(self, csr: Csr) -> Csr:
        """The sums of the groups, of canonical rows; sums of 0 are left out.

        Examples
        --------
        >>> from widemargin._arrays import canonical_csr
        >>> X = canonical_csr(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 5.0]]))
        >>> groups = GroupSums(np.array([1, 1, 0], np.int32), np.ones(3), 2)
        >>> groups.apply(X).matrix.toarray().tolist()
        [[3.0, 3.0], [5.0, 0.0]]
        """
        k = self.n_columns
        counts, indices, data = [], [np.zeros(0, np.int32)], [np.zeros(0, csr.data.dtype)]
        for _, rows in _pieces(csr, k):
            group = self.place[rows.indices].astype(np.int64)
            known = group >= 0
            cell = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr)) * k + group
            sums = np.bincount(cell[known], rows.data[known], minlength=rows.n_rows * k)
            at = np.flatnonzero(sums)
            counts.append(np.bincount(at // k, minlength=rows.n_rows))
            indices.append((at % k).astype(np.int32))
            data.append(sums[at].astype(csr.data.dtype))
        indptr = np.concatenate([[0], *counts]).cumsum().astype(np.int64)
        made = Csr(indptr, np.concatenate(indices), np.concatenate(data), k)
        return unit_length(made) if self.unit_length else made

    def reaches(self, columns: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(self.place[columns] >= 0)

    def carried_back(self, before: Csr, row: Csr, parts: Floats) -> tuple[NDArray[Any], Floats]:
        """A part is divided among the members in the proportion of their values."""
        known = self.reaches(before.indices)
        group, values = self.place[before.indices[known]], before.data[known].astype(np.float64)
        sums = np.bincount(group, values, minlength=self.n_columns)
        per_unit = np.zeros(self.n_columns)
        per_unit[row.indices] = parts
        np.divide(per_unit, sums, out=per_unit, where=sums != 0)
        return before.indices[known], values * per_unit[group]

    def spread(self, weights: Floats) -> Floats | None:
        """All members of a group have the same weight, so groups are shown."""
        return None

    def made_of(self, column: int) -> MadeOf:
        members = np.flatnonzero(self.place == column)
        members = members[np.argsort(-self.strengths[members], kind="stable")]
        return MadeOf(members, np.ones(len(members)))


def stored_components(stored: Stored) -> NDArray[np.float32]:
    """The components of a projection, (columns before, new columns)."""
    n_features = stored.integer("n_features", least=1)
    found = stored.array("components", (n_features, None), np.float32)
    if found.shape[1] == 0:
        raise DataError("'components' in arrays.safetensors has no columns")
    return found


def stored_groups(stored: Stored) -> tuple[NDArray[np.int32], NDArray[np.float64], int]:
    """The group of each column, their strengths, and the number of groups."""
    n_features = stored.integer("n_features", least=1)
    n_columns = stored.integer("n_columns", least=1)
    place = stored.array("place", (n_features,), np.int32, least=-1, most=n_columns - 1)
    strengths = stored.array("strengths", (n_features,))
    if len(np.unique(place[place >= 0])) != n_columns:
        raise DataError("'place' in arrays.safetensors leaves groups empty")
    return place, strengths, n_columns


def _pieces(csr: Csr, n_columns: int) -> Any:
    """Some rows after the other, so that not all new values are dense in memory at a time."""
    step = max(1, _VALUES_AT_ONCE // n_columns)
    for first in range(0, csr.n_rows, step):
        last = min(first + step, csr.n_rows)
        start, end = csr.indptr[first], csr.indptr[last]
        part = Csr(
            csr.indptr[first : last + 1] - start, csr.indices[start:end], csr.data[start:end], csr.n_columns
        )
        yield slice(first, last), part
