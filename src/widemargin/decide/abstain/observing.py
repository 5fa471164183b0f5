"""What scores say of documents: the labels that are decided, how near a class is, how clear the decision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.decide.rule import DecisionRule
from widemargin.monitor.observed import Observed

Floats = NDArray[np.float64]


def observe(
    rule: DecisionRule,
    scores: NDArray[Any],
    lengths: Any = None,
    *,
    empty: float = 0.0,
    unknown: Floats | None = None,
    no_terms: NDArray[np.bool_] | None = None,
) -> Observed:
    """What is seen of documents.

    **Confidence.** Of exclusive classes, how far the best is ahead of the second; of labels that are decided
    one by one, how far the nearest score is from its threshold. Of several classes without costs, it is added
    how far the best score is above that of a document without terms: a document may be nearer to one class
    than to others, and far from all. Terms that are not known carry no evidence, but normalization lengthens
    the others; so nearness and confidence are multiplied by the share of known terms.

    Parameters
    ----------
    lengths : as for `rule.probabilities`
    empty : the best score of a document without terms
    unknown, no_terms : of the documents, if they are known

    Examples
    --------
    >>> from widemargin.labels import Labels
    >>> rule = DecisionRule(Labels.of(["a", "b", "c"]).space)
    >>> found = observe(rule, np.array([[0.5, -1.0, 0.25]]), empty=-1.0, unknown=np.array([0.2]))
    >>> found.decided.tolist(), found.nearness.round(6).tolist(), found.confidence.round(6).tolist()
    ([[True, False, False]], [1.2], [1.4])
    """
    decided = np.asarray(rule.choose(scores, lengths)) > 0
    best = np.asarray(scores, dtype=np.float64).reshape(len(scores), -1).max(axis=1)
    known = 1.0 if unknown is None else 1 - unknown
    confidence, nearness = _clearness(rule, scores, lengths), None
    if rule.space.kind == "multiclass" and rule.hierarchy is None:
        nearness = known * (best - empty)
    if nearness is not None and rule.costs is None:
        confidence = confidence * known + nearness
    else:
        # Without a known term, nothing is clear, however far a threshold is.
        confidence = np.where(known == 0, 0.0, confidence) * known
    return Observed(decided, best, confidence, nearness, unknown, no_terms)


def _clearness(rule: DecisionRule, scores: NDArray[Any], lengths: Any) -> Floats:
    preferences = np.asarray(rule.preferences(scores, lengths), dtype=np.float64)
    tree = rule.hierarchy
    exclusive = tree.tree.exclusive if tree is not None else rule.space.kind != "multilabel"
    if not exclusive:
        found: Floats = np.abs(preferences).min(axis=1)
        return found
    if tree is not None:
        preferences = preferences[:, [column for column, _ in rule.candidates]]
    if preferences.shape[1] < 2:
        return np.zeros(len(preferences))
    second, first = np.partition(preferences, -2, axis=1)[:, -2:].T
    ahead: Floats = first - second
    return ahead


def decision_probability(rule: DecisionRule, scores: NDArray[Any], lengths: Any = None) -> Floats:
    """The probability that a decision is right, by a rule with a calibration: that of the label that is
    decided, or, where each label is decided by itself, of all decisions, as if labels were independent.

    Examples
    --------
    >>> from widemargin.decide.calibration import Platt
    >>> from widemargin.labels import Labels
    >>> rule = DecisionRule(Labels.of(["a", "b"]).space, None, Platt(np.ones(1), np.zeros(1)))
    >>> decision_probability(rule, np.array([0.0, 5.0])).round(2).tolist()
    [0.5, 0.99]
    """
    chances = rule.probabilities(scores, lengths)
    decided = np.asarray(rule.choose(scores, lengths)) > 0
    if rule.space.kind == "binary":
        decided = np.hstack([~decided, decided])
    tree = rule.hierarchy
    exclusive = tree.tree.exclusive if tree is not None else rule.space.kind != "multilabel"
    if exclusive:
        # Along a tree, the most specific label has the least probability.
        found: Floats = np.where(decided, chances, np.inf).min(axis=1)
        return np.asarray(np.where(np.isinf(found), 0.0, found))
    every: Floats = np.where(decided, chances, 1 - chances).prod(axis=1)
    return every
