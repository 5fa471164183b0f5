"""A slow, obvious staged search: every candidate has its own vectorizer, fitted on what it learns from."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from widemargin import Vectorizer
from widemargin.estimate.cross_validation import scores_without
from widemargin.labels import Labels


def held_out_value(texts, y, splits, point, C, by):
    """The measure of one point on held-out documents."""
    labels = Labels.of(y)
    space, truth = labels.space_and_signs
    scores, unseen = [], []
    for split in splits:
        vectorizer = Vectorizer(**point.representation).fit([texts[i] for i in split.seen])
        X_seen, X_unseen = (
            vectorizer.transform([texts[i] for i in part]) for part in (split.seen, split.unseen)
        )
        learner = _at_race_tolerance(point.learner)
        if C is not None:
            learner.set_params(C=C)
        scores.append(scores_without(learner, X_seen, X_unseen, space, truth[split.seen]))
        unseen.append(split.unseen)
    return by.of_scores(space, truth[np.concatenate(unseen)], np.vstack(scores)).value


def _at_race_tolerance(learner):
    if hasattr(learner, "members"):
        members = [(columns, _at_race_tolerance(member)) for columns, member in learner.members]
        return clone(learner).set_params(members=members)
    return clone(learner).set_params(tol=max(learner.tol, 0.1))


def best_on_axis(texts, y, splits, leader, C, axis, by):
    """The best of a leader and its alternatives on one axis, all evaluated; ties keep the first."""
    best, best_value = leader, held_out_value(texts, y, splits, leader, C, by)
    for point in axis.around(leader):
        value = held_out_value(texts, y, splits, point, C, by)
        if value > best_value:
            best, best_value = point, value
    return best, best_value
