"""TCat-concepts of real categories, estimated from labeled documents (joachims, 4.2.2.2).

1. Words are divided into bands by frequency: the most frequent words that make up the first part of all
   occurrences, those that make up the next part, and so on.
2. A word is a positive indicator of a category if the odds of meeting it in a document of the category are
   greater than elsewhere by more than a factor, and a negative indicator if they are smaller by that factor.
   Rare words need a larger factor. All other words are the rest.
3. An average document of the category, and an average one outside, has so many words of every set: that is
   the concept.

The thesis prints its factors (2, 5 and 10) but not its bands. With the ones here, which are shares of all
occurrences, sets have sizes like the printed ones (`joachims-4.2` compares them).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import Csr, canonical_csr
from widemargin.errors import UsageError
from widemargin.features.scores import TermCounts, count_terms, odds_ratio
from widemargin.labels import Labels
from widemargin.theory.laws import counts_of
from widemargin.theory.tcat.concept import TCatConcept

Floats = NDArray[np.float64]
Groups = NDArray[np.int8]

NOT_ENOUGH = "not enough to say"
# Cells (labels x words) in memory at a time.
_BLOCK = 2_000_000
POSITIVE, NEGATIVE, REST = "positive", "negative", "rest"


@dataclass(frozen=True)
class WordBands:
    """Bands of word frequency, most frequent first, and how much odds have to differ in each.

    Parameters
    ----------
    coverage : the share of all occurrences at which each band but the last ends
    odds : the factor of each band
    names : of the bands

    Examples
    --------
    >>> WordBands().of(np.array([70, 20, 6, 3, 1])).tolist()
    [0, 1, 2, 2, 2]
    >>> WordBands([], [3], ["all"]).of(np.array([60, 30, 6])).tolist()
    [0, 0, 0]
    """

    coverage: tuple[float, ...] = (0.65, 0.9)
    odds: tuple[float, ...] = (2.0, 5.0, 10.0)
    names: tuple[str, ...] = ("high-frequency", "medium-frequency", "low-frequency")

    def __init__(
        self,
        coverage: Iterable[float] = (0.65, 0.9),
        odds: Iterable[float] = (2.0, 5.0, 10.0),
        names: Iterable[str] | None = None,
    ) -> None:
        ends, factors = tuple(map(float, coverage)), tuple(map(float, odds))
        if names is None:
            names = WordBands.names if len(factors) == 3 else (f"band {i + 1}" for i in range(len(factors)))
        object.__setattr__(self, "coverage", ends)
        object.__setattr__(self, "odds", factors)
        object.__setattr__(self, "names", tuple(names))
        if not len(self.names) == len(factors) == len(ends) + 1:
            raise UsageError(
                f"{len(ends)} ends of bands, {len(factors)} odds and {len(self.names)} names: expected one "
                f"end less than odds, and as many names."
            )
        if any(not factor > 1 for factor in factors):
            raise UsageError(f"odds={factors}: expected factors greater than 1.")
        if any(not 0 < end < 1 for end in ends) or list(ends) != sorted(set(ends)):
            raise UsageError(f"coverage={ends}: expected increasing shares between 0 and 1.")

    def of(self, frequencies: NDArray[Any]) -> NDArray[np.int8]:
        """The band of every word, from how often it occurs. A word belongs to the band in which it begins."""
        totals = np.asarray(frequencies, dtype=np.float64)
        order = np.argsort(-totals, kind="stable")
        before = np.empty(len(totals))
        before[order] = np.cumsum(totals[order]) - totals[order]
        shares = before / max(float(totals.sum()), 1.0)
        return np.searchsorted(self.coverage, shares, side="right").astype(np.int8)


@dataclass(frozen=True)
class WordSet:
    """One set of words, by how often they occur in average documents.

    Attributes
    ----------
    band : of frequency
    kind : "positive" or "negative" indicators, or "rest"
    positive, negative : occurrences in an average document of the category, and outside it
    words : size of the set
    """

    band: str
    kind: str
    positive: float
    negative: float
    words: int


@dataclass(frozen=True)
class TCatEstimate:
    """The concept of one category, or that there are too few documents for it.

    Attributes
    ----------
    label : the category
    n_positive, n_negative : numbers of documents
    length : mean number of words of a document
    sets : sets of words with their average occurrences; empty if there are too few documents
    uncovered : share of the documents of the category without any positive indicator that another document of
        the category has as well; NaN if there are too few documents
    """

    label: Any
    n_positive: int
    n_negative: int
    length: float
    sets: tuple[WordSet, ...]
    uncovered: float

    @property
    def enough(self) -> bool:
        """Whether there were documents enough."""
        return bool(self.sets)

    @property
    def concept(self) -> TCatConcept | None:
        """The concept with average numbers of words; None if there are too few documents."""
        used = [(found.positive, found.negative, found.words) for found in self.sets if found.words]
        return TCatConcept(used) if used else None

    @property
    def inverse_margin(self) -> float:
        """1/delta^2 of Lemma 2; times R^2 it is the numerator of the error bound.

        NaN if there are too few documents, infinite if no set of words distinguishes the classes.
        """
        concept = self.concept
        if concept is None:
            return float("nan")
        margin = concept.margin_bound()
        return margin**-2 if margin > 0 else float("inf")

    @property
    def redundancy(self) -> float:
        """How many words of an average document of the category are positive indicators."""
        return self._sum(POSITIVE)[0]

    @property
    def discriminative_power(self) -> float:
        """Of the indicators in average documents, the share that points to the right class: 0.5 to 1."""
        (right, wrong), (against, missing) = self._sum(POSITIVE), self._sum(NEGATIVE)
        total = right + wrong + against + missing
        return (right + missing) / total if total else float("nan")

    def describe(self) -> list[str]:
        """The concept in words, one sentence per set of indicators."""
        if not self.enough:
            return [
                f"{NOT_ENOUGH}: {self.n_positive:,} documents in this category, {self.n_negative:,} outside"
            ]
        lines = []
        for found in self.sets:
            if found.kind == REST or not found.words:
                continue
            inside, outside = found.positive, found.negative
            marks = "mark this category" if found.kind == POSITIVE else "speak against it"
            words = f"{found.words:,} {found.band} words" if found.words != 1 else f"1 {found.band} word"
            lines.append(
                f"{words} {marks}: {inside:.1f} in an average document of it, {outside:.1f} elsewhere"
            )
        return lines or ["no word marks this category or speaks against it"]

    def _sum(self, kind: str) -> tuple[float, float]:
        found = [(s.positive, s.negative) for s in self.sets if s.kind == kind]
        if not self.enough:
            return float("nan"), float("nan")
        return sum(p for p, _ in found), sum(n for _, n in found)


def estimate_concepts(
    counts: Any,
    y: Any,
    *,
    bands: WordBands | None = None,
    min_documents: int = 10,
    weights: Any = None,
    n_jobs: int | None = None,
) -> list[TCatEstimate]:
    """The concepts of all categories at once.

    Parameters
    ----------
    counts : (documents, terms) how often terms occur
    y : labels in any form, or `Labels`; of two classes, the concept is that of the second
    bands : bands of word frequency and their odds
    min_documents : a category needs this many documents in it and outside it
    weights : (documents, terms) weights of the same terms, for the concept of weighted documents: sets are
        chosen by counts, but their averages are of weights, and documents keep their lengths
    n_jobs : number of threads, None for all cores

    Examples
    --------
    >>> X = np.array([[3, 0, 1], [2, 0, 1], [0, 2, 1], [0, 3, 1]])
    >>> found, = estimate_concepts(X, [1, 1, 0, 0], bands=WordBands([], [3]), min_documents=2)
    >>> print(found.concept)
    TCat([2.5 : 0 : 1], [0 : 2.5 : 1], [1 : 1 : 1])
    >>> estimate_concepts(X, [1, 1, 0, 0])[0].describe()
    ['not enough to say: 2 documents in this category, 2 outside']
    """
    bands = bands or WordBands()
    matrix = sp.csr_array(counts_of(counts))
    labels = Labels.of(y, matrix.shape[0])
    names = labels.space.column_names.tolist()
    member = labels.signs > 0
    n_positive = np.count_nonzero(member, axis=0)
    enough = (n_positive >= min_documents) & (len(member) - n_positive >= min_documents)
    totals = np.asarray(matrix.sum(axis=0), dtype=np.float64).reshape(-1)
    length = float(totals.sum()) / max(len(member), 1)
    estimates: list[TCatEstimate] = []
    of_band, weighted = bands.of(totals), _checked_weights(weights, matrix.shape)
    corpus = _Corpus(matrix, canonical_csr(matrix), bands, of_band, totals, weighted)
    step = max(_BLOCK // max(matrix.shape[1], 1), 1)
    for begin in range(0, len(names), step):
        block = np.arange(begin, min(begin + step, len(names)))
        told = block[enough[block] & (length > 0)]
        measured = iter(_composition(corpus, labels.signs[:, told], n_jobs))
        for k in block.tolist():
            outside = len(member) - int(n_positive[k])
            sets, uncovered = next(measured) if k in told else ((), float("nan"))
            estimates.append(TCatEstimate(names[k], int(n_positive[k]), outside, length, sets, uncovered))
    return estimates


def indicator_groups(counts: TermCounts, of_band: NDArray[np.int8], bands: WordBands) -> Groups:
    """The set of every word for every label: (labels, terms).

    Band b has the positive indicators 2 b and the negative ones 2 b + 1; the last number is the rest.
    """
    logs = odds_ratio(counts)
    needed = np.log(np.array(bands.odds))[of_band]
    rest = 2 * len(bands.odds)
    found = np.full(logs.shape, rest, dtype=np.int8)
    np.copyto(found, 2 * of_band, where=logs > needed)
    np.copyto(found, 2 * of_band + 1, where=logs < -needed)
    return found


@dataclass(frozen=True, eq=False)
class _Corpus:
    """Documents, the bands of their words, how often words occur, and weights instead of counts or None."""

    counts: sp.csr_array
    csr: Csr
    bands: WordBands
    of_band: NDArray[np.int8]
    totals: Floats
    weights: sp.csr_array | None


def _composition(
    corpus: _Corpus, signs: NDArray[np.int8], n_jobs: int | None
) -> list[tuple[tuple[WordSet, ...], float]]:
    """The sets of words of every label, and the share of its documents without an indicator."""
    bands, n_labels, n_sets = corpus.bands, signs.shape[1], 2 * len(corpus.bands.odds) + 1
    if n_labels == 0:
        return []
    member = signs > 0
    terms = count_terms(corpus.csr, signs, n_jobs)
    groups = indicator_groups(terms, corpus.of_band, bands)
    cells = (groups + n_sets * np.arange(n_labels)[:, None]).ravel()

    def by_set(values: Floats | None) -> Floats:
        sums = np.bincount(cells, values, minlength=n_labels * n_sets)
        return sums.reshape(n_labels, n_sets).astype(np.float64)

    values = corpus.counts if corpus.weights is None else corpus.weights
    totals = corpus.totals if corpus.weights is None else np.asarray(values.sum(axis=0), np.float64)
    inside = np.asarray((sp.csr_array(member.T.astype(np.float64)) @ values).toarray())
    p, n = by_set(inside.ravel()), by_set((totals - inside).ravel())
    sizes = by_set(None).astype(np.int64)
    if corpus.weights is None:
        # Both classes have documents of the mean length, as in the thesis.
        length = totals.sum() / len(member)
        p, n = (part * (length / np.maximum(part.sum(axis=1, keepdims=True), 1e-300)) for part in (p, n))
    else:
        p, n = p / member.sum(axis=0)[:, None], np.maximum(n, 0.0) / (~member).sum(axis=0)[:, None]
    shared = (groups < n_sets - 1) & (groups % 2 == 0) & (terms.together >= 2)
    uncovered = _uncovered(corpus.counts, member, shared)
    kinds = [(band, kind) for band in bands.names for kind in (POSITIVE, NEGATIVE)] + [("all", REST)]
    return [
        (
            tuple(
                WordSet(band, kind, float(p[k, s]), float(n[k, s]), int(sizes[k, s]))
                for s, (band, kind) in enumerate(kinds)
            ),
            float(uncovered[k]),
        )
        for k in range(n_labels)
    ]


def _uncovered(matrix: sp.csr_array, member: NDArray[np.bool_], shared: NDArray[np.bool_]) -> Floats:
    """The share of every label's documents that have none of its words in `shared` (labels, terms)."""
    found = np.empty(member.shape[1])
    for k in range(member.shape[1]):
        rows = matrix[np.flatnonzero(member[:, k])]
        hits = rows @ shared[k].astype(np.float64)
        found[k] = np.count_nonzero(hits == 0) / max(rows.shape[0], 1)
    return found


def _checked_weights(weights: Any, shape: tuple[int, ...]) -> sp.csr_array | None:
    if weights is None:
        return None
    matrix = sp.csr_array(counts_of(weights))
    if matrix.shape != shape:
        raise UsageError(f"There are weights of shape {matrix.shape} for counts of shape {shape}.")
    return matrix
