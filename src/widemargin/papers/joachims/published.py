"""The figures that Joachims (2000) prints, from ``published.csv``: a table, a row, its figures from left to
right.

A dash stands for a figure that is not printed as a number ("<0.01"). A row of Tables 5.1 to 5.3 has 32
figures: mean and deviation by hold-out test, leave-one-out, xi-alpha with rho = 1 and with rho = 2, of the
error, F1, recall and precision. A row of Tables 6.2, 6.4 and 6.6 has three parts: PRAVG on the test
documents, choices by xi-alpha and choices by leave-one-out. The columns of conventional methods stand apart
from those of SVMs: Bayes, Rocchio, C4.5 and k-NN.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Any

from widemargin.papers.result import UNPUBLISHED


@cache
def _tables() -> dict[str, dict[str, tuple[Any, ...]]]:
    text = files("widemargin.papers.joachims").joinpath("published.csv").read_text(encoding="utf-8")
    found: dict[str, dict[str, tuple[Any, ...]]] = {}
    _, *rows = csv.reader(text.splitlines())
    for table, row, *figures in rows:
        found.setdefault(table, {})[row] = tuple(map(_number, figures))
    return found


def _number(figure: str) -> float:
    return UNPUBLISHED if figure == "-" else float(figure) if "." in figure else int(figure)


def printed(table: str) -> dict[str, tuple[Any, ...]]:
    """The rows of a table with their figures.

    Examples
    --------
    >>> printed("6.7")["earn"]
    (98.0, 98.2, 98.1)
    """
    return dict(_tables()[table])


def printed_counts(table: str) -> dict[str, list[tuple[Any, ...]]]:
    """The three parts of every row of Table 6.2, 6.4 or 6.6."""
    return {
        row: [figures[k : k + len(figures) // 3] for k in range(0, len(figures), len(figures) // 3)]
        for row, figures in printed(table).items()
    }
