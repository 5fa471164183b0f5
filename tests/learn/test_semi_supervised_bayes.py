"""Expectation maximization against its equations written out; the log-posterior never falls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference import naive_bayes as reference
from widemargin import NaiveBayes, SemiSupervisedBayes, TextClassifier, Vectorizer
from widemargin.errors import DataError, UsageError

MODELS = ["multinomial", "bernoulli"]


@parametrize_with_checks(
    [SemiSupervisedBayes()],
    expected_failed_checks=lambda _: {
        "check_decision_proba_consistency": "it passes negative values to learners of counts"
    },
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def task(seed=0, *, n=60, labeled=9, kind="multiclass", words=12):
    """Documents of three topics, of which the first few have labels."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(words, 0.3), 3)
    truth = np.arange(n) % 3
    X = np.array([rng.multinomial(6, topics[topic]) for topic in truth]).astype(float)
    if kind == "multilabel":
        Y = np.column_stack([truth == 0, truth != 1, np.zeros(n), rng.random(n) < 0.2]).astype(float)
        Y[labeled:] = np.nan
        return X, Y, truth
    y = (np.minimum(truth, 1) if kind == "binary" else truth).astype(object)
    y[labeled:] = None
    return X, y, truth


@given(
    st.integers(0, 10**6),
    st.sampled_from(MODELS),
    st.sampled_from(["documents", "uniform"]),
    st.sampled_from(["binary", "multiclass", "multilabel"]),
    st.sampled_from([1.0, 0.2]),
    st.sampled_from([1.0, 0.01]),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_posterior_never_falls(seed, event_model, prior, kind, weight, smoothing):
    X, y, _ = task(seed, kind=kind)
    model = SemiSupervisedBayes(
        smoothing, event_model=event_model, prior=prior, unlabeled_weight=weight, tol=0.0, max_iter=15
    ).fit(X, y)
    assert len(model.objectives_) == model.n_iter_ > 1
    assert (np.diff(model.objectives_) >= -1e-12 * np.abs(model.objectives_[-1])).all()


@pytest.mark.parametrize("event_model", MODELS)
@pytest.mark.parametrize("weight", [1.0, 0.4])
def test_turns_written_out(event_model, weight):
    """Every unlabeled document as one copy for each class, weighted by the class's probability."""
    X, y, _ = task()
    known = np.array([label is not None for label in y])
    classes = np.arange(3)
    rows = np.vstack([X[known], *(X[~known] for _ in classes)])
    labels = np.concatenate([y[known], *(np.full((~known).sum(), k) for k in classes)]).astype(int)
    signs = np.where(labels[:, None] == classes, 1, -1)
    shares = np.zeros(((~known).sum(), 3))
    for _ in range(4):  # the first time without unlabeled documents
        weights = np.concatenate([np.ones(known.sum()), weight * shares.T.ravel()])
        settings = {"exclusive": True, "event_model": event_model}
        scores = np.array([reference.scores(x, rows, signs, weights, **settings) for x in X])
        shares = np.exp(scores[~known])
        shares /= shares.sum(axis=1, keepdims=True)
    with pytest.warns(ConvergenceWarning, match="after 3 turns"):
        model = SemiSupervisedBayes(
            event_model=event_model, unlabeled_weight=weight, tol=0.0, max_iter=3
        ).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("event_model", MODELS)
def test_the_log_posterior_written_out(event_model):
    X, y, _ = task()
    known = np.array([label is not None for label in y])
    s, total = 0.5, 0.0
    joint = np.zeros((len(X), 3))
    for k in range(3):
        own = X[known][y[known] == k]
        ones = np.ones(len(own))
        share = np.log(len(own) / known.sum())
        joint[:, k] = [reference.log_probability(x, own, ones, event_model, s) + share for x in X]
        if event_model == "bernoulli":
            p = (s + (own > 0).sum(axis=0)) / (2 * s + len(own))
            total += s * (np.log(p) + np.log(1 - p)).sum()
        else:
            p = (s + own.sum(axis=0)) / (s * X.shape[1] + own.sum())
            total += s * np.log(p).sum()
    total += joint[known, y[known].astype(int)].sum()
    total += 0.7 * np.logaddexp.reduce(joint[~known], axis=1).sum()
    model = SemiSupervisedBayes(s, event_model=event_model, unlabeled_weight=0.7).fit(X, y)
    np.testing.assert_allclose(model.objectives_[0], total, rtol=1e-10)


def test_unlabeled_documents_help():
    right = {"labeled": 0, "all": 0}
    for seed in range(20):
        X, y, truth = task(seed, n=300, labeled=6, words=60)
        known = np.array([label is not None for label in y])
        few = NaiveBayes().fit(X[known], y[known].astype(int))
        right["labeled"] += (few.predict(X) == truth).sum()
        right["all"] += (SemiSupervisedBayes().fit(X, y).predict(X) == truth).sum()
    assert right["all"] > right["labeled"]


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_without_unlabeled_documents_it_is_naive_bayes(kind):
    X, y, _ = task(kind=kind, n=30, labeled=30)
    y = y.astype(int)
    found, expected = SemiSupervisedBayes().fit(X, y), NaiveBayes().fit(X, y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    X, y, _ = task(kind=kind)
    ignored = SemiSupervisedBayes(unlabeled_weight=0).fit(X, y)
    known = slice(None, 9)
    np.testing.assert_array_equal(ignored.coef_, NaiveBayes().fit(X[known], y[known].astype(int)).coef_)


def test_another_mark():
    X, y, _ = task()
    marked = np.array([-1 if label is None else label for label in y])
    found = SemiSupervisedBayes(unlabeled=-1).fit(X, marked)
    np.testing.assert_array_equal(found.coef_, SemiSupervisedBayes().fit(X, y).coef_)


def test_wrong_input():
    X, _, _ = task()
    cells = np.zeros((60, 2))
    cells[:5] = 1
    cells[40, 1] = np.nan
    with pytest.raises(DataError, match="only a part is known"):
        SemiSupervisedBayes().fit(X, cells)
    with pytest.raises(UsageError, match="event_model='complement'"):
        SemiSupervisedBayes(event_model="complement").fit(X, [0, 1] * 30)
    with pytest.raises(DataError, match="Naive Bayes learns from counts"):
        SemiSupervisedBayes().fit(-X, [0, 1] * 30)


def test_texts_estimated_saved_and_loaded(tmp_path):
    texts = [
        "wheat corn",
        "corn harvest",
        "bank rate",
        "the bank rate",
        "wheat corn harvest crop",
        "rate loan",
    ]
    texts = texts * 5 + ["crop crop harvest", "loan bank"] * 3
    y = ["grain", "grain", "money", "money", "grain", "money"] * 5 + [None] * 6
    classifier = TextClassifier(Vectorizer(weighting="txx"), SemiSupervisedBayes(), estimate="k-fold").fit(
        texts, y
    )
    assert classifier.training_summary_["estimates"]["method"] == "k-fold"
    assert classifier.predict(["crop", "loan"]).tolist() == ["grain", "money"]
    classifier.save(tmp_path / "m.wm")
    loaded = TextClassifier.load(tmp_path / "m.wm")
    np.testing.assert_array_equal(loaded.decision_function(texts), classifier.decision_function(texts))


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_labels_of_the_training_documents(kind):
    X, y, _ = task(kind=kind)
    model = SemiSupervisedBayes(0.1).fit(X, y)
    unknown = np.arange(60) >= 9
    assert (model.unlabeled_ == unknown).all()
    assert model.scores_.ravel().tolist() == model.decision_function(X).ravel().tolist()
    given = y[~unknown]
    alone = NaiveBayes(0.1).fit(X[~unknown], given if kind == "multilabel" else given.tolist())
    np.testing.assert_allclose(model.inductive_.ravel(), alone.decision_function(X).ravel(), rtol=1e-12)
    found = np.asarray(model.transduction_)
    assert (found[~unknown] == given).all(), "labels that were given stay"
    assert (found[unknown] == np.asarray(model.predict(X))[unknown]).all()
