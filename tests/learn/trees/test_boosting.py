"""Boosted stumps against AdaBoost written out, and against what its theory promises."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference import boosting as reference
from widemargin import BoostedTrees, TextClassifier, Vectorizer
from widemargin.classifier.scorer import Scorer
from widemargin.errors import UsageError
from widemargin.labels import Labels

VOTES = ["real", "abstaining", "discrete"]
COMMITTEES = ["per-label", "shared"]
KINDS = ["binary", "multiclass", "multilabel"]


def stumps(rounds=100, **options):
    return BoostedTrees(rounds, base="stumps", **options)


@parametrize_with_checks(
    [
        stumps(),
        stumps(20, committees="shared"),
        stumps(20, votes="abstaining"),
        stumps(20, votes="discrete", smoothing=0.01),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def task(kind, *, n=60, d=20, seed=0):
    """Documents with few terms, an empty one, a term that nobody has, and labels that some terms explain."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.2) * rng.integers(1, 4, (n, d)).astype(float)
    X[3], X[:, 5] = 0, 0
    noise = rng.random((n, 4)) < 0.1
    Y = ((X[:, :4] + X[:, 6:10] > 0) ^ noise).astype(int)
    if kind == "multilabel":
        Y = np.column_stack([Y, np.zeros(n, dtype=int), np.ones(n, dtype=int)])
        return X, Y
    return X, np.array(["ham", "spam", "eggs", "oil"])[Y[:, 0] + (0 if kind == "binary" else 2 * Y[:, 1])]


def expected(X, y, weights, model, rounds):
    """The committees of the reference: stumps, losses and scores of all labels."""
    signs = Labels.of(y).signs.astype(float)
    n_labels = signs.shape[1]
    groups = [list(range(n_labels))] if model.committees == "shared" else [[k] for k in range(n_labels)]
    documents = max(weights.sum(), np.count_nonzero(weights))
    found = [
        reference.boost(
            X, signs[:, group], weights, rounds=rounds, kind=model.votes, smoothing=1 / documents / len(group)
        )
        for group in groups
    ]
    zero = np.zeros((len(X), 1))
    scores = [
        reference.scores(X, stumps) if stumps else zero.repeat(len(group), axis=1)
        for (stumps, _), group in zip(found, groups, strict=True)
    ]
    return found, np.hstack(scores)


def compare(X, y, weights, model):
    found, scores = expected(X, y, weights, model, model.n_estimators)
    for k, (stumps, losses) in enumerate(found):
        n = len(stumps)
        assert model.n_rounds_[k] == n
        assert model.stumps_.columns[k, :n].tolist() == [column for column, _ in stumps]
        np.testing.assert_allclose(model.training_loss_[k, :n], losses, rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(X).reshape(scores.shape), scores, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("committees", COMMITTEES)
@pytest.mark.parametrize("votes", VOTES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_stumps_of_adaboost(kind, committees, votes, weighted):
    X, y = task(kind)
    weights = np.random.default_rng(1).integers(0, 4, len(X)) / 2 if weighted else np.ones(len(X))
    model = stumps(30, committees=committees, votes=votes)
    model.fit(sp.csr_array(X), y, weights if weighted else None)
    compare(X, y, weights, model)


@given(
    arrays(np.int8, (9, 4), elements=st.sampled_from([0, 0, 1, 2, -1])),
    arrays(np.int8, (9, 3), elements=st.sampled_from([0, 1])),
    st.sampled_from(VOTES),
    st.sampled_from(COMMITTEES),
)
def test_the_stumps_of_any_terms(X, Y, votes, committees):
    """Also of terms that tie, with the lowest column first, and of values that are not above 0."""
    X = X.astype(float)
    Y[0], Y[1] = 0, 1  # every label has two sides
    model = stumps(12, votes=votes, committees=committees).fit(X, Y)
    compare(X, Y, np.ones(len(X)), model)


def test_stumps_over_hundreds_of_rounds():
    """The sums are changed, not computed again, and stay what they are."""
    rng = np.random.default_rng(0)
    X, Y = (rng.random((150, 40)) < 0.3).astype(float), rng.integers(0, 2, (150, 2))
    for votes in VOTES:
        compare(X, Y, np.ones(len(X)), stumps(300, votes=votes).fit(X, Y))


def test_a_loss_that_falls_below_what_numbers_hold():
    """Labels that two terms explain, but no stump alone: the loss falls round after round."""
    rng = np.random.default_rng(0)
    X = (rng.random((200, 30)) < 0.5).astype(float)
    y = (X[:, :3].sum(axis=1) >= 2).astype(int)
    model = stumps(20000, smoothing=1e-9).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.training_loss_[0, -1] < 1e-100
    assert (np.diff(model.training_loss_) <= 0).all()
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("committees", COMMITTEES)
@pytest.mark.parametrize("votes", VOTES)
def test_the_loss_never_rises_and_bounds_the_error(kind, committees, votes):
    X, y = task(kind, n=200, seed=4)
    signs = Labels.of(y).signs
    before = np.ones(1 if committees == "shared" else signs.shape[1])
    for rounds in (1, 2, 5, 20, 60):
        model = stumps(rounds, committees=committees, votes=votes).fit(X, y)
        scores = model.decision_function(X).reshape(signs.shape)
        losses, errors = np.exp(-signs * scores), signs * scores <= 0
        axis = None if committees == "shared" else 0
        last = model.training_loss_[:, -1]
        np.testing.assert_allclose(last, losses.mean(axis=axis), rtol=1e-9)
        assert (errors.mean(axis=axis) <= last).all()
        assert (last <= before).all()
        assert (np.diff(model.training_loss_, axis=1) <= 0).all()
        before = last


def test_rare_labels_stop_early():
    """A label that one term explains, one that no document has, and one that needs several terms."""
    X, Y = task("multilabel")
    Y = np.column_stack([X[:, 0] > 0, np.zeros(len(X)), Y[:, 0]]).astype(int)
    model = stumps(50).fit(X, Y)
    assert model.n_rounds_[:2].tolist() == [1, 1]
    assert model.n_rounds_[2] > 5
    assert model.stumps_.columns[0, 0] == 0
    assert (model.predict(X)[:, :2] == Y[:, :2]).all()
    assert (model.training_loss_[:2] == model.training_loss_[:2, :1]).all()


def test_nothing_to_learn():
    """Labels that are balanced with and without every term: no stump is better than chance."""
    X = np.array([[0.0, 0], [0, 0], [1, 0], [1, 0]])
    model = stumps(10).fit(X, [0, 1, 0, 1])
    assert model.n_rounds_.tolist() == [0]
    assert model.training_loss_.shape == (1, 0)
    np.testing.assert_array_equal(model.decision_function(X), 0.0)


def test_terms_are_present_or_not():
    X, y = task("multilabel")
    model = stumps(20).fit(X, y)
    other = np.where(X > 0, 0.5, -1.0)
    np.testing.assert_array_equal(model.decision_function(other), model.decision_function(X))
    again = stumps(20).fit(other, y)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("committees", COMMITTEES)
@pytest.mark.parametrize("votes", VOTES)
def test_threads_do_not_change_the_stumps(committees, votes):
    rng = np.random.default_rng(0)
    X = sp.random_array((2000, 300), density=0.1, rng=rng, format="csr")
    Y = (rng.random((2000, 21)) < 0.3).astype(int)
    Y[:, :5] |= X[:, :5].toarray() > 0
    models = [stumps(40, committees=committees, votes=votes, n_jobs=jobs).fit(X, Y) for jobs in (1, 2, 5)]
    for other in models[1:]:
        np.testing.assert_array_equal(other.stumps_.columns, models[0].stumps_.columns)
        np.testing.assert_array_equal(other.stumps_.votes, models[0].stumps_.votes)
        np.testing.assert_array_equal(other.training_loss_, models[0].training_loss_)


class TestBadInput:
    @pytest.mark.parametrize("n_estimators", [0, -3, 1.5, True])
    def test_numbers_of_rounds(self, n_estimators):
        with pytest.raises(UsageError, match=r"n_estimators=.*positive integer"):
            stumps(n_estimators).fit([[1.0], [0.0]], [0, 1])

    def test_unknown_words(self):
        with pytest.raises(UsageError, match=r'votes=.*"real", "abstaining" or "discrete"'):
            stumps(votes="loud").fit([[1.0], [0.0]], [0, 1])
        with pytest.raises(UsageError, match=r'committees=.*"per-label" or "shared"'):
            stumps(committees="none").fit([[1.0], [0.0]], [0, 1])

    def test_smoothing_is_positive(self):
        with pytest.raises(UsageError, match=r"smoothing=0.*positive"):
            stumps(smoothing=0).fit([[1.0], [0.0]], [0, 1])


TEXTS = ["wheat corn corn", "corn harvest", "bank rate", "the bank", "crude oil oil", "oil bank", "corn oil"]
LABELS = {
    "binary": ["a", "a", "b", "b", "b", "a", "a"],
    "multiclass": ["a", "a", "b", "b", "c", "c", "a"],
    "multilabel": [["a"], ["a"], ["b"], [], ["c"], ["b", "c"], ["a", "c"]],
}


@pytest.mark.parametrize("committees", COMMITTEES)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_saved_loaded_and_explained(tmp_path, committees, kind):
    classifier = TextClassifier(learner=stumps(10, committees=committees), tune=None, estimate=None).fit(
        TEXTS, LABELS[kind]
    )
    assert classifier.vectorizer_.weighting == "bxx"
    scores = classifier.learner_.decision_function(classifier.vectorizer_.transform(TEXTS))
    classifier.save(tmp_path / "m.wm")
    loaded = TextClassifier.load(tmp_path / "m.wm")
    np.testing.assert_array_equal(loaded.decision_function(TEXTS), scores)
    np.testing.assert_array_equal(Scorer.load(tmp_path / "m.wm").scores(TEXTS), scores)
    found = loaded.explain("corn corn bank", label="a")
    np.testing.assert_allclose(found.bias + sum(part.value for part in found.contributions), found.score)
    assert loaded.top_terms("a").positive[0][0] == "corn"


def test_any_weighting_gives_the_same_stumps():
    """All weights of terms that occur are above 0."""
    found = [
        stumps(10).fit(Vectorizer(weighting=weighting).fit_transform(TEXTS), LABELS["multilabel"])
        for weighting in ("bxx", "tfc", "txx")
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.stumps_.votes, found[0].stumps_.votes)
