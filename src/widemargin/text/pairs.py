"""Pairs of words that stand near each other (Cohen and Singer's sparse phrases; skip-grams).

``"after:3"``
    A word and a later one, with at most 3 words between them: ``"oil ... price"``.
``"near:3"``
    The same in either order: ``"oil ~ price"``. The word that sorts first comes first.

Pairs are made of the words that n-grams are made of, and in addition to them. So stop words are neither part
of a pair nor counted as words between, stems and the concepts of a thesaurus are words, and pairs cross the
ends of sentences. ``"after:0"`` are the pairs of adjacent words, as ``ngram_range=(1, 2)`` finds them.

Most pairs occur in one document only, where they help no other document. They are left out: a pair must occur
in 2 documents, or in as many as ``"near:3:min=5"`` says.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError
from widemargin.text.vocabulary import Vocabulary

MAX_BETWEEN = 255
MARKS = {"after": "...", "near": "~"}
USUAL_MIN = 2


class PairRule(NamedTuple):
    """Which pairs are terms.

    Attributes
    ----------
    ordered : whether the order of the two words matters
    between : the most words between them
    min_df : the fewest documents that must contain a pair; None if it is not given
    """

    ordered: bool
    between: int
    min_df: int | None

    @property
    def fewest(self) -> int:
        """The fewest documents that must contain a pair."""
        return USUAL_MIN if self.min_df is None else self.min_df


def parse_pairs(text: Any) -> PairRule | None:
    """The rule that `text` stands for; None for None.

    Examples
    --------
    >>> parse_pairs("near:3")
    PairRule(ordered=False, between=3, min_df=None)
    >>> parse_pairs("after:1:min=5").min_df
    5
    """
    if text is None:
        return None
    kind, _, rest = str(text).partition(":")
    between, _, least = rest.partition(":")
    name, _, number = least.partition("=")
    valid = isinstance(text, str) and kind in MARKS and between.isdecimal() and int(between) <= MAX_BETWEEN
    if valid and rest.count(":"):
        valid = name == "min" and number.isdecimal() and int(number) >= 1
    if not valid:
        raise UsageError(
            f"pairs={text!r}: expected after:K or near:K, two words with at most K words between them "
            f"(0 to {MAX_BETWEEN}), such as near:3, or near:3:min=5 for pairs in at least 5 documents."
        )
    return PairRule(kind == "after", int(between), int(number) if least else None)


def is_pair(terms: Vocabulary) -> NDArray[np.bool_]:
    """Which terms are pairs of words.

    Examples
    --------
    >>> is_pair(Vocabulary.from_terms(["oil", "oil ... price", "oil price", "oil ~ price"])).tolist()
    [False, True, False, True]
    """
    found = np.zeros(len(terms), dtype=bool)
    before, after = terms.buffer[:-1], terms.buffer[1:]
    # No word begins with one of the marks.
    marks = [ord(mark[0]) for mark in MARKS.values()]
    begins = np.flatnonzero((before == ord(" ")) & np.isin(after, marks))
    found[np.searchsorted(terms.offsets, begins, side="right") - 1] = True
    return found
