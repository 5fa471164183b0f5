"""AROW in a few lines: dense, any number of labels, in plain loops over documents."""

from __future__ import annotations

import numpy as np


def arow(X, Y, r, forgetting=0.0, rivals=np.inf, passes=1):
    """Pass over the documents; Y (n, labels) has signs.

    Returns weights and precisions (labels, features), and the smallest distance of a score from a limit that
    decides whether a label learns.
    """
    w, precision = np.zeros((Y.shape[1], X.shape[1])), np.ones((Y.shape[1], X.shape[1]))
    close = np.inf
    for x, y in list(zip(X, Y, strict=True)) * passes:
        scores = w @ x
        beyond = min(scores[y > 0], default=-np.inf) - rivals
        close = min([close, *np.abs(1 - y * scores), *np.abs(scores[y < 0] - beyond)])
        for k in np.flatnonzero((y * scores < 1) & ((y > 0) | (scores > beyond))):
            used = x != 0
            old = precision[k, used].copy()
            precision[k, used] = (1 - forgetting) * old + forgetting
            w[k, used] *= (1 - forgetting) * old / precision[k, used]
            alpha = (1 - y[k] * (w[k] @ x)) / (x @ (x / precision[k]) + r)
            w[k] += alpha * y[k] * x / precision[k]
            precision[k] += x * x / r
    return w, precision, close
