"""Training documents whose labels are probably wrong: held-out scores contradict them with a large margin.

Each document is decided by a model that was trained without it. If the score contradicts the label by a large
margin, the document is unusual or the label is wrong.

How far is the margin of the contradiction, in the units of a support vector machine, whose own margin is 1:
``-y s`` where every label is decided by itself, and how much the best other class is ahead where one of
several is chosen. Labels with very few documents are left out: their scores lie near -1 whoever carries
them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.decide.rule import DecisionRule
from widemargin.labels import LabelSpace

Floats = NDArray[np.float64]
LARGE = 1.0  # the margin from which on a label is suspected
FEWEST = 5  # documents without which a label's scores mean nothing
MOST = 500  # suspects that are kept in a model


@dataclass(frozen=True)
class Suspect:
    """A label that a document has and probably should not have, or the other way round.

    Attributes
    ----------
    document : the document's id, or its number (from 0) where there are no ids
    given : the label in doubt; None for a label that seems to be missing
    suggested : the label that fits better; None if `given` should only be removed
    score : the held-out score of `given`, or of `suggested` where there is no `given`
    margin : how far it contradicts the label
    """

    document: Any
    given: Any
    suggested: Any
    score: float
    margin: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def suspects(space: LabelSpace, scores: Floats, truth: NDArray[Any], names: list[Any]) -> list[Suspect]:
    """The labels that held-out scores contradict most, the worst first.

    Parameters
    ----------
    scores : (n, columns) of `space`, each document's by a rule that was learned without it
    truth : signs of the same shape
    names : what to call the documents

    Examples
    --------
    >>> from widemargin.labels import Labels
    >>> space, truth = Labels.of(["ham"] * 5 + ["spam"] * 6).space_and_signs
    >>> scores = np.array([-1.0, -1.1, -0.9, -1.0, -1.0, 1.0, 1.1, 0.9, 1.0, 1.0, -1.2])
    >>> [(s.document, s.given, s.suggested) for s in suspects(space, scores[:, None], truth, list(range(11)))]
    [(10, 'spam', 'ham')]
    """
    scores = np.asarray(scores, dtype=np.float64).reshape(len(truth), -1)
    positive = np.asarray(truth).reshape(scores.shape) > 0
    classes = space.classes.tolist()
    members = np.count_nonzero(positive, axis=0)
    known = np.minimum(members, len(truth) - members) >= FEWEST
    found: list[tuple[float, int, Any, Any, float]] = []
    if space.kind == "multiclass":
        rows = np.flatnonzero((positive & known).any(axis=1))
        own = positive[rows].argmax(axis=1)
        other = np.where(positive[rows] | ~known, -np.inf, scores[rows]).argmax(axis=1)
        ahead = scores[rows, other] - scores[rows, own]
        for k in _worst(ahead):
            i = int(rows[k])
            found.append((float(ahead[k]), i, classes[own[k]], classes[other[k]], float(scores[i, own[k]])))
    else:
        against = np.where(known, np.where(positive, -scores, scores), -np.inf).ravel()
        for cell in _worst(against):
            i, j = divmod(cell, scores.shape[1])
            has, margin = bool(positive[i, j]), float(against[cell])
            if space.kind == "binary":
                found.append((margin, i, classes[int(has)], classes[int(not has)], -margin))
            elif has:
                found.append((margin, i, classes[j], None, -margin))
            else:
                found.append((margin, i, None, classes[j], margin))
    return [
        Suspect(names[i], given, suggested, round(score, 4), round(margin, 4))
        for margin, i, given, suggested, score in found
    ]


def _worst(margins: Floats) -> list[int]:
    """The places of the largest margins, in falling order; ties in the order of the documents."""
    places = np.flatnonzero(margins >= LARGE)
    order = np.lexsort((places, -margins[places]))
    return [int(place) for place in places[order][:MOST]]


def suspects_of_rule(
    rule: DecisionRule, scores: NDArray[np.float64], truth: NDArray[np.int8], names: list[Any]
) -> list[Suspect]:
    """The same for the labels of a rule; in a tree of labels with exclusive paths, whole paths only."""
    space, tree = rule.space, None if rule.hierarchy is None else rule.hierarchy.tree
    if tree is None or not tree.exclusive:
        return suspects(space, scores, truth, names)
    whole = LabelSpace("multiclass", space.classes[tree.label_of][tree.leaves])
    return suspects(whole, scores[:, tree.leaves], truth[:, tree.leaves], names)
