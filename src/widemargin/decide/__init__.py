"""From scores to decisions: arrays of scores in, decisions out."""

from widemargin.decide.votes import class_scores, dag_vote, majority_vote, pairs, tally

__all__ = ["class_scores", "dag_vote", "majority_vote", "pairs", "tally"]
