"""A scikit-learn transformer from texts to a weighted matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.metadata_routing import UNUSED

from widemargin._arrays import Csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._threads import thread_count
from widemargin.errors import DataError, UsageError
from widemargin.text.fields import Views, in_columns
from widemargin.text.vocabulary import Vocabulary
from widemargin.text.word_source import WordSource
from widemargin.weight.block_columns import BlockVocabulary, taken_blocks
from widemargin.weight.block_counting import BlockIndex, count_blocks
from widemargin.weight.blocks import Block, parse_blocks
from widemargin.weight.given_vectors import FittedGiven
from widemargin.weight.smart import canonical, check_idf_power, checked_counts, running_factors
from widemargin.weight.term_vectors import TermVectors

# For scikit-learn, which otherwise takes an argument of another name than X for metadata.
NO_METADATA = {"texts": UNUSED}


class Vectorizer(TransformerMixin, BaseEstimator, TermVectors):
    r"""Turn texts into rows of term weights.

    Parameters
    ----------
    units : {"words", "chars", "chars_in_words", "bytes"}
        The units of n-grams, see :mod:`widemargin.text.tokens`.
    tokens : {"alnum", "unicode"}
        How words are found, see :mod:`widemargin.text.tokens`.
    ngram_range : tuple of two int
        The shortest and the longest n-gram.
    min_df, max_df : int or float
        The fewest and the most documents that may contain a term; a float is a share of the documents.
    min_count : int
        The fewest occurrences over all documents.
    max_features : int, optional
        Keep only this many terms, the most frequent ones.
    phrases : float, optional
        Add phrases: n-grams whose words occur together more often than by chance, of two words unless
        `ngram_range` goes beyond that. The number is the smallest log-likelihood ratio, such as 10.83
        (p = 0.001), see :mod:`widemargin.text.phrases`.
    pairs : str, optional
        Add pairs of words with at most 3 words between them: "after:3" in this order, "near:3" in either
        order, see :mod:`widemargin.text.pairs`. A pair must occur in 2 documents, "near:3:min=5": in 5.
    thesaurus : mapping, optional
        Concepts with the words and phrases that stand for them, such as ``{"car": ["automobile", "motor
        car"]}``, see :mod:`widemargin.text.thesaurus`. Every entry becomes the term ``<car>``.
    stop_words : "freewais" or iterable of str, optional
        Words to remove before n-grams are formed.
    stemmer : str, optional
        "porter", the name of a Snowball language, or "lemma:en" and so on for lemmas (requires the extra
        ``lemmas``). Stop words are removed before stemming.
    min_token_length : int
        Ignore shorter words; in characters.
    n_hashed : int, optional
        Hash terms into this many columns instead of learning a vocabulary (see ``core/text/hashing.hpp``).
        Terms cannot be pruned then.
    weighting : str, optional
        "tfidf", "counts", "binary" or a SMART scheme, see :mod:`widemargin.weight.smart`; None gives counts.
        The default is "ltc", which is "tfidf": logarithm of the term frequency, inverse document frequency,
        rows of length 1.
    idf_power : float
        The power of the inverse document frequency: 0.5 brings frequent and rare terms closer together, 1.3
        moves them apart.
    blocks : sequence of str or Block, optional
        Kinds of terms with vocabularies of their own, such as ``["words", "bigrams:0.5", "chars:0.5",
        "title:0.5"]``, see :mod:`widemargin.weight.blocks`. The other parameters hold for every block, except
        that stop words, stems and concepts are of words. The block "vectors" adds document vectors that are
        learned from the texts, see :mod:`widemargin.weight.corpus_vectors`.
    fields : sequence of str, optional
        The names of the columns of documents that have several, see :mod:`widemargin.text.fields`. None
        takes all columns of the training documents.
    token_pattern, ignore_pattern : str, optional
        Regular expressions: of words, such as r"\b\w\w+\b", and of what is left out before, such as
        r"<[^>]*>|https?://\S+". They are compiled into the core, match as `re` does, and are saved with the
        model, see :mod:`widemargin.text.word_source`.
    lowercase : bool
        Whether upper and lower case are the same.
    preprocessor, tokenizer, analyzer : callable, optional
        As in scikit-learn's CountVectorizer, see :mod:`widemargin.text.word_source`. A model with a callable
        cannot be saved.
    n_jobs : int, optional
        Number of threads; None and -1 mean all cores. Results do not depend on it.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        The sorted terms; the position of a term is its column. Missing if terms are hashed. The words of
        vectors are among them, after all others; their columns are of counts.
    document_frequencies_ : array of int64
        The number of training documents that contain each term.
    n_documents_ : int
        The number of training documents.
    blocks_ : dict from str to slice
        The columns of every block; without blocks, all are "words".
    vectors_ : dict from str to CorpusVectors
        The vectors of words, by block.
    fields_ : tuple of str or None
        The names of the columns of documents.

    Examples
    --------
    >>> vectorizer = Vectorizer(weighting=None)
    >>> vectorizer.fit_transform(["Wheat up 3%", "Corn up, wheat down"]).toarray()
    array([[1, 0, 0, 1, 1],
           [0, 1, 1, 1, 1]], dtype=int32)
    >>> list(vectorizer.vocabulary_)
    ['<number>', 'corn', 'down', 'up', 'wheat']

    Blocks side by side, each of its own length:

    >>> vectorizer = Vectorizer(blocks=["words", "bigrams:0.5"], weighting="txc")
    >>> vectorizer.fit_transform(["wheat up", "wheat"]).toarray().round(3)
    array([[0.632, 0.632, 0.447],
           [0.   , 1.   , 0.   ]], dtype=float32)
    >>> vectorizer.blocks_
    {'words': slice(0, 2, None), 'bigrams': slice(2, 3, None)}
    """

    __metadata_request__fit = __metadata_request__partial_fit = NO_METADATA
    __metadata_request__transform = NO_METADATA

    _given: Mapping[str, FittedGiven]

    @one_fit_at_a_time
    def fit(self, texts: Any, y: Any = None) -> Self:
        """Learn the terms of `texts` and their document frequencies.

        Parameters
        ----------
        texts : iterable of str or of bytes in UTF-8, or an Arrow column of strings; documents with several
            columns: a data frame, a mapping from names to columns, or a list of mappings from names to texts
        y : ignored
        """
        self._fit(texts, by_document=False)
        return self

    def fit_transform(self, texts: Any, y: Any = None) -> sp.csr_array:
        """As ``fit(texts).transform(texts)``, in one pass."""
        return self.weighed(self.fit_counts(texts)).matrix

    @one_fit_at_a_time
    def fit_counts(self, texts: Any) -> Csr:
        """Learn the terms of `texts`, and count them: ``weighed(fit_counts(texts))`` are the weights."""
        counts = self._fit(texts, by_document=True)
        assert counts is not None
        return counts

    @one_fit_at_a_time
    def fit_counted(
        self,
        vocabularies: Sequence[Vocabulary] | None,
        frequencies: NDArray[np.int64],
        n_documents: int,
        columns: tuple[str, ...] | None = None,
    ) -> Self:
        """As :meth:`fit`, given the terms and frequencies of documents that were counted elsewhere.

        Parameters
        ----------
        vocabularies : the terms of every block, after pruning; None if terms are hashed
        frequencies : the document frequencies of all columns
        columns : the names of the columns of the documents, if they have several
        """
        self.fields_ = columns
        self._given = {}
        terms = None if vocabularies is None else self._joined_terms(list(vocabularies))
        self._learned(terms, frequencies, n_documents, columns)
        return self

    def transform(self, texts: Any) -> sp.csr_array:
        """The weights of `texts`, one row each (int32 counts if `weighting` is None).

        Unknown terms are ignored.
        """
        return self.rows(texts).matrix

    def reweighted(self, weighting: str | None, idf_power: float = 1.0, counts: Csr | None = None) -> Self:
        """A fitted vectorizer with the same terms and another weighting.

        Use it to count documents once for several weightings: ``reweighted(name).weigh(counts)``.

        Parameters
        ----------
        counts : of the training documents. Vectors need them, since their mean depends on the weights.

        Examples
        --------
        >>> counting = Vectorizer(weighting=None)
        >>> counts = counting.fit_transform(["wheat wheat corn", "corn"])
        >>> counting.reweighted("txc").weigh(counts).toarray().round(3)
        array([[0.447, 0.894],
               [1.   , 0.   ]], dtype=float32)
        """
        self._require_fitted()
        canonical(weighting)  # checks it
        check_idf_power(idf_power)
        other: Self = clone(self).set_params(weighting=weighting, idf_power=idf_power)
        other._given = self.given_
        other._learned(
            getattr(self, "vocabulary_", None), self.document_frequencies_, self.n_documents_, self.fields_
        )
        other._built_index = self._built_index
        if other.has_vectors:
            if counts is None:
                raise UsageError(
                    "Vectors of documents depend on the weighting. Pass counts=fit_counts(texts)."
                )
            other._keep_vectors(other.vectors_from(counts, other.factors, self.vectors_))
        return other

    def restricted_to(self, blocks: Any, counts: Csr) -> tuple[Self, Csr]:
        """A fitted vectorizer with some of the blocks, and their counts among `counts`.

        Use it to count every block once, and to compare blocks and their weights.

        Parameters
        ----------
        blocks : as in the constructor; they may differ from those of this vectorizer in number, order and
            weight
        counts : of this vectorizer

        Examples
        --------
        >>> every = Vectorizer(blocks=["words", "bigrams", "chars"])
        >>> counts = every.fit_counts(["wheat up", "corn"])
        >>> one, _ = every.restricted_to(["bigrams:0.5"], counts)
        >>> list(one.vocabulary_), one.blocks_
        (['wheat up'], {'bigrams': slice(0, 1, None)})
        """
        self._require_fitted()
        known = {rule.block.name: rule.block for rule in self._rules()}
        wanted = parse_blocks(blocks, self.fields_)
        for block in wanted:
            if replace(block, weight=1.0) != replace(known.get(block.name, Block("")), weight=1.0):
                raise UsageError(
                    f"Block {block.name!r} was not counted; blocks are {', '.join(known)}. Fit it first."
                )
        places = [list(known).index(block.name) for block in wanted]
        widths = self.layout.counted_widths
        other: Self = clone(self).set_params(blocks=wanted)
        other._given = self.given_
        terms = getattr(self, "vocabulary_", None)
        if isinstance(terms, BlockVocabulary):
            terms = other._joined_terms([terms.parts[place] for place in places])
        frequencies = [self.document_frequencies_[self.layout.counted[block.name]] for block in wanted]
        other._learned(terms, np.concatenate(frequencies), self.n_documents_, self.fields_)
        other._keep_vectors([self.vectors_[block.name] for block in wanted if block.name in self.vectors_])
        return other, taken_blocks(counts, widths, places)

    def weigh(self, counts: sp.csr_array) -> sp.csr_array:
        """Weight counted documents, one row each.

        Counts are whole numbers from 0 to 2**31 - 1, of any type.
        """
        self._require_fitted()
        n_columns = len(self.document_frequencies_)
        if counts.shape[1] != n_columns:
            raise DataError(
                f"The counts have {counts.shape[1]} columns, but the vectorizer has {n_columns} terms."
            )
        return self.weighed(checked_counts(counts)).matrix

    @one_fit_at_a_time
    def partial_fit(self, texts: Any, y: Any = None) -> Self:
        """Add `texts` to the training documents.

        The first call is a `fit`. Later calls add to `n_documents_` and to the document frequencies of known
        terms; new terms are ignored (if terms are hashed, all are known). Vectors of words stay as they are.
        """
        if not hasattr(self, "document_frequencies_"):
            return self.fit(texts)
        self._add(self.counted(texts))
        return self

    @one_fit_at_a_time
    def partial_fit_transform(self, texts: Any, y: Any = None) -> sp.csr_array:
        """Add `texts` to the training documents, and weight them.

        Every text is weighted by the documents so far, itself included, so the result does not depend on how
        a stream is divided into batches (if terms are hashed; otherwise the first batch has the vocabulary).
        With blocks of vectors, all documents of a batch count.

        Examples
        --------
        >>> stream = Vectorizer(n_hashed=2**18, weighting="tfx")
        >>> stream.partial_fit_transform(["wheat", "wheat corn", "corn corn"]).sum(axis=1).round(3)
        array([0.   , 0.693, 0.811], dtype=float32)
        """
        first = not hasattr(self, "document_frequencies_")
        counts = self._fit(texts, by_document=True) if first else self.counted(texts)
        assert counts is not None
        if self.scheme is None or self.vectors_:
            if not first:
                self._add(counts)
            return self.weighed(counts).matrix
        known = self.document_frequencies_
        frequencies, before = (np.zeros_like(known), 0) if first else (known.copy(), self.n_documents_)
        factors = running_factors(self.scheme, counts, frequencies, before, self.idf_power)
        self.document_frequencies_, self.n_documents_ = frequencies, before + counts.n_rows
        self._known_factors = None
        return self.weighed_by(counts, factors, by_value=factors is not None).matrix

    def _add(self, counts: Csr) -> None:
        """Count these documents among the training documents."""
        self.document_frequencies_ = self.document_frequencies_ + np.bincount(
            counts.indices, minlength=counts.n_columns
        )
        self.n_documents_ += counts.n_rows
        self._known_factors = None

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The terms, as an array of str in column order; the dimensions of vectors are numbered."""
        self._require_fitted()
        if self.n_hashed is not None:
            raise UsageError("Hashed terms have no names. Omit n_hashed to learn a vocabulary.")
        if not self.vectors_:
            return np.array(list(self.vocabulary_), dtype=object)
        first = self.layout.first_dimension
        numbered = (self.column_name(column) for column in range(first, self.n_columns))
        return np.array([*islice(self.vocabulary_, first), *numbered], dtype=object)

    def _fit(self, texts: Any, by_document: bool) -> Csr | None:
        texts, columns = in_columns(texts, self.fields)
        self.fields_ = columns
        self._given = {}
        rules, n_threads = self._rules(), thread_count(self.n_jobs)
        views = Views(texts, columns, WordSource.of(self).prepare)
        if len(views) == 0:
            raise DataError("There are no documents to learn from. Pass at least one.")
        if self.n_hashed is not None:
            counts = BlockIndex(rules, [None] * len(rules), self.n_hashed).count(views, n_threads)
            frequencies = np.bincount(counts.indices, minlength=counts.n_columns)
            self._learned(None, frequencies, len(views), columns)
            return counts
        # Vectors are learned from the counts of documents.
        by_document = by_document or self.has_vectors
        counted = count_blocks(views, rules, n_threads, by_document=by_document)
        terms, self._given = self._joined_terms(counted.vocabularies), counted.given
        self._learned(terms, counted.document_frequencies, len(views), columns)
        if counted.counts is not None:
            self._keep_vectors(self.vectors_from(counted.counts, self.factors))
        return counted.counts

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        # The index lives in the core and is rebuilt from the vocabulary.
        if "_built_index" in state:
            state["_built_index"] = None
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "document_frequencies_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags
