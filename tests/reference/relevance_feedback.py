"""Rocchio's formula for relevance feedback, and the prior, with dense arrays and loops: obviously right."""

from __future__ import annotations

import numpy as np


def cosines(X, query):
    return np.array([x @ query / max(np.linalg.norm(x) * np.linalg.norm(query), 1e-300) for x in X])


def rocchio_scores(X, query, relevant, other, negative_weight=0.25):
    """The cosine with query + relevant documents - others, means of rows of length 1; no weight below 0."""
    unit = [x / max(np.linalg.norm(x), 1e-300) for x in X]
    center = np.mean([query / np.linalg.norm(query), *(unit[i] for i in relevant)], axis=0)
    weights = np.maximum(center - negative_weight * np.mean([unit[i] for i in other], axis=0), 0)
    return cosines(X, weights)


def combined(query_scores, learned, n_marks, query_weight):
    """The average of both, the learned ones with mean and spread of the others."""
    scaled = (learned - np.mean(learned)) / np.std(learned) * np.std(query_scores) + np.mean(query_scores)
    return (query_weight * query_scores + n_marks * scaled) / (query_weight + n_marks)
