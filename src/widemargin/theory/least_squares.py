"""Bounds on how a sample of features changes the scores of least squares: dasgupta, Theorems 1 and 2.

With A = U Sigma V' the features x documents matrix (here: the transposed X) and S the diagonal matrix of what
the sample multiplies squares by (1/chance for a kept feature, else 0), all that the theorems ask of a sample
is that epsilon is at most 1/2 in

- ``|I - U'SU| <= epsilon`` (Lemma 6), and
- ``|b'SU| <= epsilon |b|`` for the part b of the query outside the span of the training documents (Lemma 10).

Both are computed here, so the bounds hold with certainty, not only with some probability. The printed bound
at lambda = 0 lacks a factor of 2 that its proof has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError, UsageError

Floats = NDArray[np.float64]


class SamplingBounds(NamedTuple):
    """Bounds on the change of the scores of queries (rows) for labels (columns).

    Attributes
    ----------
    epsilon : (queries,) the larger of the two measured quantities
    scores : (queries, labels) by all features, without a bias
    additive : (queries, labels) Theorem 1: the largest change of a score; infinite if epsilon > 1/2
    relative : (queries, labels) Theorem 2: the same relative to the score; infinite if the query is not in
        the span of the training documents, or epsilon > 1/2
    condition : the condition number of the documents
    novelty : (queries,) the length of the part of the query outside their span
    """

    epsilon: Floats
    scores: Floats
    additive: Floats
    relative: Floats
    condition: float
    novelty: Floats


def sampling_bounds(
    X: Floats, signs: NDArray[np.int8], queries: Floats, chances: Floats, regularization: float
) -> SamplingBounds:
    """Both theorems for a sample of features.

    Parameters
    ----------
    X : (documents, features) the training documents, dense
    signs : (documents, labels)
    queries : (queries, features)
    chances : (features,) the keep probability of each kept feature, 0 for the others
    regularization : lambda

    Examples
    --------
    >>> X = np.eye(2, 3)
    >>> found = sampling_bounds(X, np.array([[1], [-1]]), X[:1], np.array([1.0, 0.8, 0.5]), 1.0)
    >>> found.epsilon.round(4).tolist(), found.additive.round(4).tolist()
    ([0.25], [[0.7071]])
    """
    if not 0 <= regularization < np.inf:
        raise UsageError(f"regularization={regularization!r}: expected a number of at least 0.")
    V, sigma, Ut = np.linalg.svd(np.asarray(X, dtype=np.float64), full_matrices=False)
    rank = int(np.count_nonzero(sigma > max(X.shape) * np.finfo(float).eps * sigma.max(initial=0.0)))
    if rank == 0:
        raise DataError("Every feature is 0 in every document: there is no span to compare with.")
    V, sigma, U = V[:, :rank], sigma[:rank], Ut[:rank].T
    S = np.divide(1.0, chances, out=np.zeros(len(chances)), where=chances > 0)
    inside = queries @ U
    outside = queries - inside @ U.T
    novelty = np.linalg.norm(outside, axis=1)
    spread = float(np.linalg.norm(np.eye(rank) - (U * S[:, None]).T @ U, 2))
    leak = np.linalg.norm((outside * S) @ U, axis=1)
    # Ignore a part outside that is only rounding.
    novel = novelty > 1e-10 * np.maximum(np.linalg.norm(queries, axis=1), 1e-300)
    epsilon = np.maximum(spread, np.divide(leak, novelty, out=np.zeros_like(leak), where=novel))
    V_alpha = inside / sigma
    shrunk = V_alpha * (sigma**2 / (sigma**2 + regularization))
    V_y = V.T @ signs
    scores = shrunk @ V_y
    y_length = np.linalg.norm(signs, axis=0)
    condition = float(sigma[0] / sigma[-1])
    trusted = epsilon <= 0.5
    factor = np.where(trusted, 2 * epsilon * condition, np.inf)
    of_span = np.linalg.norm(V_alpha, axis=1) if regularization > 0 else np.zeros(len(queries))
    length = of_span + np.where(novel, novelty, 0.0) / sigma[0]
    additive = np.where(trusted[:, None], _product(factor, np.outer(length, y_length)), np.inf)
    gamma = np.outer(np.linalg.norm(shrunk, axis=1), np.linalg.norm(V_y, axis=0))
    gamma = np.divide(gamma, np.abs(scores), out=np.full_like(gamma, np.inf), where=scores != 0)
    in_span = trusted & ~novel
    relative = np.where(in_span[:, None], _product(factor, gamma), np.inf)
    return SamplingBounds(epsilon, scores, additive, relative, condition, novelty)


def _product(factor: Floats, matrix: Floats) -> Floats:
    """Multiply row by row; 0 times infinity is 0."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(factor[:, None] * matrix, nan=0.0, posinf=np.inf))
