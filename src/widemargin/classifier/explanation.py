"""Explain a score: the contribution and the position of every occurrence of a term."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from widemargin.classifier.outline import PathStep

if TYPE_CHECKING:
    from widemargin.learn.neighbors.nearest_neighbors import Voter


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one occurrence of a term to the score.

    A pair of words does not cover what stands between `gap_start` and `gap_end`. Other terms have no gap.
    `block` is the block of the term, see :mod:`widemargin.weight.blocks`; None where there are no blocks.
    """

    start: int
    end: int
    text: str
    term: str
    value: float
    gap_start: int | None = None
    gap_end: int | None = None
    block: str | None = None

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The starts and ends of what the term covers: one part, or the two words of a pair."""
        if self.gap_start is None or self.gap_end is None:
            return [(self.start, self.end)]
        return [(self.start, self.gap_start), (self.gap_end, self.end)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `spans` of pairs only, `block` with blocks only."""
        plain = {"start": self.start, "end": self.end, "text": self.text, "term": self.term}
        block = {} if self.block is None else {"block": self.block}
        spans = {} if self.gap_start is None else {"spans": [list(span) for span in self.spans]}
        return {**plain, **block, **spans, "value": self.value}


@dataclass(frozen=True)
class Explanation:
    """The score of a text for a label, as a sum of contributions.

    Attributes
    ----------
    label : the explained label
    score : float
        Positive if the label is assigned (multiclass: the largest score wins).
    bias : float
        The part of the score that does not depend on the text.
    contributions : list of Contribution
        One for every occurrence of a known term, in the order of the text. They and `bias` sum to `score`.
    threshold : float, optional
        The label is assigned if the score exceeds this; None for 0. Of several classes, the one whose score
        exceeds its threshold most.
    voters : list of Voter, optional
        The training documents that voted, of nearest neighbors.
    path : list of PathStep, optional
        The conditions of a tree or a rule that the text meets, in order; None for other learners.
    expected_cost : float, optional
        Of deciding the label, where the least expected cost decides.
    text : str, optional
        The explained text.
    """

    label: Any
    score: float
    bias: float
    contributions: list[Contribution]
    threshold: float | None = None
    voters: list[Voter] | None = None
    path: list[PathStep] | None = None
    expected_cost: float | None = None
    text: str | None = field(default=None, repr=False)

    def by_term(self) -> list[tuple[str, float, int]]:
        """Terms with the sum of their contributions and their number of occurrences, the strongest first."""
        sums: dict[str, tuple[float, int]] = {}
        for part in self.contributions:
            value, count = sums.get(part.term, (0.0, 0))
            sums[part.term] = (value + part.value, count + 1)
        rows = [(term, value, count) for term, (value, count) in sums.items()]
        return sorted(rows, key=lambda row: (-abs(row[1]), row[0]))

    def _repr_html_(self) -> str:
        """For notebooks: the highlighted text."""
        from widemargin.report.notebook.explained import explanation_html

        return explanation_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "label": self.label,
            "score": self.score,
            "bias": self.bias,
            **({} if self.threshold is None else {"threshold": self.threshold}),
            **({} if self.expected_cost is None else {"expected_cost": self.expected_cost}),
            **({} if self.path is None else {"path": [asdict(step) for step in self.path]}),
            "contributions": [part.to_dict() for part in self.contributions],
            **({} if self.voters is None else {"voters": [voter._asdict() for voter in self.voters]}),
        }


def explain_scores(
    text: str,
    *,
    label: Any,
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    located: Iterable[Any],
    bias: float,
    score: float,
    threshold: float | None = None,
    name: Callable[[int], str] | None,
    block: Callable[[int], str] | None = None,
) -> Explanation:
    """Divide what every term adds to the score equally among its occurrences.

    With a weighting that is not linear in the term frequency no occurrence is worth more than another,
    so equal shares are the only ones that do not depend on their order. Where columns have no `name`, a term
    is called what stands in the text.

    Parameters
    ----------
    columns, values : the terms of the text, and what each adds
    located : the columns, starts and ends of all occurrences, and the gaps in them
    block : of columns, if there are blocks
    """
    terms, *places = (np.asarray(part).tolist() for part in located)
    value = dict(zip(columns.tolist(), values.tolist(), strict=True))
    occurrences = Counter(terms)
    contributions = []
    for column, start, end, gap_start, gap_end in zip(terms, *places, strict=True):
        apart = gap_start < end
        gap = (gap_start, gap_end) if apart else (None, None)
        covered = f"{text[start:gap_start]} ... {text[gap_end:end]}" if apart else text[start:end]
        term = covered.casefold() if name is None else name(column)
        share = value.get(column, 0.0) / occurrences[column]
        of = None if block is None else block(column)
        contributions.append(Contribution(start, end, covered, term, share, gap[0], gap[1], of))
    contributions.sort(key=lambda part: (part.start, part.end))
    return Explanation(label, score, bias, contributions, threshold, text=text)
