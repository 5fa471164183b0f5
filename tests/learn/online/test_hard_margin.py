"""C=inf: the programs of Zhang's section 2 without slacks, against generic solvers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from tests.learn.online.test_dual_updates import positive_weights, problems
from tests.reference import winnow as reference
from tests.reference.hard_margin import inverse_margin
from widemargin import DualSVM, LargeMarginWinnow, LinearSVM, TextClassifier
from widemargin.errors import DataError, UsageError

TINY = 1e-9
NOT_APART = (np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1, 0, 0]))


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([None, 4.0, 40.0]), st.sampled_from([None, 1.0]), st.booleans())
def test_winnow_reaches_the_program_of_a_generic_solver(problem, W, bias, balanced):
    X, y = problem
    full = X if bias is None else reference.with_constant(X, bias)
    full = reference.embedded(full) if balanced else full
    best = reference.hard_margin(full, y, 0.1, W)
    model = LargeMarginWinnow(
        np.inf, normalize=W is not None, start_weight=0.1, total_weight=W, bias=bias, balanced=balanced
    ).set_params(max_iter=5000, tol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    event("separable" if best is not None else "not separable, or barely")
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.alpha_).all()
    assume(best is not None)
    assume(model.smallest_margin_ >= 1 - 1e-6)  # 5,000 passes do not suffice for margins close to 0
    event("at the solution")
    w = positive_weights(model, balanced)
    entropy = (best * (np.log(best / 0.1) - 1)).sum()
    np.testing.assert_allclose(model.objective_, entropy, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(w, best, rtol=0.02, atol=0.02)
    assert min(1.0, (y * (full @ w)).min()) == pytest.approx(model.smallest_margin_, abs=TINY)


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([None, 1.0]))
def test_svm_reaches_the_widest_margin(problem, bias):
    X, y = problem
    full = X if bias is None else reference.with_constant(X, bias)
    squared = inverse_margin(full, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = DualSVM(np.inf, bias=bias, tol=1e-6, max_iter=20_000).fit(X, y)
    assert np.isfinite(model.coef_).all()
    if np.isinf(squared):
        assert model.objective_ == model.duality_gap_ == np.inf
        assert model.smallest_margin_ <= 1e-9
        assert any("C=inf" in str(warning.message) for warning in caught)
        return
    assume(model.smallest_margin_ >= 1 - 1e-6)
    assert not caught
    assert 2 * model.objective_ == pytest.approx(squared, rel=1e-4)


@pytest.mark.parametrize(
    "learner",
    [DualSVM(), LargeMarginWinnow(), LargeMarginWinnow(normalize=True, total_weight=100)],
    ids=["svm", "unnormalized", "normalized"],
)
def test_what_nothing_separates_is_told_and_has_finite_weights(learner):
    X, y = NOT_APART
    learner.set_params(C=np.inf)
    with pytest.warns(ConvergenceWarning, match=r"1 of 1 labels \(1\) are not separated.*pass a finite C"):
        learner.fit(X, y)
    assert np.isfinite(learner.coef_).all()
    assert learner.objective_ == learner.duality_gap_ == np.inf
    assert learner.smallest_margin_ <= 0
    # An empty document has no margin, whatever the weights.
    learner.set_params(bias=None)
    with pytest.warns(ConvergenceWarning, match="not separated"):
        learner.fit(np.array([[1.0], [0.0]]), [1, 0])
    assert learner.alpha_.tolist()[1] == 0


def test_a_sum_of_weights_that_allows_no_margin_ends_early():
    X, y = np.eye(4), [1, 1, 0, 0]
    learner = LargeMarginWinnow(np.inf, normalize=True, max_iter=10_000)
    with pytest.warns(ConvergenceWarning, match="raise total_weight"):
        learner.fit(X, y)  # the sum of the prior is 0.1, and every weight would have to be 1
    assert learner.n_iter_ < 10
    learner.set_params(total_weight=10.0).fit(X, y)
    assert learner.smallest_margin_ > 1 - 1e-3


def test_too_few_passes_are_told_apart_from_what_is_not_separable():
    X = np.array([[1.0, 1.0], [1.0, 0.9]])  # two directions that nearly agree
    with pytest.warns(ConvergenceWarning, match="did not reach the hard margin.*Raise max_iter"):
        model = DualSVM(np.inf, bias=None, max_iter=1000).fit(X, [1, 0])
    assert 0 < model.smallest_margin_ < 0.999


def test_it_is_the_linear_svm_with_a_hard_margin():
    rng = np.random.default_rng(0)
    X = sp.random(60, 200, density=0.1, random_state=rng, format="csr")
    Y = rng.integers(0, 2, (60, 5))
    exact = LinearSVM(np.inf, tol=1e-8, max_iter=100_000).fit(X, Y)
    dual = DualSVM(np.inf, tol=1e-6, max_iter=100_000).fit(X, Y)
    np.testing.assert_allclose(dual.objective_, exact.objective_, rtol=1e-4)
    np.testing.assert_allclose(dual.smallest_margin_, 1, rtol=1e-6)
    assert dual.smallest_margin_.shape == (5,)


@pytest.mark.parametrize("learner", [DualSVM(np.inf), LargeMarginWinnow(np.inf)])
@pytest.mark.filterwarnings("ignore:C=inf")
def test_threads_streams_and_files(learner, tmp_path):
    rng = np.random.default_rng(1)
    X = sp.csr_array((rng.random((80, 300)) < 0.1).astype(float))
    Y = rng.integers(0, 2, (80, 17))
    one, two = (learner.set_params(n_jobs=jobs, max_iter=20).fit(X, Y).coef_.copy() for jobs in (1, 3))
    np.testing.assert_array_equal(one, two)
    assert np.isfinite(learner.partial_fit(X[:5], Y[:5]).coef_).all()
    path = tmp_path / "hard.wm"
    classifier = TextClassifier(learner=learner, tune=None, estimate=None).fit(X, Y)
    classifier.save(path)
    loaded = TextClassifier.load(path)
    assert np.isinf(loaded.learner_.C)
    np.testing.assert_array_equal(loaded.decision_function(X), classifier.decision_function(X))


@pytest.mark.filterwarnings("ignore:C=inf")
def test_documents_without_weight_take_no_part():
    X, y = NOT_APART
    model = DualSVM(np.inf).fit(X, y, sample_weight=[1, 1, 0])
    assert model.smallest_margin_ > 0.999
    assert model.alpha_[2] == 0
    weighted = LargeMarginWinnow(np.inf, class_weight={1: 0.0}, tol=1e-3).fit(X, y)
    assert weighted.smallest_margin_ > 0.999
    with pytest.raises(UsageError, match="or infinity"):
        DualSVM(-np.inf).fit(X, y)
    with pytest.raises(DataError, match="overflow"):
        LargeMarginWinnow(np.inf, eta=1e6, max_iter=5).fit(X * 100, y)
