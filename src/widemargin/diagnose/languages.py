"""Documents in another language than the rest, by the words that hold sentences together and by script.

Every language writes a few dozen short words in nearly every sentence (the, und, que). Of languages in the
Latin script, the most frequent of these words are in `function_words.txt`; other scripts are told by their
letters. That needs no model and is enough to say that a collection holds several languages, of texts of ten
words and more; for the language of short strings, train a model of profiles (`widemargin identify`).
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

SCRIPTS = {
    "CYRILLIC": "Cyrillic script",
    "GREEK": "Greek",
    "ARABIC": "Arabic script",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "Devanagari",
    "BENGALI": "Bengali",
    "THAI": "Thai",
    "HANGUL": "Korean",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "CJK": "Chinese or Japanese",
    "GEORGIAN": "Georgian",
    "ARMENIAN": "Armenian",
    "TAMIL": "Tamil",
    "TELUGU": "Telugu",
}
FEWEST = 5  # words of a language that a document must have
SHARE = 0.15  # and their share of its words
AHEAD = 2.0  # times as many as those of any other language


@dataclass(frozen=True)
class Languages:
    """The languages of a collection.

    Attributes
    ----------
    main : the language of most documents; None if it is not known
    counts : documents of every language that was recognized
    unknown : documents whose language is not known, mostly short ones
    others : names of the documents that are in another language than the main one, by language
    """

    main: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    unknown: int = 0
    others: dict[str, list[Any]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"main": self.main, "counts": self.counts, "unknown": self.unknown, "others": self.others}


def find_languages(counts: sp.csr_array, terms: Sequence[str], names: Sequence[Any]) -> Languages:
    """The languages of documents, from the counts of their words.

    Parameters
    ----------
    counts : (documents, terms)
    terms : case-folded words
    names : of the documents

    Examples
    --------
    >>> from widemargin import Vectorizer
    >>> texts = ["the cat is on the mat and it was there"] * 3
    >>> texts += ["le chat est sur la table et il ne dort pas"]
    >>> vectorizer = Vectorizer(weighting=None)
    >>> counts = vectorizer.fit_transform(texts)
    >>> find_languages(counts, list(vectorizer.vocabulary_), [1, 2, 3, 4]).others
    {'French': [4]}
    """
    words = function_words()
    known = list(words) + sorted(set(SCRIPTS.values()))
    hits = np.asarray((counts.astype(np.float64) @ _words(terms, known, words)).todense())
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    ranked = np.sort(hits, axis=1)
    best, second = ranked[:, -1], ranked[:, -2]
    sure = (best >= FEWEST) & (best >= SHARE * lengths) & (best >= AHEAD * second)
    found = [known[j] if one else None for j, one in zip(hits.argmax(axis=1), sure, strict=True)]
    counted = Counter(language for language in found if language is not None)
    if not counted:
        return Languages(unknown=len(found))
    main = counted.most_common(1)[0][0]
    others: dict[str, list[Any]] = {}
    for name, language in zip(names, found, strict=True):
        if language not in (None, main):
            others.setdefault(str(language), []).append(name)
    return Languages(main, dict(counted.most_common()), len(found) - counted.total(), others)


def function_words() -> dict[str, list[str]]:
    """The listed words of every language.

    Examples
    --------
    >>> "the" in function_words()["English"], "und" in function_words()["German"]
    (True, True)
    """
    text = resources.files(__package__).joinpath("function_words.txt").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    language = ""
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if line.endswith(":"):
            language = line[:-1]
            found[language] = []
        else:
            found[language] += line.split()
    return found


def _words(terms: Sequence[str], known: list[str], listed: dict[str, list[str]]) -> sp.csr_array:
    """(terms, languages) which words belong to which languages."""
    place = {language: j for j, language in enumerate(known)}
    of_word: dict[str, list[int]] = {}
    for language, words in listed.items():
        for word in words:
            of_word.setdefault(word, []).append(place[language])
    rows: list[int] = []
    columns: list[int] = []
    for i, term in enumerate(terms):
        if term in of_word:
            rows += [i] * len(of_word[term])
            columns += of_word[term]
        elif not term.isascii():
            script = SCRIPTS.get(unicodedata.name(term[0], "").split(" ")[0].split("-")[0])
            if script is not None:
                rows.append(i)
                columns.append(place[script])
    ones: NDArray[np.float64] = np.ones(len(rows))
    return sp.csr_array((ones, (rows, columns)), shape=(len(terms), len(known)))
