"""Vectors of your own as a block of the vectorizer: of words from a file, or of texts from a callable.

Word vectors (word2vec, GloVe, fastText) take the place of those that the block ``"vectors"`` learns from
the collection: a document is the sum of the vectors of its words times their weights, less the mean over the
training documents, scaled to the weight of the block. Words are looked up as the vectorizer's tokens: in
lower case, stemmed if there is a stemmer. All words of the training documents are kept, and the 50,000 first
words of the file, which are the most frequent ones, so that the words of new documents are known too. A model
file contains these vectors (60 MB if they have 300 dimensions), not the file.

A callable, such as the ``encode`` of a sentence encoder, gets a list of texts and returns a row for each.
Rows are made once for every fit, and estimates reuse them. A model with a callable cannot be saved.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.documents.formats.vector_files import WordMatrix, WordVectors, open_word_vectors
from widemargin.errors import DataError, UsageError
from widemargin.weight.blocks import Block, block_from_plain
from widemargin.weight.corpus_vectors import CorpusVectors
from widemargin.weight.document_vectors import DocumentVectors

KEEP = 50_000
_SUFFIXES = (".gz", ".xz", ".zst", ".txt", ".vec", ".npy")
_SPARE = str.maketrans(dict.fromkeys(" \t\n:,<", "_"))


@dataclasses.dataclass(frozen=True, eq=False)
class GivenVectors(Block):
    """A block of vectors that are given, not learned.

    Parameters
    ----------
    source : path, mapping or callable
        A file of word vectors (see :mod:`widemargin.documents.formats.vector_files`); a mapping from words
        to vectors; or a callable from a list of texts to an array with a row for each, such as the ``encode``
        of a sentence encoder, or :class:`~widemargin.weight.document_vectors.DocumentVectors` for rows that
        are there already.
    name : str, optional
        What the block is called; by default as the file, "words-given" or "texts-given".
    weight : float
        The length of the block in a row, relative to the other blocks.
    field : str, optional
        The part of documents that is used, see :mod:`widemargin.text.fields`; None for all of it.
    keep : int, optional
        The words of the file that are kept although no training document has them, from its beginning; None
        for all words.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin import Vectorizer
    >>> def endings(texts):
    ...     return np.array([[text.endswith("?"), text.endswith("."), 1.0] for text in texts])
    >>> vectorizer = Vectorizer(blocks=["words", GivenVectors(endings, name="endings", weight=0.5)])
    >>> X = vectorizer.fit_transform(["Wheat up.", "Is wheat up?", "Corn is down."])
    >>> vectorizer.blocks_
    {'words': slice(0, 5, None), 'endings': slice(5, 8, None)}
    >>> X[:, vectorizer.blocks_["endings"]].toarray().round(2)
    array([[-0.32,  0.32,  0.  ],
           [ 0.32, -0.32,  0.  ],
           [-0.32,  0.32,  0.  ]], dtype=float32)

    Word vectors, from a file or a mapping:

    >>> words = {"wheat": [1.0, 0.0], "corn": [0.9, 0.1], "oil": [0.0, 1.0]}
    >>> vectorizer = Vectorizer(blocks=[GivenVectors(words, name="given")])
    >>> X = vectorizer.fit_transform(["Wheat prices", "Oil prices"])
    >>> (vectorizer.transform(["Corn."]) @ X.T).toarray().round(2)
    array([[ 1., -1.]], dtype=float32)
    """

    source: str | os.PathLike[str] | Mapping[str, Any] | Callable[[list[str]], Any]
    name: str = dataclasses.field(default="", kw_only=True)
    units: str = dataclasses.field(default="words", init=False)
    ngram_range: tuple[int, int] = dataclasses.field(default=(1, 1), init=False)
    field: str | None = dataclasses.field(default=None, kw_only=True)
    weight: float = dataclasses.field(default=1.0, kw_only=True)
    min_df: float | None = dataclasses.field(default=None, init=False)
    dims: int | None = dataclasses.field(default=0, kw_only=True, repr=False)  # 0: as many as there are
    keep: int | None = dataclasses.field(default=KEEP, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.source, str | os.PathLike):
            object.__setattr__(self, "source", os.fspath(self.source))
        if self.name == "":
            object.__setattr__(self, "name", self._usual_name())

    def _usual_name(self) -> str:
        if not isinstance(self.source, str):
            return "texts-given" if self.encodes else "words-given"
        name = os.path.basename(self.source)
        while name.lower().endswith(_SUFFIXES):
            name = os.path.splitext(name)[0]
        return name.translate(_SPARE) or "given"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GivenVectors):
            return NotImplemented
        same = self.source is other.source or (isinstance(self.source, str) and self.source == other.source)
        parts = ("name", "field", "weight", "keep")
        return same and all(getattr(self, part) == getattr(other, part) for part in parts)

    def __hash__(self) -> int:
        return hash((self.name, self.weight))

    def __deepcopy__(self, memo: Any) -> GivenVectors:
        return self  # a copy of an encoder would take its memory again

    @property
    def encodes(self) -> bool:
        """Whether vectors are made of whole texts, not of words."""
        return callable(self.source)

    def check(self, columns: tuple[str, ...] | None = None) -> None:
        """Raise an error that names the wrong parameter; `columns` are those of the documents."""
        Block(self.name, field=self.field, weight=self.weight).check(columns)
        if not isinstance(self.source, str | Mapping) and not callable(self.source):
            raise UsageError(
                f"Block {self.name!r}: the source of vectors is of type {type(self.source).__name__}; "
                f"expected a file, a mapping from words to vectors, or a callable. For a matrix with a row "
                f"for every document: DocumentVectors(texts, matrix)."
            )
        if self.keep is not None and (type(self.keep) is not int or self.keep < 0):
            raise UsageError(f"Block {self.name!r} has keep={self.keep!r}: expected a number, or None.")

    def plain(self) -> dict[str, Any]:
        """Plain values for JSON; a callable is only described."""
        kind, source = "words", self.source if isinstance(self.source, str) else None
        if self.encodes:
            kind = "documents" if isinstance(self.source, DocumentVectors) else "callable"
        block = Block(self.name, field=self.field, weight=self.weight, min_df=self.min_df, dims=self.dims)
        return {**block.plain(), "given": kind, "source": source, "keep": self.keep}

    def require_storable(self) -> None:
        """Refuse to save a callable, which a model file cannot contain."""
        if self.encodes and not isinstance(self.source, DocumentVectors):
            raise UsageError(
                f"Block {self.name!r} has a callable, and a model file contains no code, so the model cannot "
                f"be saved. Pickle the classifier, if the callable can be pickled; or save the vectors of "
                f"the documents, and train with those (DocumentVectors, --vectors FILE.npy)."
            )

    def open(self) -> WordVectors:
        """The words of the source."""
        if isinstance(self.source, str):
            return open_word_vectors(self.source)
        assert isinstance(self.source, Mapping)
        words, name = list(self.source), f"Block {self.name!r}"
        if not words or not all(isinstance(word, str) for word in words):
            raise DataError(f"{name}: expected words with their vectors, such as {{'corn': [0.5, 1.0]}}.")
        try:
            matrix = np.array([self.source[word] for word in words], dtype=np.float64)
        except (TypeError, ValueError):
            matrix = np.empty(0)
        if matrix.ndim != 2 or matrix.shape[1] == 0:
            raise DataError(f"{name}: expected the same number of values for every word.")
        return WordMatrix(words, matrix, name)


class FittedGiven(NamedTuple):
    """What a vectorizer learned of a block of given vectors.

    Attributes
    ----------
    block : with the dimensions of its source
    words : (terms, dims) the vectors of the terms; None where whole texts are encoded
    often : which terms are kept even if no training document has them
    found : the share of running words of the training documents that have a vector
    """

    block: GivenVectors
    words: CorpusVectors | None = None
    often: NDArray[np.bool_] | None = None
    found: float = 1.0

    @property
    def fewest(self) -> Any:
        """The fewest training documents that must contain each term: none where a term is always kept."""
        return 1.0 if self.often is None else (~self.often).astype(np.float64)


def sized(blocks: Sequence[Block], given: Mapping[str, FittedGiven]) -> tuple[Block, ...]:
    """The blocks, given ones with the dimensions that their source had when it was read."""
    return tuple(
        dataclasses.replace(block, dims=given[block.name].block.dims)
        if isinstance(block, GivenVectors) and block.name in given
        else block
        for block in blocks
    )


def stored_block(value: Any) -> Block:
    """The block that :meth:`Block.plain` described; a damaged description is a data error."""
    return (
        _given_from_plain(value) if isinstance(value, dict) and "given" in value else block_from_plain(value)
    )


def _given_from_plain(value: dict[str, Any]) -> GivenVectors:
    stored = Stored(value, path="blocks.")
    kind = stored.choice("given", ("words", "documents"))
    source: Any = DocumentVectors() if kind == "documents" else (stored.value("source") or {"": [0.0]})
    if not isinstance(source, str | Mapping | DocumentVectors):
        raise DataError(f"'blocks.source' in manifest.json is {source!r}; expected a name of a file or null")
    made = GivenVectors(
        source,
        name=stored.text("name"),
        field=None if stored.value("field") is None else stored.text("field"),
        weight=stored.number("weight"),
        dims=stored.integer("dims", least=1),
        keep=None if stored.value("keep") is None else stored.integer("keep"),
    )
    try:
        made.check((made.field,) if made.field else None)
    except UsageError as error:
        raise DataError(f"'blocks' in manifest.json: {error}") from error
    return made
