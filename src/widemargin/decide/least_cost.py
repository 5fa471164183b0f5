"""Decisions of the least expected cost, from calibrated probabilities and costs between classes.

If a document is of class i with probability p_i, deciding class j is expected to cost sum_i p_i C_ij. The
class of the least sum is the best decision whatever the costs are (Elkan, The Foundations of Cost-Sensitive
Learning, IJCAI 2001); with costs of 1 for every error it is the most probable class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError

Floats = NDArray[np.float64]


def expected_costs(probabilities: Any, costs: Any) -> Floats:
    """The expected cost of deciding each class, (n, classes).

    Parameters
    ----------
    probabilities : (n, classes)
    costs : (classes, classes), truth in rows, decision in columns

    Examples
    --------
    >>> expected_costs([[0.75, 0.25]], [[0, 10], [1, 0]]).tolist()
    [[0.25, 7.5]]
    """
    chances: Floats = np.asarray(probabilities, dtype=np.float64)
    matrix = np.asarray(costs, dtype=np.float64)
    if chances.ndim != 2 or matrix.shape != (chances.shape[1],) * 2:
        raise UsageError(
            f"The probabilities have shape {chances.shape} and the costs {matrix.shape}; expected (n, k) and "
            f"(k, k)."
        )
    found: Floats = chances @ matrix
    return found


def least_cost(probabilities: Any, costs: Any) -> NDArray[np.intp]:
    """The place of the class with the least expected cost; the first of equal ones.

    Examples
    --------
    A lost good message costs ten times as much as a spam message that is let through.

    >>> least_cost([[0.75, 0.25], [0.08, 0.92]], [[0, 10], [1, 0]]).tolist()
    [0, 1]
    >>> least_cost([[0.25, 0.75]], [[0, 10], [1, 0]]).tolist()
    [0]
    """
    found: NDArray[np.intp] = expected_costs(probabilities, costs).argmin(axis=1)
    return found
