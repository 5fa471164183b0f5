"""Rocchio's rule from the sums of documents of length 1 (joachims 2.5.2).

With P and N the sums of the documents with and without a label, p and q their numbers, the weights are

    w = max(0, P / p - beta N / q),                                                                    (2.22)

of which only those of terms with P > beta N p / q are above 0. A score is the cosine of w and the document,
less a threshold midway between the mean cosines of the documents with and without the label. These means are
P.w / (p |w|) and N.w / (q |w|), so the whole rule follows from the sums. A mean of no documents is 0. A label
whose weights are all 0, such as one without documents, is never predicted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from widemargin.learn.class_counts import ClassCounts

Floats = NDArray[np.float64]

# The values of beta that 6.3.4 compares.
NEGATIVE_WEIGHTS = (0.0, 0.1, 0.25, 0.5, 1.0)
# Of a difference: what is left below this share of the sum is rounding.
_ROUNDING = 1e-12
# The score of a label that is never predicted: no other is below -2.
NEVER = -2.0


def centroid_rule(counts: ClassCounts, beta: float) -> tuple[Floats, Floats]:
    """Weights (features, columns) of length 1, and intercepts.

    Examples
    --------
    >>> from widemargin._arrays import canonical_csr
    >>> X = canonical_csr(np.array([[1.0, 0], [0.6, 0.8], [0, 1]]))
    >>> sums = ClassCounts.of(X, np.array([[1], [1], [-1]], np.int8), np.zeros(0), None)
    >>> weights, intercept = centroid_rule(sums, 0.25)
    >>> weights.ravel().round(3).tolist(), intercept.round(3).tolist()  # max(0, (0.8, 0.4) - 0.25 (0, 1))
    ([0.983, 0.184], [-0.522])
    """
    n_columns, n_features = counts.terms.n_rows, counts.terms.n_columns
    at, column, positive = counts.terms.indices, counts.columns, counts.terms.data
    of_inside, of_outside = inverse(counts.documents), inverse(counts.rest)
    negative = without(counts.all_terms[at], positive)
    kept = cut(of_inside[column] * positive, beta * of_outside[column] * negative)
    squares = _sums(column, kept * kept, n_columns)
    inside = _sums(column, kept * positive, n_columns)
    outside = _sums(column, kept * negative, n_columns)
    weights = np.zeros((n_features, n_columns))
    # Terms that no document of a label has can only weigh something if their sum is negative.
    below = np.flatnonzero(counts.all_terms < 0)
    if len(below):
        weights[below] = np.multiply.outer(-counts.all_terms[below], beta * of_outside)
        weights[at, column] = 0.0
        squares += np.square(weights[below]).sum(axis=0)
        outside += counts.all_terms[below] @ weights[below]
    lengths = np.sqrt(squares)
    scale = np.where(lengths > 0, lengths, 1.0)
    weights[below] /= scale
    weights[at, column] = kept / scale[column]
    return weights, intercepts(of_inside * inside, of_outside * outside, lengths)


def intercepts(inside: Floats, outside: Floats, lengths: Floats) -> Floats:
    """Minus the thresholds, from the inner products of weights of these `lengths` and the two means."""
    middle = (inside + outside) / 2
    found: Floats = np.divide(-middle, lengths, out=np.full(lengths.shape, NEVER), where=lengths > 0)
    return found


def cut(positive: Floats, negative: Floats) -> Floats:
    """max(0, positive - negative), without differences that are rounding.

    Examples
    --------
    >>> cut(np.array([0.1 + 0.2, 3.0, 1.0]), np.array([0.3, 1.0, 2.0])).tolist()
    [0.0, 2.0, 0.0]
    """
    left: Floats = positive - negative
    np.copyto(left, 0.0, where=left <= _ROUNDING * np.abs(positive))
    return left


def without(sums: Floats, parts: Floats) -> Floats:
    """Sums without a part of them; what is left of a sum that was all there is 0, not rounding."""
    left: Floats = sums - parts
    np.copyto(left, 0.0, where=np.abs(left) <= _ROUNDING * np.abs(sums))
    return left


def inverse(numbers: Floats) -> Floats:
    """1 / numbers, and 0 for 0: the mean of no documents is 0."""
    return np.divide(1.0, numbers, out=np.zeros(np.shape(numbers)), where=numbers > 0)


def _sums(column: NDArray[np.intp], values: Floats, n_columns: int) -> Floats:
    found: Floats = np.bincount(column, values, n_columns).astype(np.float64)
    return found
