"""What only shows in larger inputs: threads, windows, blocks of 64 characters, counts beyond a byte."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.reference import terms as reference
from tests.text.test_counts import assert_counts, vectorizer
from widemargin import Vectorizer

WORDS = """
the of and to wheat corn Corn WHEAT up 1987 12 3.5 snake_case x_ a b Straße STRASSE İstanbul ŉ naïve ﬃ Ünïcödé
Ⅳ ٣٤ ΣΊΣΥΦΟΣ σίσυφος 中文 한국어 ไทย नमस्ते 𝔸𝔹 𐐀𐐨 e\u0301 _ ‿ -- … \x00 \ud800
"""
SPACES = [" ", "\n\n", "\t", "\u00a0", "\u2028"]
LONG = ["a" * 15, "b" * 16, "c" * 17 + "é", "d" * 200]
PIECES = [*WORDS.split(), *SPACES, *LONG]


def make_texts(seed: int, n_texts: int, n_pieces: int, alphabet: list[str]) -> list[str]:
    chance = random.Random(seed)
    glue = ["", " ", " ", " ", "\n", "-"]
    return [
        "".join(chance.choice(alphabet) + chance.choice(glue) for _ in range(chance.randrange(n_pieces)))
        for _ in range(n_texts)
    ]


ASCII = [piece for piece in PIECES if piece.isascii()]
MIXED = make_texts(1, 60, 400, PIECES) + make_texts(2, 60, 400, ASCII) + ["", "   ", "\ud800", "..."]

RULES = [
    {"units": "words"},
    {"units": "words", "tokens": "unicode", "min_length": 2},
    {"units": "words", "ngram_range": (1, 3)},
    {"units": "words", "ngram_range": (2, 2)},
    {"units": "chars", "ngram_range": (1, 1)},
    {"units": "chars", "ngram_range": (3, 3)},
    {"units": "chars", "ngram_range": (2, 5)},
    {"units": "chars_in_words", "ngram_range": (3, 3)},
    {"units": "chars_in_words", "ngram_range": (4, 6), "tokens": "unicode"},
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_against_the_oracle(rule, n_jobs):
    vocabulary, rows = reference.counts(MIXED, **rule)
    found = vectorizer(rule, n_jobs=n_jobs)
    assert_counts(found, found.fit_transform(MIXED), vocabulary, rows)
    assert_counts(found, found.transform(MIXED), vocabulary, rows)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_bytes_are_like_str(rule):
    # What is not UTF-8 separates, as a lone surrogate does.
    data = [text.encode("utf-8", "surrogatepass") for text in MIXED]
    from_str = vectorizer(rule)
    expected = from_str.fit_transform(MIXED)
    from_bytes = vectorizer(rule)
    found = from_bytes.fit_transform(data)
    assert from_bytes.vocabulary_ == from_str.vocabulary_
    assert (found != expected).nnz == 0


@pytest.mark.parametrize(
    "rule", [{"units": "words", "ngram_range": (1, 2)}, {"units": "chars", "ngram_range": (3, 3)}]
)
def test_arrow_columns_are_like_str(rule):
    pa = pytest.importorskip("pyarrow")
    plain = [text.encode("utf-8", "replace").decode() for text in MIXED]
    expected = vectorizer(rule).fit_transform(plain)
    for column in (
        pa.array(plain),
        pa.array(plain, pa.large_string()),
        pa.chunked_array([plain[:50], plain[50:]]),
        pa.array(["left out", *plain]).slice(1),
        pa.array(plain).dictionary_encode(),
    ):
        assert (vectorizer(rule).fit_transform(column) != expected).nnz == 0


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_number_of_threads_changes_nothing(rule):
    matrices, found = [], []
    for n_jobs in (1, 2, 5):
        found.append(vectorizer(rule, n_jobs=n_jobs))
        matrices.append(found[-1].fit_transform(MIXED))
        matrices.append(found[-1].transform(MIXED))
    for matrix in matrices[1:]:
        assert np.array_equal(matrix.indptr, matrices[0].indptr)
        assert np.array_equal(matrix.indices, matrices[0].indices)
        assert np.array_equal(matrix.data, matrices[0].data)
    for other in found[1:]:
        assert other.vocabulary_ == found[0].vocabulary_
        assert np.array_equal(other.document_frequencies_, found[0].document_frequencies_)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rows_are_independent(rule):
    found = vectorizer(rule)
    matrix = found.fit_transform(MIXED)
    order = np.random.default_rng(0).permutation(len(MIXED))
    shuffled = [MIXED[i] for i in order]
    again = vectorizer(rule)
    assert (again.fit_transform(shuffled) != matrix[order]).nnz == 0
    assert again.vocabulary_ == found.vocabulary_
    for i in range(0, len(MIXED), 7):
        assert (found.transform([MIXED[i]]) != matrix[[i]]).nnz == 0


def test_one_long_document():
    # Longer than any window or block, with counts that need more than a byte and tokens longer than any key.
    text = " ".join(make_texts(3, 40, 400, PIECES)) + " wheat" * 70_000 + " " + "z" * 100_000
    for rule in ({"units": "words", "ngram_range": (1, 2)}, {"units": "chars", "ngram_range": (3, 3)}):
        vocabulary, rows = reference.counts([text, "wheat"], **rule)
        found = vectorizer(rule, n_jobs=2)
        assert_counts(found, found.fit_transform([text, "wheat"]), vocabulary, rows)
        assert_counts(found, found.transform([text, "wheat"]), vocabulary, rows)


def test_many_tiny_documents():
    texts = [f"w{i % 1000}" for i in range(200_000)]
    found = Vectorizer(weighting=None, n_jobs=2)
    matrix = found.fit_transform(texts)
    assert matrix.shape == (200_000, 1000)
    assert found.document_frequencies_.tolist() == [200] * 1000
    assert matrix.sum() == 200_000
