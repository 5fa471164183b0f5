"""The terms of a text, the slow and obvious way: one character after the other, one Counter per text."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

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


# Scripts without spaces, by code points: the length of their n-grams of characters, and where they are.
SPACELESS = {
    2: [
        (0x3005, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B), (0x3041, 0x3096), (0x309D, 0x309F),
        (0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
        (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x1AFF0, 0x1AFFF), (0x1B000, 0x1B16F), (0x20000, 0x3FFFF),
    ],
    3: [
        (0x0E00, 0x0E7F), (0x0E80, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0xA9E0, 0xA9FF),
        (0xAA60, 0xAA7F), (0x116D0, 0x116FF),
    ],
}  # fmt: skip
HAN_NUMERALS = [0x3007, *range(0x3021, 0x302A), *range(0x3038, 0x303B)]


def piece_length(character: str, before: int) -> int:
    """The length of the n-grams of its script, 0 if that has spaces; a mark goes with the script `before`."""
    code, category = ord(character), unicodedata.category(character)
    if category[0] in "LM" or code in HAN_NUMERALS:
        for length, places in SPACELESS.items():
            if any(first <= code <= last for first, last in places):
                return length
    return before if category[0] == "M" else 0


def pieces(run: str, tokens: str, min_length: int) -> list[str]:
    """A run of word characters, cut where its script changes and into n-grams where it has no spaces."""
    parts: list[tuple[int, str]] = []
    for character in run:
        length = piece_length(character, parts[-1][0] if parts else 0)
        if parts and parts[-1][0] == length:
            parts[-1] = length, parts[-1][1] + character
        else:
            parts.append((length, character))
    found = []
    for length, part in parts:
        if length:
            found += [part[i : i + length] for i in range(max(len(part) - length, 0) + 1)]
        elif len(part) >= min_length:
            found.append(part)
    if tokens == "alnum":
        found = [NUMBER if all(unicodedata.category(c)[0] == "N" for c in part) else part for part in found]
    return found


def sequences(text: str, units: str, tokens: str, min_length: int) -> list[list[str]]:
    """The sequences of units that no n-gram may leave."""
    if units == "words":
        return [[piece for run in words(text, tokens) for piece in pieces(run, tokens, min_length)]]
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


def same(word: str) -> str:
    return word


def with_concepts(
    words: list[str], thesaurus: Mapping[str, Iterable[str]], stem: Callable[[str], str], **rule: object
) -> list[tuple[str, bool]]:
    """Words, and the concepts of entries; whether each is a concept. The first entry and of those the longest
    is taken."""
    concept_of = {}
    for name, entries in thesaurus.items():
        for entry in (name, *entries):
            for form in (entry, *(unicodedata.normalize(kind, entry) for kind in ("NFC", "NFD"))):
                (split,) = sequences(form, "words", *rule.values())  # type: ignore[arg-type]
                concept_of[tuple(map(stem, split))] = f"<{'_'.join(name.casefold().split())}>"
    stems, found, i = [stem(word) for word in words], [], 0
    while i < len(words):
        for n in range(len(words) - i, 0, -1):
            if tuple(stems[i : i + n]) in concept_of:
                found.append((concept_of[tuple(stems[i : i + n])], True))
                i += n
                break
        else:
            found.append((words[i], False))
            i += 1
    return found


def pairs_of(words: list[str], pairs: str) -> list[str]:
    """Every pair of words with at most so many words between them, "after:3" or "near:3"."""
    kind, between = pairs.split(":")[:2]
    found = []
    for i in range(len(words)):
        for j in range(i + 1, min(len(words), i + 2 + int(between))):
            if kind == "after":
                found.append(f"{words[i]} ... {words[j]}")
            else:
                found.append(" ~ ".join(sorted([words[i], words[j]])))
    return found


def terms(
    text: str,
    units: str = "words",
    tokens: str = "alnum",
    ngram_range: tuple[int, int] = (1, 1),
    min_length: int = 1,
    stop_words: Iterable[str] = (),
    stem: Callable[[str], str] = same,
    thesaurus: Mapping[str, Iterable[str]] | None = None,
    pairs: str | None = None,
) -> list[str]:
    """Every n-gram of `text`, and every pair of words, as often as it occurs."""
    result = []
    stop_words = set(stop_words)
    low, high = ngram_range
    for sequence in sequences(text, units, tokens, min_length):
        read = [(unit, False) for unit in sequence]
        if thesaurus is not None:
            read = with_concepts(sequence, thesaurus, stem, tokens=tokens, min_length=min_length)
        kept = [
            unit if is_concept else stem(unit)
            for unit, is_concept in read
            if is_concept or unit not in stop_words
        ]
        joint = " " if units == "words" else ""
        if units == "chars_in_words" and 0 < len(kept) < low:
            result.append(joint.join(kept))
        for n in range(low, high + 1):
            result += [joint.join(kept[i : i + n]) for i in range(len(kept) - n + 1)]
        if pairs is not None:
            result += pairs_of(kept, pairs)
    return result


def association(totals: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], float]:
    """The log-likelihood ratio of every pair of parts, 0 where they occur together no more than by chance."""
    n = sum(totals.values())
    firsts, lasts = Counter[str](), Counter[str]()
    for (first, last), count in totals.items():
        firsts[first] += count
        lasts[last] += count
    found = {}
    for (first, last), count in totals.items():
        row, column = firsts[first], lasts[last]
        cells = [
            (count, row * column),
            (row - count, row * (n - column)),
            (column - count, (n - row) * column),
            (n - row - column + count, (n - row) * (n - column)),
        ]
        ratio = 2 * sum(seen * math.log(seen * n / expected) for seen, expected in cells if seen)
        found[first, last] = ratio if count * n > row * column else 0.0
    return found


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
