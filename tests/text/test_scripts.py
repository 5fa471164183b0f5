"""Equal to scikit-learn's CountVectorizer with the same tokens, on real text in many scripts."""

from __future__ import annotations

import json
import lzma
import os
import re
import sys
import unicodedata
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from tests.reference import terms as reference
from widemargin import Vectorizer

pytestmark = pytest.mark.filterwarnings("ignore:The parameter 'token_pattern'")


def read_lines(name: str) -> list[dict]:
    path = Path(os.environ.get("WIDEMARGIN_DATA", "")) / name
    if not path.is_file():
        pytest.skip(f"{name} is not on this machine")
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@lru_cache(maxsize=1)
def udhr() -> list[str]:
    return ["\n".join(record["paragraphs"]) for record in read_lines("language_id/udhr.jsonl.xz")[::3]]


@lru_cache(maxsize=1)
def news() -> list[str]:
    return [
        sentence
        for record in read_lines("language_id/lingua-testdata.jsonl.xz")
        for sentence in record["sentences"][:40] + record["single_words"][:10]
    ]


@lru_cache(maxsize=1)
def newsgroups() -> list[str]:
    return [record["text"] for record in read_lines("20newsgroups/20news-bydate.jsonl.xz")[::19]]


@lru_cache(maxsize=2)
def word_pattern(connectors: bool) -> str:
    """A character class of the categories that make words, as ranges."""
    inside = [
        unicodedata.category(chr(c))[0] in "LMN" or (connectors and unicodedata.category(chr(c)) == "Pc")
        for c in range(sys.maxunicode + 1)
    ]
    ranges, start = [], None
    for c, word in enumerate([*inside, False]):
        if word and start is None:
            start = c
        elif not word and start is not None:
            ranges.append(f"{re.escape(chr(start))}-{re.escape(chr(c - 1))}")
            start = None
    return "[" + "".join(ranges) + "]"


def assert_equal(
    ours: Vectorizer, theirs: CountVectorizer, texts: list[str], rename=lambda term: term
) -> None:
    found, expected = ours.fit_transform(texts), theirs.fit_transform(texts)
    names = [rename(name) for name in theirs.get_feature_names_out()]
    order = sorted(range(len(names)), key=names.__getitem__)
    assert list(ours.vocabulary_) == [names[i] for i in order]
    expected = expected[:, order].tocsr()
    expected.sort_indices()
    assert np.array_equal(found.indptr, expected.indptr)
    assert np.array_equal(found.indices, expected.indices)
    assert np.array_equal(found.data, expected.data)


TEXTS = pytest.mark.parametrize("texts", [udhr, news, newsgroups], ids=lambda load: load.__name__)


@TEXTS
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
def test_unicode_words(texts, ngram_range):
    pattern = re.compile(word_pattern(True) + "+")

    def tokenize(text: str) -> list[str]:
        return [piece for run in pattern.findall(text) for piece in reference.pieces(run, "unicode", 2)]

    assert_equal(
        Vectorizer(tokens="unicode", ngram_range=ngram_range, min_token_length=2, weighting=None),
        CountVectorizer(preprocessor=str.casefold, tokenizer=tokenize, ngram_range=ngram_range),
        texts(),
    )


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
def test_words_between_spaces_by_a_pattern_alone(ngram_range):
    with_spaces = [text for text in udhr() if not any(reference.piece_length(c, 0) for c in set(text))]
    assert len(with_spaces) > 0.9 * len(udhr())
    assert_equal(
        Vectorizer(tokens="unicode", ngram_range=ngram_range, min_token_length=2, weighting=None),
        CountVectorizer(
            preprocessor=str.casefold, token_pattern=word_pattern(True) + "{2,}", ngram_range=ngram_range
        ),
        with_spaces,
    )


@TEXTS
def test_thesis_words(texts):
    pattern = re.compile(word_pattern(False) + "+")

    def tokenize(text: str) -> list[str]:
        return [piece for run in pattern.findall(text) for piece in reference.pieces(run, "alnum", 1)]

    assert_equal(
        Vectorizer(weighting=None), CountVectorizer(preprocessor=str.casefold, tokenizer=tokenize), texts()
    )


@TEXTS
@pytest.mark.parametrize("ngram_range", [(3, 3), (1, 2)])
def test_characters(texts, ngram_range):
    # CountVectorizer leaves single tabs and line ends as they are; here every run of white space is a space.
    plain = [re.sub(r"\s+", " ", text) for text in texts()]
    assert_equal(
        Vectorizer(units="chars", ngram_range=ngram_range, weighting=None),
        CountVectorizer(analyzer="char", preprocessor=str.casefold, ngram_range=ngram_range),
        plain,
    )


@TEXTS
@pytest.mark.parametrize("ngram_range", [(3, 3), (4, 5)])
def test_characters_in_words(texts, ngram_range):
    # CountVectorizer's words end at white space and its boundary is a space.
    pattern = re.compile(word_pattern(False) + "+")
    assert_equal(
        Vectorizer(units="chars_in_words", ngram_range=ngram_range, weighting=None),
        CountVectorizer(
            analyzer="char_wb",
            preprocessor=lambda text: " ".join(pattern.findall(text.casefold())),
            ngram_range=ngram_range,
        ),
        texts(),
        rename=lambda term: term.replace(" ", "_"),
    )
