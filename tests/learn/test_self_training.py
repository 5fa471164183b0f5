"""Self-training against the same in slow steps, and what must hold of any answer."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference import self_training as reference
from widemargin import LinearSVM, NearestNeighbors, Perceptron, SelfTraining, TextClassifier
from widemargin.errors import DataError, DataWarning, UsageError


@pytest.mark.filterwarnings("ignore:Every document is labeled")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some data is badly scaled
@parametrize_with_checks([SelfTraining(), SelfTraining(LinearSVM(C=10), weight=1.0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def clouds(seed=0, n=60, classes=3, labeled=6, gap=1.5):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % classes
    X = rng.normal(size=(n, 5)) + gap * np.eye(classes, 5)[truth]
    return X, np.where(np.arange(n) < labeled, truth, -1), truth


@given(
    st.integers(0, 2**31),
    st.sampled_from([2, 3]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    st.sampled_from([0.0, 0.5, 1.0]),
)
@settings(max_examples=30)
def test_the_same_as_in_slow_steps(seed, classes, rounds, keep, weight):
    X, codes, _ = clouds(seed, classes=classes)
    learner = LinearSVM(tol=1e-8, max_iter=20_000)

    def train(rows, labels, weights):
        model = LinearSVM(tol=1e-8, max_iter=20_000).fit(rows, labels, sample_weight=weights)

        def score(some):
            found = model.decision_function(some)
            return np.column_stack([-found, found]) if found.ndim == 1 else found

        return score

    model = SelfTraining(learner, rounds=rounds, keep=keep, weight=weight, unlabeled=-1).fit(X, codes)
    scores = np.hstack([-model.scores_, model.scores_]) if classes == 2 else model.scores_
    expected = reference.self_trained(train, X, codes, rounds if weight else 0, keep, weight)
    np.testing.assert_allclose(scores, expected, atol=1e-4)


def test_unlabeled_documents_help():
    right = {"alone": 0, "all": 0}
    for seed in range(10):
        X, codes, truth = clouds(seed, n=300, labeled=6, gap=3.0)
        model = SelfTraining(unlabeled=-1).fit(X, codes)
        hidden = codes < 0
        right["all"] += (model.transduction_ == truth)[hidden].sum()
        right["alone"] += (model.inductive_.argmax(axis=1) == truth)[hidden].sum()
    assert right["all"] > right["alone"] + 30


def test_given_labels_stay_and_the_order_does_not_matter():
    X, codes, truth = clouds(labeled=12)
    codes[0] = 1 - truth[0]  # a wrong label stays
    model = SelfTraining(unlabeled=-1).fit(X, codes)
    assert model.transduction_[0] == codes[0]
    assert np.array_equal(model.transduction_[codes >= 0], codes[codes >= 0])
    order = np.random.default_rng(0).permutation(len(codes))
    other = SelfTraining(unlabeled=-1).fit(sp.csr_array(X[order]), codes[order])
    assert np.array_equal(other.transduction_, model.transduction_[order])
    np.testing.assert_allclose(model.decision_function(X), model.scores_)


def test_other_learners():
    X, codes, truth = clouds(gap=4.0, n=90)
    for learner in (NearestNeighbors(n_neighbors=2), LinearSVM(C=0.1)):
        weight = 0.5 if isinstance(learner, LinearSVM) else 1.0
        model = SelfTraining(learner, weight=weight, unlabeled=-1).fit(X, codes)
        assert (model.transduction_ == truth).mean() > 0.8
    with pytest.raises(UsageError, match="does not accept sample_weight"):
        SelfTraining(Perceptron(), unlabeled=-1).fit(X, codes)
    with pytest.raises(UsageError, match="decision_function"):
        SelfTraining(GaussianNB(), unlabeled=-1).fit(X, codes)


def test_bad_input():
    X, codes, _ = clouds()
    with pytest.raises(DataError, match="one class per document"):
        SelfTraining().fit(X[:4], [["a"], ["a", "b"], [], None])
    with pytest.raises(DataError, match="one class"):
        SelfTraining(unlabeled=-1).fit(X, np.where(codes == 0, 0, -1))
    with pytest.raises(UsageError, match="keep"):
        SelfTraining(keep=1.5).fit(X, codes)
    with pytest.warns(DataWarning, match="Every document is labeled"):
        SelfTraining().fit(X, np.arange(60) % 2)
    two = SelfTraining(unlabeled=-1).fit(X[:3], [0, 1, -1])  # two labeled documents, one unlabeled
    assert two.transduction_.shape == (3,)


@pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")  # two labels are few for an estimate
def test_a_classifier_is_saved_as_its_last_learner(tmp_path):
    texts = ["nuclear physics", "nuclear atom physics", "atom", "parsley basil", "parsley salt", "basil salt"]
    classifier = TextClassifier(learner=SelfTraining(), estimate="k-fold", tune=None)
    classifier.fit(texts, ["A", None, None, None, None, "B"])
    assert classifier.has_weights
    classifier.save(tmp_path / "model.wm")
    loaded = TextClassifier.load(tmp_path / "model.wm")
    assert type(loaded.learner_) is LinearSVM
    new = ["an atom", "fresh parsley"]
    assert list(loaded.predict(new)) == list(classifier.predict(new)) == ["A", "B"]
    assert loaded.explain(new[0]).score == pytest.approx(classifier.explain(new[0]).score)
    np.testing.assert_allclose(loaded.decision_function(texts), classifier.decision_function(texts))
