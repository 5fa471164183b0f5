"""Corpus vectors: vectors of words, learned from the collection itself, and document vectors made of them.

Words that occur in the same documents get similar vectors, so documents on one subject are similar even if
they share no word. That helps where few documents have labels: the vectors are learned from all documents.

Take a document that contains word i, and one of its different words at random: PMI(i, j) is the logarithm
of how much more often this is word j than in any document. So every document of word i counts alike, however
long it is. Negative values become 0, and the shares of the words j are smoothed by the power 0.75 (Levy,
Goldberg and Dagan, TACL 3, 2015). The words j are the contexts; the most frequent words are enough. The
truncated SVD of this sparse matrix, U S V', gives word i the vector U_i sqrt(S).

The vector of a document is the sum of the vectors of its words times their weights, minus the mean of such
sums over the training documents, scaled to length 1. A document without known words has the vector 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr, times
from widemargin._stored import Stored

Floats = NDArray[np.float64]

# Words that serve as contexts, the most frequent ones; twice as many give the same accuracy in more time.
CONTEXTS = 3000
# The power of the shares of contexts.
SMOOTHING = 0.75
# Relative differences from the mean that are smaller are due to the rounding of weights, which have single
# precision.
_ROUNDING = 1e-6
# Eigenvalues below this share of the largest are 0 but for rounding.
_NO_VALUE = 1e-12
# Subspace iteration: additional vectors, and passes.
_SPARE_VECTORS, _PASSES = 28, 3
# Values of document vectors that are in double precision at a time.
_AT_ONCE = 1 << 21


@dataclass(frozen=True, eq=False)
class CorpusVectors:
    """The vectors of words, and the mean of the sums over the training documents.

    Attributes
    ----------
    words : (words, dims) of single precision, as a model file stores them; 0 for words without a vector
    center : (dims,)
    """

    words: Floats
    center: Floats

    @classmethod
    def learned(cls, counts: Csr, weights: Csr, dims: int, n_threads: int) -> Self:
        """The vectors of the words of a collection, given their counts and their weights in documents."""
        words = word_vectors(counts, dims, n_threads).astype(np.float32).astype(np.float64)
        return cls(words, np.zeros(dims)).centered_at(weights, n_threads)

    def centered_at(self, weights: Csr, n_threads: int) -> Self:
        """The same vectors of words, with the mean over other weights of the training documents."""
        total = np.zeros(self.dims)
        for _, sums in self._sums(weights, n_threads):
            total += sums.sum(axis=0)
        return replace(self, center=total / max(weights.n_rows, 1))

    @property
    def dims(self) -> int:
        return int(self.words.shape[1])

    @cached_property
    def used(self) -> int:
        """The dimensions that differ from 0; the others come last."""
        return int(np.flatnonzero(self.words.any(axis=0)).max(initial=-1)) + 1

    def rows(self, weights: Csr, n_threads: int) -> NDArray[np.float32]:
        """The vectors of documents, given the weights of their words: of length 1, or 0."""
        found = np.zeros((weights.n_rows, self.dims), dtype=np.float32)
        for some, sums in self._sums(weights, n_threads):
            size = np.sqrt(np.square(sums).sum(axis=1))
            sums -= self.center
            length = np.sqrt(np.square(sums).sum(axis=1))
            known = (size > 0) & (length > _ROUNDING * size)
            np.divide(sums, length[:, None], out=found[some], where=known[:, None], casting="same_kind")
        return found

    def divided(self, weights: Csr, parts: Floats, values: Floats) -> Floats:
        """What every word of one document adds to a score, given what the dimensions add.

        The mean is divided among the words in the proportion of their weights, so that a word with the mean
        vector adds nothing, and words add as much as the dimensions.

        Parameters
        ----------
        weights : of the words, one row
        parts, values : (dims,) what the dimensions add, and their values in the document, of any length
        """
        per_unit = np.divide(parts, values, out=np.zeros(self.dims), where=values != 0)
        size = np.abs(weights.data.astype(np.float64))
        sums = self.words[weights.indices] * weights.data.astype(np.float64)[:, None]
        sums -= (size / (size.sum() or 1.0))[:, None] * self.center
        length = np.sqrt(np.square(sums.sum(axis=0)).sum())
        # Where the document has the mean vector, or no word with a vector, all values are 0.
        scale = np.sqrt(np.square(values).sum()) / length if length > 0 else 0.0
        return np.asarray(sums @ per_unit * scale)

    def of_words(self, weights: Floats) -> Floats:
        """The weight of every word, given those of the dimensions: the score of a document of this word."""
        apart = self.words - self.center
        length = np.sqrt(np.square(apart).sum(axis=1))
        known = self.words.any(axis=1) & (length > 0)
        return np.asarray(np.divide(apart @ weights, length, out=np.zeros(len(length)), where=known))

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays for :meth:`from_stored`."""
        return {"words": self.words.astype(np.float32), "center": self.center}

    @classmethod
    def from_stored(cls, stored: Stored, prefix: str, n_words: int, dims: int) -> Self:
        """The vectors from the arrays of :meth:`state`, each after `prefix`."""
        words = stored.array(f"{prefix}words", (n_words, dims), np.float32)
        center = stored.array(f"{prefix}center", (dims,), np.float64)
        return cls(words.astype(np.float64), center.astype(np.float64))

    def _sums(self, weights: Csr, n_threads: int) -> Iterator[tuple[slice, Floats]]:
        """The weighted sums of the vectors of words, for some documents at a time."""
        at_once = max(_AT_ONCE // self.dims, 1)
        for first in range(0, weights.n_rows, at_once):
            some = slice(first, min(first + at_once, weights.n_rows))
            begin, end = weights.indptr[some.start], weights.indptr[some.stop]
            rows = Csr(
                weights.indptr[some.start : some.stop + 1] - begin,
                weights.indices[begin:end],
                weights.data[begin:end],
                weights.n_columns,
            )
            yield some, times(rows, self.words, n_threads if len(rows.data) > 1000 else 1)


def word_vectors(counts: Csr, dims: int, n_threads: int) -> Floats:
    """The vectors of words, (columns, dims), from the counts of the documents of a collection.

    The result depends neither on the order of documents nor on columns that are empty.

    Examples
    --------
    >>> from widemargin._arrays import canonical_csr
    >>> counts = canonical_csr(np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]))
    >>> vectors = word_vectors(counts, 2, 1)
    >>> (vectors @ vectors.T).round(3).tolist()
    [[0.693, 0.693, 0.0, 0.0], [0.693, 0.693, 0.0, 0.0], [0.0, 0.0, 0.693, 0.693], [0.0, 0.0, 0.693, 0.693]]
    """
    found = np.zeros((counts.n_columns, dims))
    frequencies = np.bincount(counts.indices, minlength=counts.n_columns)
    most_frequent = np.lexsort((np.arange(len(frequencies)), -frequencies))[:CONTEXTS]
    contexts = np.sort(most_frequent[frequencies[most_frequent] > 0])
    if len(contexts) == 0:
        return found
    numbers = np.full(counts.n_columns, -1, dtype=np.int32)
    numbers[contexts] = np.arange(len(contexts), dtype=np.int32)
    shares = frequencies[contexts] ** SMOOTHING
    log_shares = np.log(shares / shares.sum())
    indptr, indices = counts.indptr, counts.indices
    M = _core.Associations(indptr, indices, numbers, log_shares, n_threads)
    squares, basis = _top_eigenvectors(M, len(contexts), min(dims, len(contexts)), n_threads)
    # U sqrt(S) = M V / sqrt(S), and S is the root of the eigenvalues.
    product = np.empty((counts.n_columns, len(squares)))
    M.times(np.ascontiguousarray(basis / squares**0.25), product, n_threads)
    found[:, : len(squares)] = product
    return found


def _top_eigenvectors(
    M: _core.Associations, n_contexts: int, n: int, n_threads: int
) -> tuple[Floats, Floats]:
    """The top eigenvalues of M'M and their eigenvectors, one per column, in decreasing order; at most `n`.

    Subspace iteration (Halko, Martinsson and Tropp, SIAM Review 53, 2011) from vectors that depend on nothing
    but the number of contexts; small matrices are solved exactly.
    """
    from threadpoolctl import threadpool_limits

    width = min(n + _SPARE_VECTORS, n_contexts)
    image = np.empty((n_contexts, width))
    # On one core, so that sums do not depend on their number; the blocks are small.
    with threadpool_limits(1):
        if width == n_contexts:
            block = np.eye(n_contexts)
        else:
            block = np.random.default_rng(0).standard_normal((n_contexts, width))
            for _ in range(_PASSES):
                M.gram_times(block, image, n_threads)
                block = _orthogonal(image)
        M.gram_times(block, image, n_threads)
        squares, turned = np.linalg.eigh(block.T @ image)
        vectors = block @ turned
    squares, vectors = squares[::-1][:n], vectors[:, ::-1][:, :n]
    # Associations have single precision, so that smaller singular values are due to rounding.
    kept = squares > _NO_VALUE * squares.max(initial=0.0)
    return squares[kept], vectors[:, kept]


def _orthogonal(block: Floats) -> Floats:
    """An orthonormal basis of the columns, by Cholesky factors of their Gram matrix.

    The error of one round grows with the squared condition number; two rounds are exact. Nearly singular
    blocks fall back to reflections.
    """
    found = block
    try:
        for _ in range(2):
            lower = np.linalg.cholesky(found.T @ found)
            found = found @ np.linalg.inv(lower).T
    except np.linalg.LinAlgError:
        found = np.linalg.qr(block)[0]
    return found
