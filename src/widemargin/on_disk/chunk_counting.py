"""Count a part of a collection, whose terms are pruned only when all parts are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr
from widemargin._threads import thread_count
from widemargin.errors import UsageError
from widemargin.text.counting import count_collection
from widemargin.text.fields import Views, in_columns
from widemargin.text.inputs import listed, taken
from widemargin.text.pruning import NoTermsError, Pruning
from widemargin.text.vocabulary import Vocabulary
from widemargin.text.word_source import WordSource
from widemargin.weight.block_columns import concatenated
from widemargin.weight.block_counting import BlockIndex, BlockRule, block_rules, nothing_counted


class ChunkCounts(NamedTuple):
    """The documents of a chunk and their counts.

    Attributes
    ----------
    documents : texts that can be read again, one per document
    n_given : how many there were before some were left out
    columns : the names of their columns, if they have several
    vocabularies : all terms of every block; empty if terms are hashed
    frequencies : the document frequencies of every block
    counts : one row per document, the columns of all blocks side by side
    """

    documents: Any
    n_given: int
    columns: tuple[str, ...] | None
    vocabularies: list[Vocabulary]
    frequencies: list[NDArray[np.int64]]
    counts: Csr


def counting_rules(vectorizer: Any, columns: tuple[str, ...] | None) -> list[BlockRule]:
    """How each block of `vectorizer` is counted, if every block can be counted in parts."""
    rules = block_rules(vectorizer, columns, {})
    for rule in rules:
        if rule.block.dims is not None or rule.block.encodes:
            raise UsageError(
                f"Block {rule.block.name!r} is of vectors, which need all documents in memory. Omit the "
                f"block, or train in memory."
            )
    return rules


def count_chunk(vectorizer: Any, texts: Any, which: NDArray[np.intp] | None = None) -> ChunkCounts:
    """Count the terms of some documents, as :meth:`~widemargin.Vectorizer.fit` would, and prune nothing.

    A chunk or a block without terms has no columns.

    Parameters
    ----------
    vectorizer : Vectorizer, whose parameters say what is counted; it need not be fitted
    which : the places of the documents to count; None for all

    Examples
    --------
    >>> from widemargin import Vectorizer
    >>> chunk = count_chunk(Vectorizer(min_df=2), ["wheat up", "corn up up"])
    >>> list(chunk.vocabularies[0]), chunk.counts.data.tolist()
    (['corn', 'up', 'wheat'], [1, 1, 1, 2])
    """
    texts, columns = in_columns(texts, vectorizer.fields)
    documents = listed(texts)
    n_given = len(documents)
    if which is not None:
        documents = taken(documents, which)
    rules, n_threads = counting_rules(vectorizer, columns), thread_count(vectorizer.n_jobs)
    views = Views(documents, columns, WordSource.of(vectorizer).prepare)
    if vectorizer.n_hashed is not None:
        counts = BlockIndex(rules, [None] * len(rules), vectorizer.n_hashed).count(views, n_threads)
        return ChunkCounts(documents, n_given, columns, [], [], counts)
    parts = []
    for rule in rules:
        of_field = views.of(rule.block.field)
        try:
            parts.append(count_collection(of_field, rule.text, rule.words, Pruning(), n_threads))
        except NoTermsError:
            parts.append(nothing_counted(rule.text, len(views)))
    rows = [part.counts for part in parts if part.counts is not None]
    return ChunkCounts(
        documents,
        n_given,
        columns,
        [part.vocabulary for part in parts],
        [part.document_frequencies for part in parts],
        concatenated(rows),
    )
