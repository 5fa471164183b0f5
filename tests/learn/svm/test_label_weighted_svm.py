"""Machines whose labels weight terms for themselves: against one matrix for every label."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference.label_weights import factors, seen
from tests.reference.svm_dual import objective, solve
from widemargin import LabelWeightedSVM, LinearSVM, TextClassifier, leave_one_out
from widemargin._arrays import canonical_csr
from widemargin.errors import UsageError
from widemargin.estimate.cross_validation import out_of_fold, stratified_folds
from widemargin.estimate.xi_alpha import xi_alpha_of
from widemargin.features.label_factors import squared_factors
from widemargin.labels import Labels
from widemargin.learn.svm.svmlight_model import to_svmlight

EXACT = {"balance": 0, "tol": 1e-11, "max_iter": 200_000}


# The checks compare solutions of equivalent problems, so they are solved to high precision here.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some data is badly scaled
@parametrize_with_checks([LabelWeightedSVM(tol=1e-14, max_iter=20_000)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def documents(n=120, d=60, labels=20, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.random((n, d)) * (generator.random((n, d)) < 0.15)
    Y = X @ generator.normal(size=(d, labels)) + 0.2 * generator.normal(size=(n, labels)) > 0.5
    Y[0], Y[1] = True, False
    return X, Y.astype(int)


def compare_with_matrices(X, y, model, C=1.0, tolerance=1e-6):
    """Weights, factors and scores of a fitted machine, and those of LinearSVMs on explicit matrices."""
    _, signs = Labels.of(y).space_and_signs
    scores = model.decision_function(X).reshape(len(X), -1)
    for k, column in enumerate(signs.T):
        f = factors(X, column, model.mix)
        assert np.abs(np.sqrt(model.squared_factors_[k]) - f).max() < tolerance
        Z = seen(X, f)
        if len(set(column.tolist())) > 1:
            slow = LinearSVM(C, bias=model.bias, **EXACT).fit(Z, column)
            assert np.abs(slow.coef_[0] * f - model.term_weights_[k]).max() < tolerance
            assert np.abs(slow.decision_function(Z) - scores[:, k]).max() < tolerance
            assert np.atleast_1d(model.objective_)[k] == pytest.approx(slow.objective_, abs=tolerance)
        best, w, b = solve(Z, column.astype(float), np.full(len(X), C), bias=model.bias)
        assert np.abs(Z @ w + b - scores[:, k]).max() < 1e-3  # SciPy's solver is less exact
        assert np.atleast_1d(model.objective_)[k] == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("form", ["label sets", "few labels", "two classes", "classes"])
@pytest.mark.parametrize("mix", [0.0, 0.3, 1.0])
def test_the_same_as_one_matrix_for_every_label(form, mix):
    X, Y = documents()
    X[5] = 0  # an empty document
    X[:, 7] = 0  # a term that no document has
    Y[:, 3] = 0  # a label without documents
    y = {"label sets": Y, "few labels": Y[:, :2], "two classes": Y[:, 0], "classes": Y.argmax(axis=1)}[form]
    model = LabelWeightedSVM(mix=mix, **EXACT).fit(X, y)
    compare_with_matrices(X, y, model)
    assert model.decision_function(np.zeros((1, 60))).ravel() == pytest.approx(model.intercept_)


def test_folds_make_the_factors_again():
    """Also where a fold has the only document with a term."""
    X, Y = documents(labels=5)
    X[:, 50:] = np.diag(np.ones(120))[:, :10]
    found = out_of_fold(LabelWeightedSVM(**EXACT).fit(X, Y), X, Y, folds=4)
    signs = np.where(Y > 0, 1, -1)
    fold = stratified_folds(signs, 4, 0)
    for out in (fold == number for number in range(4)):
        for k in range(5):
            f = factors(X[~out], signs[~out, k], 0.3)
            slow = LinearSVM(**EXACT).fit(seen(X[~out], f), signs[~out, k])
            expected = slow.decision_function(seen(X[out], f))
            assert np.abs(found.scores[out, k] - expected).max() < 1e-6


@st.composite
def problems(draw):
    """A matrix, several labels, C, the mix, the bias, and weights of the examples."""
    n, d, labels = draw(st.integers(2, 25)), draw(st.integers(1, 12)), draw(st.integers(2, 18))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = generator.normal(size=(n, d)) * draw(st.sampled_from([0.1, 1.0, 5.0]))
    X[generator.random((n, d)) < draw(st.sampled_from([0.0, 0.6]))] = 0
    Y = generator.random((n, labels)) < 0.4
    Y[0], Y[1] = True, False
    weights = generator.choice([0.0, 0.5, 2.0], size=n) if draw(st.booleans()) else np.ones(n)
    weights[:2] = 1.0
    C, bias = draw(st.sampled_from([0.1, 1.0, 30.0])), draw(st.sampled_from([None, 0.5, 1.0]))
    return X, Y.astype(int), C, draw(st.sampled_from([0.0, 0.3, 0.9, 1.0])), bias, weights


@settings(max_examples=60, deadline=None)
@given(problems())
def test_the_minimum_of_the_objective(problem):
    X, Y, C, mix, bias, weights = problem
    tol, passes = 1e-8, 5_000_000
    model = LabelWeightedSVM(C, mix=mix, bias=bias, balance=0, tol=tol, max_iter=passes)
    model.fit(X, Y, sample_weight=weights)
    for k in range(Y.shape[1]):
        y = np.where(Y[:, k] > 0, 1.0, -1.0)
        f = factors(X, y, mix, weights)
        squares = model.squared_factors_[k].astype(float)
        assert np.abs(np.sqrt(squares) - f).max() < 1e-6
        Z, costs = seen(X, np.sqrt(squares)), C * weights
        best, _, _ = solve(Z, y, costs, bias=bias)
        w = np.divide(model.term_weights_[k], np.sqrt(squares), out=np.zeros_like(f), where=squares > 0)
        found = objective(Z, y, w, model.intercept_[k], costs, bias=bias)
        assert model.objective_[k] == pytest.approx(found, rel=1e-9, abs=1e-12)
        # The gap is a certificate, also where nearly parallel rows of both signs kept it from closing.
        assert model.duality_gap_[k] <= tol * model.objective_[k] or model.n_iter_[k] == passes
        assert found - best <= model.duality_gap_[k] + 1e-6 * max(best, 1)
        margins = y * (Z @ w + model.intercept_[k])
        assert np.allclose(model.xi_[:, k], np.maximum(1 - margins, 0), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gap_is_certified(dtype):
    X, Y = documents(n=400, d=300, labels=40)
    model = LabelWeightedSVM(balance=0, tol=1e-3).fit(sp.csr_array(X.astype(dtype)), Y)
    assert (model.duality_gap_ <= 1e-3 * model.objective_).all()
    for k in (0, 7, 39):
        y = np.where(Y[:, k] > 0, 1.0, -1.0)
        f = np.sqrt(model.squared_factors_[k].astype(float))
        Z = seen(X.astype(dtype).astype(float), f)
        found = objective(Z, y, model.term_weights_[k] / f, model.intercept_[k], np.ones(len(y)))
        assert found == pytest.approx(model.objective_[k], rel=1e-9)
        best = solve(Z, y, np.ones(len(y)))[0]
        assert -1e-6 * best <= found - best <= model.duality_gap_[k] + 1e-6 * best


def test_the_same_for_any_number_of_threads_and_any_neighbors():
    X, Y = documents(labels=40)
    one = LabelWeightedSVM(n_jobs=1).fit(X, Y)
    for threads in (2, 5):
        other = LabelWeightedSVM(n_jobs=threads).fit(X, Y)
        assert np.array_equal(one.term_weights_, other.term_weights_)
        assert np.array_equal(one.squared_factors_, other.squared_factors_)
        assert np.array_equal(one.intercept_, other.intercept_)
        assert np.array_equal(one.decision_function(X), other.decision_function(X))
    some = LabelWeightedSVM(n_jobs=1).fit(X, Y[:, 3:30:2])
    assert np.array_equal(some.term_weights_, one.term_weights_[3:30:2])
    assert np.array_equal(some.decision_function(X), one.decision_function(X)[:, 3:30:2])


def test_lengths_of_documents_and_terms_of_none_change_nothing():
    X, Y = documents()
    model = LabelWeightedSVM(**EXACT).fit(X, Y)
    longer = LabelWeightedSVM(**EXACT).fit(X * np.linspace(0.1, 9, len(X))[:, None], Y)
    assert np.abs(longer.term_weights_ - model.term_weights_).max() < 1e-8
    wider = LabelWeightedSVM(**EXACT).fit(np.column_stack([X, np.zeros((len(X), 9))]), Y)
    assert np.abs(wider.term_weights_[:, :60] - model.term_weights_).max() < 1e-8
    assert np.allclose(wider.squared_factors_[:, 60:], 0.49)


def test_without_a_mix_it_is_a_linear_machine_on_rows_of_length_1():
    X, Y = documents()
    Z = seen(X, np.ones(60))
    model, plain = LabelWeightedSVM(mix=0.0, **EXACT).fit(X, Y), LinearSVM(**EXACT).fit(Z, Y)
    assert (model.squared_factors_ == 1).all()
    assert np.abs(model.term_weights_ - plain.coef_).max() < 1e-8
    assert np.abs(model.decision_function(X) - plain.decision_function(Z)).max() < 1e-8


def test_weights_count_as_repetitions():
    X, Y = documents(n=60, labels=5)
    weights = np.random.default_rng(1).integers(0, 4, size=60)
    model = LabelWeightedSVM(**EXACT).fit(X, Y, sample_weight=weights)
    repeated = LabelWeightedSVM(**EXACT).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    occurs = (X[weights > 0] != 0).any(axis=0)
    assert occurs.all()
    assert np.abs(model.squared_factors_ - repeated.squared_factors_).max() < 1e-5
    assert np.abs(model.decision_function(X) - repeated.decision_function(X)).max() < 1e-5


def test_costs_of_each_label():
    X, Y = documents(labels=5)
    costs = [0.1, 1.0, 10.0, 1.0, 0.5]
    model = LabelWeightedSVM(costs, **EXACT).fit(X, Y)
    for k, C in enumerate(costs):
        alone = LabelWeightedSVM(C, **EXACT).fit(X, Y)
        assert np.array_equal(model.term_weights_[k], alone.term_weights_[k])


def test_a_warm_start_takes_fewer_passes():
    X, Y = documents()
    model = LabelWeightedSVM(warm_start=True).fit(X, Y)
    first = model.n_iter_.sum()
    assert model.fit(X, Y).n_iter_.sum() < first
    cold = LabelWeightedSVM().fit(X, Y)
    assert np.abs(model.objective_ / cold.objective_ - 1).max() < 2e-3


def test_parts_add_up_to_the_score():
    X, Y = documents()
    X[5] = 0
    model = LabelWeightedSVM().fit(X, Y)
    scores = model.decision_function(X)
    for i in (0, 5, 9):
        row = canonical_csr(X[[i]])
        constants, parts = model.score_parts(row)
        assert parts.shape == (len(row.data), 20)
        assert constants + parts.sum(axis=0) == pytest.approx(scores[i], abs=1e-12)


def test_what_was_saved_scores_the_same():
    X, Y = documents()
    model = LabelWeightedSVM().fit(X, Y)
    again = LabelWeightedSVM.from_state(*model.get_state())
    assert np.array_equal(model.decision_function(X), again.decision_function(X))
    assert again.get_params() == model.get_params()


def test_not_converged_is_told():
    X, Y = documents()
    with pytest.warns(ConvergenceWarning, match=r"did not converge in 1 passes.*Raise max_iter or tol"):
        LabelWeightedSVM(100.0, tol=1e-8, max_iter=1).fit(X, Y[:, 0])


@pytest.mark.parametrize(
    ("parameters", "message"), [({"mix": 1.5}, "mix=1.5"), ({"C": 0.0}, "C="), ({"bias": "none"}, "bias=")]
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(UsageError, match=message):
        LabelWeightedSVM(**parameters).fit(np.eye(2), [0, 1])


def test_no_estimate_that_leaves_documents_out_without_making_factors_again():
    X, Y = documents(labels=3)
    model = LabelWeightedSVM().fit(X, Y)
    for estimate in (lambda: leave_one_out(model, X, Y), lambda: xi_alpha_of(model, X, Y)):
        with pytest.raises(UsageError, match=r"labels of all documents.*Use k-fold"):
            estimate()
    texts = [f"word{label} common text{i % 3}" for i in range(10) for label in "ab"]
    classifier = TextClassifier(learner=LabelWeightedSVM(), tune=None, estimate=None)
    for method in ("leave-one-out", "one-step", "xi-alpha"):
        with pytest.raises(UsageError, match="Use k-fold"):
            clone(classifier).set_params(estimate=method).fit(texts, list("ab") * 10)
    found = classifier.set_params(estimate="auto").fit(texts, list("ab") * 10)
    assert found.training_summary_["estimates"]["method"] == "k-fold"


def test_svm_light_has_no_such_model():
    X, Y = documents()
    with pytest.raises(UsageError, match="SVM-light has no model for a LabelWeightedSVM"):
        to_svmlight(LabelWeightedSVM().fit(X, Y[:, 0]))


def test_factors_of_many_labels_at_once_are_those_of_each():
    X, Y = documents(labels=37)
    csr, signs = canonical_csr(X), np.where(Y > 0, 1, -1).astype(np.int8)
    together = squared_factors(csr, signs, np.zeros(0), 0.3)
    for k in (0, 15, 16, 36):
        alone = squared_factors(csr, signs[:, [k]], np.zeros(0), 0.3)
        assert np.array_equal(alone[:, 0], together[:, k])
        assert np.abs(np.sqrt(alone[:, 0]) - factors(X, signs[:, k], 0.3)).max() < 1e-6
        assert np.sqrt(alone[:, 0]).mean() == pytest.approx(1, abs=1e-6)
