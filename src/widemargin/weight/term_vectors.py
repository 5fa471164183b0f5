"""Texts to rows of term weights, without scikit-learn: the part of a vectorizer that a saved model needs.

:class:`~widemargin.Vectorizer` adds training and the interface of a scikit-learn transformer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as parameters_of
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import DataError, UsageError
from widemargin.text.fields import Views, check_columns, columns_of, joined, only_column
from widemargin.text.stop_lists import stop_list
from widemargin.text.vocabulary import Vocabulary
from widemargin.text.word_source import WordSource, plain_patterns, stored_patterns
from widemargin.weight.block_columns import BlockVocabulary, learned_vectors, segments, weigh_blocks
from widemargin.weight.block_counting import BlockIndex, BlockRule, Located, block_rules
from widemargin.weight.block_layout import BlockLayout, Vectors, stored_vectors
from widemargin.weight.blocks import Block, parse_blocks, prefixes
from widemargin.weight.given_vectors import FittedGiven, GivenVectors, stored_block
from widemargin.weight.smart import apply_factors, canonical, collection_factors, parse_scheme


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
    token_pattern: Any = None
    ignore_pattern: Any = None
    lowercase: bool = True
    preprocessor: Any = None
    tokenizer: Any = None
    analyzer: Any = None

    @property
    def scheme(self) -> str | None:
        """The three letters of the weighting; None for counts."""
        return canonical(self.weighting)

    @property
    def given_(self) -> Mapping[str, FittedGiven]:
        """Blocks of given vectors, by name."""
        return getattr(self, "_given", {})

    def rows(self, texts: Any) -> Csr:
        """The weights of `texts`, one row each; unknown terms are ignored."""
        return self.weighed(self.counted(texts))

    def counted(self, texts: Any) -> Csr:
        """The counts of known terms, one row per text."""
        self._require_fitted()
        return self.index.count(self.views(texts), thread_count(self.n_jobs))

    @property
    def counted_terms(self) -> _core.TermIndex | None:
        """The terms, for a learner that reads texts itself, if rows are their counts; otherwise None."""
        self._require_fitted()
        counts = self.scheme is None or parse_scheme(self.scheme) == parse_scheme("txx")
        plain = counts and self.blocks is None and WordSource.of(self).prepare is None
        return self.index.terms if plain else None

    def weighed(self, counts: Csr) -> Csr:
        """Weight counted documents (counts are returned if `weighting` is None)."""
        self._require_fitted()
        return self.weighed_by(counts, self.factors)

    def weighed_by(
        self,
        counts: Csr,
        factors: NDArray[np.float64] | None,
        vectors: Sequence[Vectors] | None = None,
        *,
        by_value: bool = False,
    ) -> Csr:
        """As :meth:`weighed`, with other collection factors (`by_value`: one per value) and vectors."""
        self._require_fitted()
        if self.scheme is None:
            if self.blocks is not None and any(rule.block.encodes for rule in self._rules()):
                raise UsageError("Vectors of whole texts are not counts. Pass a weighting, such as 'ltc'.")
            return counts
        n_threads = thread_count(self.n_jobs)
        if self.blocks is None:
            return apply_factors(counts, self.scheme, factors, n_threads=n_threads, by_value=by_value)
        weights = [block.weight for block in parse_blocks(self.blocks, self.fields_)]
        dense = list(self.vectors_.values()) if vectors is None else vectors
        widths = self.layout.counted_widths
        return weigh_blocks(
            counts, self.scheme, factors, widths, weights, dense, n_threads=n_threads, by_value=by_value
        )

    @property
    def has_vectors(self) -> bool:
        """Whether a block is of vectors, which are learned from all documents."""
        rules = self._rules() if self.blocks is not None and self.scheme is not None else []
        return any(rule.block.dims is not None for rule in rules)

    def vectors_from(
        self,
        counts: Csr,
        factors: NDArray[np.float64] | None,
        known: Mapping[str, Vectors] | None = None,
    ) -> list[Vectors]:
        """The vectors of the blocks that have some, learned from the counts of documents.

        Parameters
        ----------
        known : vectors of words to keep, by block
        """
        self._require_fitted()
        if not self.has_vectors:
            return []
        blocks, widths = [rule.block for rule in self._rules()], self.layout.counted_widths
        n_threads, scheme = thread_count(self.n_jobs), str(self.scheme)
        given = {name: one.words for name, one in self.given_.items() if one.words is not None}
        words = {**(known or {}), **given}
        return learned_vectors(counts, scheme, factors, widths, blocks, n_threads=n_threads, known=words)

    def locate(self, text: str) -> Located:
        """The occurrences of known terms in `text`, with the characters that they cover.

        The counts of the columns are the row that ``transform([text])`` weights. An n-gram covers the text
        from its first to its last unit; boundary marks cover nothing. A pair of words covers the text from
        the first to the second word except for the gap between them.
        """
        self._require_fitted()
        if not isinstance(text, str):
            raise DataError(f"Expected one text as str, found {type(text).__name__}.")
        return Located(*self.index.locate(text, self.fields_, WordSource.of(self)))

    def located_row(self, text: str) -> tuple[Csr, Located]:
        """The row of one text and the positions of its terms, from one pass over the text."""
        located = self.locate(text)
        encodes = any(rule.block.encodes for rule in self._rules())
        return self.weighed(self.counted([text]) if encodes else self._row_of(located)), located

    def carried_to_terms(
        self, located: Located, row: Csr, columns: NDArray[Any], parts: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """What every term of one text adds to a score, given what `columns` of its `row` add; they differ
        only in blocks of vectors."""
        if not self.vectors_:
            return columns, parts
        counts = self._row_of(located)
        bounds = [part.start for part in self.layout.counted.values()][1:]
        by_block = counts._replace(indptr=segments(counts, bounds))
        alone = apply_factors(by_block, str(self.scheme), self.factors)
        return self.layout.carried_to_terms(counts._replace(data=alone.data), row, columns, parts)

    def _row_of(self, located: Located) -> Csr:
        """The counts of one text."""
        columns, counts = np.unique(located.columns, return_counts=True)
        indptr = np.array([0, len(columns)], dtype=np.int64)
        return Csr(indptr, columns, counts.astype(np.int32), len(self.document_frequencies_))

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state for :meth:`from_state`: a configuration for JSON, and arrays."""
        self._require_fitted()
        config = {part.name: getattr(self, part.name) for part in parameters_of(TermVectors)}
        config |= {"ngram_range": list(self.ngram_range), "weighting": self.scheme}
        if self.stop_words is not None and not isinstance(self.stop_words, str):
            config["stop_words"] = sorted(stop_list(self.stop_words))
        if self.thesaurus is not None:
            config["thesaurus"] = {
                name: [entries] if isinstance(entries, str) else sorted(entries)
                for name, entries in self.thesaurus.items()
            }
        if self.blocks is not None:
            for rule in self._rules():
                rule.block.require_storable()
            config["blocks"] = [rule.block.plain() for rule in self._rules()]
            config["block_columns"] = self.layout.counted_widths
        config["fields"] = None if self.fields_ is None else list(self.fields_)
        config["n_documents"] = self.n_documents_
        patterns, arrays = plain_patterns(self)
        config |= patterns
        arrays["document_frequencies"] = self.document_frequencies_
        if self.n_hashed is None:
            arrays["vocabulary"] = self.vocabulary_.buffer
            arrays["vocabulary_offsets"] = self.vocabulary_.offsets
        for number, vectors in enumerate(self.vectors_.values(), start=1):
            arrays |= {f"vectors_{number}_{part}": values for part, values in vectors.state().items()}
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
            params["blocks"] = tuple(stored_block(block) for block in stored.items("blocks"))
        params |= stored_patterns(stored)
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
        if self.has_vectors:
            blocks = [rule.block for rule in self._rules()]
            self._keep_vectors(stored_vectors(stored, blocks, self.layout.counted_widths))
        if self.factors is not None and not np.isfinite(self.factors).all():
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
        blocks = [rule.block for rule in self._rules()]
        widths = [len(frequencies) // len(blocks)] * len(blocks)
        if isinstance(vocabulary, BlockVocabulary):
            widths = [len(part) for part in vocabulary.parts]
        self._lay_out(BlockLayout.of(blocks, widths, weighed=self.scheme is not None))
        self._built_index: BlockIndex | None = None
        self._known_factors: tuple[NDArray[np.float64] | None] | None = None

    def _lay_out(self, layout: BlockLayout) -> None:
        self.layout, self.blocks_ = layout, layout.weighed

    def _keep_vectors(self, vectors: Sequence[Vectors]) -> None:
        """Keep the vectors of the blocks that have some, in order."""
        names = [rule.block.name for rule in self._rules() if rule.block.dims is not None]
        self._lay_out(self.layout._replace(vectors=dict(zip(names, vectors, strict=True)) if vectors else {}))

    @property
    def vectors_(self) -> Mapping[str, Vectors]:
        """The vectors of words, by block."""
        self._require_fitted()
        return self.layout.vectors

    @property
    def n_columns(self) -> int:
        """The number of columns of the weights."""
        self._require_fitted()
        return self.layout.n_columns

    def column_name(self, column: int) -> str:
        """The term of a column of the weights, or the block and the number of a dimension of vectors."""
        self._require_fitted()
        if column >= self.layout.first_dimension:
            return self.layout.dimension(column)
        return str(self.vocabulary_.term(column))

    def documents(self, texts: Any) -> Any:
        """Documents as texts: those with columns are joined, in the order of training."""
        self._require_fitted()
        texts = only_column(texts) if self.fields_ is None else texts
        found = columns_of(texts)
        if found is None:
            return texts
        if self.fields_ is None:
            raise DataError(
                f"The documents have columns ({', '.join(found)}), but those of the training were single "
                f"texts. Pass one text per document."
            )
        return joined(texts, self.fields_)

    def views(self, texts: Any) -> Views:
        """Documents and their fields, as they are counted."""
        return Views(self.documents(texts), self.fields_, WordSource.of(self).prepare)

    @property
    def min_df_of_columns(self) -> list[tuple[slice, float]]:
        """The `min_df` of every block, with its columns of counts."""
        self._require_fitted()
        limits = (rule.pruning.min_df for rule in self._rules())
        return list(zip(self.layout.counted.values(), limits, strict=True))

    def _check_parameters(self) -> None:
        self._rules()
        thread_count(self.n_jobs)

    def _rules(self) -> list[BlockRule]:
        """How each block is counted, checked; without blocks, the rule of all terms."""
        columns = getattr(self, "fields_", None) or check_columns(self.fields)
        return block_rules(self, columns, self.given_)

    @property
    def index(self) -> BlockIndex:
        """What counts the known terms. Built on first use; `fit` does not need it."""
        self._require_fitted()
        if self._built_index is None:
            terms = getattr(self, "vocabulary_", None)
            parts = terms.parts if isinstance(terms, BlockVocabulary) else [terms]
            rules = self._rules()
            parts = parts if terms is not None else [None] * len(rules)
            self._built_index = BlockIndex(rules, parts, self.n_hashed)
        return self._built_index

    @property
    def factors(self) -> NDArray[np.float64] | None:
        """The collection factor of every column, computed on first use: a stream seldom needs them."""
        self._require_fitted()
        if self._known_factors is None:
            self._known_factors = (self.collection_factors(self.document_frequencies_, self.n_documents_),)
        return self._known_factors[0]

    def collection_factors(
        self, frequencies: NDArray[np.int64], n_documents: int
    ) -> NDArray[np.float64] | None:
        """The collection factors of all columns of counts, given their document frequencies.

        Given words that no training document has count as if one had them.
        """
        if self.scheme is None:
            return None
        found = np.maximum(frequencies, self.given_columns)
        return collection_factors(self.scheme, found, n_documents, self.idf_power)

    @property
    def given_columns(self) -> NDArray[np.bool_]:
        """Which columns of counts are of given vectors, so that nothing is pruned."""
        self._require_fitted()
        found = np.zeros(len(self.document_frequencies_), dtype=bool)
        for rule, columns in zip(self._rules(), self.layout.counted.values(), strict=True):
            found[columns] = isinstance(rule.block, GivenVectors)
        return found

    def _require_fitted(self) -> None:
        if not hasattr(self, "document_frequencies_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("This Vectorizer has not learned any terms yet. Call fit first.")
