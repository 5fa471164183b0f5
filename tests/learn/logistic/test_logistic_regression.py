"""Logistic regression: against a slow solver, scikit-learn, and itself under other circumstances."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference.logistic import objective, solve
from widemargin import LogisticRegression, TextClassifier, Vectorizer
from widemargin.errors import UsageError
from widemargin.estimate.error_bounds import error_bounds
from widemargin.estimate.xi_alpha import xi_alpha_of


# The checks compare solutions of equivalent problems, so they are solved to high precision here.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some data is badly scaled
@parametrize_with_checks([LogisticRegression(tol=1e-18, max_iter=20_000)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def clouds(n=300, d=500, labels=20, seed=0):
    generator = np.random.default_rng(seed)
    X = sp.random(n, d, density=0.03, random_state=generator, format="csr", dtype=np.float32)
    Y = X @ generator.normal(size=(d, labels)) + 0.3 * generator.normal(size=(n, labels)) > 0.5
    Y[0], Y[1] = True, False
    return X, Y.astype(int)


@st.composite
def problems(draw):
    """A matrix, several labels, C, the bias, weights of examples, and the weight of the positives."""
    n, d, labels = draw(st.integers(2, 25)), draw(st.integers(1, 12)), draw(st.integers(2, 18))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = generator.normal(size=(n, d)) * draw(st.sampled_from([0.1, 1.0, 5.0]))
    X[generator.random((n, d)) < draw(st.sampled_from([0.0, 0.6]))] = 0
    Y = generator.random((n, labels)) < 0.4
    Y[0], Y[1] = True, False
    weights = generator.choice([0.0, 0.5, 2.0], size=n) if draw(st.booleans()) else np.ones(n)
    weights[:2] = 1.0
    C, bias = draw(st.sampled_from([1e-3, 0.1, 1.0, 30.0])), draw(st.sampled_from([None, 0.5, 1.0, 10.0]))
    return X, Y.astype(int), C, bias, weights, draw(st.sampled_from([1.0, 3.0]))


@settings(max_examples=60, deadline=None)
@given(problems())
def test_the_minimum_of_the_objective(problem):
    X, Y, C, bias, weights, factor = problem
    tol = 1e-9
    of_positives = dict.fromkeys(range(Y.shape[1]), factor)
    model = LogisticRegression(C, bias=bias, tol=tol, class_weight=of_positives, max_iter=100_000)
    model.fit(X, Y, sample_weight=weights)
    for k in range(Y.shape[1]):
        y = np.where(Y[:, k] > 0, 1.0, -1.0)
        costs = C * weights * np.where(y > 0, factor, 1.0)
        best, w, _ = solve(X, y, costs, bias)
        found = objective(X, y, model.coef_[k], model.intercept_[k], costs, bias)
        assert model.objective_[k] == pytest.approx(found, rel=1e-9)
        # The gap is a certificate.
        assert -1e-12 <= (found - best) / best <= max(model.duality_gap_[k] / best, 0) + 1e-12
        assert model.duality_gap_[k] <= tol * model.objective_[k]
        # 1/2 |w - w*|^2 is at most what the objective lacks.
        near = np.sqrt(2 * model.duality_gap_[k]) + 1e-7
        assert np.linalg.norm(model.coef_[k] - w) <= near
        margins = y * (X @ model.coef_[k] + model.intercept_[k])
        assert np.allclose(model.xi_[:, k][costs > 0], np.maximum(1 - margins, 0)[costs > 0], atol=1e-9)
        share = model.alpha_[:, k][costs > 0] / costs[costs > 0]
        assert ((share >= 0) & (share <= 1)).all()
        assert (model.alpha_[costs == 0, k] == 0).all()


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_the_gap_is_certified_in_single_precision_too(C, tol):
    X, Y = clouds()
    model = LogisticRegression(C, tol=tol).fit(X, Y)
    assert (model.duality_gap_ <= tol * model.objective_).all()
    dense = X.toarray().astype(float)
    for k in (0, 7, 19):
        y = np.where(Y[:, k] > 0, 1.0, -1.0)
        best = solve(dense, y, np.full(len(y), C))[0]
        found = objective(dense, y, model.coef_[k], model.intercept_[k], np.full(len(y), C))
        assert found == pytest.approx(model.objective_[k], rel=1e-9)
        assert 0 <= found - best + 1e-9 <= model.duality_gap_[k] + 2e-9


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_agrees_with_liblinear(C):
    X, Y = clouds()
    ours = LogisticRegression(C, tol=1e-10).fit(X, Y)
    for k in (0, 5):
        peer = Peer(C=C, solver="liblinear", tol=1e-8, max_iter=10_000, intercept_scaling=1.0)
        peer.fit(X.astype(np.float64), Y[:, k])
        assert np.abs(ours.coef_[k] - peer.coef_[0]).max() < 1e-4
        assert ours.intercept_[k] == pytest.approx(peer.intercept_[0], abs=1e-4)


def test_the_same_for_any_number_of_threads_and_any_neighbors():
    X, Y = clouds(labels=40)
    one = LogisticRegression(10.0, n_jobs=1).fit(X, Y)
    for threads in (2, 5):
        other = LogisticRegression(10.0, n_jobs=threads).fit(X, Y)
        assert np.array_equal(one.coef_, other.coef_)
        assert np.array_equal(one.intercept_, other.intercept_)
    some = LogisticRegression(10.0, n_jobs=1).fit(X, Y[:, 3:30:2])
    assert np.array_equal(some.coef_, one.coef_[3:30:2])


def test_warm_starts_follow_a_path():
    X, Y = clouds()
    path = LogisticRegression(tol=1e-5).path(X, Y, [0.1, 1.0, 10.0])
    for model in path:
        cold = LogisticRegression(model.C, tol=1e-5).fit(X, Y)
        assert not model.warm_start
        assert np.abs(model.objective_ / cold.objective_ - 1).max() < 1e-5
    again = LogisticRegression(1.0, tol=1e-4, warm_start=True).fit(X, Y)
    first = again.n_iter_.copy()
    again.fit(X, Y)
    assert (again.n_iter_ < first).all()


def test_not_converged_is_told():
    X, Y = clouds()
    with pytest.warns(ConvergenceWarning, match=r"did not converge in 1 passes.*Raise max_iter or tol"):
        LogisticRegression(100.0, tol=1e-8, max_iter=1).fit(X, Y[:, 0])


@pytest.mark.parametrize("C", [np.inf, 0.0, -1.0])
def test_costs_are_positive_and_finite(C):
    with pytest.raises(UsageError, match="C="):
        LogisticRegression(C).fit(np.eye(2), [0, 1])


class TestProbabilities:
    def test_two_classes(self):
        X, Y = clouds()
        model = LogisticRegression(tol=1e-10).fit(X, Y[:, 0])
        peer = Peer(solver="liblinear", tol=1e-8).fit(X.astype(np.float64), Y[:, 0])
        assert np.abs(model.predict_proba(X) - peer.predict_proba(X.astype(np.float64))).max() < 1e-4

    def test_several_classes_are_divided_by_their_sum(self):
        X, Y = clouds()
        y = np.array(["a", "b", "c", "d"])[Y[:, :4].argmax(axis=1)]
        model = LogisticRegression(tol=1e-10).fit(X, y)
        peer = OneVsRestClassifier(Peer(solver="liblinear", tol=1e-8)).fit(X.astype(np.float64), y)
        found = model.predict_proba(X)
        assert np.abs(found - peer.predict_proba(X.astype(np.float64))).max() < 1e-4
        assert np.allclose(found.sum(axis=1), 1)
        assert (model.classes_[found.argmax(axis=1)] == model.predict(X)).all()

    def test_label_sets_have_one_for_each_label(self):
        X, Y = clouds()
        model = LogisticRegression().fit(X, Y)
        expected = 1 / (1 + np.exp(-model.decision_function(X)))
        assert np.allclose(model.predict_proba(X), expected)
        assert ((model.predict_proba(X) > 0.5) == (model.predict(X) > 0)).all()

    @pytest.mark.parametrize("labels", ["ab", "abc"])
    def test_of_a_text_classifier_without_calibration(self, labels, tmp_path):
        texts = [f"word{label} common text{i % 3}" for i in range(10) for label in labels]
        y = list(labels) * 10
        model = TextClassifier(Vectorizer(), LogisticRegression(), estimate=None).fit(texts, y)
        found = model.predict_proba(texts)
        rows = model.vectorizer_.transform(texts)
        assert np.allclose(found, model.learner_.predict_proba(rows))
        model.save(tmp_path / "m.wm")
        loaded = TextClassifier.load(tmp_path / "m.wm")
        assert loaded.calibration is None
        assert np.allclose(loaded.predict_proba(texts), found)

    def test_a_calibration_replaces_them(self):
        X, Y = clouds()
        plain = TextClassifier(learner=LogisticRegression(), tune=None, estimate=None).fit(X, Y[:, 0])
        fitted = TextClassifier(
            learner=LogisticRegression(), calibration="platt", tune=None, estimate=None
        ).fit(X, Y[:, 0])
        assert not np.allclose(plain.predict_proba(X), fitted.predict_proba(X))


def test_bounds_for_the_hinge_loss_are_refused():
    X, Y = clouds(n=50, labels=2)
    with pytest.raises(UsageError, match="hinge loss"):
        error_bounds(LogisticRegression().fit(X, Y), X, Y)


def test_xi_alpha_bounds_the_leave_one_out_error():
    X, Y = clouds(n=80, labels=3)
    model = LogisticRegression(3.0, tol=1e-6).fit(X, Y)
    table = xi_alpha_of(model, X, Y)
    left = model.left_out_scores(X, Y, accuracy=0.01).table
    errors = left.false_positive + left.false_negative
    assert (errors <= table.false_positive + table.false_negative).all()
    assert errors.sum() > 0
