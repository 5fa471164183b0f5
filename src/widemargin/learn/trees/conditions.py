"""Conditions on paths and in rules, and what trees and rules say in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

Name = Callable[[int], str]


class Condition(NamedTuple):
    """``x[column] > threshold`` if `above`, otherwise ``x[column] <= threshold``."""

    column: int
    above: bool
    threshold: float

    def words(self, name: Name, *, terms: bool = False) -> str:
        """The condition with the name of its column.

        Parameters
        ----------
        name : names a column
        terms : columns are terms of texts, whose values are not negative

        Examples
        --------
        >>> names = ["corn", "wheat"]
        >>> Condition(1, True, 0.25).words(names.__getitem__)
        'wheat > 0.25'
        >>> Condition(0, False, 0.0).words(names.__getitem__, terms=True)
        'no "corn"'
        """
        if terms and self.threshold == 0:
            return f'{"" if self.above else "no "}"{name(self.column)}"'
        term = f'"{name(self.column)}"' if terms else name(self.column)
        return f"{term} {'>' if self.above else '<='} {self.threshold:.4g}"


class Step(NamedTuple):
    """A condition that a document meets: its value, and the score of what it has met so far."""

    condition: Condition
    value: float
    score: float


@dataclass(frozen=True)
class OutlineLine:
    """A line of the description of a tree or of rules.

    Attributes
    ----------
    depth : indentation
    conditions : the last condition on the path to a node, or all conditions of a rule
    n, positive : weight of the training documents that meet the conditions, and of those with the label
    score : of documents that get no further; None for nodes with children
    """

    depth: int
    conditions: tuple[Condition, ...]
    n: float
    positive: float
    score: float | None

    def words(self, label: str, name: Name, *, terms: bool = False) -> str:
        """The line as text.

        Examples
        --------
        >>> line = OutlineLine(1, (Condition(0, True, 0.0),), 9.0, 8.0, 0.318)
        >>> line.words("grain", lambda column: "corn", terms=True)
        '|   "corn": grain (8 of 9)'
        """
        parts = [condition.words(name, terms=terms) for condition in self.conditions]
        found = "|   " * self.depth + (" and ".join(parts) or "otherwise")
        if self.score is None:
            return found
        verdict = label if self.score > 0 else f"not {label}"
        return f"{found}: {verdict} ({_weight(self.positive)} of {_weight(self.n)})"

    def to_dict(self, name: Name) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "depth": self.depth,
            "conditions": [
                {"term": name(each.column), "above": each.above, "threshold": each.threshold}
                for each in self.conditions
            ],
            "documents": self.n,
            "with_label": self.positive,
            "score": self.score,
        }


def _weight(weight: float) -> str:
    return f"{weight:,.0f}" if weight == round(weight) else f"{weight:,.2f}"
