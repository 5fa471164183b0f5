"""Features made of others: latent semantic indexing, clusters of terms by documents and by labels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone as sklearn_clone
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference import label_clusters as information
from tests.reference import term_clusters as reference
from widemargin._arrays import canonical_csr
from widemargin.errors import DataError, UsageError
from widemargin.features import combined_columns
from widemargin.features import svd as decomposition
from widemargin.features.clusters import TermClusters
from widemargin.features.label_clusters import LabelClusters, joint_distribution
from widemargin.features.lsi import LatentSemanticIndexing
from widemargin.labels import Labels


@parametrize_with_checks(
    [
        LatentSemanticIndexing(),
        LatentSemanticIndexing(1, unit_length=True),
        TermClusters(),
        TermClusters(2, unit_length=True),
        LabelClusters(),
        LabelClusters(2, unit_length=True),
    ]
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
    monkeypatch.setattr(decomposition, "EXACT", 5)
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
    for estimator in (
        LatentSemanticIndexing(0),
        TermClusters(0),
        TermClusters(2, max_iter=0),
        LabelClusters(0),
        LabelClusters(tol=-1),
    ):
        with pytest.raises(UsageError, match="expected"):
            estimator.fit(documents, np.arange(30) % 2)
    for estimator in (LatentSemanticIndexing(), TermClusters(), LabelClusters()):
        with pytest.raises(DataError, match="0 in every document"):
            estimator.fit(sp.csr_array((3, 4)), [0, 1, 0])


def topical(rng, n=40, m=25, labels=3):
    """Counts, and label sets of which some are empty."""
    X = rng.poisson(0.5, size=(n, m)).astype(float)
    X[:, 0] = 0
    y = [tuple(f"label {j}" for j in np.flatnonzero(row)) for row in rng.random((n, labels)) < 0.4]
    return X, [*y[:-1], ("label 0", "label 1", "label 2")]


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.integers(1, 30), st.sampled_from(["sets", "classes", "two"]))
def test_label_clusters_lose_what_their_information_says_and_never_more_with_passes(seed, k, task):
    rng = np.random.default_rng(seed)
    X, y = topical(rng)
    y = y if task == "sets" else rng.permuted(np.arange(len(X)) % (4 if task == "classes" else 2)).tolist()
    clusters = LabelClusters(k, tol=0).fit(sp.csr_array(X), y)
    joint = information.joint(X, y)
    whole = information.mutual_information(joint)
    assert clusters.information_ == pytest.approx(whole, abs=1e-12)
    groups = clusters.labels_.tolist()
    left = information.mutual_information(information.merged(joint, groups))
    assert clusters.losses_[-1] == pytest.approx(whole - left, abs=1e-12)
    assert clusters.losses_[-1] == pytest.approx(information.divergences(joint, groups), abs=1e-12)
    assert (np.diff(clusters.losses_) <= 1e-12).all()
    assert len(clusters.losses_) == clusters.n_iter_ + 1
    known = X.any(axis=0)
    assert (clusters.labels_[~known] == -1).all()
    assert set(clusters.labels_[known].tolist()) == set(range(min(k, np.count_nonzero(known))))


@settings(max_examples=40)
@given(st.integers(0, 2**31), st.integers(2, 10))
def test_a_pass_moves_terms_to_the_cluster_of_least_divergence(seed, k):
    rng = np.random.default_rng(seed)
    X, y = rng.gamma(0.5, size=(30, 20)), rng.permuted(np.arange(30) % 4).tolist()
    start, moved = (LabelClusters(k, max_iter=n, tol=0).fit(X, y) for n in (1, 2))
    expected = information.nearest(information.joint(X, y), start.labels_.tolist())
    if len(set(expected)) == k and moved.n_iter_ == 2:  # otherwise an empty cluster takes a term
        assert moved.labels_.tolist() == expected


def test_a_term_of_several_labels_counts_for_each_in_part():
    space, signs = Labels.of([("a",), ("a", "b"), (), ("b",)]).space_and_signs
    X = sp.csr_array(np.array([[2.0, 0, 0], [2, 0, 1], [0, 4, 0], [0, 0, 1]]))
    found = joint_distribution(X, space, signs)
    assert found.labels.toarray().tolist() == [[0.75, 0.25, 0], [0, 0, 1], [0.25, 0.75, 0]]
    assert found.shares.tolist() == [0.4, 0.4, 0.2]


def test_label_clusters_find_the_terms_of_a_label():
    rng = np.random.default_rng(1)
    topic, of_term = rng.integers(0, 3, 90), np.arange(60) % 3
    X = sp.csr_array((rng.random((90, 60)) < np.where(topic[:, None] == of_term, 0.4, 0.01)).astype(float))
    clusters = LabelClusters(3).fit(X, topic)
    for name in range(3):
        assert len(set(clusters.labels_[of_term == name].tolist())) == 1
    assert clusters.labels_.tolist() == LabelClusters(3, n_jobs=2).fit(X, topic).labels_.tolist()


def test_negative_values_have_no_distribution_over_labels():
    with pytest.raises(DataError, match="Use TermClusters"):
        LabelClusters(2).fit(np.array([[1.0, -1.0], [0.0, 1.0]]), [0, 1])


MADE = [LatentSemanticIndexing(4), TermClusters(6), LabelClusters(6)]


@pytest.mark.parametrize("unit_length", [False, True])
@pytest.mark.parametrize("features", MADE, ids=str)
@pytest.mark.parametrize("at_once", [1, 10**6])
def test_arrays_reduce_documents_as_transformers_do(documents, features, unit_length, at_once, monkeypatch):
    monkeypatch.setattr(combined_columns, "_VALUES_AT_ONCE", at_once)
    X = documents.astype(np.float32)
    X[[7, 8]] = 0
    X.eliminate_zeros()
    features = sklearn_clone(features).set_params(unit_length=unit_length).fit(X, np.arange(30) % 3)
    made, csr = features.reduction, canonical_csr(X)
    expected = features.transform(X)
    expected = expected.toarray() if sp.issparse(expected) else expected
    found = made.apply(csr)
    np.testing.assert_allclose(found.matrix.toarray(), expected, atol=1e-6)
    assert found.data.dtype == np.float32
    assert (made.n_features, made.n_columns) == (50, expected.shape[1])
    lengths = np.linalg.norm(expected, axis=1)
    assert not unit_length or lengths[lengths > 0] == pytest.approx(1)
    again = type(features).from_state(*features.get_state())
    assert (again.reduction.apply(csr).matrix != found.matrix).nnz == 0
    np.testing.assert_allclose(again.column_values, features.column_values)
    stored = type(made).from_state(*features.get_state())
    assert (stored.apply(csr).matrix != found.matrix).nnz == 0


@pytest.mark.parametrize("features", MADE, ids=str)
def test_what_columns_add_is_carried_back_to_terms(documents, features):
    features = sklearn_clone(features).fit(documents, np.arange(30) % 3)
    made = features.reduction
    weights = np.random.default_rng(2).normal(size=made.n_columns)
    before = canonical_csr(documents[[3]])
    row = made.apply(before)
    columns, values = made.carried_back(before, row, row.data * weights[row.indices])
    of_terms = made.spread(weights)
    if of_terms is None:
        of_terms = weights[features.labels_]
    np.testing.assert_allclose(values, before.data * of_terms[columns], rtol=1e-5, atol=1e-7)
    assert values.sum() == pytest.approx(float(row.data @ weights[row.indices]), rel=1e-5)
    strongest = made.made_of(0)
    assert made.reaches(strongest.columns).all()
    assert len(strongest.columns) == (
        50 if isinstance(features, LatentSemanticIndexing) else features.column_values[0]
    )
