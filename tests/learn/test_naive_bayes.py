"""Naive Bayes against its equations written out, scikit-learn's, and retraining without each document."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference import naive_bayes as reference
from widemargin import LinearSVM, NaiveBayes, TextClassifier, Vectorizer, leave_one_out
from widemargin.classifier.scorer import Scorer
from widemargin.errors import DataError, UsageError
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels
from widemargin.theory.tcat import TCatConcept

MODELS = ["multinomial", "bernoulli", "complement"]
PEERS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "complement": ComplementNB}
KINDS = ["binary", "multiclass", "multilabel"]


@parametrize_with_checks(
    [
        NaiveBayes(),
        NaiveBayes(0.1, event_model="bernoulli"),
        NaiveBayes(event_model="complement"),
        NaiveBayes(prior="uniform"),
    ],
    expected_failed_checks=lambda estimator: (
        {"check_decision_proba_consistency": "it passes negative values to learners of counts"}
        if estimator.event_model != "complement"
        else {}
    ),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def task(kind, *, n=40, d=15, seed=0):
    """Counts with empty rows and terms that nobody has, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, (n, d)) * rng.integers(1, 4, (n, d)).astype(float)
    X[3], X[:, 5] = 0, 0
    if kind == "multilabel":
        Y = (rng.random((n, 5)) < 0.3).astype(int)
        Y[:, 3], Y[:, 4] = 0, 1  # one that no document has, one that all have
        return X, Y
    return X, np.array(["ham", "spam", "eggs", "oil"])[rng.integers(0, 2 if kind == "binary" else 4, n)]


def settings(model):
    kept = {"event_model": model.event_model, "smoothing": model.smoothing}
    return {**kept, "exclusive": model.label_space_.kind == "multiclass", "prior": model.prior == "documents"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("event_model", MODELS)
@pytest.mark.parametrize("prior", ["documents", "uniform"])
def test_the_equations(kind, event_model, prior):
    X, y = task(kind)
    weights = np.random.default_rng(1).integers(0, 3, len(X)) / 2
    model = NaiveBayes(0.5, event_model=event_model, prior=prior).fit(sp.csr_array(X), y, weights)
    signs = Labels.of(y).signs
    expected = [reference.scores(x, X, signs, weights, **settings(model)) for x in X]
    found = model.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("event_model", MODELS)
@pytest.mark.parametrize("smoothing", [1.0, 0.01, 3])
@pytest.mark.parametrize("uniform", [False, True])
def test_scikit_learns_scores(event_model, smoothing, uniform):
    X, y = task("multiclass")
    weights = np.random.default_rng(2).random(len(X))
    peer = PEERS[event_model](alpha=smoothing, fit_prior=not uniform).fit(X, y, sample_weight=weights)
    prior = "uniform" if uniform else "documents"
    model = NaiveBayes(smoothing, event_model=event_model, prior=prior).fit(X, y, sample_weight=weights)
    joint = peer.predict_joint_log_proba(X)
    np.testing.assert_allclose(
        model.decision_function(X), joint - joint.mean(axis=1, keepdims=True), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    if event_model != "complement":
        np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("event_model", MODELS)
def test_scikit_learns_log_odds(event_model):
    """Of two classes, and of every label against the rest."""
    X, Y = task("multilabel")
    Y = Y[:, :3]
    scores = NaiveBayes(event_model=event_model).fit(X, Y).decision_function(X)
    for k in range(3):
        joint = PEERS[event_model]().fit(X, Y[:, k]).predict_joint_log_proba(X)
        np.testing.assert_allclose(scores[:, k], joint[:, 1] - joint[:, 0], rtol=1e-9, atol=1e-9)
        binary = NaiveBayes(event_model=event_model).fit(X, Y[:, k])
        np.testing.assert_array_equal(binary.decision_function(X), scores[:, k])


def test_probabilities():
    X, Y = task("multilabel")
    model = NaiveBayes().fit(X, Y)
    expected = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
    X, y = task("binary")
    peer = MultinomialNB().fit(X, y)
    np.testing.assert_allclose(NaiveBayes().fit(X, y).predict_proba(X), peer.predict_proba(X), rtol=1e-9)
    assert not hasattr(NaiveBayes(event_model="complement").fit(X, y), "predict_proba")


def retrained(model, X, labels, weights):
    """The score of every document by a model that was fitted on the others."""
    found = []
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        fresh = NaiveBayes(**model.get_params()).fit(X[rest], labels.take(rest), weights[rest])
        found.append(fresh.decision_function(X[[i]]).ravel())
    return np.array(found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("event_model", MODELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_retraining(kind, event_model, weighted):
    X, y = task(kind, n=25, d=12)
    if kind == "multiclass":
        y[:] = np.where(y == "oil", "ham", y)
        y[7] = "oil"  # the only one of its class
    elif kind == "multilabel":
        y[:, 2], y[7, 2] = 0, 1
    labels = Labels.of(y)
    rng = np.random.default_rng(3)
    weights = rng.choice([0.0, 0.3, 1.7, 0.1], len(X)) if weighted else np.ones(len(X))
    weights[7] = 1.0
    model = NaiveBayes(0.7, event_model=event_model).fit(X, labels, weights)
    found = model.left_out_scores(sp.csr_array(X), y, weights)
    np.testing.assert_allclose(found.scores, retrained(model, X, labels, weights), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found.truth, labels.signs)
    assert found.method == "leave-one-out"


@given(
    st.lists(st.lists(st.sampled_from([0, 0, 0, 1, 2, 5]), min_size=4, max_size=4), min_size=5, max_size=12),
    st.sampled_from(MODELS),
    st.sampled_from([1.0, 1e-3]),
    st.booleans(),
)
def test_leave_one_out_of_any_counts(rows, event_model, smoothing, exclusive):
    X = np.array(rows, dtype=float)
    y = np.arange(len(X)) % (3 if exclusive else 2)
    labels, weights = Labels.of(y), np.ones(len(X))
    model = NaiveBayes(smoothing, event_model=event_model).fit(X, labels)
    exact = retrained(model, X, labels, weights)
    np.testing.assert_allclose(model.left_out_scores(X, y).scores, exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("event_model", MODELS)
def test_leave_one_out_as_new_documents(event_model):
    """A term that no other document has is not scored, as by a vectorizer that does not know it."""
    texts = ["corn wheat corn", "corn oil barley", "bank rate cut", "rate bank", "oil bank barrel", "oil gas"]
    y = ["grain", "grain", "money", "money", "fuel", "fuel"]
    vectorizer = Vectorizer(weighting="txx")
    counts = vectorizer.fit_counts(texts)
    X = vectorizer.weighed(counts).matrix
    labels = Labels.of(y)
    model = NaiveBayes(event_model=event_model).fit(X, labels)
    found = leave_one_out(model, X, y, rows=TrainingRows(X, labels, texts, vectorizer, counts))
    dense, shared = X.toarray(), (X > 0).sum(axis=0) > 1
    for i in range(len(texts)):
        rest = np.delete(np.arange(len(texts)), i)
        fresh = NaiveBayes(event_model=event_model).fit(dense[rest], labels.take(rest))
        expected = fresh.decision_function(dense[[i]] * shared)[0]
        np.testing.assert_allclose(found.scores[i], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("event_model", MODELS)
def test_parts_add_up(kind, event_model):
    X, y = task(kind)
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    whole = NaiveBayes(event_model=event_model).fit(X, y, weights)
    parts = NaiveBayes(event_model=event_model)
    classes = None if kind == "multilabel" else np.unique(y)
    for some in np.array_split(np.arange(len(X)), 5):
        parts.partial_fit(X[some], y[some], classes, sample_weight=weights[some])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts.intercept_, whole.intercept_, rtol=1e-12)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    np.testing.assert_allclose(
        parts.left_out_scores(X[:9], y[:9], weights[:9]).scores,
        whole.left_out_scores(X, y, weights).scores[:9],
        rtol=1e-9,
    )


def test_labels_that_arrive_later():
    X, _ = task("binary", n=6)
    sets = [["a"], ["b"], [], ["a", "b"], ["0"], ["0", "b"]]
    parts = NaiveBayes().partial_fit(X[:4], sets[:4]).partial_fit(X[4:], sets[4:])
    whole = NaiveBayes().fit(X, sets)
    assert parts.classes_.tolist() == ["0", "a", "b"]
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-12)
    one_each = NaiveBayes().partial_fit(X[:3], ["a", "b", "a"]).partial_fit(X[3:], ["c", "b", "0"])
    whole = NaiveBayes().fit(X, ["a", "b", "a", "c", "b", "0"])
    np.testing.assert_allclose(one_each.decision_function(X), whole.decision_function(X), rtol=1e-12)


def test_a_class_without_documents_is_never_predicted():
    X, y = task("binary")
    for event_model in MODELS:
        model = NaiveBayes(event_model=event_model).partial_fit(X, y, ["ham", "spam", "none"])
        assert "none" not in model.predict(X * 100)
        X_, Y = task("multilabel")
        found = NaiveBayes(event_model=event_model).fit(X_, Y).predict(X_)
        assert not found[:, 3].any()
        assert found[:, 4].all()


def test_threads_do_not_change_the_counts():
    rng = np.random.default_rng(0)
    X = sp.random_array((3000, 400), density=0.2, rng=rng, format="csr")
    Y, weights = rng.random((3000, 7)) < 0.3, rng.random(3000)
    one, two = (NaiveBayes(n_jobs=jobs).fit(X, Y.astype(int), weights) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    expected = Y.T.astype(float) @ (weights[:, None] * X.toarray())
    np.testing.assert_allclose(one.counts_.terms.matrix.toarray(), expected, rtol=1e-12)


class TestTCat:
    """TCat([2 : 1 : 4], [1 : 2 : 4]): positive documents have two of four words a and one of four words b,
    negative ones one and two (joachims 4.7). Common positive documents have other words than rare ones."""

    DOCUMENTS = (
        ("a0 a1 b2", 1, 45),
        ("a0 a1 b3", 1, 45),
        ("a2 a3 b0", 1, 10),  # words that are typical of negative documents, but two of them a
        ("a2 b0 b1", -1, 45),
        ("a3 b0 b1", -1, 45),
        ("a0 b2 b3", -1, 10),
    )
    WORDS = tuple(f"{letter}{number}" for letter in "ab" for number in range(4))

    def task(self):
        X = np.array([[float(word in text.split()) for word in self.WORDS] for text, _, _ in self.DOCUMENTS])
        y, n = (np.array([document[k] for document in self.DOCUMENTS]) for k in (1, 2))
        (p_a, n_a, f_a), (p_b, n_b, f_b) = TCatConcept([(2, 1, 4), (1, 2, 4)]).sets
        assert f_a == f_b == 4
        np.testing.assert_array_equal(X[:, :4].sum(axis=1), np.where(y > 0, p_a, n_a))
        np.testing.assert_array_equal(X[:, 4:].sum(axis=1), np.where(y > 0, p_b, n_b))
        return X, y, n

    @pytest.mark.parametrize("event_model", ["multinomial", "bernoulli"])
    def test_naive_bayes_does_not_learn_it_but_comes_close(self, event_model):
        X, y, n = self.task()
        wrong = NaiveBayes(event_model=event_model).fit(X, y, sample_weight=n).predict(X) != y
        # Both rare kinds of documents, however many documents there are.
        assert wrong.tolist() == [False, False, True, False, False, True]
        assert n[wrong].sum() / n.sum() == pytest.approx(0.1)
        more = NaiveBayes(event_model=event_model).fit(X, y, sample_weight=1000 * n).predict(X) != y
        np.testing.assert_array_equal(more, wrong)

    def test_a_support_vector_machine_learns_it(self):
        X, y, n = self.task()
        model = LinearSVM(C=np.inf, bias=None).fit(X, y, sample_weight=n)
        assert (model.decision_function(X) * y >= 1 - 1e-2).all()

    @pytest.mark.parametrize("event_model", ["multinomial", "bernoulli"])
    def test_words_at_random_are_no_difficulty(self, event_model):
        X, y = TCatConcept([(2, 1, 4), (1, 2, 4)]).sample(300, 300, distinct=True, random_state=0)
        model = NaiveBayes(event_model=event_model).fit(X.astype(float), y)
        assert (model.predict(X.astype(float)) == y).mean() > 0.99


class TestBadInput:
    def test_negative_values(self):
        with pytest.raises(DataError, match=r"Negative values in data: X holds -2 in row 1, column 0\. "):
            NaiveBayes().fit([[1.0, 0], [-2, 1]], [0, 1])
        model = NaiveBayes().fit([[1.0, 0], [2, 1]], [0, 1])
        with pytest.raises(DataError, match="Negative values"):
            model.partial_fit([[-1.0, 0]], [0])
        for method in (model.decision_function, model.predict, model.predict_proba):
            with pytest.raises(DataError, match=r"X holds -1 in row 0, column 0\. Naive Bayes learns"):
                method([[-1.0, 0]])

    @pytest.mark.parametrize("smoothing", [0, -1.0, float("nan"), float("inf")])
    def test_smoothing_is_positive(self, smoothing):
        with pytest.raises(UsageError, match=r"smoothing=.*positive"):
            NaiveBayes(smoothing).fit([[1.0], [2.0]], [0, 1])

    def test_unknown_words(self):
        with pytest.raises(UsageError, match=r'event_model=.*"multinomial", "bernoulli" or "complement"'):
            NaiveBayes(event_model="poisson").fit([[1.0], [2.0]], [0, 1])
        with pytest.raises(UsageError, match=r'prior=.*"documents" or "uniform"'):
            NaiveBayes(prior="flat").fit([[1.0], [2.0]], [0, 1])

    def test_only_empty_documents(self):
        model = NaiveBayes().fit(sp.csr_array((3, 4)), [0, 1, 1])
        np.testing.assert_allclose(model.decision_function(np.ones((1, 4))), np.log(2))
        assert model.left_out_scores(sp.csr_array((3, 4)), [0, 1, 1]).scores.shape == (3, 1)

    def test_numbers_of_documents_and_labels(self):
        with pytest.raises(DataError, match="2 documents and 3 labels"):
            NaiveBayes().partial_fit([[1.0], [2.0]], [0, 1, 1])


@pytest.mark.parametrize("event_model", MODELS)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_saved_and_loaded(tmp_path, event_model, kind):
    texts = ["wheat corn corn", "corn harvest", "bank rate", "the bank", "crude oil oil", "oil bank"]
    y = {
        "binary": ["a", "a", "b", "b", "b", "a"],
        "multiclass": ["a", "a", "b", "b", "c", "c"],
        "multilabel": [["a"], ["a"], ["b"], [], ["c"], ["b", "c"]],
    }[kind]
    classifier = TextClassifier(
        learner=NaiveBayes(0.5, event_model=event_model), tune=None, estimate=None
    ).fit(texts, y)
    assert classifier.vectorizer_.weighting == "txx"
    classifier.save(tmp_path / "m.wm")
    loaded = TextClassifier.load(tmp_path / "m.wm")
    scores = classifier.learner_.decision_function(classifier.vectorizer_.transform(texts))
    np.testing.assert_allclose(loaded.decision_function(texts), scores, rtol=1e-9)
    np.testing.assert_allclose(Scorer.load(tmp_path / "m.wm").scores(texts), scores, rtol=1e-9)
    found = loaded.explain("corn corn bank")
    np.testing.assert_allclose(found.bias + sum(part.value for part in found.contributions), found.score)
    more = ["corn bank", "oil"], y[:2]
    np.testing.assert_allclose(
        loaded.partial_fit(*more).decision_function(texts),
        classifier.partial_fit(*more).decision_function(texts),
        rtol=1e-12,
    )
