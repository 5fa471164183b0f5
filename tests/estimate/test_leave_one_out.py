"""Leave-one-out equals retraining without each example, and its certificates hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from tests.reference.retraining import left_out_scores
from widemargin import KernelSVM, LinearSVM
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.held_out import leave_one_out
from widemargin.measure import error_rate, precision, recall

# What the oracle, an interior point method, gets wrong.
ORACLE = 2e-5


@st.composite
def problems(draw):
    """Noisy points, some of them twice, both signs, costs from soft to almost hard."""
    n, seed = draw(st.integers(3, 14)), draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, draw(st.integers(1, 5))))
    if draw(st.booleans()):
        X[-1] = X[0]
    y = np.where(X[:, 0] + generator.normal(size=n) > 0, 1, -1)
    y[:2] = [1, -1]
    return X, y, draw(st.sampled_from([0.05, 0.5, 2.0, 50.0]))


@pytest.mark.filterwarnings("ignore:.*have one example:widemargin.errors.DataWarning")
@pytest.mark.filterwarnings("ignore:.*did not converge in 1000 passes")  # the start of leaving out, no more
@settings(max_examples=200)
@given(problems(), st.sampled_from([None, 0.5, 1.0, 3.0]), st.booleans())
def test_equals_retraining_without_each_example(problem, bias, squared):
    X, y, C = problem
    loss = "squared_hinge" if squared else "hinge"
    model = LinearSVM(C, loss=loss, bias=bias).fit(X, y)
    K, upper = X @ X.T, np.full(len(y), C)
    if squared:
        K, upper = K + np.eye(len(y)) / (2 * C), np.full(len(y), np.inf)
    plane = "unbiased" if bias is None else "bias-feature"
    exact, _ = left_out_scores(K, y, upper, plane, 1.0 if bias is None else bias)
    for accuracy in (None, 0.3, 1e-3):
        found = leave_one_out(model, X, y, scores=accuracy is not None, accuracy=accuracy or 1.0)
        assert found.method == "leave-one-out"
        assert (np.abs(found.scores[:, 0] - exact) <= found.accuracy[:, 0] + ORACLE).all()
        assert accuracy is None or (found.accuracy <= accuracy).all()
        certain = np.abs(exact) > ORACLE
        assert (np.sign(found.scores[certain, 0]) == np.sign(exact[certain])).all()
        assert (found.signs[certain, 0] == np.where(exact[certain] > 0, 1, -1)).all()


def clouds(n=120, labels=3, seed=0):
    generator = np.random.default_rng(seed)
    X = sp.random(n, 60, density=0.2, random_state=generator, format="csr", dtype=np.float32)
    Y = (X @ generator.normal(size=(60, labels)) + 0.3 * generator.normal(size=(n, labels)) > 0.3).astype(int)
    return X, Y


def test_labels_and_threads_do_not_matter():
    X, Y = clouds()
    model = LinearSVM(3.0, balance=0.3, tol=1e-6, max_iter=5000).fit(X, Y)
    together = leave_one_out(model, X, Y, n_jobs=2)
    assert np.array_equal(together.scores, leave_one_out(model, X, Y, n_jobs=1).scores)
    for k in range(Y.shape[1]):
        machine = LinearSVM(3.0, balance=0.3, tol=1e-6, max_iter=5000)
        alone = leave_one_out(machine.fit(X, Y[:, k]), X, Y[:, k])
        within = alone.accuracy[:, 0] + together.accuracy[:, k]
        assert (np.abs(alone.scores[:, 0] - together.scores[:, k]) <= within).all()
        assert np.array_equal(alone.signs[:, 0], together.signs[:, k])


def test_only_signs_are_cheaper_and_the_same():
    X, Y = clouds(seed=1)
    model = LinearSVM(1.0).fit(X, Y)
    signs, scores = leave_one_out(model, X, Y, scores=False), leave_one_out(model, X, Y, accuracy=1e-3)
    assert np.array_equal(signs.signs, scores.signs)
    assert (signs.retrained < scores.retrained).all()
    assert error_rate(signs.table).tolist() == error_rate(scores.table).tolist()


def test_weights_class_weights_and_sparse_duals():
    X, Y = clouds(n=60, seed=2)
    y, weights = Y[:, 0], np.linspace(0.2, 2.0, 60)
    weights[5] = 0.0
    settings_of = {"C": 2.0, "class_weight": {1: 3.0}, "tol": 1e-6}
    model = LinearSVM(**settings_of).fit(X, y, weights)
    found = leave_one_out(model, X, y, sample_weight=weights, accuracy=1e-3)
    for t in range(0, 60, 5):
        without = weights.copy()
        without[t] = 0.0
        exact = LinearSVM(**{**settings_of, "tol": 1e-10}, max_iter=100_000).fit(X, y, without)
        assert found.scores[t, 0] == pytest.approx(exact.decision_function(X[[t]])[0], abs=1.1e-3)
    sparse = LinearSVM(sparse_coef=True, tol=1e-6).fit(X, Y)
    dense = LinearSVM(tol=1e-6).fit(X, Y)
    assert np.array_equal(leave_one_out(sparse, X, Y).signs, leave_one_out(dense, X, Y).signs)


def test_one_positive_example_is_missed_without_itself():
    X, _ = clouds(n=40)
    y = np.zeros(40, int)
    y[7] = 1
    model = LinearSVM().fit(X, y)
    with pytest.warns(DataWarning, match="have one example"):
        found = leave_one_out(model, X, y)
    assert found.signs[7, 0] == -1
    assert int(found.table.false_negative[0]) == 1


@pytest.mark.parametrize(
    "learner",
    [
        LinearSVM(2.0, bias="unregularized"),
        KernelSVM(2.0, kernel="rbf", gamma=1.0),
        LinearSVM(np.inf),
        KernelSVM(kernel="linear", bias=1.0),
    ],
    ids=repr,
)
def test_every_machine_behind_one_interface(learner):
    X, Y = clouds(n=40)
    if np.isinf(learner.C):
        Y = (X[:, [0]].toarray() > 0.1).astype(int)
    y = Y[:, 0]
    found = leave_one_out(learner.fit(X, y), X, y, accuracy=1e-3)
    assert found.method == "leave-one-out"
    for t in range(0, 40, 7):
        without = np.ones(40)
        without[t] = 0.0
        exact = clone(learner).set_params(tol=1e-7, max_iter=1_000_000).fit(X, y, without)
        assert found.scores[t, 0] == pytest.approx(exact.decision_function(X[[t]])[0], abs=2e-3)


def test_other_learners_are_cross_validated():
    X, y = np.array([[0.0], [0.1], [0.3], [2.0], [2.1], [2.3]]), np.array([0, 0, 0, 1, 1, 1])

    class Scores(GaussianNB):
        def decision_function(self, X):
            return np.diff(self.predict_log_proba(X), axis=1)[:, 0]

    learner = Scores().fit(X, y)
    from widemargin.labels import Labels

    learner.label_space_ = Labels.of(y).space
    found = leave_one_out(learner, X, y, folds=3)
    assert (found.method, found.folds) == ("k-fold", 3)
    assert np.isinf(found.accuracy).all()
    assert found.signs[:, 0].tolist() == [-1, -1, -1, 1, 1, 1]


def test_bad_input():
    X, Y = clouds(n=20)
    with pytest.raises(UsageError, match="fitted"):
        leave_one_out(LinearSVM(), X, Y)
    with pytest.raises(UsageError, match="accuracy"):
        leave_one_out(LinearSVM().fit(X, Y), X, Y, accuracy=0)


def test_agrees_with_svm_light(svmlight_stories):
    X, y, answers = svmlight_stories
    answer = answers["linear unbiased C=1"]
    table = leave_one_out(LinearSVM(1.0, bias=None).fit(X, y), X, y, scores=False).table
    # Printed with two digits, of 400 examples.
    for measure, key in ((error_rate, "error"), (recall, "recall"), (precision, "precision")):
        assert 100 * measure(table)[0] == pytest.approx(answer["leave_one_out"][key], abs=0.006)


@pytest.mark.needs_corpus("reuters21578")
def test_equals_brute_force_on_real_documents(corpus):
    from widemargin import Vectorizer

    part = corpus("reuters21578", "modapte").train
    X = Vectorizer().fit_transform(part.texts[:600])
    y = np.array(["acq" in labels for labels in part.labels[:600]]).astype(int)
    model = LinearSVM(1.0).fit(X, y)
    found = leave_one_out(model, X, y, scores=False)
    everything = np.ones(600)
    supports = np.flatnonzero(model.alpha_ > 0)
    for t in np.random.default_rng(0).choice(supports, 60, replace=False):
        without = everything.copy()
        without[t] = 0.0
        exact = LinearSVM(1.0, tol=1e-8, max_iter=20_000).fit(X, y, without).decision_function(X[[t]])[0]
        assert (found.scores[t, 0] > 0) == (exact > 0)
        assert abs(found.scores[t, 0] - exact) <= found.accuracy[t, 0] + 1e-3
