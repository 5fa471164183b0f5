"""N-grams of bytes: counts against a short reference, names of terms, and texts that are not UTF-8."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin import LinearSVM, TextClassifier, Vectorizer
from widemargin.errors import DataError
from widemargin.text.vocabulary import ByteVocabulary

# Characters of one to four bytes, white space, escapes and lone surrogates.
HARD = "aAzZ \n\t\\x\x00\x7f\x80ßéÿΣ中한\u2028😀𐐀\ud800\udc80\udfff"
strings = st.text(st.sampled_from(HARD) | st.characters(), max_size=60)
texts = st.lists(strings | st.binary(max_size=60), min_size=1, max_size=6)
lengths = st.sampled_from([(1, 1), (1, 4), (2, 2), (3, 3), (4, 6)])


def ngrams(text: str | bytes, low: int, high: int) -> Counter[bytes]:
    """The reference."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return Counter(data[i : i + n] for n in range(low, high + 1) for i in range(len(data) - n + 1))


def stored(vocabulary: ByteVocabulary) -> list[bytes]:
    """The terms of a vocabulary as bytes, from its buffer."""
    bounds = vocabulary.offsets.tolist()
    data = vocabulary.buffer.tobytes()
    return [data[a:b].decode().encode("latin-1") for a, b in itertools.pairwise(bounds)]


def assert_counts(vectorizer, matrix, rows) -> None:
    terms = stored(vectorizer.vocabulary_)
    assert terms == sorted(set().union(*rows))
    for i, row in enumerate(rows):
        line = slice(matrix.indptr[i], matrix.indptr[i + 1])
        found = {terms[c]: n for c, n in zip(matrix.indices[line], matrix.data[line], strict=True)}
        assert found == row


@settings(max_examples=300, deadline=None)
@given(texts=texts, lengths=lengths)
def test_any_bytes(texts, lengths):
    rows = [ngrams(text, *lengths) for text in texts]
    vectorizer = Vectorizer(units="bytes", ngram_range=lengths, weighting=None)
    if not any(rows):
        with pytest.raises(DataError, match="contain no terms"):
            vectorizer.fit(texts)
        return
    assert_counts(vectorizer, vectorizer.fit_transform(texts), rows)
    assert_counts(vectorizer, vectorizer.transform(texts), rows)


@given(texts=texts, lengths=lengths)
def test_any_number_of_threads(texts, lengths):
    texts = [*texts, "a b"] * 40
    one, three = (
        Vectorizer(units="bytes", ngram_range=lengths, weighting=None, n_jobs=n).fit([*texts, "more " * 9])
        for n in (1, 3)
    )
    assert one.vocabulary_ == three.vocabulary_
    first, second = one.transform(texts), three.transform(texts)
    assert np.array_equal(first.indptr, second.indptr)
    assert np.array_equal(first.indices, second.indices)
    assert np.array_equal(first.data, second.data)


def test_short_and_empty_texts_have_empty_rows():
    vectorizer = Vectorizer(units="bytes", ngram_range=(3, 4), weighting=None).fit(["abcd"])
    assert vectorizer.transform(["", "ab", "é", b"\xff"]).nnz == 0


def test_case_and_white_space_differ():
    vectorizer = Vectorizer(units="bytes", weighting=None).fit(["Aa \n"])
    assert list(vectorizer.vocabulary_) == [r"\x0a", " ", "A", "a"]


@given(st.lists(st.binary(min_size=1, max_size=8), min_size=1, unique=True))
def test_names_are_printable_and_find_their_term(terms):
    vectorizer = Vectorizer(units="bytes", ngram_range=(1, 8), weighting=None).fit(terms)
    names = list(vectorizer.vocabulary_)
    assert all(map(str.isprintable, names))
    assert [vectorizer.vocabulary_.index(name) for name in names] == list(range(len(names)))
    assert ByteVocabulary.from_terms(names) == vectorizer.vocabulary_


@given(st.text(min_size=1, max_size=8).filter(str.isprintable).filter(lambda text: "\\" not in text))
def test_printable_text_is_its_own_name(text):
    n = len(text.encode())
    vectorizer = Vectorizer(units="bytes", ngram_range=(n, n), weighting=None).fit([text])
    assert list(vectorizer.vocabulary_) == [text]


def test_unknown_names_are_not_found():
    vocabulary = Vectorizer(units="bytes", ngram_range=(1, 2)).fit(["é\\"]).vocabulary_
    assert list(vocabulary) == ["\\\\", r"\xa9", r"\xa9\\", r"\xc3", "é"]
    assert [vocabulary.index(name) for name in ("", "\ud800", r"\xc", "e")] == [-1] * 4


@given(text=strings, lengths=lengths)
def test_hashed_bytes_are_counted_as_often(text, lengths):
    row = Vectorizer(units="bytes", ngram_range=lengths, weighting=None, n_hashed=2**20).fit_transform([text])
    assert row.sum() == sum(ngrams(text, *lengths).values())


@given(text=strings.filter(bool), n=st.integers(1, 3))
def test_located_bytes(text, n):
    vectorizer = Vectorizer(units="bytes", ngram_range=(n, n), weighting=None)
    origin = [i for i, c in enumerate(text) for _ in c.encode("utf-8", "surrogatepass")]
    if len(origin) < n:
        return
    found = vectorizer.fit([text]).locate(text)
    assert found.starts.tolist() == origin[: len(origin) - n + 1]
    assert found.ends.tolist() == [i + 1 for i in origin[n - 1 :]]


def test_a_model_is_saved_and_explained(tmp_path):
    texts = ["blé, maïs et été", "wheat, corn and summer", b"bl\xe9 \xff\xfe", "corn \ud800"] * 5
    vectorizer = Vectorizer(units="bytes", ngram_range=(1, 3))
    model = TextClassifier(vectorizer, LinearSVM(), estimate=None).fit(texts, ["fr", "en"] * 10)
    model.save(tmp_path / "model.wm")
    loaded = TextClassifier.load(tmp_path / "model.wm")
    assert list(loaded.vectorizer_.vocabulary_) == list(model.vectorizer_.vocabulary_)
    assert np.array_equal(loaded.decision_function(texts), model.decision_function(texts))
    names = {term for term, _, _ in loaded.explain("l'été").by_term()}
    assert {r"\xc3", "é", r"\xa9t"} <= names
    assert all(map(str.isprintable, names))
