"""The documents of a race in every representation, each block of terms counted once.

Words are counted once for all candidates with the same stemmer and stop list, and so are their bigrams;
characters once for all. A representation weights the counts of its blocks by the documents that are trained
on, as a vectorizer would that is fitted on those alone: terms that only the measured documents have are
dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr
from widemargin._threads import thread_count
from widemargin.text.inputs import taken, together
from widemargin.tune.budget import COUNTING, COUNTING_CHARS, VECTORS
from widemargin.tune.race import Split
from widemargin.tune.search_space import Representation, plain
from widemargin.weight.block_columns import concatenated, learned_vectors, weigh_blocks
from widemargin.weight.blocks import Block, parse_blocks
from widemargin.weight.left_out import kept_entries
from widemargin.weight.smart import apply_factors, canonical, collection_factors
from widemargin.weight.vectorizer import Vectorizer

Parts = list[tuple[Any, Any]]
_WEIGHING = ("weighting", "idf_power")
_OF_WORDS = ("stop_words", "stemmer")
# Distinct terms of a document, relative to its words; a field has few.
_VALUES = {"bigrams": 1.4, "chars": 7.0}
_FIELD_VALUES = 0.1
# Dimensions of vectors that are given and not read yet.
_GIVEN_DIMS = 300
# Characters of a text for each of its distinct words.
_CHARACTERS = 9


class _Counting(NamedTuple):
    """How one block is counted: parameters of a vectorizer, a key that is equal for equal counts, and the
    block."""

    parameters: Representation
    key: str
    block: Block

    @property
    def name(self) -> str:
        return self.block.name


class RaceRows:
    """The rows of the documents of some splits.

    Parameters
    ----------
    documents : list of str, or a matrix of vectors, which has no representation
    splits : the rows of every split; other documents are not counted
    beside : unlabeled texts that count among those trained on in every split; if the splits have only a part
        of the documents, the same part of these
    """

    def __init__(self, documents: Any, splits: Sequence[Split], beside: Any = None) -> None:
        self.vectors = getattr(documents, "ndim", 1) == 2
        used = np.unique(np.concatenate([part for split in splits for part in (split.seen, split.unseen)]))
        self.documents = documents if self.vectors else taken(documents, used)
        self._places = [
            (split.seen, split.unseen)
            if self.vectors
            else (np.searchsorted(used, split.seen), np.searchsorted(used, split.unseen))
            for split in splits
        ]
        self.n_documents = len(used)
        self._beside: Any = None
        if beside is not None:
            share = self.n_documents / len(documents)
            self._beside = _spread(beside, max(round(share * len(beside)), 1)) if share < 1 else beside
        self._counted: dict[str, tuple[Vectorizer, Csr]] = {}
        self._last: tuple[str, Parts] | None = None

    def parts(self, representation: Representation) -> Parts:
        """Rows to train on and rows to measure on, for every split; the last ones are kept."""
        key = "" if self.vectors else key_of(representation)
        if self._last is None or self._last[0] != key:
            self._last = None  # before the next ones are made
            if self.vectors:
                made = [(self.documents[seen], self.documents[unseen]) for seen, unseen in self._places]
            else:
                made = self._of_texts(representation)
            self._last = key, made
        return self._last[1]

    def values(self, representation: Representation) -> tuple[float, float]:
        """The number of values of a representation, and the work of counting what is not counted yet.

        Before they are counted, values are predicted from the number of words.
        """
        if self.vectors:
            X = self.documents
            return float(X.nnz if hasattr(X, "nnz") else np.size(X)), 0.0
        values = work = 0.0
        for counting in _countings(representation):
            if counting.block.dims is not None:
                values += (counting.block.dims or _GIVEN_DIMS) * self.n_documents
                work += VECTORS * self._words * self._times_counted
            elif counting.key in self._counted:
                values += self._own_values(self._counted[counting.key][1])
            else:
                share = _VALUES.get(counting.name, 1.0 if counting.name == "words" else _FIELD_VALUES)
                values += share * self._words
                each = COUNTING_CHARS if counting.name == "chars" else COUNTING
                work += share * self._words * each * self._times_counted
        return values, work

    def forget_but(self, representation: Representation) -> None:
        """Drop all counts but those of a representation and of characters, which most others share."""
        kept = {counting.key for counting in _countings(representation)}
        self._counted = {key: found for key, found in self._counted.items() if key in kept or "chars" in key}

    @property
    def _words(self) -> float:
        """The number of values of words: of those that were counted first, or predicted."""
        if self._counted:
            return self._own_values(next(iter(self._counted.values()))[1])
        return sum(map(len, self.documents)) / _CHARACTERS

    @property
    def _times_counted(self) -> float:
        """The text that is counted, relative to that of the documents."""
        if self._beside is None:
            return 1.0
        return 1.0 + sum(map(len, self._beside)) / max(sum(map(len, self.documents)), 1)

    def _own_values(self, counts: Csr) -> float:
        return float(counts.indptr[self.n_documents])

    def _of_texts(self, representation: Representation) -> Parts:
        countings = _countings(representation)
        found = [self._counts(counting) for counting in countings]
        counts = concatenated([counts for _, counts in found])
        widths, blocks = [counts.n_columns for _, counts in found], [one.block for one in countings]
        weights = [block.weight for block in blocks]
        whole = counts.matrix
        fewest = np.concatenate([_fewest(vectorizer, counts.n_columns) for vectorizer, counts in found])
        scheme = canonical(representation.get("weighting"))
        n_threads = thread_count(representation.get("n_jobs"))
        if scheme is None:
            return [(as_floats(whole[seen]), as_floats(whole[unseen])) for seen, unseen in self._places]
        power = float(representation.get("idf_power", 1.0))
        given = np.concatenate([vectorizer.given_columns for vectorizer, _ in found])
        words = {name: one.words for vectorizer, _ in found for name, one in vectorizer.given_.items()}
        others = counts.rows(self.n_documents, counts.n_rows)
        of_others = np.bincount(others.indices, minlength=counts.n_columns)
        parts = []
        for seen, unseen in self._places:
            rows = whole[seen], whole[unseen]
            frequencies = np.bincount(rows[0].indices, minlength=whole.shape[1]) + of_others
            n_documents = len(seen) + others.n_rows
            factors = collection_factors(scheme, np.maximum(frequencies, given), n_documents, power)
            known = frequencies >= fewest
            factors = known.astype(np.float64) if factors is None else np.where(known, factors, 0.0)
            both, vectors = [], None
            for some in rows:
                csr = Csr(some.indptr.astype(np.int64), some.indices, some.data, counts.n_columns)
                if len(widths) == 1 and blocks[0].dims is None:
                    both.append(apply_factors(csr, scheme, factors, n_threads=n_threads).matrix)
                    continue
                if vectors is None:  # from the documents that are trained on, which come first, and the pool
                    own = csr if self._beside is None else csr.below(others)
                    own = kept_entries(own, known[own.indices])
                    vectors = learned_vectors(
                        own, scheme, factors, widths, blocks, n_threads=n_threads, known=words
                    )
                weighed = weigh_blocks(csr, scheme, factors, widths, weights, vectors, n_threads=n_threads)
                both.append(weighed.matrix)
            parts.append((both[0], both[1]))
        return parts

    def _counts(self, counting: _Counting) -> tuple[Vectorizer, Csr]:
        if counting.key not in self._counted:
            vectorizer = Vectorizer(**{**counting.parameters, "weighting": None})
            texts = together(self.documents, self._beside)
            self._counted[counting.key] = vectorizer, vectorizer.fit_counts(texts)
        return self._counted[counting.key]


def _spread(texts: Any, count: int) -> Any:
    """So many of the texts, at equal distances."""
    return taken(texts, np.linspace(0, len(texts) - 1, count).astype(np.intp))


def as_floats(X: Any) -> Any:
    """Weights as they are, counts as float32."""
    return X if X.dtype.kind == "f" else X.astype(np.float32)


def key_of(parameters: Mapping[str, Any]) -> str:
    """A key that is equal for equal parameters."""
    return repr(sorted((name, repr(plain(value))) for name, value in parameters.items()))


def _countings(representation: Representation) -> list[_Counting]:
    """The blocks of a representation, each as a vectorizer counts it alone."""
    base = {name: value for name, value in representation.items() if name not in _WEIGHING}
    blocks = base.get("blocks")
    if blocks is None:
        name = "words" if base.get("units", "words") == "words" else "chars"
        return [_Counting(base, key_of(base), Block(name))]
    found = []
    for block in parse_blocks(blocks, base.get("fields")):
        alone = {**base, "blocks": None if block == Block("words", weight=block.weight) else ()}
        if alone["blocks"] is not None:
            # Vectors of any number of dimensions are made of the same counts.
            dims = None if block.dims is None else 1
            alone["blocks"] = (replace(block, weight=1.0, dims=dims),)
        if block.units != "words" or block.encodes:
            alone |= dict.fromkeys(_OF_WORDS)
        found.append(_Counting(alone, key_of(alone), block))
    return found


def _fewest(vectorizer: Vectorizer, n_columns: int) -> NDArray[np.float64]:
    """The fewest documents that must contain each term; a share of the documents is not looked at again."""
    fewest = np.zeros(n_columns)
    if vectorizer.n_hashed is None:
        for columns, min_df in vectorizer.min_df_of_columns:
            fewest[columns] = min_df if min_df >= 1 else 1.0
        for name, given in vectorizer.given_.items():
            fewest[vectorizer.layout.counted[name]] = given.fewest
    return fewest
