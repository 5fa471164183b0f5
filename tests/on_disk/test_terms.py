"""Lists of terms: written, read, merged in pages, and found in each other."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.row_blocks import merge
from widemargin import Vectorizer
from widemargin.errors import DataError, MissingFileError, UsageError
from widemargin.on_disk import count_run, merge_terms
from widemargin.on_disk import terms as module
from widemargin.on_disk.terms import (
    NO_TERMS,
    Terms,
    columns_among,
    joined,
    merge_pages,
    read_terms,
    write_terms,
)
from widemargin.text.vocabulary import Vocabulary

words = st.one_of(
    st.text(max_size=3), st.text("ab", max_size=12), st.sampled_from(["", "\0", "a\0", "\U0010ffff"])
)
words = words.filter(lambda word: not any("\ud800" <= c <= "\udfff" for c in word))
lists = st.dictionaries(words, st.tuples(st.integers(1, 9), st.integers(1, 2**40)), max_size=30)


def made(found: dict[str, tuple[int, int]]) -> Terms:
    ordered = sorted(found.items(), key=lambda item: item[0].encode())
    return Terms.of(
        Vocabulary.from_terms(found),
        np.array([frequency for _, (frequency, _) in ordered], dtype=np.int64),
        np.array([total for _, (_, total) in ordered], dtype=np.int64),
    )


def plain(terms: Terms) -> list[tuple[str, int, int]]:
    return list(zip(terms.vocabulary, terms.frequencies.tolist(), terms.totals.tolist(), strict=True))


def paged(terms: Terms, size: int) -> list[Terms]:
    return [terms.part(i, min(i + size, terms.n_terms)) for i in range(0, terms.n_terms, size)]


@given(st.lists(lists, max_size=6), st.integers(1, 5), st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_merging_adds_what_lists_share(given_lists, page, at_once):
    expected = merge(given_lists)
    assert plain(merge_terms([made(each) for each in given_lists])) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_ONCE", at_once)
        parts = list(merge_pages([paged(made(each), page) for each in given_lists]))
    assert plain(joined(parts)) == expected


@given(lists, lists)
@settings(deadline=None)
def test_terms_are_found_among_others(some, known):
    vocabulary = Vocabulary.from_terms(known)
    expected = [vocabulary.index(term) for term in Vocabulary.from_terms(some)]
    assert columns_among(made(some), vocabulary).tolist() == expected


def test_a_few_terms_are_found_among_many():
    rng = random.Random(0)
    known = Vocabulary.from_terms([f"{rng.randrange(10**6)}" for _ in range(5000)])
    some = dict.fromkeys([*rng.sample(list(known), 50), *(str(i) for i in range(50))], (1, 1))
    expected = [known.index(term) for term in Vocabulary.from_terms(some)]
    assert columns_among(made(some), known).tolist() == expected
    assert -1 in expected


def written(path, terms):
    with path.open("wb") as file:
        return path, write_terms(file, [terms])


def test_files_have_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PAGE", 3)
    terms = made({f"t{i}": (i + 1, 2**40 + i) for i in range(10)})
    pages = list(read_terms(*written(tmp_path / "terms", terms)))
    assert [page.n_terms for page in pages] == [3, 3, 3, 1]
    assert plain(joined(pages)) == plain(terms)
    assert list(read_terms(*written(tmp_path / "none", NO_TERMS))) == []


def test_damaged_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PAGE", 3)
    path, n_terms = written(tmp_path / "terms", made({f"t{i}": (1, 1) for i in range(5)}))
    data = path.read_bytes()
    for at in range(len(data)):
        path.write_bytes(bytes([*data[:at], data[at] ^ 1, *data[at + 1 :]]))
        with pytest.raises(DataError, match="terms is damaged"):
            list(read_terms(path, n_terms))
    for size in range(len(data)):
        path.write_bytes(data[:size])
        with pytest.raises(DataError, match="terms is damaged"):
            list(read_terms(path, n_terms))
    path.unlink()
    with pytest.raises(MissingFileError, match="is missing"):
        list(read_terms(path, n_terms))


def test_unsorted_terms_are_refused():
    page = made({"a": (1, 1), "b": (1, 1)})
    swapped = page._replace(buffer=page.buffer[::-1].copy())
    for source in ([swapped], [page, page]):
        with pytest.raises(DataError, match="ascend"):
            list(merge_pages([source]))


def test_every_kind_of_terms_is_sorted():
    """Merging relies on it: the order of terms in a run is that of their bytes."""
    texts = [
        "a b ab a! a-b",
        "b a\u00a0a Ä ä z \U00010400 \ufb01",
        "a b c ... ~ x",
        "3 4 <number> the 日本語 a",
    ]
    for options in (
        {"ngram_range": (1, 3), "pairs": "near:3"},
        {"ngram_range": (1, 2), "pairs": "after:2", "tokens": "unicode"},
        {"token_pattern": r"[^,]+"},
        {"ngram_range": (1, 2), "token_pattern": r"[^ ]+"},
        {"units": "chars", "ngram_range": (1, 4)},
        {"units": "bytes", "ngram_range": (1, 4)},
        {"units": "chars_in_words", "ngram_range": (2, 4)},
    ):
        run = count_run(Vectorizer(**options), texts, [[]] * len(texts))
        assert merge_terms(run.terms).n_terms == run.terms[0].n_terms > 3


def test_terms_that_would_have_the_same_name_are_refused():
    for options in (
        {"ngram_range": (1, 2), "token_pattern": "a b|a|b c|c"},
        {"ngram_range": (1, 3), "pairs": "after:1", "token_pattern": "[^ ]+"},
    ):
        with pytest.raises(UsageError, match="have the same name"):
            count_run(Vectorizer(**options), ["a b c", "a b c a ... b c"], [[], []])
