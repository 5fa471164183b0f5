"""What is said about a document whose scores are known: its labels, and on request scores, probabilities and
the best labels."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from widemargin.decide.rule import DecisionRule

Row = dict[str, Any]

_DIGITS = 6


def prediction_rows(
    rule: DecisionRule,
    scores: NDArray[Any],
    lengths: Any = None,
    *,
    every_score: bool = False,
    proba: bool = False,
    top: int | None = None,
) -> list[Row]:
    """One row per document, with its `labels` and what is asked for.

    Parameters
    ----------
    lengths : of the texts, if the rule needs them
    every_score : add `scores`, by label
    proba : add `probabilities`, by label, of a rule that has a calibration
    top : add `top`, so many labels with their scores, the best first

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.labels import Labels
    >>> rule = DecisionRule(Labels.of([["corn"], ["corn", "oil"]]).space)
    >>> prediction_rows(rule, np.array([[0.5, -1.0]]), every_score=True)
    [{'labels': ['corn'], 'scores': {'corn': 0.5, 'oil': -1.0}}]
    """
    rows: list[Row] = [{"labels": labels} for labels in rule.label_lists(scores, lengths)]
    if not rows or not (every_score or proba or top):
        return rows
    names = list(map(str, rule.space.classes.tolist()))
    columns = rule.by_label(scores)
    found = columns.round(_DIGITS).tolist()
    chances = rule.probabilities(scores, lengths).round(_DIGITS).tolist() if proba else None
    # Exclusive classes are listed in the order in which the rule prefers them.
    exclusive = rule.space.kind != "multilabel"
    order = (rule.preferences(scores, lengths) if exclusive else columns).tolist() if top else None
    for place, row in enumerate(rows):
        if every_score:
            row["scores"] = dict(zip(names, found[place], strict=True))
        if order is not None:
            by = order[place]
            best = sorted(rule.candidates, key=lambda each: (-by[each[0]], each[0]))[:top]
            row["top"] = [
                {"label": label, "score": found[place][j]}
                | ({} if chances is None else {"probability": chances[place][j]})
                for j, label in best
            ]
        if chances is not None:
            row["probabilities"] = dict(zip(names, chances[place], strict=True))
    return rows
