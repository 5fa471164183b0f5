"""Which words of a file of word vectors a vectorizer keeps, under the names that its tokens have.

A word of the file is read as a text: case-folded, stemmed and so on, as words of documents are. One that is
not exactly one token ("New_York", ".") is left out. If several become the same token ("The" and "the"), the
first one stands for it, which is the most frequent one in files that are sorted by frequency.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin.documents.formats.vector_files import WordVectors
from widemargin.errors import DataError, DataWarning
from widemargin.text.counting import Counted, WordRule, count_collection
from widemargin.text.inputs import as_texts
from widemargin.text.pruning import NoTermsError, Pruning
from widemargin.text.tokens import TextRule
from widemargin.text.vocabulary import Vocabulary
from widemargin.weight.corpus_vectors import CorpusVectors
from widemargin.weight.given_vectors import FittedGiven, GivenVectors

# A share of running words below which words and file hardly fit together.
_FEW = 0.05


class KeptWords(NamedTuple):
    """Words with their vectors.

    Attributes
    ----------
    terms : the words as tokens, sorted
    vectors : float32, one row per term
    often : whether a term is among the most frequent words of the file, which are kept even if no training
        document has them
    """

    terms: Vocabulary
    vectors: NDArray[np.float32]
    often: NDArray[np.bool_]


def count_given_words(
    texts: _core.Texts, block: GivenVectors, rule: TextRule, words: WordRule, n_threads: int
) -> tuple[Counted, FittedGiven]:
    """The words that a block of word vectors keeps, and their counts in the training documents."""
    try:
        all_words = count_collection(texts, rule, words, Pruning(), n_threads)
    except NoTermsError:
        nothing = rule.vocabulary(np.empty(0, np.uint8), np.zeros(1, np.int64))
        rows = Csr(np.zeros(len(texts) + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32), 0)
        all_words = Counted(nothing, np.empty(0, np.int64), rows)
    source = block.open()
    kept = kept_words(source, rule, words, all_words.vocabulary, block.keep, n_threads)
    place = {term: column for column, term in enumerate(kept.terms)}
    columns = np.array([place.get(term, -1) for term in all_words.vocabulary], dtype=np.int32)
    assert all_words.counts is not None
    indptr, indices, data, _ = all_words.counts
    known = columns[indices] >= 0
    before = np.concatenate([[0], np.cumsum(known)]).astype(np.int64)
    # Columns ascend in a row as before, since both vocabularies are sorted.
    counts = Csr(before[indptr], columns[indices[known]], data[known], len(kept.terms))
    frequencies = np.bincount(counts.indices, minlength=counts.n_columns)
    found = float(counts.data.sum(dtype=np.int64) / max(int(data.sum(dtype=np.int64)), 1))
    if found < _FEW:
        warnings.warn(
            f"Block {block.name!r}: only {found:.1%} of the words of the training documents are in "
            f"{source.name}, such as {', '.join(map(repr, list(source.words)[:3]))}. Check the language, and "
            f"that the words of the file are split and stemmed as those of the documents (tokens, stemmer).",
            DataWarning,
            stacklevel=6,
        )
    vectors = CorpusVectors(kept.vectors.astype(np.float64), np.zeros(source.dims))
    fitted = FittedGiven(replace(block, dims=source.dims), vectors, kept.often, found)
    return Counted(kept.terms, frequencies, counts), fitted


def kept_words(
    source: WordVectors,
    rule: TextRule,
    words: WordRule,
    training: Vocabulary,
    keep: int | None,
    n_threads: int,
) -> KeptWords:
    """The words of `training`, and of all others the `keep` first ones of the file (None: all of them)."""
    try:
        found = count_collection(as_texts(list(source.words)), rule, words, Pruning(), n_threads)
    except NoTermsError:
        raise DataError(
            f"{source.name}: none of its {len(source.words)} words is a word of letters or digits that is "
            f"not a stop word. Pass a file of word vectors."
        ) from None
    assert found.counts is not None
    indptr, indices, data, _ = found.counts
    whole = np.flatnonzero(np.diff(indptr) == 1)
    whole = whole[data[indptr[whole]] == 1]
    columns, first = np.unique(indices[indptr[whole]], return_index=True)
    places = whole[first]
    often = np.ones(len(places), dtype=bool)
    if keep is not None:
        often[np.argsort(places)[keep:]] = False
    known = set(training)
    terms = [found.vocabulary.term(column) for column in columns.tolist()]
    kept = np.array([frequent or term in known for term, frequent in zip(terms, often.tolist(), strict=True)])
    chosen = Vocabulary.from_terms(term for term, wanted in zip(terms, kept.tolist(), strict=True) if wanted)
    return KeptWords(chosen, source.vectors(places[kept]), often[kept])
