"""Documents that are copies of each other, or nearly: all pairs whose word shingles overlap enough.

A document is the set of its shingles: all runs of :data:`SHINGLE` words, case-folded. The similarity of two
documents is Jaccard's, ``|A & B| / |A | B|``. All pairs of at least a given similarity t are found, without
comparing all pairs (prefix filtering; Chaudhuri, Ganti and Kaushik, ICDE 2006; Bayardo, Ma and Srikant, WWW
2007):

- A document of which less than the share t of its shingles occurs elsewhere has no near-duplicate. In most
  collections this leaves a small part of the documents, and it is repeated on them until nothing changes.
- Of two similar sets, ordered by one order of all shingles, the first ``|A| - ceil(t |A|) + 1`` shingles of
  both have one in common. With the rarest shingles first, few pairs do, and these are compared.

Unlike MinHash this is exact and needs no seed. Only where more than :data:`WINDOW` documents of about the
same size share a rare shingle, each is compared with that many neighbors in the order of sizes: one group of
copies is then still found as one group, but not every pair of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

import widemargin._core as _core
from widemargin._threads import thread_count
from widemargin.errors import DataError, UsageError

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
SHINGLE = 3
SIMILAR = 0.8
WINDOW = 200
_COLUMNS = 2**31 - 1  # of the hashed shingles: two of a document hardly ever meet
_PAIRS_AT_ONCE = 200_000
_FEW = 100_000  # shingles that are sorted at once


@dataclass(frozen=True, eq=False)
class NearDuplicates:
    """Pairs of documents that are alike, and the groups that they form.

    Attributes
    ----------
    pairs : (m, 2) positions of documents, the smaller first, in rising order. Of documents with the same
        shingles, each is paired with the first one only.
    similarity : (m,) of each pair, at least what was asked for
    exact : (m,) whether both texts are the same character by character
    group : (n,) the number of each document's group, -1 for documents that are like no other
    """

    pairs: Numbers
    similarity: Floats
    exact: NDArray[np.bool_]
    group: Numbers

    def groups(self) -> list[Numbers]:
        """The members of every group, in rising order.

        Examples
        --------
        >>> texts = ["Corn is up again.", "Oil fell", "corn is up again", "corn is up again"]
        >>> found = near_duplicates(texts)
        >>> [members.tolist() for members in found.groups()]
        [[0, 2, 3]]
        """
        members = np.flatnonzero(self.group >= 0)
        order = members[np.argsort(self.group[members], kind="stable")]
        return np.split(order, np.flatnonzero(np.diff(self.group[order])) + 1) if len(order) else []


def near_duplicates(
    texts: Sequence[str], similar: float = SIMILAR, *, n_jobs: int | None = None
) -> NearDuplicates:
    """Find all pairs of texts that are at least `similar`.

    Texts without a word are like no other. Texts of fewer than :data:`SHINGLE` words are sets of their words
    and pairs of words.

    Parameters
    ----------
    similar : above 0.5, at most 1
    n_jobs : number of threads, None for all cores; the result does not depend on it

    Examples
    --------
    >>> same = "The bank of Japan cut its discount rate by half a point on Friday"
    >>> found = near_duplicates([same, "Wheat fell", same + ".", same + " night"], 0.6)
    >>> found.pairs.tolist(), found.similarity.round(2).tolist(), found.exact.tolist()
    ([[0, 2], [0, 3]], [1.0, 0.92], [False, False])
    """
    if not isinstance(similar, float | int) or not 0.5 < similar <= 1:
        raise UsageError(f"similar={similar!r}: expected a number above 0.5 and at most 1.")
    sets = _shingles(texts, thread_count(n_jobs))
    first = _first_with_same_set(sets)
    n = len(first)
    copies = np.flatnonzero(first < np.arange(n))
    distinct = np.flatnonzero((first == np.arange(n)) & (np.diff(sets.indptr) > 0))
    near, similarity = _similar_pairs(sets[distinct], Fraction(similar).limit_denominator(10**6))
    near = distinct[near]
    pairs = np.vstack([np.column_stack([first[copies], copies]), near])
    similarity = np.concatenate([np.ones(len(copies)), similarity])
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, similarity = pairs[order], similarity[order]
    exact = np.fromiter((texts[i] == texts[j] for i, j in pairs.tolist()), bool, count=len(pairs))
    return NearDuplicates(pairs, similarity, exact, _group(pairs, n))


def _shingles(texts: Sequence[str], n_threads: int) -> sp.csr_array:
    """The set of hashed shingles of every text, as rows of ones."""
    rows = _hashed(texts, SHINGLE, SHINGLE, n_threads)
    short = np.flatnonzero(np.diff(rows.indptr) == 0)
    if len(short) == 0:
        return rows
    of_short = _hashed([texts[i] for i in short.tolist()], 1, SHINGLE - 1, n_threads)
    place = np.full(len(texts), -1)
    place[short] = np.arange(len(short))
    stacked: sp.csr_array = sp.vstack([rows, of_short], format="csr")
    result: sp.csr_array = stacked[np.where(place >= 0, len(texts) + place, np.arange(len(texts)))]
    return result


def _hashed(texts: Sequence[str], shortest: int, longest: int, n_threads: int) -> sp.csr_array:
    views = _core.Texts()
    wrong = views.add_objects(list(texts))
    if wrong >= 0:
        raise DataError(f"Document {wrong} (counting from 0) is not a text. Pass strings.")
    # Numbers are words of their own: reports that differ in their figures only are different documents.
    rule = _core.TextRule(_core.UnitKind.words, alnum=False, min_length=1, min_n=shortest, max_n=longest)
    rows = _core.HashIndex(_COLUMNS, rule).count(views, None, None, n_threads)
    indptr = np.empty(rows.n_rows + 1, dtype=np.int64)
    indices = np.empty(rows.non_zeros, dtype=np.int32)
    counts = np.empty(rows.non_zeros, dtype=np.int32)
    rows.release(indptr, indices, counts)
    return sp.csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(len(indptr) - 1, _COLUMNS))


def _first_with_same_set(sets: sp.csr_array) -> Numbers:
    """For each row the first one with the same set; rows without a shingle stand for themselves."""
    mixed = sets.indices.astype(np.uint64) + np.uint64(1)
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (29, 0xC4CEB9FE1A85EC53), (32, 0x9E3779B97F4A7C15)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    # Sums of 64 mixed bits, modulo 2^64: the same for the same set, in whatever order.
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    signature = sums[sets.indptr[1:]] - sums[sets.indptr[:-1]]
    first = np.arange(len(signature))
    known = np.flatnonzero(np.diff(sets.indptr) > 0)
    _, places, inverse = np.unique(signature[known], return_index=True, return_inverse=True)
    first[known] = known[places[inverse]]
    return first


def _similar_pairs(sets: sp.csr_array, similar: Fraction) -> tuple[Numbers, Floats]:
    """Pairs of different sets, and their similarity."""
    sizes = np.diff(sets.indptr).astype(np.int64)
    needed = -((-sizes * similar.numerator) // similar.denominator)  # ceil(t |A|): the smallest overlap
    documents, columns = _shared(sets, needed)
    empty = np.empty((0, 2), np.int64), np.empty(0)
    if len(documents) == 0:
        return empty
    rows = sp.csr_array(
        (np.ones(len(columns), np.int32), (documents, columns)), shape=(len(sizes), int(columns.max()) + 1)
    )
    first, second = _candidates(documents, columns, sizes, needed, similar)
    found_pairs, found = [empty[0]], [empty[1]]
    for start in range(0, len(first), _PAIRS_AT_ONCE):
        i, j = first[start : start + _PAIRS_AT_ONCE], second[start : start + _PAIRS_AT_ONCE]
        both = np.asarray(rows[i].multiply(rows[j]).sum(axis=1)).ravel().astype(np.int64)
        either = sizes[i] + sizes[j] - both
        kept = both * similar.denominator >= either * similar.numerator
        found_pairs.append(np.column_stack([i, j])[kept])
        found.append(both[kept] / either[kept])
    return np.vstack(found_pairs), np.concatenate(found)


def _shared(sets: sp.csr_array, needed: Numbers) -> tuple[Numbers, Numbers]:
    """Documents and shingles that occur in several documents, without documents that share too few.

    Shingles are numbered so that the rarest come first.
    """
    documents = np.repeat(np.arange(len(needed), dtype=np.int32), np.diff(sets.indptr))
    columns: Any = sets.indices
    if len(columns) > _FEW:
        # Counts of buckets are at least those of their shingles, and need no sorting.
        bucket = columns & ((1 << min(len(columns).bit_length(), 25)) - 1)
        shared = np.bincount(bucket)[bucket] > 1
        kept = (np.bincount(documents[shared], minlength=len(needed)) >= needed)[documents]
        documents, columns = documents[kept], columns[kept]
    while True:
        _, inverse, counts = np.unique(columns, return_inverse=True, return_counts=True)
        shared = counts[inverse] > 1
        enough = np.bincount(documents[shared], minlength=len(needed)) >= needed
        kept = shared & enough[documents]
        if kept.all():
            break
        documents, columns = documents[kept], columns[kept]
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    return documents.astype(np.int64), rank[inverse]


def _candidates(
    documents: Numbers, columns: Numbers, sizes: Numbers, needed: Numbers, similar: Fraction
) -> tuple[Numbers, Numbers]:
    """Pairs whose prefixes have a shingle in common and whose sizes allow the similarity."""
    order = np.lexsort((columns, documents))
    documents, columns = documents[order], columns[order]
    begins = np.searchsorted(documents, np.arange(len(sizes)))
    kept = np.bincount(documents, minlength=len(sizes))
    # Shingles that were dropped are rarer than all others, and come first in the order.
    prefix = sizes - needed + 1 - (sizes - kept)
    in_prefix = np.arange(len(documents)) - begins[documents] < prefix[documents]
    documents, columns = documents[in_prefix], columns[in_prefix]
    order = np.lexsort((documents, sizes[documents], columns))
    documents, columns = documents[order], columns[order]
    found = []
    places = np.arange(len(documents))
    for step in range(1, WINDOW + 1):
        places = places[places + step < len(documents)]
        # Sizes rise within a shingle: what is too large for one step is too large for all further ones.
        places = places[
            (columns[places] == columns[places + step])
            & (needed[documents[places + step]] <= sizes[documents[places]])
        ]
        if len(places) == 0:
            break
        i, j = documents[places], documents[places + step]
        found.append(np.unique(np.minimum(i, j) * len(sizes) + np.maximum(i, j)))
    pairs = np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)
    return pairs // len(sizes), pairs % len(sizes)


def _group(pairs: Numbers, n: int) -> Numbers:
    """Numbers of the groups in the order of their first members; -1 for documents in no pair."""
    links = sp.csr_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    component = connected_components(links, directed=False)[1]
    group = np.full(n, -1, dtype=np.int64)
    members = np.unique(pairs)
    _, first, inverse = np.unique(component[members], return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    group[members] = rank[inverse]
    return group
