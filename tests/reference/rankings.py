"""Measures of a ranking by trying every order of tied examples: slow, and obviously right."""

from __future__ import annotations

from itertools import permutations

import numpy as np


def orders(scores):
    """Every ranking that lists higher scores first, as lists of positions."""
    n = len(scores)
    return [order for order in permutations(range(n)) if all(np.diff([-scores[i] for i in order]) >= 0)]


def break_even(truth, scores):
    """The mean over all orders of the precision among the R first, where R examples are positive."""
    wanted = sum(sign > 0 for sign in truth)
    return np.mean([sum(truth[i] > 0 for i in order[:wanted]) / wanted for order in orders(scores)])


def precision_at(truth, scores, count):
    """The mean over all orders of the share of positives among the first `count`."""
    return np.mean([sum(truth[i] > 0 for i in order[:count]) / count for order in orders(scores)])


def average_precision(truth, scores):
    """The mean over all orders of the mean precision at every positive."""
    found = []
    for order in orders(scores):
        hits, precisions = 0, []
        for place, i in enumerate(order, 1):
            if truth[i] > 0:
                hits += 1
                precisions.append(hits / place)
        found.append(np.mean(precisions))
    return np.mean(found)


def precision_at_number_found(truth, scores, number):
    """number / (number + the mean count of negatives read before the number-th positive)."""
    lengths = []
    for order in orders(scores):
        found = negatives = 0
        for i in order:
            if truth[i] > 0:
                found += 1
            else:
                negatives += 1
            if found == number:
                break
        lengths.append(negatives)
    return number / (number + np.mean(lengths))


def lowered_threshold(truth, scores):
    """Hits, claims and positives at every threshold over all tasks, from tables added by loops."""
    points = []
    for threshold in sorted(set(np.ravel(scores).tolist()), reverse=True):
        hits = claims = positives = 0
        for column in range(truth.shape[1]):
            for row in range(len(truth)):
                claimed = scores[row, column] >= threshold
                actual = truth[row, column] > 0
                hits += int(claimed and actual)
                claims += int(claimed)
                positives += int(actual)
        points.append((hits, claims, positives))
    return points
