"""Random samples of features: probabilities, unbiasedness, and the theorems about them."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from sklearn.utils.estimator_checks import parametrize_with_checks

from widemargin.errors import DataError, UsageError
from widemargin.features import sampling
from widemargin.features import svd as decomposition
from widemargin.features.sampling import (
    SampleFeatures,
    hellinger_distance,
    keep_probabilities,
    leverage_scores,
    rate_for,
    ridge_leverage_scores,
    weighted_probabilities,
)


@parametrize_with_checks(
    [
        SampleFeatures(),
        SampleFeatures(sampling="ridge"),
        SampleFeatures(sampling="weighted"),
        SampleFeatures(sampling="uniform"),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def documents():
    return sp.random_array((20, 60), density=0.3, rng=np.random.default_rng(0), format="csr")


def dense_leverages(documents, k):
    _, values, rows = np.linalg.svd(documents.toarray(), full_matrices=False)
    return np.square(rows[:k]).sum(axis=0), values


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("k", [1, 7, 20, 500, None])
def test_leverages_are_those_of_a_dense_decomposition(documents, turned, k):
    A = sp.csr_array(documents.T) if turned else documents
    expected, values = dense_leverages(A, min(k or 20, 20))
    found = leverage_scores(A, k)
    np.testing.assert_allclose(found.leverages, expected, atol=1e-9)
    np.testing.assert_allclose(found.singular_values, values[: len(found.singular_values)], rtol=1e-8)
    assert found.rank == min(k or 20, 20)


def test_k_is_at_most_the_rank_and_may_be_a_share_of_the_spectrum(documents):
    values = dense_leverages(documents, 1)[1]
    held = np.cumsum(values**2) / (values**2).sum()
    for share in (0.1, 0.5, 0.9, 1.0):
        k = leverage_scores(documents, share).rank
        assert held[k - 1] >= share - 1e-9
        assert k == 1 or held[k - 2] < share
    twice = sp.csr_array(sp.vstack([documents, documents]))
    assert leverage_scores(twice).rank == leverage_scores(documents).rank == 20


def test_large_matrices_are_decomposed_at_random(documents, monkeypatch):
    A = sp.random_array((80, 120), density=0.2, rng=np.random.default_rng(1), format="csr")
    A = sp.csr_array(A + 3 * sp.csr_array(np.outer(np.arange(80) % 3 == 0, np.arange(120) % 5 == 0)))
    exact = leverage_scores(A, 5)
    monkeypatch.setattr(decomposition, "EXACT", 10)
    found = leverage_scores(A, 5, random_state=0)
    assert hellinger_distance(found.leverages / 5, exact.leverages / 5) < 0.05
    assert found.leverages.tolist() == leverage_scores(A, 5, random_state=0).leverages.tolist()


@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    seed=st.integers(0, 10**6),
    exponent=st.floats(-3, 3),
)
def test_ridge_leverages_are_the_diagonal_of_the_ridge_projection(shape, seed, exponent):
    X = np.random.default_rng(seed).integers(0, 3, size=shape).astype(float)
    X[0, 0] = 1.0
    regularization = 10.0**exponent
    inverse = np.linalg.inv(X @ X.T + regularization * np.eye(shape[0]))
    found = ridge_leverage_scores(X, regularization)
    np.testing.assert_allclose(found, np.diag(X.T @ inverse @ X), rtol=1e-6, atol=1e-9)
    values = np.linalg.svd(X, compute_uv=False) ** 2
    assert found.sum() == pytest.approx((values / (values + regularization)).sum())


def test_ridge_leverages_lie_between_subspace_and_weighted_sampling(documents):
    np.testing.assert_allclose(
        ridge_leverage_scores(documents, 1e-9), leverage_scores(documents).leverages, atol=1e-6
    )
    far = ridge_leverage_scores(documents, 1e9)
    np.testing.assert_allclose(far / far.sum(), weighted_probabilities(documents), atol=1e-6)


def test_ridge_leverages_of_large_matrices_are_close(monkeypatch):
    """Closer to the exact ones than half of the way from weighted sampling, though from a part of U."""
    rng = np.random.default_rng(1)
    A = sp.csr_array(sp.random_array((80, 120), density=0.2, rng=rng) * (1 / np.arange(1, 121))[None, :])
    exact = ridge_leverage_scores(A, 1e-4)
    far = hellinger_distance(weighted_probabilities(A), exact / exact.sum())
    found = ridge_leverage_scores(A, 1e-4, rank=40)
    assert hellinger_distance(found / found.sum(), exact / exact.sum()) < far / 2
    assert found.sum() >= exact.sum() - 1e-9  # a concave function of equal lengths
    monkeypatch.setattr(sampling, "EXACT", 10)
    monkeypatch.setattr(decomposition, "EXACT", 10)
    monkeypatch.setattr(sampling, "_TOP", 15)
    found = ridge_leverage_scores(A, 1e-4, random_state=0)
    assert hellinger_distance(found / found.sum(), exact / exact.sum()) < far / 2


def test_probabilities(documents):
    squares = np.square(documents.toarray()).sum(axis=0)
    np.testing.assert_allclose(weighted_probabilities(documents), squares / squares.sum())
    for name in ("subspace", "ridge", "weighted", "uniform"):
        sample = SampleFeatures(10, sampling=name).fit(documents)
        assert sample.probabilities_.sum() == pytest.approx(1)
        np.testing.assert_allclose(sample.keep_probabilities_, np.minimum(1, 10 * sample.probabilities_))
        assert sample.expected_ == pytest.approx(sample.keep_probabilities_.sum())
        assert sample.expected_ <= 10 + 1e-9
        assert sample.n_kept_ == sample.get_support().sum()


@pytest.mark.parametrize("name", ["subspace", "weighted", "uniform"])
def test_inner_products_are_unbiased(documents, name):
    """The mean over samples, within four standard errors of the truth; counts too."""
    sample = SampleFeatures(25, sampling=name).fit(documents)
    pairs, counts = [], []
    for seed in range(600):
        sample.draw(seed)
        Z = sample.transform(documents)
        pairs.append((Z @ Z.T).toarray()[0])
        counts.append(sample.n_kept_)
    pairs, truth = np.array(pairs), (documents @ documents.T).toarray()[0]
    errors = pairs.std(axis=0, ddof=1) / np.sqrt(len(pairs))
    assert (np.abs(pairs.mean(axis=0) - truth) <= 4 * errors + 1e-9).all()
    spread = np.sqrt((sample.keep_probabilities_ * (1 - sample.keep_probabilities_)).sum() / 600)
    assert abs(np.mean(counts) - sample.expected_) <= 4 * spread


def test_the_way_back_and_the_state(documents):
    sample = SampleFeatures(30, random_state=1).fit(documents)
    kept = sample.get_support()
    back = sample.inverse_transform(sample.transform(documents)).toarray()
    np.testing.assert_allclose(back, documents.toarray() * kept)
    again = SampleFeatures.from_state(*sample.get_state())
    np.testing.assert_allclose(again.transform(documents).toarray(), sample.transform(documents).toarray())
    config, arrays = sample.get_state()
    with pytest.raises(DataError, match=r"'columns' in arrays.safetensors"):
        SampleFeatures.from_state(config, {**arrays, "columns": arrays["columns"][::-1]})


def test_hellinger_distance():
    assert hellinger_distance(np.array([0.25, 0.75]), np.array([0.25, 0.75])) == 0
    assert hellinger_distance(np.array([0.64, 0.36]), np.array([0.36, 0.64])) == pytest.approx(
        0.2 * np.sqrt(2)
    )


def test_mistakes_are_told(documents):
    for parameters, message in [
        ({"n_features": 0}, "number of features"),
        ({"sampling": "best"}, "expected"),
        ({"rank": 0}, "singular vectors"),
        ({"rank": 1.5}, "at most 1.0"),
        ({"rank": 3, "sampling": "uniform"}, "Omit it"),
    ]:
        with pytest.raises(UsageError, match=message):
            SampleFeatures(**parameters).fit(documents)
    nothing = sp.csr_array((3, 4))
    for name in ("subspace", "weighted"):
        with pytest.raises(DataError, match="0 in every document"):
            SampleFeatures(sampling=name).fit(nothing)
    with pytest.raises(DataError, match="Raise n_features"):
        SampleFeatures(1e-9, sampling="uniform").fit(documents)


def test_the_rate_for_an_expected_number():
    p = np.random.default_rng(0).dirichlet(np.full(50, 0.2))
    for expected in (0.5, 3, 20, 49.5):
        assert keep_probabilities(p, rate_for(p, expected)).sum() == pytest.approx(expected)
    assert rate_for(p, 50) == np.inf
