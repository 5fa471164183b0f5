"""Boosted trees against AdaBoost over trees written out, and against what its theory promises."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.learn.trees.test_boosting import KINDS, LABELS, TEXTS, task
from tests.learn.trees.test_growing import tasks
from tests.reference import boosting as reference
from widemargin import BoostedTrees, TextClassifier
from widemargin.classifier.scorer import Scorer
from widemargin.errors import UsageError
from widemargin.labels import Labels

VOTES = ["real", "discrete"]


@parametrize_with_checks([BoostedTrees(), BoostedTrees(20, max_depth=2), BoostedTrees(20, votes="discrete")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def compare(X, y, weights, model):
    signs = Labels.of(y).signs.astype(float)
    options = {"max_depth": model.max_depth or 10**6, "min_objects": model.min_objects}
    scores = model.decision_function(X).reshape(signs.shape)
    for k in range(signs.shape[1]):
        expected, losses = reference.boost_trees(
            X, signs[:, k], weights, rounds=model.n_estimators, discrete=model.votes == "discrete",
            smoothing=1 / weights.sum(), **options,
        )  # fmt: skip
        assert model.n_rounds_[k] == len(losses)
        np.testing.assert_allclose(model.training_loss_[k, : len(losses)], losses, rtol=1e-7)
        np.testing.assert_allclose(scores[:, k], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("votes", VOTES)
@pytest.mark.parametrize("max_depth", [1, 3, None])
def test_the_trees_of_adaboost(kind, votes, max_depth):
    X, y = task(kind)
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    model = BoostedTrees(8, votes=votes, max_depth=max_depth).fit(sp.csr_array(X), y, weights)
    compare(X, y, weights, model)


@settings(max_examples=40, deadline=None)
@given(tasks(), st.sampled_from(VOTES), st.sampled_from([1, 2, None]))
def test_the_trees_of_any_values(data, votes, max_depth):
    X, positive = data
    y = positive.astype(int)
    y[0], y[1] = 0, 1
    model = BoostedTrees(5, votes=votes, max_depth=max_depth).fit(X, y)
    compare(X.astype(float), y, np.ones(len(X)), model)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("votes", VOTES)
@pytest.mark.parametrize("max_depth", [2, 10])
def test_the_loss_never_rises_and_bounds_the_error(kind, votes, max_depth):
    X, y = task(kind, n=200, seed=4)
    signs = Labels.of(y).signs
    before = np.ones(signs.shape[1])
    for rounds in (1, 3, 30):
        model = BoostedTrees(rounds, votes=votes, max_depth=max_depth).fit(X, y)
        scores = model.decision_function(X).reshape(signs.shape)
        last = model.training_loss_[:, -1]
        np.testing.assert_allclose(last, np.exp(-signs * scores).mean(axis=0), rtol=1e-9)
        assert ((signs * scores <= 0).mean(axis=0) <= last).all()
        assert (last <= before).all()
        assert (np.diff(model.training_loss_, axis=1) <= 0).all()
        before = last


def test_weights_that_sum_to_little_are_scaled():
    X, y = task("binary")
    weights = np.random.default_rng(0).random(len(X)) + 0.1
    weights *= len(X) / weights.sum()
    one, other = (BoostedTrees(10).fit(X, y, factor * weights) for factor in (1.0, 2.0**-20))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-9)


def test_another_base_replaces_the_first_one():
    X, y = task("binary")
    model = BoostedTrees(5).fit(X, y)
    model.set_params(base="stumps").fit(X, y)
    assert hasattr(model, "coef_")
    assert not hasattr(model, "trees_")
    model.set_params(base="trees").fit(X, y)
    assert hasattr(model, "trees_")
    assert not hasattr(model, "coef_")


def test_threads_do_not_change_the_trees():
    rng = np.random.default_rng(0)
    X = sp.random_array((800, 100), density=0.1, rng=rng, format="csr")
    Y = (rng.random((800, 7)) < 0.3).astype(int)
    one, other = (BoostedTrees(10, n_jobs=jobs).fit(X, Y) for jobs in (1, 3))
    np.testing.assert_array_equal(one.trees_.votes, other.trees_.votes)
    np.testing.assert_array_equal(one.trees_.forest.column, other.trees_.forest.column)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_saved_and_loaded(tmp_path, kind):
    classifier = TextClassifier(learner=BoostedTrees(10, min_objects=1), tune=None, estimate=None).fit(
        TEXTS, LABELS[kind]
    )
    scores = classifier.learner_.decision_function(classifier.vectorizer_.transform(TEXTS))
    classifier.save(tmp_path / "m.wm")
    np.testing.assert_array_equal(TextClassifier.load(tmp_path / "m.wm").decision_function(TEXTS), scores)
    np.testing.assert_array_equal(Scorer.load(tmp_path / "m.wm").scores(TEXTS), scores)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"committees": "shared"}, 'committees="shared" is for stumps'),
        ({"votes": "abstaining"}, 'votes="abstaining" is for stumps'),
        ({"max_depth": 0}, "max_depth=0"),
        ({"min_objects": 0.0}, r"min_objects=0\.0"),
        ({"base": "forests"}, "base='forests'"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        BoostedTrees(**options).fit([[1.0], [0.0]], [0, 1])
