"""Rocchio against equation (2.22), written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from widemargin import Rocchio, TextClassifier
from widemargin.errors import UsageError


@parametrize_with_checks([Rocchio(), Rocchio(negative_weight=1.0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("beta", [0, 0.25, 1.0])
def test_the_equation(beta):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, (40, 12)).astype(float)
    Y = rng.integers(0, 2, (40, 3))
    model = Rocchio(beta).fit(sp.csr_array(X), Y)
    lengths = np.linalg.norm(X, axis=1)
    unit = X / np.where(lengths > 0, lengths, 1)[:, None]
    for label in range(3):
        inside = Y[:, label] == 1
        w = np.maximum(unit[inside].mean(axis=0) - beta * unit[~inside].mean(axis=0), 0)
        np.testing.assert_allclose(model.coef_[label], w / np.linalg.norm(w), rtol=1e-12)
        cosines = unit @ w / np.linalg.norm(w)
        threshold = (cosines[inside].mean() + cosines[~inside].mean()) / 2
        np.testing.assert_allclose(model.decision_function(X)[:, label], cosines - threshold, atol=1e-12)


def test_the_length_of_a_document_does_not_count():
    X, y = np.array([[1.0, 0, 1], [2, 1, 0], [0, 1, 0], [0, 3, 1]]), [1, 1, 0, 0]
    model = Rocchio().fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), model.decision_function(7 * X))


def test_it_is_saved_and_loaded(tmp_path):
    texts = ["wheat corn corn", "corn harvest", "bank rate", "the bank"]
    classifier = TextClassifier(learner=Rocchio()).fit(texts, ["grain", "grain", "money", "money"])
    classifier.save(tmp_path / "m.wm")
    loaded = TextClassifier.load(tmp_path / "m.wm")
    np.testing.assert_array_equal(loaded.decision_function(texts), classifier.decision_function(texts))
    np.testing.assert_allclose(
        classifier.decision_function(texts),
        classifier.learner_.decision_function(classifier.vectorizer_.transform(texts)),
        rtol=1e-6,
    )


def test_beta_is_at_least_0():
    with pytest.raises(UsageError, match="at least 0"):
        Rocchio(-1.0).fit([[1.0], [2.0]], [0, 1])
