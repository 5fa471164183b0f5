"""The columns of every block: those that are counted, and those of the weights.

They are the same, except for blocks of vectors, which count words, and whose weights are the dimensions of
document vectors. Such blocks stand after all others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr
from widemargin._stored import Stored
from widemargin.weight.block_columns import taken_blocks
from widemargin.weight.blocks import Block
from widemargin.weight.corpus_vectors import CorpusVectors
from widemargin.weight.encoded_vectors import EncodedVectors

Floats = NDArray[np.float64]
Vectors = CorpusVectors | EncodedVectors


class BlockLayout(NamedTuple):
    """Names of blocks, in order, with their columns and vectors.

    Attributes
    ----------
    counted, weighed : the columns of every block among those of counts and of weights
    vectors : of the blocks that have some

    Examples
    --------
    >>> layout = BlockLayout.of([Block("words"), Block("vectors", dims=50)], [30, 20], weighed=True)
    >>> layout.counted["vectors"], layout.weighed["vectors"]
    (slice(30, 50, None), slice(30, 80, None))
    """

    counted: dict[str, slice]
    weighed: dict[str, slice]
    vectors: Mapping[str, Vectors]

    @classmethod
    def of(cls, blocks: Sequence[Block], widths: Sequence[int], *, weighed: bool) -> Self:
        """The layout before vectors are learned; `widths` are of counts. Without weights there are no
        vectors."""
        made = [
            block.dims if weighed and block.dims is not None else width
            for block, width in zip(blocks, widths, strict=True)
        ]
        return cls(_side_by_side(blocks, widths), _side_by_side(blocks, made), {})

    @property
    def counted_widths(self) -> list[int]:
        """The numbers of counted columns."""
        return [part.stop - part.start for part in self.counted.values()]

    @property
    def n_columns(self) -> int:
        """The number of columns of weights."""
        return int(max(part.stop for part in self.weighed.values()))

    @property
    def first_dimension(self) -> int:
        """The first column of vectors among the weights, or the number of columns."""
        return int(min([self.n_columns, *(self.weighed[name].start for name in self.vectors)]))

    def dimension(self, column: int) -> str:
        """The name of a column of vectors: its block and its number from 1."""
        name = next(name for name in self.vectors if column < self.weighed[name].stop)
        return f"{name}:{column - self.weighed[name].start + 1}"

    def block(self, column: int) -> str:
        """The block of a column of counts."""
        return next(name for name, columns in self.counted.items() if column < columns.stop)

    def reached(self, terms: NDArray[Any], reaches: Callable[[NDArray[Any]], Any]) -> NDArray[np.bool_]:
        """Which columns of counts have an influence, given which columns of weights have.

        A word of vectors has one if some dimension has.
        """
        dense = terms >= self.first_dimension
        found = np.zeros(len(terms), dtype=bool)
        found[~dense] = reaches(terms[~dense])
        for name in self.vectors:
            counted, weighed = self.counted[name], self.weighed[name]
            inside = (terms >= counted.start) & (terms < counted.stop)
            found[inside] = np.any(reaches(np.arange(weighed.start, weighed.stop)))
        return found

    def weights_of_terms(self, weights: Floats) -> Floats:
        """What a learner's weights of all columns of weights come to for columns of counts."""
        return np.concatenate(
            [
                self.vectors[name].of_words(weights[columns]) if name in self.vectors else weights[columns]
                for name, columns in self.weighed.items()
            ]
        )

    def carried_to_terms(
        self, alone: Csr, row: Csr, columns: NDArray[Any], parts: Floats
    ) -> tuple[NDArray[Any], Floats]:
        """What every term of one document adds to a score, given what columns of weights add.

        Only the columns of vectors are not terms; what they add is divided among the words.

        Parameters
        ----------
        alone : the weights of all terms, of which vectors are made
        row : the weights of the document
        columns, parts : some of the columns of `row`, and what they add
        """
        others = columns < self.first_dimension
        found = [(columns[others], parts[others])]
        added, values = np.zeros((2, self.n_columns))
        added[columns], values[row.indices] = parts, row.data
        for name, vectors in self.vectors.items():
            place, at = list(self.counted).index(name), self.weighed[name]
            words = taken_blocks(alone, self.counted_widths, [place])
            divided = vectors.divided(words, added[at], values[at])
            found.append((words.indices + self.counted[name].start, divided))
        terms, shares = zip(*found, strict=True)
        return np.concatenate(terms), np.concatenate(shares)


def _side_by_side(blocks: Sequence[Block], widths: Sequence[int]) -> dict[str, slice]:
    """The columns of every block."""
    ends = np.cumsum(widths).tolist()
    return {
        block.name: slice(end - width, end) for block, width, end in zip(blocks, widths, ends, strict=True)
    }


def stored_vectors(stored: Stored, blocks: Sequence[Block], widths: Sequence[int]) -> list[Vectors]:
    """The vectors of a model file, checked; `widths` are the numbers of terms of the blocks."""
    found: list[Vectors] = []
    for block, width in zip(blocks, widths, strict=True):
        if block.dims is not None:
            cls: Any = EncodedVectors if block.encodes else CorpusVectors
            found.append(cls.from_stored(stored, f"vectors_{len(found) + 1}_", width, block.dims))
    return found
