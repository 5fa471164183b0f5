"""Training documents as they are taken out of the sums of their classes, and scored as new ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Documents:
    """Training documents as they are left out; entries have no order.

    Attributes
    ----------
    row, column : (entries,) the document and the term
    own : (entries,) what the document added to the counts of its groups
    scored : (entries,) the value that is scored, 0 where a new document would not have the term
    weight : (n,) of the documents
    n_features : number of terms
    """

    row: NDArray[np.intp]
    column: NDArray[np.int32]
    own: Floats
    scored: Floats
    weight: Floats
    n_features: int

    @classmethod
    def of(cls, csr: Csr, weights: Floats, new: Csr | None) -> Documents:
        """From the documents as they were learned, and as new ones if these differ.

        Examples
        --------
        >>> from widemargin._arrays import canonical_csr
        >>> learned = canonical_csr(np.array([[1.0, 2], [3, 0]]))
        >>> new = canonical_csr(np.array([[0, 2.5], [3, 0]]))
        >>> documents = Documents.of(learned, np.zeros(0), new)
        >>> documents.own.tolist(), documents.scored.tolist()
        ([1.0, 2.0, 3.0], [0.0, 2.5, 3.0])
        """
        row, column = _rows(csr), csr.indices
        weight = weights if len(weights) else np.ones(csr.n_rows)
        learned = csr.data.astype(np.float64)
        own = weight[row] * learned
        if new is None:
            return cls(row, column, own, learned, weight, csr.n_columns)
        places, wanted = row * csr.n_columns + column, _rows(new) * csr.n_columns + new.indices
        at = np.minimum(np.searchsorted(places, wanted), max(len(places) - 1, 0))
        known = places[at] == wanted if len(places) else np.zeros(len(wanted), dtype=bool)
        scored = np.zeros(len(row))
        scored[at[known]] = new.data[known]
        more = ~known
        return cls(
            np.concatenate([row, _rows(new)[more]]),
            np.concatenate([column, new.indices[more]]),
            np.concatenate([own, np.zeros(np.count_nonzero(more))]),
            np.concatenate([scored, new.data[more]]),
            weight,
            csr.n_columns,
        )

    @cached_property
    def own_size(self) -> Floats:
        """(n,) the sum of what each document added."""
        return self.sums(self.own)

    @cached_property
    def scored_size(self) -> Floats:
        """(n,) the sum of the values that are scored."""
        return self.sums(self.scored)

    def sums(self, values: Floats) -> Floats:
        """The sum of the values of each document's entries."""
        found: Floats = np.bincount(self.row, values, len(self.weight)).astype(np.float64)
        return found


def _rows(csr: Csr) -> NDArray[np.intp]:
    """The row of every stored value."""
    return np.repeat(np.arange(csr.n_rows), np.diff(csr.indptr))
