"""Texts to rows of term weights, without scikit-learn: the part of a vectorizer that a saved model needs.

:class:`~widemargin.Vectorizer` adds training and the interface of a scikit-learn transformer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import DataError, UsageError
from widemargin.text.counting import Index, WordRule
from widemargin.text.inputs import as_texts
from widemargin.text.pairs import parse_pairs
from widemargin.text.pruning import Pruning
from widemargin.text.stemming import check_stemmer
from widemargin.text.stop_lists import stop_list
from widemargin.text.thesaurus import Thesaurus
from widemargin.text.tokens import TextRule
from widemargin.text.vocabulary import Vocabulary
from widemargin.weight.smart import apply_factors, collection_factors, parse_scheme


class Located(NamedTuple):
    """The occurrences of known terms in one text: column, start and end (in characters).

    Between the words of a pair is a gap, which does not belong to the term; in other terms it is empty.
    """

    columns: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    gap_starts: NDArray[np.int64]
    gap_ends: NDArray[np.int64]


@dataclass(eq=False, repr=False)
class TermVectors:
    """Known terms and their weights, with the parameters and attributes of
    :class:`~widemargin.Vectorizer`."""

    units: str = "words"
    tokens: str = "alnum"
    ngram_range: tuple[int, int] = (1, 1)
    min_df: float = 1
    max_df: float = 1.0
    min_count: int = 1
    max_features: int | None = None
    stop_words: str | Iterable[str] | None = None
    stemmer: str | None = None
    min_token_length: int = 1
    n_hashed: int | None = None
    weighting: str | None = "tfc"
    n_jobs: int | None = None
    phrases: float | None = None
    pairs: str | None = None
    thesaurus: Mapping[str, Iterable[str]] | None = None

    def rows(self, texts: Any) -> Csr:
        """The weights of `texts`, one row each; unknown terms are ignored."""
        return self.weighed(self.counted(texts))

    def counted(self, texts: Any) -> Csr:
        """The counts of known terms, one row per text."""
        self._require_fitted()
        return self._index.count(as_texts(texts), thread_count(self.n_jobs))

    @property
    def counted_terms(self) -> _core.TermIndex | None:
        """The terms, for a learner that reads texts itself, if rows are their counts; otherwise None."""
        self._require_fitted()
        counts = self.weighting is None or parse_scheme(self.weighting) == parse_scheme("txx")
        return self._index.terms if counts else None

    def weighed(self, counts: Csr) -> Csr:
        """Weight counted documents (counts are returned if `weighting` is None)."""
        self._require_fitted()
        if self.weighting is None:
            return counts
        return apply_factors(counts, self.weighting, self._factors, n_threads=thread_count(self.n_jobs))

    def locate(self, text: str) -> Located:
        """The occurrences of known terms in `text`, with the characters that they cover.

        The counts of the columns are the row that ``transform([text])`` weights. An n-gram covers the text
        from its first to its last unit; boundary marks cover nothing. A pair of words covers the text from
        the first to the second word except for the gap between them.
        """
        self._require_fitted()
        if not isinstance(text, str):
            raise DataError(f"Expected one text as str, found {type(text).__name__}.")
        columns, starts, ends, gap_starts, gap_ends = self._index.locate(as_texts([text]))
        return Located(columns, starts, ends, gap_starts, gap_ends)

    def located_row(self, text: str) -> tuple[Csr, Located]:
        """The row of one text and the positions of its terms, from one pass over the text."""
        located = self.locate(text)
        columns, counts = np.unique(located.columns, return_counts=True)
        indptr = np.array([0, len(columns)], dtype=np.int64)
        n_columns = len(self.document_frequencies_)
        return self.weighed(Csr(indptr, columns, counts.astype(np.int32), n_columns)), located

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state for :meth:`from_state`: a configuration for JSON, and arrays."""
        self._require_fitted()
        config = {part.name: getattr(self, part.name) for part in fields(TermVectors)}
        config["ngram_range"] = list(self.ngram_range)
        if self.stop_words is not None and not isinstance(self.stop_words, str):
            config["stop_words"] = sorted(stop_list(self.stop_words))
        if self.thesaurus is not None:
            config["thesaurus"] = {
                name: [entries] if isinstance(entries, str) else sorted(entries)
                for name, entries in self.thesaurus.items()
            }
        config["n_documents"] = self.n_documents_
        arrays: dict[str, NDArray[Any]] = {"document_frequencies": self.document_frequencies_}
        if self.n_hashed is None:
            arrays["vocabulary"] = self.vocabulary_.buffer
            arrays["vocabulary_offsets"] = self.vocabulary_.offsets
        return config, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """A fitted vectorizer from the result of `get_state`."""
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
            rule, _, _, _ = self._check_params()
            vocabulary = rule.vocabulary(stored.array("vocabulary", (None,), np.uint8), offsets)
            vocabulary.check()
            n_columns = len(vocabulary)
        frequencies = stored.array(
            "document_frequencies", (n_columns,), np.int64, np.int32, least=0, most=n_documents
        )
        self._learned(vocabulary, frequencies.astype(np.int64), n_documents)
        if self._factors is not None and not np.isfinite(self._factors).all():
            raise DataError("'document_frequencies' in arrays.safetensors give weights that are not finite")
        return self

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
        pairs = parse_pairs(self.pairs)
        rule = TextRule(self.units, self.tokens, self.ngram_range, self.min_token_length, pairs)
        for name in ("stop_words", "stemmer", "phrases", "pairs", "thesaurus"):
            if self.units != "words" and getattr(self, name) is not None:
                raise UsageError(f"{name} does not apply to units={self.units!r}. Use units='words'.")
        if self.phrases is not None and self.ngram_range[1] < 2:
            # Phrases of two words, if nothing is said about longer ones.
            rule = replace(rule, ngram_range=(self.ngram_range[0], 2))
        check_stemmer(self.stemmer)
        thesaurus = None if self.thesaurus is None else Thesaurus.of(self.thesaurus, rule, self.stemmer)
        words = WordRule(stop_list(self.stop_words), self.stemmer, thesaurus)
        fewest = 1 if pairs is None or (self.n_hashed is not None and pairs.min_df is None) else pairs.fewest
        pruning = Pruning(self.min_df, self.max_df, self.min_count, self.max_features, self.phrases, fewest)
        if self.n_hashed is not None:
            if isinstance(self.n_hashed, bool) or not isinstance(self.n_hashed, int) or self.n_hashed < 1:
                raise UsageError(f"n_hashed={self.n_hashed!r}: expected a number of columns, such as 2**18.")
            if self.n_hashed >= 2**31:
                raise UsageError(f"n_hashed={self.n_hashed}: columns must stay below 2**31.")
            if pruning.prunes:
                raise UsageError(
                    "Hashed terms cannot be pruned. Omit min_df, max_df, min_count, max_features, phrases "
                    "and the min of pairs, or omit n_hashed."
                )
        if self.weighting is not None:
            parse_scheme(self.weighting)
        return rule, words, pruning, thread_count(self.n_jobs)

    @property
    def _index(self) -> Index:
        """Built on first use; `fit` does not need it."""
        if self._built_index is None:
            rule, words, _, _ = self._check_params()
            self._built_index = Index(rule, words, getattr(self, "vocabulary_", None), self.n_hashed)
        return self._built_index

    def _collection_factors(self) -> NDArray[np.float64] | None:
        if self.weighting is None:
            return None
        return collection_factors(self.weighting, self.document_frequencies_, self.n_documents_)

    def _require_fitted(self) -> None:
        if not hasattr(self, "document_frequencies_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("This Vectorizer has not learned any terms yet. Call fit first.")
