"""From scores to decisions: arrays of scores in, decisions out."""

from widemargin.decide.promises import precision_thresholds, recall_thresholds
from widemargin.decide.thresholds import (
    assign_proportionally,
    best_f_thresholds,
    cost_thresholds,
    fbr_thresholds,
    shrunk_f_thresholds,
)
from widemargin.decide.votes import class_scores, dag_vote, majority_vote, pairs, tally

__all__ = [
    "assign_proportionally",
    "best_f_thresholds",
    "class_scores",
    "cost_thresholds",
    "dag_vote",
    "fbr_thresholds",
    "majority_vote",
    "pairs",
    "precision_thresholds",
    "recall_thresholds",
    "shrunk_f_thresholds",
    "tally",
]
