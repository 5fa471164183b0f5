"""AdaBoost over stumps and trees, written out for dense arrays (Schapire and Singer, BoosTexter, 2000)."""

from __future__ import annotations

import numpy as np

from tests.reference import c45

TIE = 1e-6


def best_votes(plus, minus, total, kind, smoothing):
    """Votes (2, labels) of a stump from the weights (2, labels) of absent and present documents."""
    if kind == "discrete":
        edge = np.abs(plus - minus).sum()
        alpha = 0.5 * np.log((total + edge + smoothing * total) / (total - edge + smoothing * total))
        return alpha * np.sign(np.where(np.abs(plus - minus) <= 1e-12 * total, 0.0, plus - minus))
    votes = 0.5 * np.log((plus + smoothing * total) / (minus + smoothing * total))
    if kind == "abstaining":
        votes[0] = 0.0
    return votes


def loss_of(plus, minus, total, kind):
    """What a round minimizes."""
    if kind == "discrete":
        return total - np.abs(plus - minus).sum()
    pairs = 2 * np.sqrt(plus * minus)
    return (plus[0] + minus[0]).sum() + pairs[1].sum() if kind == "abstaining" else pairs.sum()


def boost(X, Y, weights, *, rounds, kind="real", smoothing):
    """The stumps (column, votes) and losses of one committee for all columns of signs Y (n, labels)."""
    n_labels = Y.shape[1]
    present = X > 0
    D = np.repeat((weights / weights.sum() / n_labels)[:, None], n_labels, axis=1)
    stumps, losses = [], []
    for _ in range(rounds):
        total = D.sum()
        sides = [np.stack([~present[:, j], present[:, j]]).astype(float) for j in range(X.shape[1])]
        sums = [(side @ (D * (Y > 0)), side @ (D * (Y < 0))) for side in sides]
        found = np.array([loss_of(plus, minus, total, kind) for plus, minus in sums])
        if found.min() > total * (1 - 2 * TIE):
            break
        column = int(np.argmax(found <= found.min() + TIE * total))
        plus, minus = sums[column]
        votes = best_votes(plus, minus, total, kind, smoothing)
        D = D * np.exp(-Y * votes[present[:, column].astype(int)])
        stumps.append((column, votes))
        losses.append(D.sum())
        mixed = (plus > 0) & (minus > 0)
        undecided = (plus[0] + minus[0] > 0).any() if kind == "abstaining" else mixed[0].any()
        if not mixed[1].any() and not undecided:
            break
    return stumps, np.array(losses)


def scores(X, stumps):
    """The sums of votes (n, labels)."""
    return sum(votes[(X[:, column] > 0).astype(int)] for column, votes in stumps)


def boost_trees(X, y, weights, *, rounds, discrete, smoothing, max_depth, min_objects):
    """Scores (n,) and losses of one committee of trees; weights sum to the number of documents."""
    D, total = weights.astype(float), weights.sum()
    scores, losses, loss = np.zeros(len(X)), [], 1.0
    for _ in range(rounds):
        tree = c45.grow(X, y > 0, D, max_depth=max_depth, min_objects=min_objects, gain_ratio=False)
        leaves = [id(tree.leaf(x)) for x in X]
        sides = {leaf: np.zeros(2) for leaf in leaves}
        for leaf, sign, weight in zip(leaves, y, D, strict=True):
            sides[leaf][int(sign > 0)] += weight
        extra = smoothing * total
        wrong = sum(min(side) for side in sides.values())
        alpha = 0.5 * np.log((total - wrong + extra) / (wrong + extra))
        votes = {
            leaf: alpha * np.sign((plus - minus) * (abs(plus - minus) > 1e-12 * total))
            if discrete
            else 0.5 * np.log((plus + extra) / (minus + extra))
            for leaf, (minus, plus) in sides.items()
        }
        h = np.array([votes[leaf] for leaf in leaves])
        after = D * np.exp(-y * h)
        if after.sum() > total * (1 - 2 * TIE):
            break
        loss *= after.sum() / total
        scores, losses, D = scores + h, [*losses, loss], after * (total / after.sum())
        if discrete and all(min(side) == 0 for side in sides.values()):
            break
    return scores, np.array(losses)
