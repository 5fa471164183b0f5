"""The words of training documents, by which documents in another language are recognized.

Of two samples of documents in one language, most words of a document of one sample occur in the other sample
too, since every language has a few hundred words that are everywhere. A profile keeps the most frequent words
as numbers (hashes), and what share of the words of a document is usually among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._threads import thread_count
from widemargin.text.inputs import as_texts, taken
from widemargin.text.tokens import TextRule

# Documents whose words are counted.
SAMPLE = 2000
# And how many characters of each: a long document has more rare words, and takes long.
CHARACTERS = 2000
# Words that a model keeps: 16 kB.
WORDS = 4000
# The share of known words, relative to what is usual, below which documents are of another language or kind.
ALIKE = 0.45
# Words are numbers of 31 bits: of 4000 words and as many others, hardly two meet.
_COLUMNS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class WordProfile:
    """Frequent words of documents.

    Attributes
    ----------
    words : int32, sorted and distinct
    usual : the share of the words of a document that is known from other documents
    """

    words: NDArray[np.int32]
    usual: float

    @classmethod
    def of(cls, texts: Any, most: int | None = WORDS) -> WordProfile | None:
        """The profile of some of the texts, evenly chosen; None if they have no words.

        `most` is the number of words to keep, None for all.
        """
        words = _words(_sample(texts))
        if not len(words):
            return None
        distinct, frequencies = np.unique(words, return_counts=True)
        kept = np.lexsort((distinct, -frequencies))[:most]
        # In a document that was left out, words that no other one has would be unknown.
        usual = frequencies[kept][frequencies[kept] > 1].sum() / len(words)
        return cls(np.sort(distinct[kept]), float(usual))

    def share(self, texts: Any) -> float | None:
        """The share of the words of (a sample of) `texts` that is known; None if they have no words."""
        words = _words(_sample(texts))
        if not len(words):
            return None
        places = np.minimum(np.searchsorted(self.words, words), len(self.words) - 1)
        return float(np.mean(self.words[places] == words))


def _sample(texts: Any) -> list[Any]:
    """The beginnings of at most `SAMPLE` of the texts, evenly chosen."""
    if len(texts) > SAMPLE:
        texts = taken(texts, np.linspace(0, len(texts) - 1, SAMPLE).astype(np.intp))
    texts = texts.to_pylist() if hasattr(texts, "to_pylist") else texts
    return [text[:CHARACTERS] for text in texts]


def _words(texts: Any) -> NDArray[np.int32]:
    """The words of all texts as numbers, each once per text."""
    index = _core.HashIndex(_COLUMNS, TextRule().native())
    rows = index.count(as_texts(texts), None, None, thread_count(None))
    indptr = np.empty(rows.n_rows + 1, dtype=np.int64)
    indices, counts = (np.empty(rows.non_zeros, dtype=np.int32) for _ in range(2))
    rows.release(indptr, indices, counts)
    return indices
