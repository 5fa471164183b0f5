"""The laws of text: known parameters are recovered, and Lemma 3 holds."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin.errors import DataError, UsageError
from widemargin.theory.laws import (
    HeapsLaw,
    ZipfLaw,
    document_sizes,
    fit_heaps,
    fit_zipf,
    term_frequencies,
    vocabulary_growth,
)


def text_that_grows(law: HeapsLaw, n_documents: int, length: int) -> sp.csr_array:
    """Documents that have seen ``law.vocabulary(s)`` distinct words after s words, as exactly as whole words
    can; known words repeat."""
    words = np.arange(1, n_documents * length + 1)
    seen = np.minimum(np.floor(law.vocabulary(words)), words).astype(int)
    new = np.diff(seen, prepend=0) > 0
    terms = np.where(new, seen - 1, words % np.maximum(seen, 1))
    return sp.csr_array(sp.coo_array((np.ones(len(words)), ((words - 1) // length, terms))))


@given(st.floats(2, 6), st.floats(0.35, 0.65))
@settings(max_examples=20)
def test_heaps_parameters_are_recovered(k, beta):
    fit = fit_heaps(text_that_grows(HeapsLaw(k, beta), 400, 60), random_state=None)
    assert fit.law.beta == pytest.approx(beta, abs=0.02)
    assert fit.law.k == pytest.approx(k, rel=0.15)
    assert fit.r_squared > 0.999
    assert fit.typical_factor < 1.01
    np.testing.assert_allclose(fit.fitted, fit.law.vocabulary(fit.x))


@given(st.floats(0, 30), st.floats(0.8, 1.6))
@settings(max_examples=20)
def test_zipf_parameters_are_recovered_from_exact_frequencies(k, phi):
    frequencies = ZipfLaw(1e6, k, phi).frequencies(np.arange(1, 5001))
    fit = fit_zipf(frequencies)
    assert fit.law.phi == pytest.approx(phi, abs=1e-3)
    assert fit.law.k == pytest.approx(k, abs=0.01 * (1 + k))
    assert fit.law.c == pytest.approx(1e6, rel=0.01)
    assert fit.r_squared > 0.99999


@pytest.mark.parametrize(("k", "phi"), [(5, 1.3), (5, 1.25), (1, 1.1), (20, 1.4)])
def test_zipf_parameters_are_recovered_from_counts_of_a_random_text(k, phi):
    law = ZipfLaw(1.0, k, phi)
    chances = law.frequencies(np.arange(1, 30_001))
    drawn = np.random.default_rng(0).multinomial(2_000_000, chances / chances.sum())
    fit = fit_zipf(drawn)
    assert fit.law.phi == pytest.approx(phi, abs=0.08)
    assert fit.law.k == pytest.approx(k, rel=0.35)
    assert fit.r_squared > 0.99


def test_the_printed_squared_lengths():
    """(4.46) to (4.49), at the lengths that give them."""
    for law, length, distinct, printed in (
        (ZipfLaw(470_000, 5, 1.25), 277.63, 130, 1899.7),
        (ZipfLaw(800_000, 5, 1.3), 151.91, 74, 762.9),
        (ZipfLaw(1_100_000, 5, 1.3), 208.93, 100, 1275.8),
    ):
        assert law.scaled(length, distinct).squared_length(distinct) == pytest.approx(printed, abs=0.1)


@given(st.floats(2, 500), st.floats(0, 20), st.floats(0.7, 1.8), st.integers(1, 300))
def test_lemma_3_in_both_forms(c, k, phi, distinct):
    law = ZipfLaw(c, k, phi)
    frequencies = law.frequencies(np.arange(1, distinct + 1))
    length = float(frequencies.sum())
    assert law.distinct_words(length) == distinct
    bound = law.squared_length(length=length)
    assert bound == pytest.approx(float(frequencies @ frequencies))
    scaled = ZipfLaw(7.0, k, phi).scaled(length, distinct)
    assert scaled.c == pytest.approx(c)


def test_a_law_that_never_reaches_a_length():
    with pytest.raises(UsageError, match="fewer than"):
        ZipfLaw(10, 5, 2.0).distinct_words(1000)
    with pytest.raises(UsageError, match="either"):
        ZipfLaw(10, 5, 2.0).squared_length()
    with pytest.raises(UsageError, match="at least one"):
        ZipfLaw(10, 5, 2.0).squared_length(0)


@given(st.integers(0, 2**31), st.booleans())
def test_sizes_and_growth_counted_one_by_one(seed, sparse):
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.4, size=(12, 9))
    dense[0, 0] = 1
    counts = sp.csr_array(dense) if sparse else dense
    sizes = document_sizes(counts)
    assert sizes.length == pytest.approx(dense.sum(axis=1).mean())
    assert sizes.distinct == pytest.approx((dense > 0).sum(axis=1).mean())
    assert sizes.radius == max(int(row @ row) for row in dense)
    assert sizes.vocabulary == len(term_frequencies(counts)) == np.count_nonzero(dense.sum(axis=0))
    words, distinct = vocabulary_growth(counts)
    for i in range(12):
        assert words[i] == dense[: i + 1].sum()
        assert distinct[i] == np.count_nonzero(dense[: i + 1].sum(axis=0))
    shuffled, _ = vocabulary_growth(counts, random_state=seed)
    again, _ = vocabulary_growth(counts, random_state=seed)
    np.testing.assert_array_equal(shuffled, again)
    assert shuffled[-1] == words[-1]


def test_too_little_text_is_not_enough_to_say():
    with pytest.raises(DataError, match="Not enough to say: 3 documents"):
        fit_heaps(np.ones((3, 40)))
    with pytest.raises(DataError, match="Not enough to say: 5 distinct words"):
        fit_zipf(np.array([9, 4, 2, 1, 1]))
    with pytest.raises(DataError, match="all words occur 2 or 1 times"):
        fit_zipf(np.repeat([1, 2], 30))
    with pytest.raises(DataError, match="no words"):
        document_sizes(np.zeros((3, 4)))
    with pytest.raises(DataError, match="negative"):
        document_sizes(np.array([[1, -1]]))
    with pytest.raises(UsageError, match="matrix of counts"):
        document_sizes(np.ones(3))
