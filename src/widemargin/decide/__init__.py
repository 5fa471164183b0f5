"""From scores to decisions: arrays of scores in, decisions out."""

from widemargin.decide.active import (
    at_random,
    certainty,
    margin_change,
    next_to_label,
    relevance,
    uncertainty,
)
from widemargin.decide.promises import precision_thresholds, recall_thresholds
from widemargin.decide.thresholds import (
    assign_proportionally,
    best_f_thresholds,
    cost_thresholds,
    fbr_thresholds,
    proportional_scores,
    shrunk_f_thresholds,
)
from widemargin.decide.votes import class_scores, dag_vote, majority_vote, pairs, tally

__all__ = [
    "assign_proportionally",
    "at_random",
    "best_f_thresholds",
    "certainty",
    "class_scores",
    "cost_thresholds",
    "dag_vote",
    "fbr_thresholds",
    "majority_vote",
    "margin_change",
    "next_to_label",
    "pairs",
    "precision_thresholds",
    "proportional_scores",
    "recall_thresholds",
    "relevance",
    "shrunk_f_thresholds",
    "tally",
    "uncertainty",
]
