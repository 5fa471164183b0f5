"""Features made of others: latent semantic indexing and term clusters."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference import term_clusters as reference
from widemargin.errors import DataError, UsageError
from widemargin.features import svd as decomposition
from widemargin.features.clusters import TermClusters
from widemargin.features.lsi import LatentSemanticIndexing


@parametrize_with_checks(
    [LatentSemanticIndexing(), LatentSemanticIndexing(1), TermClusters(), TermClusters(2)]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def documents():
    return sp.random_array((30, 50), density=0.2, rng=np.random.default_rng(0), format="csr")


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("k", [1, 5, 30, 200])
def test_indexing_gives_the_best_approximation_of_its_rank(documents, turned, k):
    X = sp.csr_array(documents.T) if turned else documents
    index = LatentSemanticIndexing(k).fit(X)
    U, values, Vt = np.linalg.svd(X.toarray(), full_matrices=False)
    m = min(k, 30)
    np.testing.assert_allclose(index.singular_values_, values[:m], rtol=1e-8)
    best = (U[:, :m] * values[:m]) @ Vt[:m]
    np.testing.assert_allclose(index.inverse_transform(index.transform(X)), best, atol=1e-8)
    assert index.explained_ == pytest.approx((values[:m] ** 2).sum() / (values**2).sum())


def test_new_documents_are_folded_in(documents):
    index = LatentSemanticIndexing(4).fit(documents[:20])
    expected = documents[20:].toarray() @ index.components_.T
    np.testing.assert_allclose(index.transform(documents[20:]), expected)
    np.testing.assert_allclose(index.components_ @ index.components_.T, np.eye(4), atol=1e-9)


def test_large_collections_are_indexed_at_random(documents, monkeypatch):
    X = sp.csr_array(documents + 2 * sp.csr_array(np.outer(np.arange(30) % 2 == 0, np.arange(50) % 3 == 0)))
    exact = LatentSemanticIndexing(1).fit(X)
    monkeypatch.setattr(decomposition, "_EXACT", 5)
    monkeypatch.setattr(decomposition, "_SPARE_VECTORS", 10)
    found = LatentSemanticIndexing(1).fit(X)
    np.testing.assert_allclose(found.components_, exact.components_, atol=1e-5)


def test_clusters_are_terms_of_the_same_documents():
    rng = np.random.default_rng(1)
    topic, of_term = rng.integers(0, 3, 90), np.arange(60) % 3
    X = sp.csr_array((rng.random((90, 60)) < np.where(topic[:, None] == of_term, 0.4, 0.01)).astype(float))
    clusters = TermClusters(3).fit(X)
    for name in range(3):
        assert len(set(clusters.labels_[of_term == name].tolist())) == 1
    made = clusters.transform(X).toarray()
    for name in range(3):
        np.testing.assert_allclose(made[:, clusters.labels_[name]], X[:, of_term == name].sum(axis=1))


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.integers(1, 8), st.sampled_from([1, 2, 5, 30]), st.sampled_from([3, 8]))
def test_clusters_are_those_of_spherical_k_means_term_by_term(seed, k, max_iter, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 15)) * (rng.permuted(np.arange(n)[:, None] * np.ones(15), axis=0) != 0)
    # Real numbers in all documents but one: cosines tie only where a term is there twice.
    X[:, 10:13], X[:, 14] = 2 * X[:, :3], 0
    terms, known = reference.directions(X)
    k = min(k, len(known))
    first = np.sort(check_random_state(seed).permutation(len(known))[:k])
    groups, passes, _ = reference.k_means(terms, first, max_iter)
    clusters = TermClusters(k, max_iter=max_iter, random_state=seed).fit(sp.csr_array(X))
    assert clusters.labels_[known].tolist() == groups
    assert np.delete(clusters.labels_, known).tolist() == [-1] * (15 - len(known))
    assert clusters.n_iter_ == passes
    expected = reference.transform(X, groups, known, k)
    np.testing.assert_allclose(clusters.transform(sp.csr_array(X)).toarray(), expected, atol=1e-12)


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.integers(1, 12))
def test_every_term_of_counts_is_in_the_group_that_it_fits_best(seed, k):
    """Counts have ties, which rounding may break either way: what holds of any answer."""
    X = np.random.default_rng(seed).poisson(0.5, size=(8, 15)).astype(float)
    terms, known = reference.directions(X)
    k = min(k, len(known))
    clusters = TermClusters(k, max_iter=200, random_state=seed).fit(X)
    assert clusters.n_iter_ < 200
    groups = clusters.labels_[known].tolist()
    assert set(groups) == set(range(k))
    centers = reference.mean_directions(terms, groups, k)
    alone = [groups.count(group) == 1 for group in groups]
    for term, group, single in zip(terms, groups, alone, strict=True):
        # A term alone, which may have been moved into an empty group, fits no other group better.
        assert single or centers[group] @ term >= (centers @ term).max() - 1e-9


def test_every_group_has_a_term_and_no_term_two(documents):
    X = sp.csr_array(sp.hstack([documents, sp.csr_array((30, 2)), documents[:, :5]]))
    clusters = TermClusters(20, random_state=3).fit(X)
    assert clusters.labels_[50:52].tolist() == [-1, -1]
    assert set(clusters.labels_[clusters.labels_ >= 0].tolist()) == set(range(20))
    np.testing.assert_allclose(clusters.transform(X).sum(axis=1), X.sum(axis=1))
    assert clusters.labels_.tolist() == TermClusters(20, random_state=3).fit(X).labels_.tolist()
    alone = TermClusters(1000).fit(documents)
    assert len(set(alone.labels_.tolist())) == 50


def test_mistakes_are_told(documents):
    for estimator in (LatentSemanticIndexing(0), TermClusters(0), TermClusters(2, max_iter=0)):
        with pytest.raises(UsageError, match="expected"):
            estimator.fit(documents)
    for estimator in (LatentSemanticIndexing(), TermClusters()):
        with pytest.raises(DataError, match="0 in every document"):
            estimator.fit(sp.csr_array((3, 4)))
