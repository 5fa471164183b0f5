"""Averages over several tasks, joachims 2.6.4: macro of the measures, micro of the tables.

A macro-average is the mean over the m tasks (2.34, which prints 1/l for 1/m); a micro-average is the
measure of the added tables (2.35). Tasks without a positive example have no precision, recall or F: macro
ignores them, while their false positives count in micro.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.measure.contingency import Contingency


def macro(values: NDArray[Any]) -> float:
    """The mean of the defined values, NaN if there are none.

    Examples
    --------
    >>> macro(np.array([0.5, 1.0, np.nan]))
    0.75
    """
    values = np.asarray(values, dtype=np.float64)
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def micro(measure: Callable[[Contingency], NDArray[np.float64]], table: Contingency) -> float:
    """`measure` of the sum of all tables, such as ``micro(f_measure, table)``."""
    return float(measure(table.merged()))
