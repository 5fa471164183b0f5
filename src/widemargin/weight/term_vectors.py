"""Texts to rows of term weights, without scikit-learn: the part of a vectorizer that a saved model needs.

:class:`~widemargin.Vectorizer` adds training and the interface of a scikit-learn transformer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import fields as parameters_of
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import DataError, UsageError
from widemargin.text.counting import WordRule
from widemargin.text.fields import Views, check_columns, columns_of, joined
from widemargin.text.pairs import parse_pairs
from widemargin.text.pruning import Pruning
from widemargin.text.stemming import check_stemmer
from widemargin.text.stop_lists import stop_list
from widemargin.text.thesaurus import Thesaurus
from widemargin.text.tokens import TextRule
from widemargin.text.vocabulary import Vocabulary
from widemargin.weight.block_columns import BlockVocabulary, weigh_blocks
from widemargin.weight.block_counting import BlockIndex, BlockRule
from widemargin.weight.blocks import Block, block_from_plain, parse_blocks, prefixes
from widemargin.weight.smart import apply_factors, check_idf_power, collection_factors, parse_scheme


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
    weighting: str | None = "ltc"
    n_jobs: int | None = None
    phrases: float | None = None
    pairs: str | None = None
    thesaurus: Mapping[str, Iterable[str]] | None = None
    blocks: str | Sequence[Block | str] | None = None
    fields: Sequence[str] | None = None
    idf_power: float = 1.0

    def rows(self, texts: Any) -> Csr:
        """The weights of `texts`, one row each; unknown terms are ignored."""
        return self.weighed(self.counted(texts))

    def counted(self, texts: Any) -> Csr:
        """The counts of known terms, one row per text."""
        self._require_fitted()
        return self._index.count(self._views(texts), thread_count(self.n_jobs))

    @property
    def counted_terms(self) -> _core.TermIndex | None:
        """The terms, for a learner that reads texts itself, if rows are their counts; otherwise None."""
        self._require_fitted()
        counts = self.weighting is None or parse_scheme(self.weighting) == parse_scheme("txx")
        return self._index.terms if counts and self.blocks is None else None

    def weighed(self, counts: Csr) -> Csr:
        """Weight counted documents (counts are returned if `weighting` is None)."""
        self._require_fitted()
        return self.weighed_by(counts, self._factors)

    def weighed_by(self, counts: Csr, factors: NDArray[np.float64] | None) -> Csr:
        """As :meth:`weighed`, with other collection factors."""
        self._require_fitted()
        if self.weighting is None:
            return counts
        n_threads = thread_count(self.n_jobs)
        if self.blocks is None:
            return apply_factors(counts, self.weighting, factors, n_threads=n_threads)
        widths = [part.stop - part.start for part in self.blocks_.values()]
        weights = [block.weight for block in parse_blocks(self.blocks, self.fields_)]
        return weigh_blocks(counts, self.weighting, factors, widths, weights, n_threads=n_threads)

    def locate(self, text: str) -> Located:
        """The occurrences of known terms in `text`, with the characters that they cover.

        The counts of the columns are the row that ``transform([text])`` weights. An n-gram covers the text
        from its first to its last unit; boundary marks cover nothing. A pair of words covers the text from
        the first to the second word except for the gap between them.
        """
        self._require_fitted()
        if not isinstance(text, str):
            raise DataError(f"Expected one text as str, found {type(text).__name__}.")
        return Located(*self._index.locate(text, self.fields_))

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
        config = {part.name: getattr(self, part.name) for part in parameters_of(TermVectors)}
        config["ngram_range"] = list(self.ngram_range)
        if self.stop_words is not None and not isinstance(self.stop_words, str):
            config["stop_words"] = sorted(stop_list(self.stop_words))
        if self.thesaurus is not None:
            config["thesaurus"] = {
                name: [entries] if isinstance(entries, str) else sorted(entries)
                for name, entries in self.thesaurus.items()
            }
        if self.blocks is not None:
            config["blocks"] = [rule.block.plain() for rule in self._rules()]
            config["block_columns"] = [part.stop - part.start for part in self.blocks_.values()]
        config["fields"] = None if self.fields_ is None else list(self.fields_)
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
        params = {name: config[name] for name in config if name not in ("n_documents", "block_columns")}
        if config.get("blocks") is not None:
            params["blocks"] = tuple(block_from_plain(block) for block in stored.items("blocks"))
        self: Self = Stored({**params, "ngram_range": tuple(lengths)}).made(cls)
        vocabulary = None
        if self.n_hashed is None:
            vocabulary = self._stored_vocabulary(stored)
            n_columns = len(vocabulary)
        else:
            n_columns = self.n_hashed * len(self._rules())
        frequencies = stored.array(
            "document_frequencies", (n_columns,), np.int64, np.int32, least=0, most=n_documents
        )
        self._learned(vocabulary, frequencies.astype(np.int64), n_documents, check_columns(self.fields))
        if self._factors is not None and not np.isfinite(self._factors).all():
            raise DataError("'document_frequencies' in arrays.safetensors give weights that are not finite")
        return self

    def _stored_vocabulary(self, stored: Stored) -> Vocabulary | BlockVocabulary:
        """The terms of a file, checked."""
        rules = self._rules()
        buffer = stored.array("vocabulary", (None,), np.uint8)
        offsets = stored.array("vocabulary_offsets", (None,), np.int64)
        Vocabulary(buffer, offsets)  # checks the offsets
        widths = [len(offsets) - 1] if self.blocks is None else stored.items("block_columns")
        sound = all(type(width) is int and width >= 0 for width in widths)
        if not sound or len(widths) != len(rules) or sum(widths) != len(offsets) - 1:
            raise DataError(
                f"'block_columns' in manifest.json is {widths!r}; expected {len(rules)} numbers that sum to "
                f"{len(offsets) - 1}, the number of terms"
            )
        parts, first = [], 0
        for rule, width in zip(rules, widths, strict=True):
            some = offsets[first : first + width + 1]
            parts.append(rule.text.vocabulary(buffer[some[0] : some[-1]], some - some[0]))
            parts[-1].check()
            first += width
        return self._joined_terms(parts)

    def _joined_terms(self, parts: list[Vocabulary]) -> Vocabulary | BlockVocabulary:
        """The vocabulary of all blocks, given that of each."""
        if self.blocks is None:
            return parts[0]
        return BlockVocabulary(parts, prefixes(rule.block for rule in self._rules()))

    def _learned(
        self,
        vocabulary: Vocabulary | BlockVocabulary | None,
        frequencies: NDArray[np.int64],
        n_documents: int,
        columns: tuple[str, ...] | None,
    ) -> None:
        if vocabulary is not None:
            self.vocabulary_ = vocabulary
        elif hasattr(self, "vocabulary_"):
            del self.vocabulary_
        self.document_frequencies_ = frequencies
        self.n_documents_ = n_documents
        self.fields_ = columns
        names = [rule.block.name for rule in self._rules()]
        if isinstance(vocabulary, BlockVocabulary):
            widths = [len(part) for part in vocabulary.parts]
        else:
            widths = [len(frequencies) // len(names)] * len(names)
        ends = np.cumsum(widths).tolist()
        self.blocks_ = {
            name: slice(end - width, end) for name, width, end in zip(names, widths, ends, strict=True)
        }
        self._built_index: BlockIndex | None = None
        self._factors = self._collection_factors()

    def documents(self, texts: Any) -> Any:
        """Documents as texts: those with columns are joined, in the order of training."""
        self._require_fitted()
        found = columns_of(texts)
        if found is None:
            return texts
        if self.fields_ is None:
            raise DataError(
                f"The documents have columns ({', '.join(found)}), but those of the training were single "
                f"texts. Pass one text per document."
            )
        return joined(texts, self.fields_)

    def _views(self, texts: Any) -> Views:
        return Views(self.documents(texts), self.fields_)

    @property
    def min_df_of_columns(self) -> list[tuple[slice, float]]:
        """The `min_df` of every block, with its columns."""
        self._require_fitted()
        limits = (rule.pruning.min_df for rule in self._rules())
        return list(zip(self.blocks_.values(), limits, strict=True))

    def _check_parameters(self) -> None:
        self._rules()
        thread_count(self.n_jobs)

    def _rules(self) -> list[BlockRule]:
        """How each block is counted, checked; without blocks, the rule of all terms."""
        columns = getattr(self, "fields_", None) or check_columns(self.fields)
        if self.blocks is None:
            blocks: tuple[Block, ...] = (Block("words", self.units, self.ngram_range),)
        else:
            if self.units != "words" or tuple(self.ngram_range) != (1, 1):
                raise UsageError("Use either blocks or units and ngram_range: a block has its own.")
            for name in ("phrases", "pairs"):
                if getattr(self, name) is not None:
                    raise UsageError(f"{name} does not apply to blocks. Use either {name} or blocks.")
            blocks = parse_blocks(self.blocks, columns)
        pairs = parse_pairs(self.pairs)
        check_stemmer(self.stemmer)
        stop_words = stop_list(self.stop_words)
        rules = []
        for block in blocks:
            rule = TextRule(block.units, self.tokens, block.ngram_range, self.min_token_length, pairs)
            if self.blocks is None:
                for name in ("stop_words", "stemmer", "phrases", "pairs", "thesaurus"):
                    if self.units != "words" and getattr(self, name) is not None:
                        raise UsageError(f"{name} does not apply to units={self.units!r}. Use units='words'.")
            if self.phrases is not None and self.ngram_range[1] < 2:
                # Phrases of two words, if nothing is said about longer ones.
                rule = replace(rule, ngram_range=(self.ngram_range[0], 2))
            words = WordRule()
            if block.units == "words":
                thesaurus = None
                if self.thesaurus is not None:
                    thesaurus = Thesaurus.of(self.thesaurus, rule, self.stemmer)
                words = WordRule(stop_words, self.stemmer, thesaurus)
            few = self.n_hashed is not None and (pairs is None or pairs.min_df is None)
            fewest = 1 if pairs is None or few else pairs.fewest
            min_df = self.min_df if block.min_df is None else block.min_df
            pruning = Pruning(min_df, self.max_df, self.min_count, self.max_features, self.phrases, fewest)
            rules.append(BlockRule(block, rule, words, pruning))
        self._check_hashing(rules)
        if self.weighting is not None:
            parse_scheme(self.weighting)
        check_idf_power(self.idf_power)
        return rules

    def _check_hashing(self, rules: list[BlockRule]) -> None:
        if self.n_hashed is None:
            return
        if isinstance(self.n_hashed, bool) or not isinstance(self.n_hashed, int) or self.n_hashed < 1:
            raise UsageError(f"n_hashed={self.n_hashed!r}: expected a number of columns, such as 2**18.")
        if self.n_hashed * len(rules) >= 2**31:
            raise UsageError(f"n_hashed={self.n_hashed}: columns must stay below 2**31.")
        if any(rule.pruning.prunes for rule in rules):
            raise UsageError(
                "Hashed terms cannot be pruned. Omit min_df, max_df, min_count, max_features, phrases "
                "and the min of pairs, or omit n_hashed."
            )

    @property
    def _index(self) -> BlockIndex:
        """Built on first use; `fit` does not need it."""
        if self._built_index is None:
            terms = getattr(self, "vocabulary_", None)
            parts = terms.parts if isinstance(terms, BlockVocabulary) else [terms]
            rules = self._rules()
            parts = parts if terms is not None else [None] * len(rules)
            self._built_index = BlockIndex(rules, parts, self.n_hashed)
        return self._built_index

    def _collection_factors(self) -> NDArray[np.float64] | None:
        if self.weighting is None:
            return None
        return collection_factors(
            self.weighting, self.document_frequencies_, self.n_documents_, self.idf_power
        )

    def _require_fitted(self) -> None:
        if not hasattr(self, "document_frequencies_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("This Vectorizer has not learned any terms yet. Call fit first.")
