"""Kernels of the dissimilarities for SVMs, and the Markov baseline."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference.dissimilarities import dissimilarity
from widemargin import KernelSVM, Vectorizer
from widemargin.errors import DataError, UsageError
from widemargin.learn.profiles.kernels import KERNELS, profile_kernel
from widemargin.learn.profiles.markov import MarkovClassifier, contexts_of


@parametrize_with_checks([MarkovClassifier()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_those_of_the_mean_of_both_directions(name):
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (12, 20)).astype(float)
    K = profile_kernel(sp.csr_array(X), dissimilarity=name, sigma2=50.0, power=0.5)
    for i, a in enumerate(X):
        for j, b in enumerate(X):
            both = [dissimilarity(name, a, b, text_first=first) for first in (True, False)]
            expected = np.exp(-(max(np.mean(both), 0) ** 0.5) / 50)
            assert K[i, j] == pytest.approx(expected, abs=1e-8)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(profile_kernel(X[:5], X, dissimilarity=name, sigma2=50.0, power=0.5), K[:5])


@pytest.mark.parametrize("name", ["chi2", "cosine"])
def test_symmetric_dissimilarities_give_positive_semi_definite_kernels(name):
    rng = np.random.default_rng(1)
    for scale in (0.05, 1.0, 20.0):
        X = rng.poisson(rng.choice([0.2, 3.0], (60, 1)), (60, 15)).astype(float)
        K = profile_kernel(X, dissimilarity=name, sigma2=scale)
        assert np.linalg.eigvalsh(K).min() > -1e-10


@pytest.mark.parametrize("name", KERNELS)
def test_svms_learn_from_them(name):
    rng = np.random.default_rng(2)
    means = np.array([[3.0] * 5 + [1.0] * 5, [1.0] * 5 + [3.0] * 5])
    y = rng.integers(0, 2, 120)
    X = rng.poisson(means[y]).astype(float)
    sigma2 = 1000.0 if name == "ct" else 1.0
    kernel = lambda a, b=None: profile_kernel(a, b, dissimilarity=name, sigma2=sigma2)  # noqa: E731
    with np.errstate(all="raise"):
        model = KernelSVM(kernel="precomputed", tol=0.01).fit(kernel(X[:80]), y[:80])
    assert model.score(kernel(X[80:], X[:80]), y[80:]) > 0.8


def test_what_kernels_refuse():
    with pytest.raises(UsageError, match="euclid"):
        profile_kernel(np.eye(2), dissimilarity="euclid")
    with pytest.raises(UsageError, match="sigma2"):
        profile_kernel(np.eye(2), sigma2=0)
    with pytest.raises(DataError, match="negative"):
        profile_kernel(-np.eye(2))
    with pytest.raises(DataError, match="columns"):
        profile_kernel(np.eye(2), np.eye(3))


def test_the_markov_model_is_its_definition():
    vectorizer = Vectorizer(units="chars", ngram_range=(2, 2), weighting=None)
    texts = ["abab", "abba", "bbbb", "babb"]
    X = vectorizer.fit_transform(texts)
    model = MarkovClassifier(contexts_of(vectorizer.vocabulary_), alpha=0.5).fit(X, ["x", "x", "y", "z"])
    terms = list(vectorizer.vocabulary_)
    T = {"x": X.toarray()[:2].sum(axis=0), "y": X.toarray()[2], "z": X.toarray()[3]}
    for row, label in zip(model.coef_, "xyz", strict=True):
        for column, term in enumerate(terms):
            siblings = [k for k, other in enumerate(terms) if other[0] == term[0]]
            expected = np.log((T[label][column] + 0.5) / sum(T[label][k] + 0.5 for k in siblings))
            assert row[column] == pytest.approx(expected)


def test_contexts_are_checked():
    with pytest.raises(UsageError, match="contexts_of"):
        MarkovClassifier([0, 1]).fit(np.eye(3), ["a", "b", "c"])
    with pytest.raises(UsageError, match="label sets"):
        MarkovClassifier().fit(np.eye(3), [["a"], ["a", "b"], []])


def test_contexts_of_bytes_are_refused():
    """Their names are longer than they are."""
    vectorizer = Vectorizer(units="bytes", ngram_range=(2, 2), weighting=None).fit(["né"])
    with pytest.raises(UsageError, match="chars"):
        contexts_of(vectorizer.vocabulary_)
