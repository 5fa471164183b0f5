"""The terms of a text, the slow and obvious way: one character after the other, one Counter per text."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

NUMBER = "<number>"


def words(text: str, tokens: str = "alnum", min_length: int = 1) -> list[str]:
    """The longest runs of letters, marks and numbers (and connectors if "unicode"), case-folded."""
    found, word = [], ""
    for character in text.casefold() + "\n":
        category = unicodedata.category(character)
        if category[0] in "LMN" or (tokens == "unicode" and category == "Pc"):
            word += character
        else:
            if len(word) >= max(min_length, 1):
                found.append(word)
            word = ""
    return found


def sequences(text: str, units: str, tokens: str, min_length: int) -> list[list[str]]:
    """The sequences of units that no n-gram may leave."""
    if units == "words":
        found = words(text, tokens, min_length)
        if tokens == "alnum":
            found = [
                NUMBER if all(unicodedata.category(c)[0] == "N" for c in word) else word for word in found
            ]
        return [found]
    if units == "chars_in_words":
        return [["_", *word, "_"] for word in words(text, tokens, min_length)]
    result: list[list[str]] = [[]]
    for character in text.casefold():
        if unicodedata.category(character) == "Cs":
            result.append([])
        elif not character.isspace():
            result[-1].append(character)
        elif not (result[-1] and result[-1][-1] == " "):
            result[-1].append(" ")
    return result


def terms(
    text: str,
    units: str = "words",
    tokens: str = "alnum",
    ngram_range: tuple[int, int] = (1, 1),
    min_length: int = 1,
    stop_words: Iterable[str] = (),
) -> list[str]:
    """Every n-gram of `text`, as often as it occurs."""
    result = []
    stop_words = set(stop_words)
    low, high = ngram_range
    for sequence in sequences(text, units, tokens, min_length):
        kept = [unit for unit in sequence if unit not in stop_words]
        joint = " " if units == "words" else ""
        if units == "chars_in_words" and 0 < len(kept) < low:
            result.append(joint.join(kept))
        for n in range(low, high + 1):
            result += [joint.join(kept[i : i + n]) for i in range(len(kept) - n + 1)]
    return result


def counts(texts: Iterable[str], **rule: object) -> tuple[list[str], list[Counter[str]]]:
    """The sorted vocabulary of `texts`, and the counts of each."""
    rows = [Counter(terms(text, **rule)) for text in texts]  # type: ignore[arg-type]
    return sorted(set().union(*rows)), rows


HASH_1, HASH_2, HASH_3 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD
MASK = 2**64 - 1


def hash_unit(unit: str) -> int:
    """The hash of a word or a character, as core/text/hashing.hpp documents it."""
    data = unit.encode()
    h = len(data) * HASH_1 & MASK
    padded = data.ljust(max(16, -(-len(data) // 8) * 8), b"\0")
    for i in range(0, len(padded), 8):
        h = (h ^ int.from_bytes(padded[i : i + 8], "little")) * HASH_2 & MASK
        h ^= h >> 32
    return h * HASH_3 & MASK


def hash_column(units: list[str], n_columns: int) -> int:
    """The column of an n-gram in hashing mode."""
    value = hash_unit(units[0])
    for unit in units[1:]:
        x = (value * HASH_1 & MASK) ^ hash_unit(unit)
        x ^= x >> 32
        value = x * HASH_3 & MASK
    return (value >> 32) * n_columns >> 32
