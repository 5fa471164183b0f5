"""Mutual information of terms and labels by its definition, for small dense matrices."""

from __future__ import annotations

import math

import numpy as np


def joint(X, y):
    """p(term, label): values count for the labels of their documents, in equal parts; () is a label too."""
    sets = [labels if isinstance(labels, tuple) else (labels,) for labels in y]
    names = [*sorted({label for labels in sets for label in labels}), None]
    table = np.zeros((X.shape[1], len(names)))
    for row, labels in zip(X, sets, strict=True):
        for label in labels or (None,):
            table[:, names.index(label)] += row / max(len(labels), 1)
    return table / table.sum()


def mutual_information(table):
    """sum p(w, c) log (p(w, c) / (p(w) p(c))), in nats."""
    total = 0.0
    for w in range(len(table)):
        for c in range(len(table[0])):
            if table[w, c] > 0:
                total += table[w, c] * math.log(table[w, c] / (table[w].sum() * table[:, c].sum()))
    return total


def merged(table, groups):
    """p(cluster, label); terms that do not occur are in no cluster, -1."""
    return np.array([table[[g == group for g in groups]].sum(axis=0) for group in range(max(groups) + 1)])


def divergence(p, q):
    """KL(p || q)."""
    return sum(math.inf if b == 0 else a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)


def divergences(table, groups):
    """sum p(w) KL(p(C|w) || p(C|cluster of w))."""
    of_groups = merged(table, groups)
    total = 0.0
    for row, group in zip(table, groups, strict=True):
        if row.sum() > 0:
            total += row.sum() * divergence(row / row.sum(), of_groups[group] / of_groups[group].sum())
    return total


def nearest(table, groups):
    """The cluster of least divergence of every term."""
    of_groups = merged(table, groups)
    of_groups /= of_groups.sum(axis=1, keepdims=True)
    return [int(np.argmin([divergence(row / row.sum(), q) for q in of_groups])) for row in table]
