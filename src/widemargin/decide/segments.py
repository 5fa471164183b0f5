"""The most probable labels of a sequence of pieces, when changing the label has a price."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def best_path(gains: Any, switch_cost: float) -> NDArray[np.intp]:
    """The labels that maximize the sum of gains minus `switch_cost` times the number of changes.

    Viterbi's dynamic programming, one pass over the pieces. Ties go to the label of the piece before, then to
    the first label.

    Parameters
    ----------
    gains : (pieces, labels), for example weighted log-probabilities

    Examples
    --------
    >>> gains = np.log([[0.9, 0.1], [0.4, 0.6], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
    >>> best_path(gains, 1.0).tolist()
    [0, 0, 0, 1, 1]
    """
    table: NDArray[np.float64] = np.asarray(gains, dtype=np.float64)
    n, labels = table.shape
    path = np.zeros(n, dtype=np.intp)
    if n == 0:
        return path
    came_from = np.empty((n, labels), dtype=np.int32)
    best = table[0].copy()
    for piece in range(1, n):
        top = int(best.argmax())
        stays = best >= best[top] - switch_cost
        came_from[piece] = np.where(stays, np.arange(labels), top)
        best = np.where(stays, best, best[top] - switch_cost) + table[piece]
    path[-1] = int(best.argmax())
    for piece in range(n - 1, 0, -1):
        path[piece - 1] = came_from[piece, path[piece]]
    return path
