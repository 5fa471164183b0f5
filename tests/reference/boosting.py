"""AdaBoost over stumps, written out for dense arrays (Schapire and Singer, BoosTexter, 2000)."""

from __future__ import annotations

import numpy as np

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
