"""Scores of terms by the textbook: probabilities counted document by document, one at a time."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm


def probabilities(word: np.ndarray, label: np.ndarray) -> dict[tuple[bool, object], float]:
    """Pr(w, y) for both values of the word and every value of the label."""
    return {
        (w, y): float(np.mean([(bool(a), b) == (w, y) for a, b in zip(word, label, strict=True)]))
        for w in (False, True)
        for y in sorted(set(label.tolist()))
    }


def _margins(pr):
    word, label = {}, {}
    for (w, y), p in pr.items():
        word[w] = word.get(w, 0.0) + p
        label[y] = label.get(y, 0.0) + p
    return word, label


def information_gain(word, label):
    """The sum of Pr(w, y) log Pr(w, y) / Pr(w) Pr(y)."""
    pr = probabilities(word, label)
    of_word, of_label = _margins(pr)
    return sum(p * math.log(p / (of_word[w] * of_label[y])) for (w, y), p in pr.items() if p > 0)


def gini_gain(word, label):
    """The Gini index of the labels, less its mean over documents with and without the word."""

    def gini(labels):
        shares = [np.mean([value == y for value in labels]) for y in set(labels)]
        return 1 - sum(share**2 for share in shares)

    labels = label.tolist()
    sides = [[y for y, w in zip(labels, word, strict=True) if bool(w) == side] for side in (False, True)]
    return gini(labels) - sum(len(side) / len(labels) * gini(side) for side in sides if side)


def chi_square(word, label):
    """The sum of (observed - expected)^2 / expected."""
    pr = probabilities(word, label)
    of_word, of_label = _margins(pr)
    n = len(word)
    expected = {(w, y): n * of_word[w] * of_label[y] for w, y in pr}
    return sum((n * p - expected[cell]) ** 2 / expected[cell] for cell, p in pr.items() if expected[cell] > 0)


def odds_ratio(word, label):
    """Each side has one document more, which holds the word as often as all documents do."""
    share = float(np.mean(word))
    if share in (0.0, 1.0):
        return 0.0
    inside, outside = word[label > 0], word[label < 0]
    p = (inside.sum() + share) / (len(inside) + 1)
    q = (outside.sum() + share) / (len(outside) + 1)
    return math.log(p / (1 - p)) - math.log(q / (1 - q))


def bi_normal_separation(word, label):
    def rate(side):
        return min(max(float(np.mean(word[side])), 0.0005), 0.9995)

    return abs(norm.ppf(rate(label > 0)) - norm.ppf(rate(label < 0)))
