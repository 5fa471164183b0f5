"""Unknown terms of texts, and of training documents as if they were new."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin import Vectorizer
from widemargin.weight.as_new.unknown_terms import known_as_new, known_terms
from widemargin.weight.left_out import known_entries

WORDS = ["corn", "oil", "bank", "rate", "wheat", "rye", "gold"]


def texts(n=25):
    rng = np.random.default_rng(0)
    drawn = [" ".join(rng.choice(WORDS, 1 + rng.integers(6))) for _ in range(n)]
    return [*drawn, "a hapax of corn", "nothing shared here at all", ""]


SETTINGS = [
    {},
    {"ngram_range": (1, 2)},
    {"min_df": 3},
    {"min_count": 4},
    {"stop_words": "freewais"},
    {"stemmer": "porter"},
    {"units": "chars", "ngram_range": (3, 3)},
    {"blocks": "words:1, chars:2-3"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_left_out_document_is_one_that_was_never_seen(settings):
    """The oracle fits a vectorizer without every document in turn."""
    documents = texts()
    vectorizer = Vectorizer(**settings)
    counts, known = known_entries(vectorizer, vectorizer.fit_counts(documents))
    found = known_as_new(vectorizer, documents, counts, known)
    for i, document in enumerate(documents):
        rest = documents[:i] + documents[i + 1 :]
        other = Vectorizer(**settings).fit(rest)
        expected = known_terms(other, [document], other.counted([document]))
        assert found.unknown[i] == pytest.approx(expected.unknown[0])
        assert found.no_terms[i] == expected.no_terms[0]


def test_words_are_counted_beside_other_blocks():
    vectorizer = Vectorizer(blocks="chars:2-3, words:1").fit(["corn oil", "corn rate"])
    new = ["corn coin", "zzz"]
    found = known_terms(vectorizer, new, vectorizer.counted(new))
    assert found.unknown.tolist() == [0.5, 1.0]
    assert found.no_terms.tolist() == [False, True]


def test_hashed_terms_are_never_unknown():
    vectorizer = Vectorizer(n_hashed=64).fit(["corn oil"])
    assert known_terms(vectorizer, ["rye"], vectorizer.counted(["rye"])) is None
