"""Rocchio against equation (2.22) written out, and against retraining without each document."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference import rocchio as reference
from widemargin import Rocchio, TextClassifier, Vectorizer, leave_one_out
from widemargin.classifier.scorer import Scorer
from widemargin.decide import assign_proportionally, proportional_scores
from widemargin.errors import DataError, UsageError
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels
from widemargin.learn.linear_model import LinearModel
from widemargin.measure import micro_prbep

KINDS = ["binary", "multiclass", "multilabel"]
BETAS = [0, 0.1, 0.25, 0.5, 1.0, 3.0]


@parametrize_with_checks([Rocchio(), Rocchio(negative_weight=1.0), Rocchio("auto")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def task(kind, *, n=30, d=12, seed=0, negative=False):
    """Rows, some empty and some negative, and labels, one of them on a single document."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, (n, d)) * rng.integers(1, 4, (n, d)).astype(float)
    X[3], X[:, 5] = 0, 0
    if negative:
        X *= rng.choice([1, 1, -1], X.shape)
    if kind == "multilabel":
        Y = (rng.random((n, 5)) < 0.3).astype(int)
        Y[:, 3], Y[:, 4] = 0, 1  # one that no document has, one that all have
        Y[:, 2], Y[7, 2] = 0, 1
        return X, Y
    y = np.array(["ham", "spam", "eggs"])[rng.integers(0, 2 if kind == "binary" else 3, n)]
    if kind == "multiclass":
        y[7] = "oil"
    return X, y


def weights_of(n, weighted):
    rng = np.random.default_rng(3)
    return rng.choice([0.0, 0.3, 1.7, 0.1, 1.0], n) if weighted else np.ones(n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("negative", [False, True])
def test_the_equation(kind, beta, negative):
    X, y = task(kind, negative=negative)
    weights = weights_of(len(X), True)
    model = Rocchio(beta).fit(sp.csr_array(X), y, weights)
    expected = reference.scores(X, X, Labels.of(y).signs, weights, beta)
    np.testing.assert_allclose(model.decision_function(X).reshape(expected.shape), expected, atol=1e-12)
    lengths = np.linalg.norm(model.coef_, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0], 1)


def retrained(model, X, labels, weights):
    """The score of every document by a model that was fitted on the others."""
    found = []
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        fresh = Rocchio(**model.get_params()).fit(X[rest], labels.take(rest), weights[rest])
        found.append(fresh.decision_function(X[[i]]).ravel())
    return np.array(found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("negative", [False, True])
def test_leave_one_out_is_retraining(kind, beta, weighted, negative):
    X, y = task(kind, negative=negative)
    labels, weights = Labels.of(y), weights_of(len(X), weighted)
    model = Rocchio(beta).fit(X, labels, weights)
    found = model.left_out_scores(sp.csr_array(X), y, weights)
    np.testing.assert_allclose(found.scores, retrained(model, X, labels, weights), atol=1e-10)
    np.testing.assert_array_equal(found.truth, labels.signs)
    assert found.method == "leave-one-out"


@given(
    st.lists(st.lists(st.sampled_from([0, 0, 0, 1, 2, 5]), min_size=4, max_size=4), min_size=4, max_size=10),
    st.lists(st.sampled_from([0.0, 1.0, 1.0, 0.3]), min_size=10, max_size=10),
    st.sampled_from(BETAS),
    st.sampled_from([1, -1]),
)
def test_leave_one_out_of_any_counts(rows, weights, beta, sign):
    """Equal documents cancel, sums become 0, and nothing may be left of them but 0."""
    X = np.array(rows, dtype=float)
    X[1::2] *= sign
    weights = np.array(weights)[: len(X)]
    weights[0] = 1.0
    signs = np.column_stack([np.arange(len(X)) % 2, np.arange(len(X)) == 0]) * 2 - 1
    model = Rocchio(beta).fit(X, signs > 0, weights)
    np.testing.assert_allclose(
        model.decision_function(X), reference.scores(X, X, signs, weights, beta), atol=1e-9
    )
    exact = [
        reference.scores(X[[i]], *(np.delete(part, i, axis=0) for part in (X, signs, weights)), beta)[0]
        for i in range(len(X))
    ]
    np.testing.assert_allclose(model.left_out_scores(X, signs > 0, weights).scores, exact, atol=1e-9)


@pytest.mark.parametrize("weighting", ["txc", "tfc"])
def test_leave_one_out_as_new_documents(weighting):
    """The document is scored as by a vectorizer that does not know it; the others stay as they are."""
    texts = ["corn wheat corn", "corn oil barley", "bank rate cut", "rate bank", "oil bank barrel", "oil gas"]
    y = ["grain", "grain", "money", "money", "fuel", "fuel"]
    vectorizer = Vectorizer(weighting=weighting)
    counts = vectorizer.fit_counts(texts)
    X, labels = vectorizer.weighed(counts).matrix, Labels.of(y)
    found = leave_one_out(
        Rocchio().fit(X, labels), X, y, rows=TrainingRows(X, labels, texts, vectorizer, counts)
    )
    for i in range(len(texts)):
        rest = np.delete(np.arange(len(texts)), i)
        fresh = Rocchio().fit(X[rest], labels.take(rest))
        other = Vectorizer(weighting=weighting).fit([texts[j] for j in rest])
        row = other.transform([texts[i]]).toarray()[0]
        new = np.zeros((1, X.shape[1]))
        for name, value in zip(other.get_feature_names_out(), row, strict=True):
            new[0, list(vectorizer.get_feature_names_out()).index(name)] = value
        np.testing.assert_allclose(found.scores[i], fresh.decision_function(new)[0], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_parts_add_up(kind):
    X, y = task(kind, n=40)
    weights = weights_of(len(X), True)
    whole, parts = Rocchio(0.5).fit(X, y, weights), Rocchio(0.5)
    classes = None if kind == "multilabel" else np.unique(y)
    for some in np.array_split(np.arange(len(X)), 4):
        parts.partial_fit(X[some], y[some], classes, sample_weight=weights[some])
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-12)
    np.testing.assert_allclose(parts.intercept_, whole.intercept_, atol=1e-12)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    np.testing.assert_allclose(
        parts.left_out_scores(X[:9], y[:9], weights[:9]).scores,
        whole.left_out_scores(X, y, weights).scores[:9],
        atol=1e-10,
    )


def test_labels_that_arrive_later():
    X, _ = task("binary", n=6)
    one_each = Rocchio().partial_fit(X[:3], ["a", "b", "a"]).partial_fit(X[3:], ["c", "b", "0"])
    whole = Rocchio().fit(X, ["a", "b", "a", "c", "b", "0"])
    np.testing.assert_allclose(one_each.decision_function(X), whole.decision_function(X), atol=1e-12)


def test_a_class_without_documents_is_never_predicted():
    X, y = task("binary")
    model = Rocchio().partial_fit(X, y, ["ham", "spam", "none"])
    assert "none" not in model.predict(-X)
    # The only document of a class, left out, is not its class's.
    X, y = task("multiclass")
    found = Rocchio().fit(X, y).left_out_scores(X, y).scores
    assert found[7].argmax() != np.unique(y).tolist().index("oil")


class TestChosenWeight:
    @pytest.mark.parametrize("kind", ["binary", "multilabel"])
    def test_the_best_by_leave_one_out(self, kind):
        X, y = task(kind, n=60, seed=4)
        chosen = Rocchio("auto").fit(X, y)
        measured = {}
        for beta in (0.0, 0.1, 0.25, 0.5, 1.0):
            found = Rocchio(beta).fit(X, y).left_out_scores(X, y)
            measured[beta] = micro_prbep(found.truth, found.scores, "own")
        assert len(set(measured.values())) > 1
        assert measured[chosen.negative_weight_] == max(measured.values())
        np.testing.assert_array_equal(chosen.coef_, Rocchio(chosen.negative_weight_).fit(X, y).coef_)

    def test_accuracy_of_several_classes(self):
        X, y = task("multiclass", n=60, seed=2)
        classes = np.unique(y)
        chosen = Rocchio("auto").fit(X, y).negative_weight_
        measured = {}
        for beta in (0.0, 0.1, 0.25, 0.5, 1.0):
            found = Rocchio(beta).fit(X, y).left_out_scores(X, y).scores
            measured[beta] = np.mean(classes[found.argmax(axis=1)] == y)
        assert len(set(measured.values())) > 1
        assert measured[chosen] == max(measured.values())

    def test_it_is_kept_when_documents_are_added(self):
        X, y = task("multiclass", n=60, seed=2)
        model = Rocchio("auto").fit(X, y)
        before = model.negative_weight_
        assert model.partial_fit(X[:5], y[:5]).negative_weight_ == before
        assert Rocchio("auto").partial_fit(X, y).partial_fit(X[:5], y[:5]).negative_weight_ == before


def test_threads_do_not_change_the_weights():
    rng = np.random.default_rng(0)
    X = sp.random_array((3000, 400), density=0.2, rng=rng, format="csr")
    Y = (rng.random((3000, 7)) < 0.3).astype(int)
    one, two = (Rocchio(n_jobs=jobs).fit(X, Y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


def test_the_length_of_a_document_does_not_count():
    X, y = np.array([[1.0, 0, 1], [2, 1, 0], [0, 1, 0], [0, 3, 1]]), [1, 1, 0, 0]
    model = Rocchio().fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), model.decision_function(7 * X))


@pytest.mark.parametrize("beta", [0.25, "auto"])
def test_it_is_saved_and_loaded(tmp_path, beta):
    texts = ["wheat corn corn", "corn harvest", "bank rate", "the bank"]
    y = ["grain", "grain", "money", "money"]
    classifier = TextClassifier(learner=Rocchio(beta), tune=None, estimate=None).fit(texts, y)
    classifier.save(tmp_path / "m.wm")
    loaded = TextClassifier.load(tmp_path / "m.wm")
    scores = classifier.learner_.decision_function(classifier.vectorizer_.transform(texts))
    for found in (classifier, loaded):
        np.testing.assert_allclose(found.decision_function(texts), scores, rtol=1e-6)
    np.testing.assert_allclose(Scorer.load(tmp_path / "m.wm").scores(texts).ravel(), scores, rtol=1e-6)
    explained = loaded.explain("corn corn bank")
    np.testing.assert_allclose(
        explained.bias + sum(part.value for part in explained.contributions), explained.score, atol=1e-6
    )
    more = ["corn bank", "harvest"], y[1:3]
    np.testing.assert_allclose(
        loaded.partial_fit(*more).decision_function(texts),
        classifier.partial_fit(*more).decision_function(texts),
        rtol=1e-12,
    )


def test_a_state_with_weights_only_scores():
    """Earlier files hold weights, and no sums to add to."""
    X, y = task("multiclass")
    model = Rocchio().fit(X, y)
    loaded = Rocchio.from_state(*LinearModel.get_state(model))
    np.testing.assert_allclose(loaded.decision_function(X), model.decision_function(X), rtol=1e-12)
    for more in (loaded.partial_fit, loaded.left_out_scores):
        with pytest.raises(UsageError, match="without the sums of its documents"):
            more(X, y)


class TestProportionalScores:
    def test_one_threshold_assigns_every_label_in_proportion(self):
        scores = np.random.default_rng(0).random((200, 3)) * [1, 10, 0.1]
        shares = np.array([0.5, 0.1, 0.02])
        found = proportional_scores(scores, shares)
        np.testing.assert_array_equal(found >= -1e-9, assign_proportionally(scores, shares) > 0)
        twice = (found >= -np.log(2) - 1e-9).sum(axis=0)
        np.testing.assert_array_equal(twice, [200, 40, 8])

    def test_the_order_of_a_label_stays_and_ties_stay_ties(self):
        scores = np.array([3.0, 1.0, 1.0, 2.0, 1.0])
        found = proportional_scores(scores, 0.4)
        np.testing.assert_allclose(np.exp(found), 2 / np.array([1, 4, 4, 2, 4]))

    def test_a_label_that_is_not_expected(self):
        assert (proportional_scores(np.array([1.0, 2.0]), 0.0) == -np.inf).all()

    def test_wrong_shares(self):
        with pytest.raises(UsageError, match="from 0 to 1"):
            proportional_scores(np.zeros((2, 2)), [0.5, 1.5])
        with pytest.raises(UsageError, match="for 2 labels"):
            proportional_scores(np.zeros((2, 2)), [0.5, 0.5, 0.5])


@pytest.mark.parametrize("beta", [-1.0, "best", None, float("nan")])
def test_beta_is_at_least_0(beta):
    with pytest.raises(UsageError, match=r'negative_weight=.*at least 0.*"auto"'):
        Rocchio(beta).fit([[1.0], [2.0]], [0, 1])


def test_numbers_of_documents_and_labels():
    with pytest.raises(DataError, match="2 documents and 3 labels"):
        Rocchio().partial_fit([[1.0], [2.0]], [0, 1, 1])
