"""Scores of rows that are read in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import is_sparse, times
from widemargin.learn.svm.by_blocks.row_source import RowSource

Floats = NDArray[np.float64]


def scores_by_blocks(
    source: RowSource, coef: Any, intercept: Floats, n_threads: int
) -> Iterator[tuple[int, Floats]]:
    """The number of every block, and the scores of its rows, (rows, labels).

    Slacks follow from them: ``max(0, 1 - y f)``.
    """
    weights = np.ascontiguousarray((coef.toarray() if is_sparse(coef) else coef).T)
    for block in range(len(source.first_rows) - 1):
        yield block, times(source.rows(block), weights, n_threads, plus=intercept)
