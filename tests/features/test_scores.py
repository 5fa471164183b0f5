"""Scores of terms against the textbook's formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.reference import tables
from widemargin._arrays import canonical_csr
from widemargin.errors import UsageError
from widemargin.features.scores import JOINT_SCORES, SCORES, chi_square, count_terms, score_function

TEXTBOOK = {
    "ig": tables.information_gain,
    "gini": tables.gini_gain,
    "chi2": tables.chi_square,
    "odds": tables.odds_ratio,
    "bns": tables.bi_normal_separation,
}


@st.composite
def collections(draw):
    n = draw(st.integers(2, 12))
    words = draw(arrays(np.int64, (n, draw(st.integers(1, 4))), elements=st.integers(0, 1)))
    labels = draw(arrays(np.int64, (n, draw(st.integers(1, 4))), elements=st.sampled_from([-1, 1])))
    return words, labels.astype(np.int8)


@pytest.mark.parametrize("name", TEXTBOOK)
@given(collections())
def test_scores_are_the_textbooks(name, collection):
    words, labels = collection
    found = SCORES[name](count_terms(canonical_csr(words * 0.5), labels))
    for label, scores in zip(labels.T, found, strict=True):
        for word, score in zip(words.T, scores, strict=True):
            expected = TEXTBOOK[name](word, label) if len(set(label.tolist())) == 2 else 0.0
            assert score == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", JOINT_SCORES)
@given(arrays(np.int64, (9, 3), elements=st.integers(0, 1)), arrays(np.int64, 9, elements=st.integers(0, 3)))
def test_joint_scores_are_the_textbooks(name, words, classes):
    signs = np.where(classes[:, None] == np.arange(4), 1, -1).astype(np.int8)
    found = JOINT_SCORES[name](count_terms(canonical_csr(words), signs))
    expected = [TEXTBOOK[name](word, classes) for word in words.T]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_terms_everywhere_and_nowhere_and_labels_on_nothing(name):
    words = np.array([[1, 0, 1], [1, 0, 1], [1, 0, 0], [1, 0, 0]])
    signs = np.array([[1, -1, 1], [1, -1, 1], [-1, -1, 1], [-1, -1, 1]], dtype=np.int8)
    found = SCORES[name](count_terms(canonical_csr(words), signs))
    assert np.isfinite(found).all()
    if name != "df":
        assert found[1:].tolist() == [[0.0] * 3] * 2  # labels on no document, and on all of them
        assert found[0, :2].tolist() == [0.0, 0.0]
        assert found[0, 2] > 0


def test_stored_zeros_are_no_occurrences():
    stored = sp.csr_array((np.array([0.0, 1.0, 1.0]), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    counts = count_terms(canonical_csr(stored), np.array([[1], [-1]], dtype=np.int8))
    assert (counts.together.tolist(), counts.terms.tolist()) == ([[0, 1]], [1, 1])


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    words = (rng.random((60, 12_000)) < 0.2).astype(np.float64)
    signs = np.where(rng.random((60, 10)) < 0.3, 1, -1).astype(np.int8)
    one, two = (count_terms(canonical_csr(words), signs, n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(two.together, (signs > 0).T.astype(int) @ words.astype(int))
    np.testing.assert_array_equal(two.terms, words.sum(axis=0))
    np.testing.assert_array_equal(one.together, two.together)
    np.testing.assert_array_equal(chi_square(one, n_jobs=1), chi_square(two, n_jobs=2))


def test_unknown_scores_are_told():
    with pytest.raises(UsageError, match="expected one of df, ig"):
        score_function("pmi")
    with pytest.raises(UsageError, match="no joint form"):
        score_function("bns", joint=True)
