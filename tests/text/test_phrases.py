"""Statistical phrases against the textbook's ratio, and in the vectorizer."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from tests.reference import terms as reference
from widemargin import Vectorizer
from widemargin.errors import UsageError


def test_the_reference_is_the_log_likelihood_ratio():
    rng = np.random.default_rng(0)
    totals = {(a, b): int(rng.integers(1, 40)) for a in "abcd" for b in "wxyz"}
    ratios = reference.association(totals)
    n = sum(totals.values())
    for (first, last), count in totals.items():
        row = sum(c for (a, _), c in totals.items() if a == first)
        column = sum(c for (_, b), c in totals.items() if b == last)
        table = [[count, row - count], [column - count, n - row - column + count]]
        ratio = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
        expected = ratio if count * n > row * column else 0.0
        assert ratios[first, last] == pytest.approx(expected, rel=1e-9, abs=1e-9)


some_words = st.lists(st.sampled_from(["ab", "cd", "é", "12", "the"]), max_size=12).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(
    texts=st.lists(some_words, min_size=1, max_size=8),
    longest=st.sampled_from([1, 2, 3]),
    strength=st.sampled_from([0.01, 0.5, 2.0, 10.83]),
    n_jobs=st.sampled_from([1, 2]),
)
def test_phrases_are_chosen_by_their_ratios(texts, longest, strength, n_jobs):
    lengths = (1, max(longest, 2))
    totals: Counter[str] = Counter()
    for text in texts:
        totals.update(reference.terms(text, ngram_range=lengths))
    expected = {term for term in totals if " " not in term}
    for n in range(2, lengths[1] + 1):
        grams = {term: count for term, count in totals.items() if term.count(" ") == n - 1}
        ratios = reference.association({tuple(term.rsplit(" ", 1)): c for term, c in grams.items()})
        # A ratio that is equal up to rounding may fall on either side.
        assert not any(abs(ratio - strength) < 1e-9 for ratio in ratios.values())
        expected |= {" ".join(parts) for parts, ratio in ratios.items() if ratio >= strength}
    if not expected:
        return
    found = Vectorizer(ngram_range=(1, longest), phrases=strength, weighting=None, n_jobs=n_jobs).fit(texts)
    assert list(found.vocabulary_) == sorted(expected)


TEXTS = ["crude oil is dear", "the crude oil price", "oil and crude oil", "the price is the price"] * 5


def test_the_vectorizer_keeps_words_and_phrases():
    vectorizer = Vectorizer(ngram_range=(1, 2), phrases=10.83, weighting=None).fit(TEXTS)
    terms = list(vectorizer.vocabulary_)
    assert "crude oil" in terms
    assert "oil price" not in terms
    assert {"oil", "dear", "the"} <= set(terms)
    every = Vectorizer(ngram_range=(1, 2), weighting=None).fit(TEXTS)
    kept = [list(every.vocabulary_).index(term) for term in terms]
    assert (vectorizer.transform(TEXTS) != every.transform(TEXTS)[:, kept]).nnz == 0
    again = Vectorizer.from_state(*vectorizer.get_state())
    assert (again.transform(TEXTS) != vectorizer.transform(TEXTS)).nnz == 0


@pytest.mark.parametrize(
    "settings",
    [
        {"phrases": "10.83"},
        {"phrases": 10.83, "units": "chars", "ngram_range": (1, 3)},
        {"phrases": -1, "ngram_range": (1, 2)},
        {"phrases": 10.83, "ngram_range": (1, 2), "n_hashed": 64},
    ],
)
def test_settings_without_a_meaning(settings):
    with pytest.raises(UsageError):
        Vectorizer(**settings).fit(TEXTS)
