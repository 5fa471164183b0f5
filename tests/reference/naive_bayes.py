"""Naive Bayes written out, one class and one document at a time (joachims 2.5.1)."""

from __future__ import annotations

import numpy as np


def log_probability(x, documents, weights, event_model, smoothing):
    """log P(x | the model of these documents)."""
    n_features = len(x)
    if event_model == "bernoulli":
        with_term = (weights[:, None] * (documents > 0)).sum(axis=0)
        p = (smoothing + with_term) / (2 * smoothing + weights.sum())
        return float(np.sum(np.where(x > 0, np.log(p), np.log(1 - p))))
    terms = (weights[:, None] * documents).sum(axis=0)
    p = (smoothing + terms) / (smoothing * n_features + terms.sum())
    return float(np.sum(x * np.log(p)))


def scores(x, documents, signs, weights, *, exclusive, event_model="multinomial", smoothing=1.0, prior=True):
    """The scores of one document x by documents with `signs` (n, columns)."""
    prior = prior and event_model != "complement"
    half = np.log(2 * max(weights.sum(), 1.0))
    found = np.zeros(signs.shape[1])
    present = np.zeros(signs.shape[1], dtype=bool)
    for k in range(signs.shape[1]):
        inside = signs[:, k] > 0
        n, rest = weights[inside].sum(), weights[~inside].sum()
        present[k] = n > 0
        if n == 0 or (rest == 0 and not exclusive):
            found[k] = -half if n == 0 else half
            continue
        of_class = log_probability(x, documents[inside], weights[inside], event_model, smoothing)
        of_rest = log_probability(x, documents[~inside], weights[~inside], event_model, smoothing)
        if not exclusive:
            found[k] = of_class - of_rest + (np.log(n) - np.log(rest) if prior else 0.0)
        elif event_model == "complement":
            found[k] = -of_rest
        else:
            found[k] = of_class + (np.log(n) if prior else 0.0)
    if exclusive:
        found[present] -= found[present].mean()
    return found
