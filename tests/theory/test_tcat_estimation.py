"""Concepts estimated from labeled documents: those of drawn documents come back, and a slow count agrees."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin._arrays import canonical_csr
from widemargin.errors import UsageError
from widemargin.features.scores import count_terms, odds_ratio
from widemargin.theory import TCatConcept, WordBands, estimate_concepts

# The concept of Figure 4.5, with sets small enough that every word is seen often.
CONCEPT = TCatConcept([(20, 20, 20), (12, 1, 20), (1, 12, 20), (9, 9, 60)])


def slow_estimate(dense, member, bands):
    """Set by set and word by word: [(p, n, f)] in the order of the bands, then the rest."""
    totals = dense.sum(axis=0)
    order = sorted(range(dense.shape[1]), key=lambda w: -totals[w])
    band_of, before = {}, 0.0
    for w in order:
        share = before / totals.sum()
        band_of[w] = sum(share >= end for end in bands.coverage)
        before += totals[w]
    signs = np.where(member, 1, -1).astype(np.int8)[:, None]
    odds = np.exp(odds_ratio(count_terms(canonical_csr(dense.astype(float)), signs))[0])
    sets = [[] for _ in range(2 * len(bands.odds) + 1)]
    for w in range(dense.shape[1]):
        factor = bands.odds[band_of[w]]
        place = 2 * band_of[w] + (0 if odds[w] > factor else 1) if not 1 / factor <= odds[w] <= factor else -1
        sets[place].append(w)
    length = dense.sum() / len(dense)
    inside, outside = dense[member].sum(), dense[~member].sum()
    return [
        (dense[member][:, s].sum() / inside * length, dense[~member][:, s].sum() / outside * length, len(s))
        for s in sets
    ]


@given(
    st.integers(0, 2**31), st.sampled_from([WordBands(), WordBands([], [1.5]), WordBands([0.5], [1.3, 3])])
)
@settings(max_examples=40)
def test_all_labels_at_once_agree_with_a_slow_count(seed, bands):
    rng = np.random.default_rng(seed)
    dense = rng.poisson(rng.pareto(1.0, size=15), size=(30, 15))
    dense[:, 0] += 1
    y = np.zeros((30, 3), dtype=int)
    y[:12, 0] = y[5:20, 1] = y[:2, 2] = 1
    found = estimate_concepts(sp.csr_array(dense), y, bands=bands, min_documents=5)
    assert [estimate.label for estimate in found] == [0, 1, 2]
    for estimate, member in zip(found[:2], y.T > 0, strict=False):
        expected = slow_estimate(dense, member, bands)
        got = [(s.positive, s.negative, s.words) for s in estimate.sets]
        np.testing.assert_allclose(got, expected, atol=1e-9)
        assert sum(s.positive for s in estimate.sets) == pytest.approx(estimate.length)
    assert not found[2].enough


def test_a_concept_comes_back_from_its_documents():
    X, y = CONCEPT.sample(400, 600, random_state=1)
    (found,) = estimate_concepts(X, y, bands=WordBands([], [2]))
    sets = {s.kind: (s.positive, s.negative, s.words) for s in found.sets}
    assert sets["positive"] == pytest.approx((12, 1, 20), abs=1e-9)
    assert sets["negative"] == pytest.approx((1, 12, 20), abs=1e-9)
    assert sets["rest"] == pytest.approx((29, 29, 80), abs=1e-9)
    assert found.uncovered == 0
    assert found.redundancy == pytest.approx(12)
    assert found.discriminative_power == pytest.approx(24 / 26)
    assert found.concept.margin_bound() == pytest.approx(
        TCatConcept([(12, 1, 20), (1, 12, 20), (29, 29, 80)]).margin_bound()
    )


def test_documents_without_an_indicator_are_counted():
    X = np.ones((40, 4), dtype=int)
    X[:20, 0] = 3
    X[20:, 1] = 3
    X[20:, 0] = X[:20, 1] = 0
    X[:5, 0] = 0  # a quarter of the positive documents lack their word
    (found,) = estimate_concepts(X, np.repeat([1, 0], 20))
    assert found.uncovered == 0.25


def test_too_few_documents_are_not_enough_to_say():
    X, y = CONCEPT.sample(9, 50, random_state=0)
    (found,) = estimate_concepts(X, y)
    assert not found.enough
    assert found.concept is None
    assert found.describe() == ["not enough to say: 9 documents in this category, 50 outside"]
    assert np.isnan(found.uncovered)
    assert np.isnan(found.redundancy)
    assert np.isnan(found.discriminative_power)
    assert estimate_concepts(X, y, min_documents=9)[0].enough


def test_in_words():
    X, y = CONCEPT.sample(400, 600, random_state=1)
    lines = estimate_concepts(X, y, bands=WordBands([], [2], ["frequent"]))[0].describe()
    assert lines == [
        "20 frequent words mark this category: 12.0 in an average document of it, 1.0 elsewhere",
        "20 frequent words speak against it: 1.0 in an average document of it, 12.0 elsewhere",
    ]
    same = TCatConcept([(9, 9, 30)]).sample(200, 200, random_state=0)
    assert estimate_concepts(*same, bands=WordBands([], [5]))[0].describe() == [
        "no word marks this category or speaks against it"
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5], [2]), "1 ends of bands, 1 odds"),
        (([], [1]), "greater than 1"),
        (([0.9, 0.6], [2, 3, 4]), "increasing"),
    ],
)
def test_what_are_no_bands(arguments, message):
    with pytest.raises(UsageError, match=message):
        WordBands(*arguments)
