"""The network of the document's section 4 against dense matrices, and leaving out against training again."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference import network
from widemargin import ChiSquareNetwork, TextClassifier, Vectorizer, leave_one_out
from widemargin._arrays import canonical_csr
from widemargin.errors import DataError, UsageError
from widemargin.estimate.held_out import choose_method
from widemargin.learn.kernels import Kernel
from widemargin.learn.network_equations import NetworkEquations
from widemargin.weight.left_out import rows_as_new


@parametrize_with_checks([ChiSquareNetwork(), ChiSquareNetwork(0.1, power=0.5, regularization=0.1)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@st.composite
def tasks(draw, labels=3):
    """Histograms with signs, a penalty, and kernel parameters; some documents may be equal or empty."""
    n, d = draw(st.integers(6, 12)), draw(st.integers(3, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.gamma(0.7, size=(n, d)) * (rng.random((n, d)) < 0.7)
    X /= np.maximum(X.sum(axis=1, keepdims=True), 1e-9)
    y = rng.integers(0, 2, (n, labels))
    y[:4] = [[0], [1], [0], [1]]  # each label twice, so that none is alone
    special = draw(st.sampled_from(["regular", "equal", "contradicting", "empty"]))
    if special in ("equal", "contradicting"):
        X[-1] = X[0]
        y[-1] = y[0] if special == "equal" else 1 - y[0]
    if special == "empty":
        X[-1] = 0
    parameters = {
        "gamma": draw(st.sampled_from([0.3, 1.0, 5.0])),
        "power": draw(st.sampled_from([1.0, 0.5, 0.125])),
        "regularization": draw(st.sampled_from([0.0, 0.01, 1.0])),
    }
    return X, y, parameters


@given(tasks())
def test_the_network_is_that_of_dense_matrices(task):
    X, y, parameters = task
    signs = np.where(y > 0, 1.0, -1.0)
    model = ChiSquareNetwork(**parameters).fit(sp.csr_array(X), y)
    W = network.solve(X, signs, **parameters)
    np.testing.assert_allclose(model.dual_coef_, W[:-1].T, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, W[-1], rtol=1e-6, atol=1e-6)
    new = np.roll(X, 1, axis=1)
    kernel = {name: parameters[name] for name in ("gamma", "power")}
    np.testing.assert_allclose(
        model.decision_function(new), network.scores(new, W, X, **kernel), rtol=1e-6, atol=1e-6
    )


@given(tasks())
def test_it_reproduces_its_training_labels_where_the_kernel_matrix_is_regular(task):
    X, y, parameters = task
    gram = Kernel("chi2", parameters["gamma"], power=parameters["power"]).gram
    model = ChiSquareNetwork(**{**parameters, "regularization": 0.0}).fit(X, y)
    if np.linalg.cond(gram(canonical_csr(X), 1)) < 1e9:
        np.testing.assert_allclose(model.decision_function(X), np.where(y > 0, 1.0, -1.0), atol=1e-5)


@given(tasks())
def test_left_out_scores_are_those_of_training_again(task):
    X, y, parameters = task
    found = leave_one_out(ChiSquareNetwork(**parameters).fit(X, y), X, y)
    assert (found.method, found.retrained.sum(), found.accuracy.max()) == ("leave-one-out", 0, 0.0)
    expected = network.left_out_scores(X, np.where(y > 0, 1.0, -1.0), **parameters)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-5, atol=1e-5)


@given(tasks(), st.integers(0, 100))
def test_left_out_documents_are_scored_as_new_ones(task, seed):
    """A new document is another row: some terms are unknown, the rest is normalized again."""
    X, y, parameters = task
    new = X * (np.random.default_rng(seed).random(X.shape) < 0.8)
    new /= np.maximum(new.sum(axis=1, keepdims=True), 1e-9)

    class AsNew:
        rows = sp.csr_array(new)

    model = ChiSquareNetwork(**parameters).fit(X, y)
    found = model.left_out_scores(X, y, as_new=AsNew)
    expected = network.left_out_scores(X, np.where(y > 0, 1.0, -1.0), **parameters, as_new=new)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-5, atol=1e-5)


def test_one_document_left_out_leaves_nothing():
    assert NetworkEquations(np.ones((1, 1))).left_out(np.ones((1, 1)), 0.0) == pytest.approx(0.0)


def test_many_equal_documents():
    """A document gets the average of the copies that are left."""
    X = np.vstack([np.tile([0.5, 0.5, 0.0], (3, 1)), np.tile([0.0, 0.2, 0.8], (4, 1))])
    y = np.array([0, 0, 1, 1, 1, 1, 0])
    found = leave_one_out(ChiSquareNetwork().fit(X, y), X, y)
    np.testing.assert_allclose(found.scores.ravel(), [0, 0, -1, 1 / 3, 1 / 3, 1 / 3, 1], atol=1e-9)


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.dirichlet(np.full(60, 0.2), 300))
    y = rng.integers(0, 4, 300)
    alone, together = (ChiSquareNetwork(n_jobs=jobs).fit(X, y) for jobs in (1, 3))
    np.testing.assert_array_equal(alone.dual_coef_, together.dual_coef_)
    np.testing.assert_array_equal(alone.decision_function(X), together.decision_function(X))
    left_out = [model.left_out_scores(X, y).scores for model in (alone, together)]
    np.testing.assert_array_equal(*left_out)


def test_labels_in_every_form():
    X = np.random.default_rng(1).dirichlet(np.ones(8), 9)
    names = ["a", "b", "c"] * 3
    assert ChiSquareNetwork().fit(X, names).predict(X).tolist() == names
    sets = [{"a"}, {"a", "b"}, set()] * 3
    assert ChiSquareNetwork().fit(X, sets).predict(X) == [("a",), ("a", "b"), ()] * 3
    assert ChiSquareNetwork().fit(X, names[:2] * 4 + ["a"]).decision_function(X).shape == (9,)


def test_negative_values_are_refused():
    X = np.array([[0.5, 0.5], [1.0, 0.0]])
    with pytest.raises(DataError, match="Negative values"):
        ChiSquareNetwork().fit(-X, [0, 1])
    with pytest.raises(DataError, match="Negative values"):
        ChiSquareNetwork().fit(X, [0, 1]).predict(-X)


@pytest.mark.parametrize(
    "wrong", [{"power": 0}, {"power": 1.5}, {"gamma": 0}, {"gamma": np.nan}, {"regularization": -1}]
)
def test_parameters_are_checked(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        ChiSquareNetwork(**wrong).fit([[1.0], [2.0]], [0, 1])


TEXTS = [
    "the quick brown fox jumps over the lazy dog and runs away from there",
    "there was the weather in the north that they thought about",
    "le renard brun saute par-dessus le chien paresseux et la lune",
    "la pluie du nord et les gens de la rue sont ici pour toujours",
    "",
]
LANGUAGES = ["en", "en", "fr", "fr", "en"]


def test_texts_become_profiles_of_trigrams():
    classifier = TextClassifier(learner=ChiSquareNetwork(), tune=None, estimate=None).fit(TEXTS, LANGUAGES)
    terms = list(classifier.vectorizer_.vocabulary_)
    assert {len(term) for term in terms} == {3}
    sums = classifier.vectorizer_.transform(TEXTS).sum(axis=1)
    np.testing.assert_allclose(sums, [1, 1, 1, 1, 0], rtol=1e-6)
    assert classifier.predict(
        ["they were there with the others", "la pluie et les gens du nord sont paresseux"]
    ).tolist() == [
        "en",
        "fr",
    ]
    # What is given is kept.
    given = TextClassifier(Vectorizer(weighting="txa"), ChiSquareNetwork(), estimate=None).fit(
        TEXTS, LANGUAGES
    )
    assert "quick" in given.vectorizer_.vocabulary_


def test_estimates_are_those_of_new_documents():
    """With its own vectorizer a document knows trigrams that nobody else has."""
    classifier = TextClassifier(learner=ChiSquareNetwork(), estimate="leave-one-out", tune=None).fit(
        TEXTS, LANGUAGES
    )
    assert classifier.training_summary_["estimates"]["method"] == "leave-one-out"
    vectorizer = Vectorizer(**ChiSquareNetwork.text_options)
    counts = vectorizer.fit_counts(TEXTS)
    X, new = vectorizer.weighed(counts).matrix, rows_as_new(vectorizer, counts)
    learner = ChiSquareNetwork().fit(X, LANGUAGES)
    found = learner.left_out_scores(X, LANGUAGES, as_new=new)
    signs = np.where(np.array(LANGUAGES) == "fr", 1.0, -1.0)[:, None]
    expected = network.left_out_scores(X.toarray(), signs, learner.gamma, as_new=new.rows.toarray())
    np.testing.assert_allclose(found.scores, expected, rtol=1e-6, atol=1e-6)


def test_leave_one_out_is_the_cheapest_estimate_at_any_size():
    X = sp.csr_array((100_000, 10))
    network = ChiSquareNetwork().fit(np.eye(4), [0, 0, 1, 1])
    assert choose_method("auto", network, X) == "leave-one-out"


def test_it_is_saved_and_loaded(tmp_path):
    classifier = TextClassifier(learner=ChiSquareNetwork(power=0.5), tune=None, estimate=None).fit(
        TEXTS, LANGUAGES
    )
    classifier.save(tmp_path / "m.wm")
    loaded = TextClassifier.load(tmp_path / "m.wm")
    np.testing.assert_array_equal(loaded.decision_function(TEXTS), classifier.decision_function(TEXTS))
    assert loaded.learner_.power == 0.5
