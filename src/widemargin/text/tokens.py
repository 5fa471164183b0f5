"""Tokens and n-grams: how a text becomes terms.

Two tokenizations, both over case-folded text:

``"alnum"``
    Joachims 2000, 2.7.2: words are separated by white space and punctuation. A word is a maximal run of
    letters, marks and digits (Unicode categories L, M, N). Every word of digits only becomes :data:`NUMBER`.
``"unicode"``
    The same, with connectors such as the underscore (Pc): the matches of the regular expression ``\\w+``,
    with marks. Numbers are ordinary words.

Chinese, Japanese, Thai, Lao, Khmer and Burmese have no spaces between words, so that a run is a clause that
hardly ever occurs twice. In these scripts a run becomes overlapping n-grams of characters, in both
tokenizations:

- two characters in Han, Hiragana and Katakana, together: most Chinese words and most words of Kanji have two
  characters, so that pairs contain nearly all words, and longer words are several pairs;
- three characters in Thai, Lao, Khmer and Myanmar: vowels, tones and stacked consonants are characters too,
  and three of them are about one syllable. Combining marks count as characters.

A shorter run is one token, such as a single character. A run that also has other characters is cut where the
script changes: "GPU服务器" gives "gpu", "服务" and "务器". Digits of all scripts are numbers, and marks that
belong to no script go with the character before them. `min_token_length` does not apply to these n-grams,
which are short by definition, and stemmers leave them as they are. Stop words and entries of a thesaurus are
compared as they are cut: a stop word of two Chinese characters is removed wherever they stand together.
Korean has spaces, and its words are not cut.

Units of n-grams are words (joined by a space), all characters (``"chars"``: each run of white space is one
space), or the characters of each word (``"chars_in_words"``: a word has a boundary mark on either side; a
word that is shorter than the shortest n-gram, marks included, counts once as a whole; digits are kept). Case
folding can lengthen a text: "ß" becomes "ss".

``"bytes"`` are those of the text in UTF-8, as they are: upper and lower case differ, and so do all kinds of
white space. Any bytes will do, also those that are not UTF-8; a lone surrogate in a str is the three bytes
that ``"surrogatepass"`` gives. An n-gram may begin and end within a character.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin.errors import UsageError
from widemargin.text.pairs import PairRule
from widemargin.text.vocabulary import ByteVocabulary, Vocabulary
from widemargin.text.word_source import WordSource

NUMBER = "<number>"
"""The token that stands for every number. It sorts by its bytes, between digits and letters."""

# The first character of an n-gram in a script without spaces: Thai and Lao, Myanmar, Khmer, Han and Kana.
_SPACELESS = re.compile(
    "[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f\U000116d0-\U000116ff"
    "\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U0001aff0-\U0001b16f\U00020000-\U0003ffff]"
)

UNITS = ("words", "chars", "chars_in_words", "bytes")
TOKENS = ("alnum", "unicode")
MAX_N = 255
MAX_LENGTH = 1_000_000


@dataclass(frozen=True)
class TextRule:
    """How a text becomes terms, checked on construction."""

    units: str = "words"
    tokens: str = "alnum"
    ngram_range: tuple[int, int] = (1, 1)
    min_token_length: int = 1
    pairs: PairRule | None = None
    source: WordSource = field(default_factory=WordSource)

    def __post_init__(self) -> None:
        _require_one_of("units", self.units, UNITS)
        _require_one_of("tokens", self.tokens, TOKENS)
        if self.source.token is not None and self.units not in ("words", "chars_in_words"):
            raise UsageError(f"Tokens do not apply to units={self.units!r}. Use units='words'.")
        if self.units == "bytes" and not self.source.is_plain:
            raise UsageError("units='bytes' are as they are: patterns and lowercase=False do not apply.")
        try:
            low, high = self.ngram_range
            valid = all(isinstance(n, int) for n in (low, high)) and 1 <= low <= high <= MAX_N
        except (TypeError, ValueError):
            valid = False
        if not valid:
            raise UsageError(
                f"ngram_range={self.ngram_range!r}: expected two whole numbers, "
                f"the shortest and the longest n-gram, from 1 to {MAX_N}, such as (1, 2)."
            )
        if not isinstance(self.min_token_length, int) or not 1 <= self.min_token_length <= MAX_LENGTH:
            raise UsageError(
                f"min_token_length={self.min_token_length!r}: expected a whole number from 1 to {MAX_LENGTH}."
            )

    def vocabulary(self, buffer: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Vocabulary:
        """The terms of these units."""
        return (ByteVocabulary if self.units == "bytes" else Vocabulary)(buffer, offsets)

    def native(self) -> _core.TextRule:
        """The same rule as the core takes it."""
        kinds = {
            "words": _core.UnitKind.words,
            "chars": _core.UnitKind.characters,
            "chars_in_words": _core.UnitKind.characters_in_words,
            "bytes": _core.UnitKind.bytes,
        }
        rule = _core.TextRule(
            kinds[self.units],
            alnum=self.tokens == "alnum",
            min_length=self.min_token_length,
            min_n=self.ngram_range[0],
            max_n=self.ngram_range[1],
            reach=0 if self.pairs is None else self.pairs.between + 1,
            ordered=self.pairs is None or self.pairs.ordered,
        )
        if not self.source.is_plain:
            token, ignored = self.source.token, self.source.ignored
            rule.set_patterns(
                None if token is None else token.native,
                None if ignored is None else ignored.native,
                self.source.fold_case,
            )
        return rule


def is_spaceless(token: str) -> bool:
    """Whether a token is of a script without spaces: an n-gram of characters, not a word.

    Examples
    --------
    >>> is_spaceless("服务"), is_spaceless("ไทย"), is_spaceless("server"), is_spaceless("한국어")
    (True, True, False, False)
    """
    return _SPACELESS.match(token) is not None


def _require_one_of(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(f"{name}={value!r}: expected {' or '.join(map(repr, known))}.")
