"""From scores to decisions: arrays of scores in, decisions out."""

from widemargin.decide.votes import dag_vote, majority_vote, pairs, tally

__all__ = ["dag_vote", "majority_vote", "pairs", "tally"]
