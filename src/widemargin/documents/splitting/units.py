"""Units: documents that stay on one side of a split, because they share a group or are near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from widemargin.documents.near_duplicates import near_duplicates
from widemargin.errors import DataError

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Units:
    """The unit of every document.

    Attributes
    ----------
    of : (n,) the number of each document's unit
    n_near : documents that have a near-duplicate
    n_grouped : documents that share a group with others
    """

    of: Numbers
    n_near: int = 0
    n_grouped: int = 0

    @property
    def count(self) -> int:
        return int(self.of.max()) + 1

    def sizes(self, counted: NDArray[np.bool_]) -> Numbers:
        """How many of the documents of every unit are to be counted."""
        return np.bincount(self.of[counted], minlength=self.count).astype(np.int64)


def find_units(
    n: int, texts: Sequence[str] | None, groups: Sequence[Any] | None, n_jobs: int | None = None
) -> Units:
    """Which documents stay together.

    Parameters
    ----------
    n : number of documents
    texts : texts whose near-duplicates stay together; None if they do not
    groups : values of which equal ones stay together; None, NaN and "" belong to no group

    Examples
    --------
    >>> find_units(4, None, ["a", "b", "a", None]).of.tolist()
    [0, 1, 0, 2]
    """
    links = [np.empty((0, 2), np.int64)]
    n_near = n_grouped = 0
    if texts is not None:
        near = near_duplicates(texts, n_jobs=n_jobs)
        links.append(near.pairs)
        n_near = int(np.count_nonzero(near.group >= 0))
    if groups is not None:
        if len(groups) != n:
            raise DataError(f"There are {n} documents and {len(groups)} groups. Pass one per document.")
        of_group = _of_group(groups)
        links.append(of_group)
        n_grouped = len(np.unique(of_group))
    pairs = np.vstack(links)
    graph = sp.csr_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    component = connected_components(graph, directed=False)[1]
    # Numbered in the order of their first documents, whatever the algorithm did.
    _, first, inverse = np.unique(component, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return Units(rank[inverse.ravel()], n_near, n_grouped)


def _of_group(groups: Sequence[Any]) -> Numbers:
    """Every document of a group with the first one of that group."""
    first: dict[Any, int] = {}
    found = []
    for place, group in enumerate(groups):
        if group is None or group != group or group == "":
            continue
        try:
            begun = first.setdefault(group, place)
        except TypeError:
            raise DataError(
                f"The group of document {place} is of type {type(group).__name__}. Use strings or numbers."
            ) from None
        if begun != place:
            found.append((begun, place))
    if not first:
        raise DataError("No document has a group. Name another column with the groups (--group).")
    return np.array(found, np.int64).reshape(-1, 2)
