"""Corpus vectors the slow and obvious way: dense matrices, loops over documents and pairs of words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def associations(counts: NDArray[np.int64], n_contexts: int, power: float) -> Floats:
    """Positive pointwise mutual information, words x words, in single precision; contexts that are not used
    have columns of 0."""
    present = counts > 0
    n_words = counts.shape[1]
    frequencies = present.sum(axis=0)
    order = sorted(range(n_words), key=lambda j: (-frequencies[j], j))
    contexts = sorted(j for j in order[:n_contexts] if frequencies[j])
    together = np.zeros((n_words, n_words))
    for document in present:
        words = np.flatnonzero(document)
        for i in words:
            for j in words:
                if j in contexts:
                    together[i, j] += 1 / len(words)
    smoothed = frequencies**power
    found = np.zeros((n_words, n_words))
    for i in range(n_words):
        for j in contexts:
            if together[i, j] > 0:
                share = smoothed[j] / smoothed[contexts].sum()
                found[i, j] = max(np.log(together[i, j] / together[i].sum() / share), 0.0)
    return found.astype(np.float32).astype(np.float64)


def word_products(counts: NDArray[np.int64], dims: int, n_contexts: int, power: float) -> Floats:
    """The inner products of the vectors of words, which do not depend on the choice of singular vectors."""
    U, S, _ = np.linalg.svd(associations(counts, n_contexts, power))
    vectors = U[:, :dims] * np.sqrt(S[:dims])
    return np.asarray(vectors @ vectors.T)


def document_products(weights: Floats, new: Floats, products: Floats) -> Floats:
    """The inner products of the vectors of documents, given the weights of the training documents and of new
    ones, and the inner products of the vectors of words."""
    mean = weights.mean(axis=0)
    known = np.array([(np.abs(row @ products) > 1e-12).any() for row in new])
    apart = np.where(known[:, None], new - mean, 0.0)
    gram = apart @ products @ apart.T
    length = np.sqrt(np.maximum(np.diag(gram), 0.0))
    size = np.sqrt(np.maximum(np.diag(new @ products @ new.T), 0.0))
    # Weights have single precision: a document that is nearer to the mean has the vector 0.
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 1e-6 * size)
    return np.asarray(gram * scale[:, None] * scale)
