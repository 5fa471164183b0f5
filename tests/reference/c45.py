"""C4.5 written out on dense data: every column, every cut, every node (Quinlan, 1993; 1996)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.stats import beta

SAME, LEAST = 1e-12, 1e-10


@dataclass
class Node:
    """`column` is None in a leaf."""

    n: float
    positive: float
    column: int | None = None
    threshold: float = 0.0
    left: Node | None = None
    right: Node | None = None

    def leaf(self, x):
        node = self
        while node.column is not None:
            node = node.left if x[node.column] <= node.threshold else node.right
        return node

    def flat(self):
        """(column, threshold, n, positive) of all nodes: a node, its left subtree, its right subtree."""
        mine = [(-1 if self.column is None else self.column, self.threshold, self.n, self.positive)]
        return mine if self.column is None else mine + self.left.flat() + self.right.flat()


def information(weights):
    """Bits, for the weights of the classes or of the branches."""
    shares = np.array([weight for weight in weights if weight > 0]) / sum(weights)
    return float(-np.sum(shares * np.log2(shares)))


def gain(positive, weights, low):
    def part(rows):
        n = weights[rows].sum()
        p = weights[rows & positive].sum()
        return n * information([p, n - p]) if n > 0 else 0.0

    everywhere = np.ones(len(low), dtype=bool)
    return (part(everywhere) - part(low) - part(~low)) / weights.sum()


def best_cut(values, positive, weights, min_objects, penalty, is_binary):
    """(gain, below, above) of the cut of greatest gain, the lowest of equal ones; None if there is none."""
    distinct = np.unique(values)
    if not is_binary:
        min_objects = max(min_objects, min(0.1 * weights.sum() / 2, 25))
    best = None
    for below, above in pairwise(distinct):
        low = values <= below
        if min(weights[low].sum(), weights[~low].sum()) < min_objects:
            continue
        found = gain(positive, weights, low)
        if best is None or found > best[0] + SAME:
            best = found, below, above
    if best is None:
        return None
    price = np.log2(len(distinct) - 1) / weights.sum() if penalty else 0.0
    return best[0] - price, *best[1:]


def best_split(X, rows, positive, weights, min_objects, gain_ratio, penalty):
    """(column, threshold), or None."""
    possible = []
    for column in range(X.shape[1]):
        values = X[rows, column]
        is_binary = len(np.unique(X[X[:, column] != 0, column])) < 2
        cut = best_cut(values, positive[rows], weights[rows], min_objects, penalty, is_binary)
        if cut is not None and cut[0] > LEAST:
            low = weights[rows][values <= cut[1]].sum()
            possible.append((column, *cut, information([low, weights[rows].sum() - low])))
    if not possible:
        return None
    average = np.mean([found for _, found, *_ in possible])
    greatest, best = 0.0, None
    for column, found, below, above, of_split in possible:
        if gain_ratio and found < average - SAME:
            continue
        worth = found / of_split if gain_ratio else found
        if worth > greatest + SAME:
            greatest, best = worth, (column, below, above)
    column, below, above = best
    middle = below + (above - below) / 2
    everywhere = X[:, column]
    return column, float(everywhere[everywhere <= (middle if middle < above else below)].max())


def grow(
    X, positive, weights=None, *, min_objects=2.0, max_depth=10**6, gain_ratio=True, penalty=True, rows=None
):
    """The tree without pruning."""
    weights = np.ones(len(X)) if weights is None else weights
    rows = np.flatnonzero(weights > 0) if rows is None else rows
    node = Node(weights[rows].sum(), weights[rows[positive[rows]]].sum())
    if node.positive in (0, node.n) or max_depth == 0:
        return node
    split = best_split(X, rows, positive, weights, min_objects, gain_ratio, penalty)
    if split is None:
        return node
    node.column, node.threshold = split
    low = X[rows, node.column] <= node.threshold
    node.left, node.right = (
        grow(
            X, positive, weights, min_objects=min_objects, max_depth=max_depth - 1,
            gain_ratio=gain_ratio, penalty=penalty, rows=part,
        )
        for part in (rows[low], rows[~low])
    )  # fmt: skip
    return node


def upper_error_rate(errors, n, confidence):
    """U_CF(E, N): the p for which E or fewer errors of N have the probability CF."""
    return 1.0 if errors >= n else float(beta.ppf(1 - confidence, errors + 1, n - errors))


def expected_errors(node, confidence):
    """Of a node, if it is a leaf."""
    errors = min(node.positive, node.n - node.positive)
    return node.n * upper_error_rate(errors, node.n, confidence)


def prune(node, confidence):
    """Replaces subtrees by leaves, bottom up; returns the errors that are expected of what is left."""
    as_leaf = expected_errors(node, confidence)
    if node.column is None:
        return as_leaf
    below = prune(node.left, confidence) + prune(node.right, confidence)
    if as_leaf <= below + 0.1:
        node.column, node.threshold, node.left, node.right = None, 0.0, None, None
        return as_leaf
    return below


def paths(node, conditions=()):
    """(conditions, leaf) of every path; a condition is (column, above, threshold)."""
    if node.column is None:
        return [(list(conditions), node)]
    below, above = ((node.column, is_above, node.threshold) for is_above in (False, True))
    return paths(node.left, (*conditions, below)) + paths(node.right, (*conditions, above))


def covered(X, conditions):
    found = np.ones(len(X), dtype=bool)
    for column, above, threshold in conditions:
        found &= (X[:, column] > threshold) == above
    return found


def generalized(X, positive, weights, conditions, of_class, confidence):
    """Drops conditions while the pessimistic error rate does not rise; returns the rest, and the rate."""

    def rate(kept):
        rows = covered(X, kept)
        n = weights[rows].sum()
        return upper_error_rate(weights[rows & (positive != of_class)].sum(), n, confidence)

    conditions, now = list(conditions), rate(conditions)
    while conditions:
        shorter = [conditions[:c] + conditions[c + 1 :] for c in range(len(conditions))]
        rates = np.array([rate(kept) for kept in shorter])
        if rates.min() > now + 1e-9:
            break
        last = int(np.flatnonzero(rates <= rates.min() + 1e-9)[-1])
        conditions, now = shorter[last], rates[last]
    return conditions, now


def rules(X, positive, weights, tree, confidence):
    """The rules in order, each (conditions, n, positive); the default, without conditions, is the last."""
    of_class = {False: [], True: []}
    for conditions, leaf in paths(tree):
        wanted = bool(leaf.positive > leaf.n - leaf.positive)
        kept, rate = generalized(X, positive, weights, conditions, wanted, confidence)
        rows = covered(X, kept)
        wrong = weights[rows & (positive != wanted)].sum()
        if 2 * wrong < weights[rows].sum() and kept not in [other for other, _ in of_class[wanted]]:
            of_class[wanted].append((kept, rate))
    anywhere = np.zeros(len(X), dtype=bool)
    false_positives = {}
    for wanted, found in of_class.items():
        sifted, seen = [], np.zeros(len(X), dtype=bool)
        for kept, _ in sorted(found, key=lambda rule: round(rule[1], 9)):
            new = covered(X, kept) & ~seen
            if 2 * weights[new & (positive != wanted)].sum() < weights[new].sum():
                sifted.append(kept)
                seen |= new
        of_class[wanted] = sifted
        anywhere |= seen
        false_positives[wanted] = weights[seen & (positive != wanted)].sum()
    first = false_positives[True] <= false_positives[False]
    rest = ~anywhere if weights[~anywhere].sum() > 0 else np.ones(len(X), dtype=bool)
    ordered = [(kept, covered(X, kept)) for kept in of_class[first] + of_class[not first]] + [([], rest)]
    return [(kept, weights[rows].sum(), weights[rows & positive].sum()) for kept, rows in ordered]
