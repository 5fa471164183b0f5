"""Training documents as new ones: their rows by a vectorizer that was fitted without them.

A vectorizer that is fitted on all documents knows the words that only one of them has, and counts every
document among those that contain its words. A new document loses words that no other document has, and its
other weights are renormalized. So the row of a document that is left out changes: terms that too few others
have are dropped, N and the document frequencies of its terms fall by one, and it is normalized again.

Rows of the remaining documents change too, since the document frequencies of the terms that they share fall.
Folds follow that (:func:`rows_without`). Leave-one-out would have to weigh the whole collection for every
document; it leaves the other rows alone, which changes scores by a few thousandths.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from widemargin._arrays import Csr
from widemargin.errors import UsageError
from widemargin.text.inputs import taken
from widemargin.text.pairs import is_pair, parse_pairs
from widemargin.text.vocabulary import Vocabulary
from widemargin.weight.block_columns import taken_blocks
from widemargin.weight.blocks import Block, parse_blocks
from widemargin.weight.document_vectors import DocumentVectors
from widemargin.weight.encoded_vectors import from_counts
from widemargin.weight.given_vectors import GivenVectors
from widemargin.weight.vectorizer import Vectorizer

Floats = NDArray[np.float64]


class AsNew(NamedTuple):
    """Training documents as new documents, one row each.

    Attributes
    ----------
    rows : as a vectorizer sees them that was fitted without the document
    shared : as they were in training, less the terms that no other document gives a place
    scale : (n,) the factor by which normalization lengthens `shared`; 0 where nothing is shared. Blocks
        lengthen by factors of their own; this is the one that fits all entries best (least squares)
    """

    rows: Any
    shared: Any
    scale: Floats


def rows_as_new(
    vectorizer: Vectorizer, counts: Csr, first: int | None = None, totals: Floats | None = None
) -> AsNew:
    """Every training document by a vectorizer that was fitted on the others.

    Parameters
    ----------
    counts : of the documents that `vectorizer` was fitted on, in its columns
    first : make rows of so many documents only, the first ones; None for all
    totals : the occurrences of every term, if `counts` are of some documents only

    Examples
    --------
    >>> from widemargin import Vectorizer
    >>> vectorizer = Vectorizer(weighting="txc")
    >>> counts = vectorizer.fit_counts(["corn corn wheat", "corn oil", "oil"])
    >>> new = rows_as_new(vectorizer, counts)
    >>> new.rows.toarray().round(2)
    array([[1.  , 0.  , 0.  ],
           [0.71, 0.71, 0.  ],
           [0.  , 1.  , 0.  ]], dtype=float32)
    >>> new.scale.round(2).tolist()
    [1.12, 1.0, 1.0]
    """
    if vectorizer.has_vectors:
        raise UsageError(
            "Vectors are learned from all documents, so each cannot be left out alone. Use k-fold."
        )
    others = vectorizer.document_frequencies_ - 1
    counts, known = known_entries(vectorizer, counts, first, totals)
    whole = vectorizer.weighed(counts)
    rest = kept_entries(counts, known)
    if vectorizer.scheme is None:
        rows = again = rest
    else:
        factors = vectorizer.collection_factors(others, max(vectorizer.n_documents_ - 1, 0))
        rows = vectorizer.weighed_by(rest, factors)
        again = vectorizer.weighed(rest)
    shared = kept_entries(whole, known)
    below = _row_sums(shared, shared)
    scale = np.divide(_row_sums(again, shared), below, out=np.zeros_like(below), where=below > 0)
    return AsNew(rows.matrix, shared.matrix, scale)


def known_entries(
    vectorizer: Vectorizer, counts: Csr, first: int | None = None, totals: Floats | None = None
) -> tuple[Csr, NDArray[np.bool_]]:
    """The counts of the `first` training documents, and which entries remain when the vectorizer has not seen
    their document; `totals` are the occurrences of every term, if `counts` are not those of all documents."""
    if totals is None and vectorizer.min_count > 1:
        totals = np.bincount(counts.indices, counts.data, counts.n_columns).astype(np.float64)
    counts = counts if first is None else counts.rows(0, first)
    return counts, _known(vectorizer, counts, vectorizer.document_frequencies_ - 1, totals)


def rows_without(vectorizer: Vectorizer, counts: Csr, texts: Any, out: NDArray[np.bool_]) -> Csr:
    """All documents by a vectorizer that was fitted without those that are `out`.

    The columns are those of `vectorizer`, or, where its choice of terms cannot be made from counts (phrases,
    `max_features`, shares of documents), those of a vectorizer that counts `texts` again.
    """
    return rows_and_blocks_without(vectorizer, counts, texts, out)[0]


def rows_and_blocks_without(
    vectorizer: Vectorizer, counts: Csr, texts: Any, out: NDArray[np.bool_]
) -> tuple[Csr, dict[str, slice]]:
    """The same, and the columns of every block."""
    remaining = np.flatnonzero(~out)
    if not follows_from_counts(vectorizer):
        again: Vectorizer = clone(vectorizer).set_params(fields=vectorizer.fields_)
        if any(block.encodes for block in blocks_of(vectorizer)):
            again.set_params(blocks=_encoded_already(vectorizer, counts, texts))
        return again.fit(taken(texts, remaining)).rows(texts), again.blocks_
    of_out = np.repeat(out, np.diff(counts.indptr))
    gone = np.bincount(counts.indices[of_out], minlength=counts.n_columns)
    totals = None
    if vectorizer.min_count > 1:
        totals = np.bincount(counts.indices, counts.data * ~of_out, counts.n_columns).astype(np.float64)
    left = RemainingTerms.of(vectorizer, gone, len(remaining), totals)
    rest = left.entries(counts)
    if vectorizer.scheme is None:
        return rest, vectorizer.blocks_
    vectors: Any = ()
    if vectorizer.has_vectors:
        vectors = vectorizer.vectors_from(taken_rows(rest, remaining), left.factors)
    return vectorizer.weighed_by(rest, left.factors, vectors), vectorizer.blocks_


class RemainingTerms(NamedTuple):
    """What a vectorizer knows that was fitted without some of its documents, by counts alone.

    Attributes
    ----------
    keep : (columns,) the terms that it still knows; None for all
    factors : its collection factors; None if it does not weight
    """

    keep: NDArray[np.bool_] | None
    factors: Floats | None

    @classmethod
    def of(
        cls, vectorizer: Vectorizer, gone: NDArray[np.integer], n_remaining: int, totals: Floats | None = None
    ) -> RemainingTerms:
        """Without documents of which `gone` have each term, and `n_remaining` remain.

        `totals` are the occurrences of every term in these, if `min_count` asks for them. Choices by
        `max_features`, by shares of the documents or of phrases stay as they are.
        """
        frequencies = vectorizer.document_frequencies_ - gone
        keep = None
        if vectorizer.n_hashed is None:
            keep = frequencies >= _fewest(vectorizer, n_remaining)
            if totals is not None:
                keep &= (totals >= vectorizer.min_count) | vectorizer.given_columns
        return cls(keep, vectorizer.collection_factors(frequencies, n_remaining))

    def entries(self, counts: Csr) -> Csr:
        """The counts of the terms that remain."""
        return counts if self.keep is None else kept_entries(counts, self.keep[counts.indices])


def blocks_of(vectorizer: Vectorizer) -> tuple[Block, ...]:
    """The blocks of a fitted vectorizer, in the order of their columns."""
    return () if vectorizer.blocks is None else parse_blocks(vectorizer.blocks, vectorizer.fields_)


def _encoded_already(vectorizer: Vectorizer, counts: Csr, texts: Any) -> list[Block]:
    """The blocks, with the vectors of `texts` that are among their counts in place of an encoder."""
    views = vectorizer.views(texts)
    found: list[Block] = []
    for place, block in enumerate(blocks_of(vectorizer)):
        if isinstance(block, GivenVectors) and block.encodes:
            rows = from_counts(taken_blocks(counts, vectorizer.layout.counted_widths, [place]))
            block = replace(block, source=DocumentVectors(views.strings(block.field), rows))
        found.append(block)
    return found


def follows_from_counts(vectorizer: Vectorizer) -> bool:
    """Whether a smaller collection can only lose terms, by counts that are known."""
    every = isinstance(vectorizer.max_df, float) and vectorizer.max_df == 1.0
    whole = all(isinstance(min_df, Integral) for _, min_df in vectorizer.min_df_of_columns)
    return every and whole and vectorizer.max_features is None and vectorizer.phrases is None


def _known(
    vectorizer: Vectorizer, counts: Csr, others: NDArray[np.int64], totals: Floats | None
) -> NDArray[np.bool_]:
    """Which entries remain when the vectorizer has not seen their document; `totals` are the occurrences of
    every term, if their number matters.

    Hashed terms all have a column. Whether a term is among the `max_features` most frequent ones, below
    `max_df`, or a phrase is left as it is.
    """
    if vectorizer.n_hashed is not None:
        return np.ones(len(counts.indices), dtype=bool)
    fewest = _fewest(vectorizer, vectorizer.n_documents_ - 1)
    known: NDArray[np.bool_] = (others >= fewest)[counts.indices]
    if totals is not None:
        known &= totals[counts.indices] - counts.data >= vectorizer.min_count
    return known


def _fewest(vectorizer: Vectorizer, n_documents: int) -> Floats:
    """The fewest documents that must contain each term; blocks and pairs of words have their own limits."""
    fewest = np.ones(len(vectorizer.document_frequencies_))
    for columns, min_df in vectorizer.min_df_of_columns:
        least = min_df if isinstance(min_df, Integral) else min_df * n_documents
        fewest[columns] = max(float(least), 1.0)
    for name, given in vectorizer.given_.items():
        fewest[vectorizer.layout.counted[name]] = given.fewest
    pairs = parse_pairs(vectorizer.pairs)
    if pairs is not None and isinstance(vectorizer.vocabulary_, Vocabulary):
        of_pairs = is_pair(vectorizer.vocabulary_)
        fewest[of_pairs] = np.maximum(fewest[of_pairs], pairs.fewest)
    return fewest


def kept_entries(csr: Csr, kept: NDArray[np.bool_]) -> Csr:
    """The same rows with only some of their entries."""
    if kept.all():
        return csr
    before = np.concatenate([[0], np.cumsum(kept)])
    return Csr(before[csr.indptr].astype(np.int64), csr.indices[kept], csr.data[kept], csr.n_columns)


def taken_rows(csr: Csr, rows: NDArray[np.intp]) -> Csr:
    """Some of the rows, in this order."""
    lengths = np.diff(csr.indptr)[rows]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.arange(indptr[-1]) + np.repeat(csr.indptr[rows] - indptr[:-1], lengths)
    return Csr(indptr, csr.indices[entries], csr.data[entries], csr.n_columns)


def _row_sums(a: Csr, b: Csr) -> Floats:
    """The inner products of the rows of two matrices with the same entries."""
    row = np.repeat(np.arange(a.n_rows), np.diff(a.indptr))
    sums: Floats = np.bincount(row, a.data.astype(np.float64) * b.data, a.n_rows).astype(np.float64)
    return sums
