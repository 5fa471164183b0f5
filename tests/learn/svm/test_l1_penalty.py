"""LinearSVM(penalty="l1") against a generic solver, against LinearSVC, and against itself."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference.l1_svm import objective, solve
from widemargin import LinearSVM, TextClassifier, leave_one_out
from widemargin.errors import UsageError
from widemargin.estimate.error_bounds import error_bounds
from widemargin.estimate.held_out import choose_method
from widemargin.estimate.xi_alpha import xi_alpha_of

L1 = {"penalty": "l1", "balance": 0}


# The checks compare solutions of equivalent problems, so they are solved to high precision here.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some data is badly scaled
@parametrize_with_checks([LinearSVM(penalty="l1", tol=1e-12, max_iter=20_000)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def text_like(n=400, d=600, labels=5, seed=0):
    """Sparse rows of length one; few features matter."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(sp.random(n, d, density=0.05, format="csr", random_state=rng, dtype=np.float64))
    X = sp.csr_array(sp.diags_array(1 / np.sqrt(np.maximum((X * X).sum(axis=1), 1e-12))) @ X)
    truth = rng.normal(size=(d, labels)) * (rng.random((d, labels)) < 0.1)
    return X, (X @ truth + rng.normal(scale=0.1, size=(n, labels)) > 0.1).astype(int)


@st.composite
def problems(draw):
    n, d = draw(st.integers(2, 14)), draw(st.integers(1, 6))
    value = st.floats(-3, 3).map(lambda v: round(v, 2))
    X = np.array(draw(st.lists(st.lists(value, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    y[0], y[1] = 1.0, -1.0
    return X, y


@settings(max_examples=150, deadline=None)
@given(
    problems(),
    st.sampled_from([0.01, 0.3, 1.0, 8.0]),
    st.sampled_from([None, 0.5, 1.0]),
    st.sampled_from([1e-2, 1e-4, 1e-7]),
    st.booleans(),
)
def test_reaches_the_optimum_and_the_gap_bounds_what_is_missing(problem, C, bias, tol, weighted):
    X, y = problem
    weights = 0.25 + np.arange(len(y)) % 3 if weighted else np.ones(len(y))
    best = solve(X, y, C * weights, bias)
    model = LinearSVM(C, bias=bias, tol=tol, max_iter=10**6, **L1).fit(X, y, weights if weighted else None)
    reached = objective(X, y, model.coef_[0], model.intercept_[0], C * weights, bias)
    assert model.objective_ == pytest.approx(reached, rel=1e-9)
    assert model.duality_gap_ <= tol * reached * (1 + 1e-12)
    # The reference is within 1e-7 of the optimum.
    assert reached - model.duality_gap_ <= best * (1 + 1e-7)
    assert reached >= best * (1 - 1e-7)


@pytest.mark.parametrize("C", [0.3, 2.0])
@pytest.mark.parametrize("single", [False, True])
def test_the_same_machine_as_scikit_learn(C, single):
    X, Y = text_like()
    X = X.astype(np.float32) if single else X
    for scaling in (1.0, 2.5):
        ours = LinearSVM(C, bias=scaling, tol=1e-9, max_iter=10**5, **L1).fit(X, Y)
        peer = LinearSVC(
            penalty="l1", dual=False, C=C, intercept_scaling=scaling, tol=1e-8, max_iter=10**5, random_state=0
        )
        for k in range(Y.shape[1]):
            peer.fit(sp.csr_matrix(X.astype(np.float64)), Y[:, k])
            np.testing.assert_allclose(ours.coef_[k], peer.coef_[0], atol=2e-4)
            np.testing.assert_allclose(ours.intercept_[k], peer.intercept_[0], atol=2e-4)
            reached = objective(
                X, 2.0 * Y[:, k] - 1, peer.coef_[0], peer.intercept_[0], np.full(400, C), scaling
            )
            assert ours.objective_[k] <= reached * (1 + 1e-7)
    assert np.count_nonzero(ours.coef_) < 0.5 * ours.coef_.size


def test_the_same_result_for_any_number_of_threads_and_form_of_weights():
    X, Y = text_like(labels=70)  # more labels than are dense at a time
    one = LinearSVM(5.0, n_jobs=1, **L1).fit(X, Y)
    for other in (LinearSVM(5.0, n_jobs=3, **L1), LinearSVM(5.0, sparse_coef=True, **L1)):
        found = other.fit(X, Y)
        coef = found.coef_.toarray() if other.sparse_coef else found.coef_
        np.testing.assert_array_equal(coef, one.coef_)
        np.testing.assert_array_equal(found.intercept_, one.intercept_)
        np.testing.assert_allclose(found.decision_function(X), one.decision_function(X), atol=1e-12)
    assert not np.array_equal(LinearSVM(5.0, random_state=1, **L1).fit(X, Y).coef_, one.coef_)


def test_costs_of_labels_classes_and_examples():
    X, Y = text_like(labels=2)
    tight = {"tol": 1e-9, "max_iter": 10**5, **L1}
    both = LinearSVM([1.0, 7.0], **tight).fit(X, Y)
    for k, C in enumerate((1.0, 7.0)):
        alone = LinearSVM(C, **tight).fit(X, Y[:, k])
        assert both.objective_[k] == pytest.approx(alone.objective_, rel=1e-8)
    y = Y[:, 0]
    weighted = LinearSVM(2.0, class_weight={1: 3.0}, **tight).fit(X, y)
    same = LinearSVM(2.0, **tight).fit(X, y, np.where(y == 1, 3.0, 1.0))
    assert weighted.objective_ == pytest.approx(same.objective_, rel=1e-8)
    without = LinearSVM(2.0, **tight).fit(X[50:], y[50:])
    zero = LinearSVM(2.0, **tight).fit(X, y, np.where(np.arange(len(y)) < 50, 0.0, 1.0))
    assert zero.objective_ == pytest.approx(without.objective_, rel=1e-8)


def test_a_warm_start_and_a_path_reach_the_same_optimum_sooner():
    X, Y = text_like(labels=3)
    cold = LinearSVM(10.0, tol=1e-5, **L1).fit(X, Y)
    warm = LinearSVM(10.0, tol=1e-5, warm_start=True, **L1).fit(X, Y).fit(X, Y)
    np.testing.assert_allclose(warm.objective_, cold.objective_, rtol=2e-5)
    assert (warm.n_iter_ <= 2).all()
    path = LinearSVM(tol=1e-5, sparse_coef=True, **L1).path(X, Y, [1.0, 10.0])
    np.testing.assert_allclose(path[1].objective_, cold.objective_, rtol=2e-5)


def test_no_convergence_is_a_warning():
    X, Y = text_like(labels=1)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 passes"):
        model = LinearSVM(100.0, max_iter=1, **L1).fit(X, Y[:, 0])
    assert model.n_iter_ == 1
    assert 0 < model.duality_gap_ <= model.objective_


def test_examples_that_cost_nothing_leave_all_weights_at_zero():
    X, Y = text_like(labels=1)
    model = LinearSVM(class_weight={0: 0.0, 1: 0.0}, **L1).fit(X, Y[:, 0])
    assert model.objective_ == 0
    assert not model.coef_.any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, 'penalty="l1" requires loss="squared_hinge"'),
        ({"bias": "unregularized"}, 'penalty="l1" requires a regularized bias'),
        ({"stop": "gradient"}, "stop='gradient' requires penalty=\"l2\""),
        ({"C": np.inf}, "C=inf"),
        ({"penalty": "l3"}, "penalty='l3': expected"),
    ],
)
def test_what_does_not_go_together_is_refused(parameters, message):
    X, Y = text_like(labels=1)
    with pytest.raises(UsageError, match=message):
        LinearSVM(**{**L1, **parameters}).fit(X, Y[:, 0])


def test_examples_are_held_out_in_folds():
    X, Y = text_like(labels=2)
    model = LinearSVM(**L1).fit(X, Y)
    assert not hasattr(model, "alpha_")
    assert not hasattr(model, "left_out_scores")
    assert choose_method("auto", model, X) == "k-fold"
    assert choose_method("auto", model, X, cells=10**9) == "k-fold"
    for estimate in (leave_one_out, xi_alpha_of):
        with pytest.raises(UsageError, match="no dual variable for each document"):
            estimate(model, X, Y)
    with pytest.raises(UsageError, match="LinearSVM has no margin"):
        error_bounds(model, X, Y)
    with pytest.raises(AttributeError, match="left_out_risk"):
        model.left_out_risk(X)


def test_a_second_fit_forgets_the_dual_variables_of_the_first():
    X, Y = text_like(labels=2)
    model = LinearSVM().fit(X, Y)
    assert hasattr(model, "alpha_")
    model.set_params(penalty="l1").fit(X, Y)
    assert not hasattr(model, "alpha_")
    assert not hasattr(model, "xi_")


def test_state_keeps_only_weights_that_are_not_zero():
    X, Y = text_like()
    model = LinearSVM(**L1).fit(X, Y)
    config, arrays = model.get_state()
    assert len(arrays["coef_data"]) == np.count_nonzero(model.coef_) < 0.5 * model.coef_.size
    again = LinearSVM.from_state(json.loads(json.dumps(config)), arrays)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.penalty == "l1"


def test_a_text_classifier_is_saved_smaller(tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{k}" for k in rng.integers(0, 300, 20)) for _ in range(400)]
    labels = ["yes" if "w7" in text.split() or "w9" in text.split() else "no" for text in texts]
    sizes = {}
    for penalty in ("l1", "l2"):
        model = TextClassifier(learner=LinearSVM(10.0, penalty=penalty), tune=None, estimate=None).fit(
            texts, labels
        )
        model.save(tmp_path / penalty)
        sizes[penalty] = (tmp_path / penalty).stat().st_size
        again = TextClassifier.load(tmp_path / penalty)
        assert list(again.predict(texts)) == list(model.predict(texts))
    assert model.predict(["w7 w8"]).tolist() == ["yes"]
    assert sizes["l1"] < sizes["l2"]
