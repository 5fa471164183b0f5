"""The quality of decisions in a label hierarchy, level by level.

"all" takes all nodes together, with their ancestors: its micro-averages are the hierarchical precision,
recall and F1. "most specific" takes only the labels that `predict` writes.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.labels.hierarchy import LabelTree
from widemargin.measure.contingency import contingency, f_measure, macro, precision, recall

AVERAGED = {"precision": precision, "recall": recall, "f1": f_measure}
ALL, MOST_SPECIFIC = "all", "most specific"


@dataclass(frozen=True)
class Level:
    """The figures of some nodes of a tree.

    Attributes
    ----------
    level : "1", "2" and so on from the roots; "all"; "most specific"
    labels : number of nodes
    examples, predicted : how often documents have them, and are predicted to have them
    right : share of the documents that have exactly the predicted ones
    micro, macro : "precision", "recall" and "f1"; None where they are not defined
    """

    level: str
    labels: int
    examples: int
    predicted: int
    right: float
    micro: dict[str, float | None]
    macro: dict[str, float | None]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def by_level(tree: LabelTree, truth: NDArray[Any], chosen: NDArray[Any]) -> list[Level]:
    """One entry per level, then "all" and "most specific".

    Parameters
    ----------
    truth, chosen : signs (n, nodes), both with all ancestors

    Examples
    --------
    >>> from widemargin.labels import Labels
    >>> tree, labels = LabelTree.grow(Labels.of(["a/x", "a/y", "b"]), "/")
    >>> chosen = labels.signs[[1, 1, 2]]  # a/y, a/y, b
    >>> [(found.level, round(found.micro["f1"], 3)) for found in by_level(tree, labels.signs, chosen)]
    [('1', 1.0), ('2', 0.5), ('all', 0.8), ('most specific', 0.667)]
    """
    actual, decided = np.asarray(truth) > 0, np.asarray(chosen) > 0
    found = []
    for level in range(1, tree.depth + 1):
        nodes = (tree.levels == level) & ~tree.stops
        found.append(_level(str(level), actual[:, nodes], decided[:, nodes]))
    # Documents that stop at a node differ from those below it, so stops count in what is right.
    right = float((actual == decided).all(axis=1).mean())
    for name, pair in (
        (ALL, (actual[:, ~tree.stops], decided[:, ~tree.stops])),
        (MOST_SPECIFIC, (tree.most_specific(actual), tree.most_specific(decided))),
    ):
        found.append(_level(name, *pair, right=right))
    return found


def _level(name: str, actual: NDArray[Any], decided: NDArray[Any], right: float | None = None) -> Level:
    table = contingency(actual, decided)
    merged = table.merged()
    used = actual.shape[1]
    if name == MOST_SPECIFIC:
        used = int(np.count_nonzero(table.positives))
    right = float((actual == decided).all(axis=1).mean()) if right is None else right
    return Level(
        name,
        used,
        int(merged.positives),
        int(merged.predicted),
        round(right, 6),
        {name: _plain(float(measure(merged))) for name, measure in AVERAGED.items()},
        {name: _plain(macro(measure(table))) for name, measure in AVERAGED.items()},
    )


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 6)
