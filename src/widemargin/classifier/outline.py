"""Trees and rules with the names of terms, for `inspect`; the path of a text in them, for `explain`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from widemargin.classifier.representation import Representation
from widemargin.classifier.term_weights import column_of
from widemargin.errors import UsageError
from widemargin.learn.trees.conditions import OutlineLine, Step


@dataclass(frozen=True)
class Outline:
    """The tree or the rules of one label.

    Attributes
    ----------
    lines : nodes or rules in order; the score of a line is that of documents that get no further
    """

    label: Any
    lines: list[OutlineLine]
    representation: Representation

    def words(self) -> list[str]:
        """The lines as text."""
        names, terms = self.representation.term, self.representation.has_terms
        return [line.words(str(self.label), names, terms=terms) for line in self.lines]

    def to_list(self) -> list[dict[str, Any]]:
        """Plain values for JSON."""
        return [line.to_dict(self.representation.term) for line in self.lines]


@dataclass(frozen=True)
class PathStep:
    """A condition that a text meets.

    Attributes
    ----------
    condition : in words, such as ``"wheat" > 0.1``
    term, value : the term, and its weight in the text; 0 if it does not occur
    score : of the label after this condition
    """

    condition: str
    term: str
    value: float
    score: float


def has_outline(learner: Any) -> bool:
    """Whether the learner is a tree or rules that can be read."""
    return hasattr(learner, "outline")


def outline(learner: Any, representation: Representation, label: Any) -> Outline:
    """The tree or the rules of `label`.

    Raises
    ------
    UsageError
        The learner has neither.
    """
    if not has_outline(learner):
        raise UsageError(f"A {type(learner).__name__} is not a tree. Train a C45 (--learner c45).")
    column, sign = column_of(learner, label)
    lines = learner.outline(learner.label_space_.column_names[column])
    return Outline(label, lines if sign > 0 else [_reversed(line) for line in lines], representation)


def path(steps: Sequence[Step], sign: float, representation: Representation) -> list[PathStep]:
    """The conditions that a text meets, in words; a negative `sign` is for the other one of two classes."""
    name, terms = representation.term, representation.has_terms
    found = []
    for condition, value, score in steps:
        words = condition.words(name, terms=terms)
        found.append(PathStep(words, name(condition.column), value, sign * score))
    return found


def _reversed(line: OutlineLine) -> OutlineLine:
    """The same for the other one of two classes."""
    score = None if line.score is None else -line.score
    return replace(line, positive=line.n - line.positive, score=score)
