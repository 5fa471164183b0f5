"""Statistical phrases against the textbook's ratio, and in the vectorizer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from widemargin import Vectorizer
from widemargin.errors import UsageError
from widemargin.text.phrases import associations
from widemargin.text.vocabulary import Vocabulary


def test_ties_are_log_likelihood_ratios():
    rng = np.random.default_rng(0)
    terms = Vocabulary.from_terms(
        [f"{a} {b}" for a in "abcd" for b in "wxyz"] + ["a", "a w x", "b w x", "b w y"]
    )
    totals = rng.integers(1, 40, len(terms))
    found = dict(zip(terms, associations(terms, totals), strict=True))
    counts = dict(zip(terms, totals.tolist(), strict=True))
    pairs = {term: count for term, count in counts.items() if term.count(" ") == 1}
    for term, count in pairs.items():
        first = sum(c for t, c in pairs.items() if t[0] == term[0])
        last = sum(c for t, c in pairs.items() if t[2] == term[2])
        n = sum(pairs.values())
        table = [[count, first - count], [last - count, n - first - last + count]]
        ratio = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
        expected = ratio if count * n > first * last else 0.0
        assert found[term] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found["a"] == np.inf
    assert np.isfinite(found["b w x"])


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
        {"phrases": 10.83},
        {"phrases": 10.83, "units": "chars", "ngram_range": (1, 3)},
        {"phrases": -1, "ngram_range": (1, 2)},
        {"phrases": 10.83, "ngram_range": (1, 2), "n_hashed": 64},
    ],
)
def test_settings_without_a_meaning(settings):
    with pytest.raises(UsageError):
        Vectorizer(**settings).fit(TEXTS)
