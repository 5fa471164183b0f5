"""What nearest neighbors learn: the documents themselves, at length 1, and the labels of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr, row_squares
from widemargin._stored import Stored
from widemargin.errors import DataError

Floats = NDArray[np.float64]

# How far the squared length of a row of 32-bit numbers may be from 1.
_ROUNDING = 1e-5


def unit_rows(csr: Csr) -> Csr:
    """The rows scaled to length 1 and rounded to 32 bits, in new memory; a row of zeros stays as it is.

    Examples
    --------
    >>> from widemargin._arrays import canonical_csr
    >>> unit_rows(canonical_csr(np.array([[3.0, 4.0], [0.0, 1e-200]]))).data.tolist()
    [0.6000000238418579, 0.800000011920929, 1.0]
    """
    values = np.empty(len(csr.data), dtype=np.float32)
    _core.unit_rows(csr.native(), values)
    return Csr(csr.indptr.copy(), csr.indices.copy(), values, csr.n_columns)


@dataclass(frozen=True, eq=False)
class KeptDocuments:
    """Documents in the order in which they came.

    Attributes
    ----------
    rows : of length 1, or 0 for empty documents, in 32 bits
    label_indptr, label_columns : the columns of the labels that document i has, from label_indptr[i] to
        label_indptr[i + 1]
    weights : (n,) how often each document counts; empty if each counts once
    """

    rows: Csr
    label_indptr: NDArray[np.int64]
    label_columns: NDArray[np.int32]
    weights: Floats

    @classmethod
    def of(cls, csr: Csr, signs: NDArray[np.int8], weights: Floats) -> KeptDocuments:
        """Keep documents with labels `signs` (n, columns) of +1 and -1."""
        row, column = np.nonzero(signs > 0)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=csr.n_rows))])
        return cls(unit_rows(csr), indptr.astype(np.int64), column.astype(np.int32), weights)

    @property
    def n(self) -> int:
        return self.rows.n_rows

    @property
    def total(self) -> float:
        """How often all documents count."""
        return float(self.weights.sum()) if len(self.weights) else float(self.n)

    @property
    def weight(self) -> Floats:
        """(n,) how often each document counts."""
        return self.weights if len(self.weights) else np.ones(self.n)

    def are(self, rows: Csr) -> bool:
        """Whether the documents are these rows of length 1, in this order."""
        own = self.rows
        same = np.array_equal(rows.indptr, own.indptr) and np.array_equal(rows.indices, own.indices)
        return same and np.array_equal(rows.data, own.data)

    def placed(self, kept: NDArray[np.intp]) -> KeptDocuments:
        """The same in a larger label space, where the old columns stand at `kept`."""
        return replace(self, label_columns=kept[self.label_columns].astype(np.int32))

    @classmethod
    def joined(cls, parts: list[KeptDocuments]) -> KeptDocuments:
        """All documents, one part after the other."""
        if len(parts) == 1:
            return parts[0]
        weighted = any(len(part.weights) for part in parts)
        rows = Csr(
            _joined_indptr([part.rows.indptr for part in parts]),
            np.concatenate([part.rows.indices for part in parts]),
            np.concatenate([part.rows.data for part in parts]),
            parts[0].rows.n_columns,
        )
        return cls(
            rows,
            _joined_indptr([part.label_indptr for part in parts]),
            np.concatenate([part.label_columns for part in parts]),
            np.concatenate([part.weight for part in parts]) if weighted else np.zeros(0),
        )

    def signs(self, documents: NDArray[Any], n_columns: int) -> NDArray[np.int8]:
        """(documents, columns) the labels of some documents, as +1 and -1."""
        found = np.full((len(documents), n_columns), -1, dtype=np.int8)
        for place, i in enumerate(documents):
            found[place, self.label_columns[self.label_indptr[i] : self.label_indptr[i + 1]]] = 1
        return found

    def of_labels(self, n_columns: int) -> Floats:
        """(columns,) how often the documents of each label count."""
        each = np.repeat(self.weight, np.diff(self.label_indptr))
        sums: Floats = np.bincount(self.label_columns, each, n_columns).astype(np.float64)
        return sums

    def arrays(self) -> dict[str, NDArray[Any]]:
        """For a model file."""
        return {
            "documents_data": self.rows.data,
            "documents_indices": self.rows.indices,
            "documents_indptr": self.rows.indptr,
            "labels_indices": self.label_columns,
            "labels_indptr": self.label_indptr,
            **({"weights": self.weights} if len(self.weights) else {}),
        }

    @classmethod
    def read(cls, stored: Stored, n_columns: int, n_features: int) -> KeptDocuments:
        """From a model file, checked."""
        n = len(stored.array("documents_indptr", (None,), np.int64)) - 1
        if n < 1:
            raise DataError("'documents_indptr' in arrays.safetensors holds no documents")
        rows = stored.csr("documents", (n, n_features), np.float32)
        squares = row_squares(rows)
        if not ((np.abs(squares - 1) < _ROUNDING) | (squares == 0)).all():
            raise DataError("'documents_data' in arrays.safetensors holds rows that are not of length 1")
        columns = stored.array("labels_indices", (None,), np.int32)
        ends = stored.array("labels_indptr", (n + 1,), np.int64)
        marks = np.ones(len(columns), np.float32)
        given = {"labels_data": marks, "labels_indices": columns, "labels_indptr": ends}
        labels = Stored({}, given).csr("labels", (n, n_columns), np.float32)
        weights = stored.array("weights", (n,), least=0) if stored.has_array("weights") else np.zeros(0)
        if len(weights) and not weights.any():
            raise DataError("'weights' in arrays.safetensors are all 0")
        return cls(rows, labels.indptr, labels.indices, weights)


def _joined_indptr(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    sizes = np.concatenate([np.diff(part) for part in parts])
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
