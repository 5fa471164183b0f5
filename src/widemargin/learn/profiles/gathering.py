"""Gathered profiles: the texts of a class added up, m by m, all together, or in a number of parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import Csr, canonical_csr

CLASS = "class"


def gathered(
    rows: Csr, classes: NDArray[np.intp], gather: int | str, parts: int | None
) -> tuple[Csr, NDArray[np.intp]]:
    """Profiles and their classes, in the order of the classes and then of the rows.

    Parameters
    ----------
    rows : counts, one row per text
    classes : the class of every row, from 0
    gather : how many texts of a class are one profile: 1, m, or "class" for all; the last profile of a class
        may have fewer
    parts : the number of profiles per class instead, of equally many texts each, up to one; fewer for a class
        of fewer texts

    Examples
    --------
    >>> rows = canonical_csr(np.array([[1.0, 0], [2, 0], [0, 3], [0, 4], [5, 0]]))
    >>> profiles, classes = gathered(rows, np.array([0, 0, 1, 1, 0]), 2, None)
    >>> profiles.matrix.toarray().tolist(), classes.tolist()
    ([[3.0, 0.0], [5.0, 0.0], [0.0, 7.0]], [0, 0, 1])
    """
    groups = np.empty(len(classes), dtype=np.intp)
    owners: list[int] = []
    for code in range(int(classes.max()) + 1):
        members = np.flatnonzero(classes == code)
        own = _groups(len(members), gather, parts)
        groups[members] = own + len(owners)
        owners += [code] * (int(own[-1]) + 1 if len(own) else 0)
    n = len(classes)
    sums: Any = sp.csr_array((np.ones(n), (groups, np.arange(n))), shape=(len(owners), n)) @ rows.matrix
    sums = sp.csr_array(sums.astype(np.float64))
    sums.sum_duplicates()
    sums.eliminate_zeros()
    return canonical_csr(sums), np.array(owners, dtype=np.intp)


def _groups(n: int, gather: int | str, parts: int | None) -> NDArray[np.intp]:
    """The group of each of n texts, in order."""
    places = np.arange(n)
    if parts is not None:
        # As np.array_split: the first groups have one more.
        size, longer = divmod(n, min(parts, n)) if n else (1, 0)
        return np.where(places < longer * (size + 1), places // (size + 1), (places - longer) // size)
    return places // (max(n, 1) if gather == CLASS else int(gather))
