"""A thesaurus: words and phrases that are read as one concept (joachims 2.3.2).

An entry is one word or several. Wherever it stands in a text, the concept takes its place, before n-grams and
pairs are formed: with ``{"car": ["automobile", "motor car"]}``, "motor car", "automobile" and "car" are all
the term ``<car>``. The name of a concept is an entry too.

Entries pass through what texts pass through: they are split into words, case-folded and stemmed, and match
the stems of a text. They match before stop words are removed, so an entry may contain some. The entry that
begins first is taken, and of those the longest. Concepts are not replaced again.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin.errors import DataError, MissingFileError, StorageError, UsageError
from widemargin.text.inputs import as_texts
from widemargin.text.stemming import stem
from widemargin.text.tokens import TextRule
from widemargin.text.vocabulary import Vocabulary

CURE = "Write a concept and its entries as `car: automobile, motor car`, or a word, a tab and its concept."


@dataclass(frozen=True, eq=False)
class Thesaurus:
    """Entries that are ready to be matched.

    Attributes
    ----------
    concepts : the terms that replace entries, such as ``<car>``
    words : the distinct words (or stems) of all entries; the position of a word is its number
    entries : the same for the core
    """

    concepts: list[str]
    words: dict[str, int]
    entries: _core.Entries

    @classmethod
    def of(cls, given: Mapping[str, Iterable[str]], rule: TextRule, stemmer: str | None) -> Thesaurus:
        """Check and split the entries of a mapping from concepts to entries."""
        names, entries, owners = _listed(given)
        sequences = token_sequences(entries, rule, stemmer)
        concepts = sorted({term_of(name) for name in names})
        place = {concept: i for i, concept in enumerate(concepts)}
        seen: dict[tuple[str, ...], int] = {}
        for i, sequence in enumerate(sequences):
            if not sequence and entries[i] == names[owners[i]]:
                continue  # a concept may be called anything
            if not sequence:
                raise UsageError(
                    f"thesaurus: the entry {entries[i]!r} of {names[owners[i]]!r} contains no word. "
                    f"Remove it."
                )
            first = seen.setdefault(sequence, i)
            if term_of(names[owners[first]]) != term_of(names[owners[i]]):
                as_stems = "" if stemmer is None else f" as stems of {stemmer}"
                raise UsageError(
                    f"thesaurus: {entries[first]!r} of {names[owners[first]]!r} and {entries[i]!r} of "
                    f"{names[owners[i]]!r} are the same{as_stems}. Keep one of them"
                    f"{'' if stemmer is None else ', or use no stemmer'}."
                )
        words: dict[str, int] = {}
        numbers = [words.setdefault(word, len(words)) for sequence in seen for word in sequence]
        offsets = np.zeros(len(seen) + 1, dtype=np.int64)
        np.cumsum([len(sequence) for sequence in seen], out=offsets[1:])
        meanings = [place[term_of(names[owners[i]])] for i in seen.values()]
        native = _core.Entries(np.array(numbers, dtype=np.int32), offsets, np.array(meanings, dtype=np.int32))
        return cls(concepts, words, native)

    def numbers(self, words: Iterable[str]) -> NDArray[np.int32]:
        """The numbers of words (or stems) in the entries; -1 for words that are in none."""
        return np.array([self.words.get(word, -1) for word in words], dtype=np.int32)


def term_of(name: str) -> str:
    """The term of a concept.

    Examples
    --------
    >>> term_of("Motor  vehicle")
    '<motor_vehicle>'
    """
    return f"<{'_'.join(name.casefold().split())}>"


def token_sequences(entries: list[str], rule: TextRule, stemmer: str | None = None) -> list[tuple[str, ...]]:
    """The words of each text, or their stems.

    Examples
    --------
    >>> token_sequences(["Motor-car", "747s"], TextRule())
    [('motor', 'car'), ('747s',)]
    """
    found = _core.TokenPass(as_texts(entries), rule.native(), 1)
    tokens = list(distinct_tokens(found))
    if stemmer is not None:
        tokens = stem(tokens, stemmer)
    lengths = np.empty(len(entries), dtype=np.int64)
    places = np.empty(found.n_tokens, dtype=np.int32)
    found.sequences(lengths, places)
    words = iter(places.tolist())
    return [tuple(tokens[next(words)] for _ in range(length)) for length in lengths.tolist()]


def distinct_tokens(found: _core.TokenPass) -> Vocabulary:
    """The distinct tokens of texts, sorted."""
    buffer = np.empty(found.n_bytes, dtype=np.uint8)
    offsets = np.empty(found.n_distinct + 1, dtype=np.int64)
    found.distinct(buffer, offsets)
    return Vocabulary(buffer, offsets)


def read_thesaurus(path: str | Path) -> dict[str, list[str]]:
    """The concepts and entries of a file.

    A line is ``concept: entry, entry, ...`` or, with a tab, ``entry<tab>concept``. Empty lines and lines that
    begin with # are ignored. A concept may have several lines; an entry has one concept.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "cars.txt")
    ...     _ = file.write_text("# vehicles\\ncar: automobile, motor car\\nlorry\\ttruck\\n")
    ...     read_thesaurus(file)
    {'car': ['automobile', 'motor car'], 'truck': ['lorry']}
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError as error:
        raise MissingFileError(f"There is no thesaurus {path}. Check the name.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}, byte {error.start}: not UTF-8. Convert the file to UTF-8 first.") from error
    except OSError as error:
        raise StorageError(f"{path} could not be read: {error.strerror}.") from error
    found: dict[str, list[str]] = {}
    owner: dict[str, tuple[str, int]] = {}  # by entry: its concept and line
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        concept, entries = _parsed(line, f"{path}, line {number}")
        for entry in [concept, *entries]:
            key = " ".join(unicodedata.normalize("NFC", entry).casefold().split())
            other, where = owner.setdefault(key, (concept, number))
            if term_of(other) != term_of(concept):
                raise DataError(
                    f"{path}, line {number}: {entry!r} stands for {concept!r} here and for {other!r} in line "
                    f"{where}. An entry has one concept, and the name of a concept is an entry of it. Remove "
                    f"one of them."
                )
        found.setdefault(concept, []).extend(entries)
    if not found:
        raise DataError(f"{path}: the thesaurus has no entries. {CURE}")
    return found


def _parsed(line: str, place: str) -> tuple[str, list[str]]:
    """The concept of a line and its entries."""
    if "\t" in line:
        entry, _, concept = line.partition("\t")
        entries = [entry]
    else:
        concept, colon, rest = line.partition(":")
        entries = rest.split(",")
        if not colon:
            raise DataError(f"{place}: found neither a colon nor a tab in {line.strip()!r}. {CURE}")
    concept, entries = concept.strip(), [entry.strip() for entry in entries]
    entries = [entry for entry in entries if entry]
    if not concept or not entries:
        raise DataError(f"{place}: {'an entry' if concept else 'the concept'} is missing. {CURE}")
    return concept, entries


def _listed(given: Any) -> tuple[list[str], list[str], list[int]]:
    """The names of concepts, all entries, and the place of each entry's concept among the names."""
    if not isinstance(given, Mapping) or not given:
        raise UsageError(
            f"thesaurus={given!r}: expected concepts with their entries, such as {{'car': ['automobile']}}."
        )
    names: list[str] = []
    entries: list[str] = []
    owners: list[int] = []
    for name, listed in given.items():
        words = [listed] if isinstance(listed, str) else listed
        if not isinstance(words, Iterable) or not isinstance(name, str) or not name.strip():
            raise UsageError(f"thesaurus: {name!r}: {listed!r} is not a concept with a list of entries.")
        names.append(name)
        for entry in [name, *words]:
            if not isinstance(entry, str):
                raise UsageError(f"thesaurus: {entry!r}, an entry of {name!r}, is not a str.")
            # Texts are not normalized, so an accent may be a mark of its own in them or not.
            forms = {entry, unicodedata.normalize("NFC", entry), unicodedata.normalize("NFD", entry)}
            entries += sorted(forms)
            owners += [len(names) - 1] * len(forms)
    return names, entries, owners
