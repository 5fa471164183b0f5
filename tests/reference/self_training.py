"""Self-training one document at a time: slow, and obviously right."""

from __future__ import annotations

import numpy as np


def self_trained(train, X, codes, rounds, keep, weight):
    """Scores (n, classes) after all rounds; `codes` has -1 for unlabeled documents.

    `train(rows, codes, weights)` returns a function from rows to scores.
    """
    labeled = [i for i in range(len(codes)) if codes[i] >= 0]
    others = [i for i in range(len(codes)) if codes[i] < 0]
    score = train(X[labeled], codes[labeled], np.ones(len(labeled)))
    for _ in range(rounds):
        margins, best = {}, {}
        for i in others:
            ranked = sorted(score(X[i : i + 1])[0], reverse=True)
            margins[i] = ranked[0] - ranked[1]
            best[i] = int(np.argmax(score(X[i : i + 1])[0]))
        sure = sorted(sorted(others, key=lambda i: (-margins[i], i))[: round(keep * len(others))])
        if not sure:
            break
        rows = labeled + sure
        weights = np.array([1.0] * len(labeled) + [weight] * len(sure))
        score = train(X[rows], np.array([*codes[labeled], *(best[i] for i in sure)]), weights)
    return score(X)
