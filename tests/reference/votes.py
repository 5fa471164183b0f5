"""Pairwise votes one row and one pair at a time: slow, and obviously right."""

from __future__ import annotations


def winner_of(row, names, a, b):
    """Which of the classes a < b the row of scores prefers; `names` lists the pair of every column."""
    return b if row[names.index((a, b))] > 0 else a


def column_names(k):
    names = []
    for a in range(k):
        for b in range(k):
            if a < b:
                names.append((a, b))
    return names


def majority_vote(scores, k):
    names = column_names(k)
    winners = []
    for row in scores:
        votes, margins = [0] * k, [0] * k
        for column, (a, b) in enumerate(names):
            votes[winner_of(row, names, a, b)] += 1
            margins[a] -= row[column]
            margins[b] += row[column]
        winners.append(max(range(k), key=lambda c: (votes[c], margins[c], -c)))
    return winners


def dag_vote(scores, k):
    names = column_names(k)
    winners = []
    for row in scores:
        candidates = list(range(k))
        while len(candidates) > 1:
            first, last = candidates[0], candidates[-1]
            candidates.remove(first if winner_of(row, names, first, last) == last else last)
        winners.append(candidates[0])
    return winners
