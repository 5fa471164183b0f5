"""Spherical k-means over the terms of a small dense matrix, one term and one group at a time."""

from __future__ import annotations

import numpy as np


def directions(X):
    """Every term with a value as a vector of length 1, and the numbers of these terms."""
    known = [j for j in range(X.shape[1]) if (X[:, j] != 0).any()]
    return np.array([X[:, j] / np.linalg.norm(X[:, j]) for j in known]), known


def mean_directions(terms, groups, k):
    """The sum of the terms of every group, scaled to length 1; 0 where they cancel."""
    centers = []
    for group in range(k):
        members = [term for term, its in zip(terms, groups, strict=True) if its == group]
        total = np.sum(members, axis=0) if members else np.zeros(terms.shape[1])
        length = np.linalg.norm(total)
        centers.append(total / length if length > 0 else total)
    return np.array(centers)


def k_means(terms, first, max_iter):
    """The group of each term, the passes, and the terms that the last pass moved into empty groups.

    Groups begin with the terms `first`. A pass gives each term to the mean direction with the largest cosine;
    an empty group then takes the term that fits its own group worst, of groups with several terms.
    """
    k, centers, groups = len(first), terms[first], None
    passes = 0
    while passes < max_iter:
        passes += 1
        before, groups, fits, moved = groups, [], [], []
        for term in terms:
            cosines = [float(center @ term) for center in centers]
            groups.append(int(np.argmax(cosines)))
            fits.append(max(cosines))
        for empty in [group for group in range(k) if group not in groups]:
            candidates = [i for i in range(len(terms)) if i not in moved and groups.count(groups[i]) > 1]
            worst = min(candidates, key=lambda i: fits[i])
            groups[worst] = empty
            moved.append(worst)
        if groups == before:
            break
        centers = mean_directions(terms, groups, k)
    return groups, passes, moved


def transform(X, groups, known, k):
    """The sums of the values of every group."""
    result = np.zeros((len(X), k))
    for j, group in zip(known, groups, strict=True):
        result[:, group] += X[:, j]
    return result
