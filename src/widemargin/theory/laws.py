"""The laws of text: how the vocabulary grows, how frequent its words are, and how long documents are.

- Heaps's law: s words of text have ``V = k s^beta`` distinct ones (joachims (4.1)).
- The law of Zipf and Mandelbrot: the r-th most frequent word occurs ``c / (k + r)^phi`` times (4.2).
- Lemma 3: a document that follows this law is a short vector, because few of its words repeat.

A corpus is a matrix of counts (documents x terms), as `Vectorizer(weighting=None)` makes it. Both laws are
fitted by least squares on logarithms, with the same weight for every factor of s or r: the first ten words
weigh as much as the last nine tenths of the vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from widemargin._arrays import is_sparse
from widemargin.errors import DataError, UsageError

Floats = NDArray[np.float64]

# Fewer points than these say nothing about a curve with two or three parameters.
LEAST_DOCUMENTS, LEAST_WORDS = 10, 20
# Points of the growth of a vocabulary, evenly spaced by factors.
_POINTS = 200
# Heaps's law is for long texts: the curve is fitted from this share of the text on.
_FIRST = 0.01
_LARGEST_SHIFT = 1000.0


@dataclass(frozen=True)
class HeapsLaw:
    """``V = k s^beta``: the number of distinct words in s words.

    Examples
    --------
    >>> HeapsLaw(15, 0.5).vocabulary(10_000 * 50).round().tolist()
    10607.0
    """

    k: float
    beta: float

    def vocabulary(self, words: Any) -> Floats:
        """V for a number of words, or for an array of them."""
        return np.asarray(self.k * np.asarray(words, dtype=np.float64) ** self.beta)


@dataclass(frozen=True)
class ZipfLaw:
    """``TF_r = c / (k + r)^phi``: how often the word of rank r = 1, 2, ... occurs.

    Examples
    --------
    Joachims's law of WebKB, scaled to documents of 277.63 words, 130 of them distinct, and Lemma 3, which is
    (4.46):

    >>> law = ZipfLaw(470_000, 5, 1.25).scaled(277.63, 130)
    >>> int(law.squared_length(130))
    1899
    """

    c: float
    k: float
    phi: float

    def frequencies(self, ranks: Any) -> Floats:
        """TF_r for ranks from 1."""
        return np.asarray(self.c / (self.k + np.asarray(ranks, dtype=np.float64)) ** self.phi)

    def scaled(self, length: float, distinct: float) -> ZipfLaw:
        """The law of a text of this length with so many distinct words: another c, the same k and phi."""
        total = self.frequencies(_ranks(distinct)).sum()
        return replace(self, c=self.c * float(length) / float(total))

    def distinct_words(self, length: float) -> int:
        """d of Lemma 3: the number of ranks whose frequencies add up to `length`.

        Raises
        ------
        UsageError
            The frequencies of all ranks add up to less.
        """
        if self.phi > 1:
            # The sum over all ranks is at most this integral.
            largest = self.c * self.k ** (1 - self.phi) / (self.phi - 1) if self.k > 0 else math.inf
            if largest < length:
                raise UsageError(
                    f"A text by this law has fewer than {largest:,.1f} words, not {length:,.1f}. Scale the "
                    f"law to the length first: law.scaled(length, distinct)."
                )
        ranks, total, first = 1024, 0.0, 1
        while ranks < 2**34:
            sums = total + np.cumsum(self.frequencies(np.arange(first, first + ranks)))
            if sums[-1] >= length * (1 - 1e-12):
                return first + int(np.searchsorted(sums, length * (1 - 1e-12)))
            total, first, ranks = float(sums[-1]), first + ranks, min(2 * ranks, 1 << 22)
            if self.frequencies(first) * 2**34 < length - total:
                break
        raise UsageError(f"This law has no text of {length:,.1f} words. Pass a smaller length.")

    def squared_length(self, distinct: float | None = None, *, length: float | None = None) -> float:
        """Lemma 3: the largest squared Euclidean length of a document, R^2.

        Parameters
        ----------
        distinct : number of distinct words of the document, d in the lemma
        length : number of words instead; d follows from it

        Examples
        --------
        >>> ZipfLaw(10, 0, 1).squared_length(length=15), 10**2 + 5**2
        (125.0, 125)
        """
        if (distinct is None) == (length is None):
            raise UsageError("Give either the number of distinct words or the length.")
        d = self.distinct_words(length) if length is not None else distinct
        assert d is not None
        return float(np.square(self.frequencies(_ranks(d))).sum())


Law = TypeVar("Law", HeapsLaw, ZipfLaw)


@dataclass(frozen=True, eq=False)
class LawFit(Generic[Law]):
    """A law fitted to a corpus.

    Attributes
    ----------
    law : with its parameters
    x, y : the points it was fitted to: words of text and distinct words, or ranks and frequencies
    fitted : the law at `x`
    r_squared : share of the variance of log y that the law explains
    typical_factor : a point is typically off by this factor, the exponential of the root mean squared error
        of log y
    """

    law: Law
    x: Floats
    y: Floats
    fitted: Floats
    r_squared: float
    typical_factor: float


@dataclass(frozen=True)
class DocumentSizes:
    """Lengths of documents in words, and the numbers of their distinct words.

    Attributes
    ----------
    length, distinct : means over documents
    median_length, longest : of the lengths
    squared_length : the mean squared Euclidean length of a vector of counts
    radius : R^2, the largest squared Euclidean length
    vocabulary : distinct words of all documents together
    words : words of all documents together
    n : number of documents
    """

    length: float
    distinct: float
    median_length: float
    longest: int
    squared_length: float
    radius: float
    vocabulary: int
    words: int
    n: int


def document_sizes(counts: Any) -> DocumentSizes:
    """How long documents are, and how many distinct words they have.

    Examples
    --------
    >>> sizes = document_sizes(np.array([[2, 1, 0], [0, 3, 4]]))
    >>> sizes.length, sizes.distinct, sizes.radius, sizes.vocabulary
    (5.0, 2.0, 25.0, 3)
    """
    matrix = counts_of(counts)
    if matrix.shape[0] == 0 or matrix.sum() == 0:
        raise DataError("There are no words in these documents: nothing to measure.")
    lengths = np.asarray(matrix.sum(axis=1), dtype=np.float64).reshape(-1)
    present = matrix != 0
    distinct = np.asarray(present.sum(axis=1)).reshape(-1)
    squares = np.asarray(
        (matrix.multiply(matrix) if is_sparse(matrix) else matrix**2).sum(axis=1), np.float64
    )
    return DocumentSizes(
        length=float(lengths.mean()),
        distinct=float(distinct.mean()),
        median_length=float(np.median(lengths)),
        longest=int(lengths.max()),
        squared_length=float(squares.mean()),
        radius=float(squares.max()),
        vocabulary=int(np.count_nonzero(np.asarray(present.sum(axis=0)))),
        words=int(lengths.sum()),
        n=len(lengths),
    )


def term_frequencies(counts: Any) -> Floats:
    """How often every term occurs, most frequent first, without the terms that do not occur.

    Examples
    --------
    >>> term_frequencies(np.array([[2, 1, 0], [0, 3, 0]])).tolist()
    [4.0, 2.0]
    """
    totals = np.asarray(counts_of(counts).sum(axis=0), dtype=np.float64).reshape(-1)
    return np.asarray(np.sort(totals[totals > 0])[::-1])


def vocabulary_growth(counts: Any, random_state: Any = None) -> tuple[Floats, Floats]:
    """Words read and distinct words seen after every document.

    Parameters
    ----------
    random_state : random seed for a random order of the documents; None for the order as given. A sorted
        collection, one topic after the other, grows unlike any law

    Examples
    --------
    >>> words, distinct = vocabulary_growth(np.array([[2, 1, 0], [0, 1, 0], [1, 1, 1]]))
    >>> words.tolist(), distinct.tolist()
    ([3.0, 4.0, 7.0], [2.0, 2.0, 3.0])
    """
    matrix = counts_of(counts)
    n, n_terms = matrix.shape
    order = np.arange(n) if random_state is None else np.random.default_rng(random_state).permutation(n)
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n)
    rows, columns = matrix.nonzero()
    first = np.full(n_terms, n, dtype=np.intp)
    np.minimum.at(first, columns, place[rows])
    new = np.bincount(first[first < n], minlength=n)
    lengths = np.asarray(matrix.sum(axis=1), dtype=np.float64).reshape(-1)
    return np.cumsum(lengths[order]), np.cumsum(new).astype(np.float64)


def fit_heaps(counts: Any, random_state: Any = 0) -> LawFit[HeapsLaw]:
    """Fit Heaps's law to the growth of the vocabulary, from the first hundredth of the text on.

    Parameters
    ----------
    counts : (documents, terms)
    random_state : random seed of the order in which documents are read; None for the order as given

    Raises
    ------
    DataError
        There are too few documents to say.
    """
    words, distinct = vocabulary_growth(counts, random_state)
    used = np.flatnonzero((words >= _FIRST * words[-1:]) & (words > 0))
    if len(used) < LEAST_DOCUMENTS or words[used[0]] == words[used[-1]]:
        raise DataError(
            f"Not enough to say: {len(used)} documents with words do not determine Heaps's law; it takes "
            f"at least {LEAST_DOCUMENTS}."
        )
    words, distinct = words[used], distinct[used]
    wanted = np.geomspace(words[0], words[-1], min(_POINTS, len(words)))
    points = np.unique(np.searchsorted(words, wanted).clip(max=len(words) - 1))
    x, y = words[points], distinct[points]
    slope, intercept = _line(np.log(x), np.log(y), np.ones(len(x)))
    return _fit(HeapsLaw(math.exp(intercept), slope), x, y, np.ones(len(x)))


def fit_zipf(counts: Any) -> LawFit[ZipfLaw]:
    """Fit the law of Zipf and Mandelbrot to term frequencies.

    Terms with the same frequency are one point, at their middle rank, whose weight is the range of ranks that
    it stands for on a logarithmic axis. For every k the other parameters are a regression line; k is searched
    for from 0 on.

    Parameters
    ----------
    counts : (documents, terms), or (terms,) the frequencies themselves

    Raises
    ------
    DataError
        There are too few distinct words to say.
    """
    frequencies = np.asarray(counts) if not is_sparse(counts) and np.ndim(counts) == 1 else None
    if frequencies is None:
        frequencies = term_frequencies(counts)
    frequencies = np.sort(frequencies[frequencies > 0].astype(np.float64))[::-1]
    if len(frequencies) < LEAST_WORDS:
        raise DataError(
            f"Not enough to say: {len(frequencies)} distinct words do not determine the law of Zipf and "
            f"Mandelbrot; it takes at least {LEAST_WORDS}."
        )
    y, first = np.unique(-frequencies, return_index=True)
    y = -y
    last = np.append(first[1:], len(frequencies))
    x, weights = np.sqrt((first + 1.0) * last), np.log((last + 0.5) / (first + 0.5))
    if len(y) < 3:
        raise DataError(
            f"Not enough to say: all words occur {' or '.join(f'{v:g}' for v in y)} times, which does not "
            f"determine the law of Zipf and Mandelbrot."
        )
    log_y = np.log(y)

    def law(shift: float) -> ZipfLaw:
        slope, intercept = _line(np.log(x + shift), log_y, weights)
        return ZipfLaw(math.exp(intercept), shift, -slope)

    def error(log_shift: float) -> float:
        found = law(math.expm1(log_shift))
        return float(weights @ np.square(np.log(found.frequencies(x)) - log_y))

    # The error as a function of k may have several valleys: the best of a grid first, then the valley.
    grid = np.linspace(0.0, math.log1p(_LARGEST_SHIFT), 60)
    best = int(np.argmin([error(value) for value in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": 1e-9})
    shift = math.expm1(min((float(grid[best]), float(found.x)), key=error))
    return _fit(law(shift), x, y, weights)


def counts_of(counts: Any) -> Any:
    """A matrix of counts, checked: sparse in rows, or a dense array; no number is negative."""
    matrix = counts.tocsr() if is_sparse(counts) else np.asarray(counts)
    if matrix.ndim != 2:
        raise UsageError(
            f"Expected a matrix of counts (documents, terms), got an array of shape {matrix.shape}."
        )
    values = np.asarray(matrix.data if is_sparse(matrix) else matrix)
    if values.size and not float(values.min()) >= 0:
        raise DataError(
            "Some counts are negative or missing. Pass counts of terms: Vectorizer(weighting=None)."
        )
    return matrix


def _ranks(distinct: float) -> Floats:
    if not 1 <= distinct < 2**31:
        raise UsageError(f"{distinct:g} distinct words: expected at least one.")
    return np.arange(1, math.floor(distinct) + 1, dtype=np.float64)


def _line(x: Floats, y: Floats, weights: Floats) -> tuple[float, float]:
    """Slope and intercept of the weighted regression of y on x."""
    weights = weights / weights.sum()
    x_mean, y_mean = float(weights @ x), float(weights @ y)
    slope = float(weights @ ((x - x_mean) * (y - y_mean))) / float(weights @ np.square(x - x_mean))
    return slope, y_mean - slope * x_mean


def _fit(law: Law, x: Floats, y: Floats, weights: Floats) -> LawFit[Law]:
    fitted = law.vocabulary(x) if isinstance(law, HeapsLaw) else law.frequencies(x)
    weights, log_y = weights / weights.sum(), np.log(y)
    error = float(weights @ np.square(np.log(fitted) - log_y))
    spread = float(weights @ np.square(log_y - weights @ log_y))
    r_squared = 1 - error / spread if spread > 0 else 1.0
    return LawFit(law, x, y, fitted, r_squared, math.exp(math.sqrt(error)))
