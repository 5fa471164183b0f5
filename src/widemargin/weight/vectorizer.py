"""Texts to a weighted matrix, in the shape of a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError

import widemargin._core as _core
from widemargin._one_fit import one_fit_at_a_time
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import DataError, UsageError
from widemargin.text.counting import Index, WordRule, count_collection
from widemargin.text.inputs import as_texts
from widemargin.text.pruning import Pruning
from widemargin.text.stemming import check_stemmer
from widemargin.text.stop_lists import stop_list
from widemargin.text.tokens import TextRule
from widemargin.text.vocabulary import Vocabulary
from widemargin.weight.smart import apply_factors, checked_counts, collection_factors, parse_scheme


class Located(NamedTuple):
    """Every occurrence of a term in one text: its column, and where it begins and ends, in characters."""

    columns: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


class Vectorizer(TransformerMixin, BaseEstimator):
    """Turn texts into rows of term weights.

    Parameters
    ----------
    units : {"words", "chars", "chars_in_words"}
        What n-grams are made of.
    tokens : {"alnum", "unicode"}
        What a word is, see :mod:`widemargin.text.tokens`.
    ngram_range : tuple of two int
        The shortest and the longest n-gram.
    min_df, max_df : int or float
        The fewest and the most documents a term may occur in; a float is a share of the documents.
    min_count : int
        The fewest occurrences in all documents together.
    max_features : int, optional
        Keep this many terms, the most frequent ones.
    phrases : float, optional
        Of terms of several words, keep only those whose words stand together more often than chance would
        have them: by a log-likelihood ratio of at least this, 10.83 for one in a thousand. For words and an
        `ngram_range` beyond 1.
    stop_words : "freewais" or iterable of str, optional
        Words that are left out before n-grams are formed.
    stemmer : str, optional
        "porter", the name of a Snowball language, or "lemma:en" and the like for lemmas (with the extra
        ``lemmas``). Stop words are removed before stemming.
    min_token_length : int
        Shorter words are left out; in characters.
    n_hashed : int, optional
        Hashing mode: this many columns, no vocabulary. A term's column follows from its bytes alone (the
        function is in ``core/text/hashing.hpp``), so documents can be transformed without seeing them first.
        Excludes pruning.
    weighting : str, optional
        A SMART triple, see :mod:`widemargin.weight.smart`; None gives the counts.
    n_jobs : int, optional
        Native threads; None and -1 mean every core. The results do not depend on it.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        The terms, sorted; a term's place is its column. Absent in hashing mode.
    document_frequencies_ : array of int64
        In how many of the training documents each column occurs.
    n_documents_ : int
        The number of training documents.

    Examples
    --------
    >>> vectorizer = Vectorizer(weighting=None)
    >>> vectorizer.fit_transform(["Wheat up 3%", "Corn up, wheat down"]).toarray()
    array([[1, 0, 0, 1, 1],
           [0, 1, 1, 1, 1]], dtype=int32)
    >>> list(vectorizer.vocabulary_)
    ['<number>', 'corn', 'down', 'up', 'wheat']
    """

    vocabulary_: Vocabulary
    document_frequencies_: NDArray[np.int64]
    n_documents_: int

    def __init__(
        self,
        units: str = "words",
        tokens: str = "alnum",
        ngram_range: tuple[int, int] = (1, 1),
        min_df: float = 1,
        max_df: float = 1.0,
        min_count: int = 1,
        max_features: int | None = None,
        stop_words: str | Iterable[str] | None = None,
        stemmer: str | None = None,
        min_token_length: int = 1,
        n_hashed: int | None = None,
        weighting: str | None = "tfc",
        n_jobs: int | None = None,
        phrases: float | None = None,
    ) -> None:
        self.units = units
        self.tokens = tokens
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_df = max_df
        self.min_count = min_count
        self.max_features = max_features
        self.phrases = phrases
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.min_token_length = min_token_length
        self.n_hashed = n_hashed
        self.weighting = weighting
        self.n_jobs = n_jobs

    @one_fit_at_a_time
    def fit(self, texts: Any, y: Any = None) -> Self:
        """Learn the terms of `texts` and their document frequencies.

        Parameters
        ----------
        texts : iterable of str or of bytes in UTF-8, or an Arrow column of strings
        y : ignored
        """
        self._fit(texts, matrix=False)
        return self

    @one_fit_at_a_time
    def fit_transform(self, texts: Any, y: Any = None) -> sp.csr_array:
        """As ``fit(texts).transform(texts)``, in one pass."""
        counts = self._fit(texts, matrix=True)
        assert counts is not None
        return self._weigh(counts)

    def transform(self, texts: Any) -> sp.csr_array:
        """The weights of `texts`, one row each (int32 counts if `weighting` is None).

        Terms that the training documents did not have are ignored.
        """
        return self._weigh(self._count(as_texts(texts)))

    def reweighted(self, weighting: str | None) -> Self:
        """A fitted vectorizer with the same terms and another weighting.

        Documents are counted once for all weightings: ``reweighted(name).weigh(counts)``, where `counts` come
        from a vectorizer without any.

        Examples
        --------
        >>> counting = Vectorizer(weighting=None)
        >>> counts = counting.fit_transform(["wheat wheat corn", "corn"])
        >>> counting.reweighted("txc").weigh(counts).toarray().round(3)
        array([[0.447, 0.894],
               [1.   , 0.   ]], dtype=float32)
        """
        self._require_fitted()
        if weighting is not None:
            parse_scheme(weighting)
        other: Self = clone(self).set_params(weighting=weighting)
        other._learned(getattr(self, "vocabulary_", None), self.document_frequencies_, self.n_documents_)
        other._built_index = self._built_index
        return other

    def weigh(self, counts: sp.csr_array) -> sp.csr_array:
        """The weights of documents whose terms are already counted, one row each.

        Counts are whole numbers from 0 to 2**31 - 1, of any type.
        """
        self._require_fitted()
        n_columns = len(self.document_frequencies_)
        if counts.shape[1] != n_columns:
            raise DataError(
                f"The counts have {counts.shape[1]} columns, and the vectorizer knows {n_columns} terms."
            )
        return self._weigh(checked_counts(counts))

    @one_fit_at_a_time
    def partial_fit(self, texts: Any, y: Any = None) -> Self:
        """Add `texts` to the training documents.

        The first call is a `fit`. Later ones add to `n_documents_` and to the document frequencies of the
        terms that are already known; the columns stay what they are, so new terms are ignored (hashing mode
        has all columns from the beginning).
        """
        if not hasattr(self, "document_frequencies_"):
            return self.fit(texts)
        self._add(self._count(as_texts(texts)))
        return self

    @one_fit_at_a_time
    def partial_fit_transform(self, texts: Any, y: Any = None) -> sp.csr_array:
        """As ``partial_fit(texts).transform(texts)``, in one pass."""
        if not hasattr(self, "document_frequencies_"):
            return self.fit_transform(texts)
        counts = self._count(as_texts(texts))
        self._add(counts)
        return self._weigh(counts)

    def _add(self, counts: sp.csr_array) -> None:
        """Count these documents among the training documents."""
        self.document_frequencies_ = self.document_frequencies_ + np.bincount(
            counts.indices, minlength=counts.shape[1]
        )
        self.n_documents_ += counts.shape[0]
        self._factors = self._collection_factors()

    def locate(self, text: str) -> Located:
        """Every occurrence of a known term in `text`, with the characters of `text` that it covers.

        Counting the columns gives the row that ``transform([text])`` weighs. An n-gram covers everything from
        its first unit to its last; boundary marks cover nothing.
        """
        self._require_fitted()
        if not isinstance(text, str):
            raise DataError(f"Expected one text as str, found {type(text).__name__}.")
        return Located(*self._index.locate(as_texts([text])))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The terms as an array of str, in the order of the columns."""
        self._require_fitted()
        if self.n_hashed is not None:
            raise UsageError("In hashing mode no terms are kept. Leave out n_hashed to learn a vocabulary.")
        return np.array(list(self.vocabulary_), dtype=object)

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What :meth:`from_state` needs: a configuration for JSON, and arrays."""
        self._require_fitted()
        config = self.get_params()
        config["ngram_range"] = list(self.ngram_range)
        if self.stop_words is not None and not isinstance(self.stop_words, str):
            config["stop_words"] = sorted(stop_list(self.stop_words))
        config["n_documents"] = self.n_documents_
        arrays: dict[str, NDArray[Any]] = {"document_frequencies": self.document_frequencies_}
        if self.n_hashed is None:
            arrays["vocabulary"] = self.vocabulary_.buffer
            arrays["vocabulary_offsets"] = self.vocabulary_.offsets
        return config, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The fitted vectorizer whose `get_state` this was."""
        stored = Stored(config, arrays)
        n_documents = stored.integer("n_documents", most=2**62)
        lengths = stored.items("ngram_range")
        if len(lengths) != 2 or not all(type(length) is int for length in lengths):
            raise DataError(f"'ngram_range' in manifest.json is {lengths!r}; expected two whole numbers")
        params = {name: value for name, value in config.items() if name != "n_documents"}
        self: Self = Stored({**params, "ngram_range": tuple(lengths)}).made(cls)
        vocabulary, n_columns = None, self.n_hashed
        if n_columns is None:
            offsets = stored.array("vocabulary_offsets", (None,), np.int64)
            vocabulary = Vocabulary(stored.array("vocabulary", (None,), np.uint8), offsets)
            vocabulary.check()
            n_columns = len(vocabulary)
        frequencies = stored.array(
            "document_frequencies", (n_columns,), np.int64, np.int32, least=0, most=n_documents
        )
        self._learned(vocabulary, frequencies.astype(np.int64), n_documents)
        if self._factors is not None and not np.isfinite(self._factors).all():
            raise DataError("'document_frequencies' in arrays.safetensors give weights that are not finite")
        return self

    def _fit(self, texts: Any, matrix: bool) -> sp.csr_array | None:
        rule, words, pruning, n_threads = self._check_params()
        views = as_texts(texts)
        if len(views) == 0:
            raise DataError("There are no documents to learn from. Pass at least one.")
        if self.n_hashed is not None:
            counts = Index(rule, words, n_hashed=self.n_hashed).count(views, n_threads)
            self._learned(None, np.bincount(counts.indices, minlength=self.n_hashed), len(views))
            return counts
        counted = count_collection(views, rule, words, pruning, n_threads, matrix=matrix)
        self._learned(counted.vocabulary, counted.document_frequencies, len(views))
        return counted.matrix

    def _learned(
        self, vocabulary: Vocabulary | None, frequencies: NDArray[np.int64], n_documents: int
    ) -> None:
        if vocabulary is not None:
            self.vocabulary_ = vocabulary
        elif hasattr(self, "vocabulary_"):
            del self.vocabulary_
        self.document_frequencies_ = frequencies
        self.n_documents_ = n_documents
        self._built_index: Index | None = None
        self._factors = self._collection_factors()

    def _check_parameters(self) -> None:
        self._check_params()

    def _check_params(self) -> tuple[TextRule, WordRule, Pruning, int]:
        rule = TextRule(self.units, self.tokens, self.ngram_range, self.min_token_length)
        words = WordRule(stop_list(self.stop_words), self.stemmer)
        check_stemmer(self.stemmer)
        if self.units != "words" and (self.stop_words is not None or self.stemmer is not None):
            raise UsageError(
                f"Stop words and stemmers are for units='words', not for units={self.units!r}. "
                f"Leave them out."
            )
        if self.phrases is not None and (self.units != "words" or self.ngram_range[1] < 2):
            raise UsageError(
                f"phrases={self.phrases!r} is for terms of several words. Pass ngram_range=(1, 2)."
            )
        pruning = Pruning(self.min_df, self.max_df, self.min_count, self.max_features, self.phrases)
        if self.n_hashed is not None:
            if isinstance(self.n_hashed, bool) or not isinstance(self.n_hashed, int) or self.n_hashed < 1:
                raise UsageError(f"n_hashed={self.n_hashed!r}: expected a number of columns, such as 2**18.")
            if self.n_hashed >= 2**31:
                raise UsageError(f"n_hashed={self.n_hashed}: columns must stay below 2**31.")
            if pruning.prunes:
                raise UsageError(
                    "Hashing mode has no vocabulary to prune. Leave out min_df, max_df, min_count, "
                    "max_features and phrases, or leave out n_hashed."
                )
        if self.weighting is not None:
            parse_scheme(self.weighting)
        return rule, words, pruning, thread_count(self.n_jobs)

    @property
    def _index(self) -> Index:
        """Built on first use: a vectorizer that only fits does not need it."""
        if self._built_index is None:
            rule, words, _, _ = self._check_params()
            self._built_index = Index(rule, words, getattr(self, "vocabulary_", None), self.n_hashed)
        return self._built_index

    def _count(self, texts: _core.Texts) -> sp.csr_array:
        self._require_fitted()
        return self._index.count(texts, thread_count(self.n_jobs))

    def _weigh(self, counts: sp.csr_array) -> sp.csr_array:
        if self.weighting is None:
            return counts
        return apply_factors(counts, self.weighting, self._factors, n_threads=thread_count(self.n_jobs))

    def _collection_factors(self) -> NDArray[np.float64] | None:
        if self.weighting is None:
            return None
        return collection_factors(self.weighting, self.document_frequencies_, self.n_documents_)

    def _require_fitted(self) -> None:
        if not hasattr(self, "document_frequencies_"):
            raise NotFittedError("This Vectorizer has not learned any terms yet. Call fit first.")

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        # The index belongs to the core; it is made again from the vocabulary.
        if "_built_index" in state:
            state["_built_index"] = None
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags
