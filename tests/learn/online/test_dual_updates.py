"""DualSVM and LargeMarginWinnow against generic solvers, against a few lines of NumPy, and step by step."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from tests.learn.online.test_mistake_driven import text_like
from tests.reference import winnow as reference
from tests.reference.svm_dual import solve as solve_svm
from widemargin import DualSVM, LargeMarginWinnow
from widemargin.errors import DataError, DataWarning, UsageError


@st.composite
def problems(draw):
    n, d = draw(st.integers(2, 8)), draw(st.integers(1, 4))
    value = st.integers(-4, 4).map(lambda v: v / 4)
    X = np.array(draw(st.lists(st.lists(value, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    y[0], y[1] = 1.0, -1.0
    return X, y


def positive_weights(model, balanced=True):
    """The weights of [x, -x] (with the constant feature), from the logarithms that the model keeps."""
    v = model._cells["logs"][:, 0]
    v = np.concatenate([v, -v]) if balanced else v
    if model.normalize:
        W = model.total_weight or model.start_weight * len(v)
        return reference.normalized(model.start_weight, W)(v)
    return reference.unnormalized(model.start_weight)(v)


@settings(max_examples=50)
@given(
    problems(),
    st.sampled_from([0.1, 1.0, 5.0]),
    st.sampled_from([None, 0.5, 4.0]),
    st.sampled_from([None, 1.0]),
    st.booleans(),
)
def test_large_margin_winnow_reaches_what_a_generic_solver_reaches(problem, C, W, bias, balanced):
    X, y = problem
    model = LargeMarginWinnow(
        C,
        normalize=W is not None,
        start_weight=0.1,
        total_weight=W,
        bias=bias,
        balanced=balanced,
        max_iter=20_000,
        tol=1e-9,
    )
    with np.errstate(all="raise"):
        model.fit(X, y)
    full = X if bias is None else reference.with_constant(X, bias)
    full = reference.embedded(full) if balanced else full
    costs = np.full(len(y), C)
    best = reference.best_dual(full, y, costs, 0.1, W)
    w = positive_weights(model, balanced)
    reached = reference.primal_objective(full, y, w, costs, 0.1)
    assert reached == pytest.approx(best, rel=1e-5, abs=1e-5)
    assert model.objective_ == pytest.approx(reached, rel=1e-9, abs=1e-9)
    assert model.duality_gap_ == pytest.approx(
        reached - reference.dual_objective(full, y, model.alpha_, 0.1, W), abs=1e-9
    )
    signed = w[: len(w) // 2] - w[len(w) // 2 :] if balanced else w
    np.testing.assert_allclose(model.coef_[0], signed[: X.shape[1]], rtol=1e-9, atol=1e-12)


@settings(max_examples=60)
@given(problems(), st.sampled_from([0.1, 1.0, 5.0]), st.sampled_from([None, 0.5, 1.0]))
def test_dual_svm_reaches_the_optimum_of_the_quadratic_program(problem, C, bias):
    X, y = problem
    best, _, _ = solve_svm(X, y, np.full(len(y), C), "hinge", bias)
    model = DualSVM(C, bias=bias, tol=1e-9, max_iter=50_000).fit(X, y)
    assert model.objective_ == pytest.approx(best, rel=1e-6, abs=1e-8)


@settings(max_examples=60)
@given(problems(), st.sampled_from([None, 2.0]), st.integers(1, 5), st.sampled_from([0.05, 0.3]))
def test_fixed_steps_are_those_of_the_paper(problem, W, passes, eta):
    X, y = problem
    full = reference.embedded(reference.with_constant(X))
    rule = reference.unnormalized(0.1) if W is None else reference.normalized(0.1, W)
    alpha, w = reference.large_margin(full, y, np.full(len(y), 2.0), eta, rule, passes)
    model = LargeMarginWinnow(
        2.0, normalize=W is not None, eta=eta, start_weight=0.1, total_weight=W, max_iter=passes
    ).fit(X, y)
    np.testing.assert_allclose(model.alpha_, alpha, rtol=1e-9, atol=1e-12)
    half = len(w) // 2
    np.testing.assert_allclose(
        np.append(model.coef_[0], model.intercept_), w[:half] - w[half:], rtol=1e-9, atol=1e-12
    )


@pytest.mark.filterwarnings("ignore:eta=.* overshoots")
@settings(max_examples=40)
@given(problems(), st.sampled_from([0.1, 0.5]), st.integers(1, 5))
def test_fixed_steps_of_the_svm_are_those_of_the_paper(problem, eta, passes):
    X, y = problem
    alpha, w = reference.large_margin(X, y, np.full(len(y), 2.0), eta, lambda v: v, passes)
    model = DualSVM(2.0, eta=eta, bias=None, max_iter=passes).fit(X, y)
    np.testing.assert_allclose(model.alpha_, alpha, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9, atol=1e-12)


@settings(max_examples=100)
@given(problems(), st.sampled_from([0.1, 0.5, 2.0]), st.sampled_from([0.3, 50.0]))
def test_a_fixed_step_of_the_svm_after_which_the_dual_is_lower_is_told(problem, eta, C):
    X, y = problem

    def dual(alpha):
        return alpha.sum() - ((X.T @ (alpha * y)) ** 2).sum() / 2

    alpha, falls = np.zeros(len(y)), 0
    for i in range(len(y)):
        before, g = dual(alpha), 1 - y[i] * (X[i] @ (X.T @ (alpha * y)))
        moved = min(max(alpha[i] + eta * g, 0.0), C)
        if moved == alpha[i]:
            continue
        alpha[i] = moved
        change = dual(alpha) - before
        assume(abs(change) >= 1e-9 * (1 + abs(before)))  # a tie, which rounding decides
        falls += change < 0
    event("a step lowers the dual" if falls else "no step lowers the dual")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        DualSVM(C, eta=eta, bias=None, max_iter=1).fit(X, y)
    told = [str(warning.message) for warning in caught if warning.category is DataWarning]
    assert len(told) == (falls > 0)
    if falls:
        assert told[0].startswith(f"eta={eta} overshoots: {falls} steps for 1 of 1 labels")


@settings(max_examples=40)
@given(problems(), st.sampled_from([None, 0.3, 5.0]), st.sampled_from([1.0, 50.0]))
def test_newton_steps_never_let_the_dual_fall(problem, W, C):
    X, y = problem
    full = reference.embedded(reference.with_constant(X * 4))
    values = []
    for passes in range(1, 8):
        model = LargeMarginWinnow(
            C, normalize=W is not None, start_weight=0.1, total_weight=W, max_iter=passes
        ).fit(X * 4, y)
        values.append(reference.dual_objective(full, y, model.alpha_, 0.1, W))
    start = reference.dual_objective(full, y, np.zeros(len(y)), 0.1, W)
    rises = np.diff([start, *values])
    assert (rises >= -1e-10 * (1 + np.abs(values))).all()
    assert rises[0] > 0


def test_a_fixed_step_may_let_the_dual_fall():
    X, y = np.array([[4.0, 1.0], [1.0, 4.0], [3.0, 3.0]]), np.array([1.0, -1.0, 1.0])
    full = reference.embedded(reference.with_constant(X))
    falls = 0
    values = []
    for passes in range(1, 12):
        model = LargeMarginWinnow(C=5.0, eta=0.5, start_weight=0.1, max_iter=passes).fit(X, y)
        values.append(reference.dual_objective(full, y, model.alpha_, 0.1))
    falls = (np.diff(values) < 0).sum()
    assert falls > 0


def test_normalized_weights_beyond_the_range_of_numbers():
    """Logarithms in the thousands: the normalized rule is finite, the unnormalized one is refused."""
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] * 40), np.array([1, 0, 1] * 40)
    settings = {"total_weight": 0.5, "start_weight": 0.1, "C": 100.0, "eta": 50.0, "max_iter": 30}
    model = LargeMarginWinnow(normalize=True, **settings).fit(X, y)
    assert np.abs(model._cells["logs"]).max() > 1000
    full = reference.embedded(reference.with_constant(X))
    w = positive_weights(model)
    half = len(w) // 2
    np.testing.assert_allclose(
        np.append(model.coef_[0], model.intercept_), w[:half] - w[half:], rtol=1e-6, atol=1e-9
    )
    assert model.objective_ == pytest.approx(
        reference.primal_objective(full, 2.0 * y - 1, w, np.full(len(y), 100.0), 0.1), rel=1e-6
    )
    with pytest.raises(DataError, match="overflow"):
        LargeMarginWinnow(normalize=False, **{**settings, "total_weight": None}).fit(X * 50, y)


def test_stops_at_the_gap_and_says_when_it_did_not():
    X, Y = text_like()
    model = LargeMarginWinnow(C=0.2, start_weight=0.01, tol=1e-3, max_iter=10_000).fit(X, Y)
    assert (model.n_iter_ < 10_000).all()
    start = 2 * 0.01 * 301
    assert (model.duality_gap_ <= 1e-3 * (model.objective_ + start) * (1 + 1e-9)).all()
    with pytest.warns(ConvergenceWarning, match="did not reach tol"):
        LargeMarginWinnow(C=1.0, start_weight=0.01, tol=1e-6, max_iter=2).fit(X, Y)


@pytest.mark.parametrize("learner", [DualSVM(), LargeMarginWinnow(), LargeMarginWinnow(normalize=True)])
def test_weights_of_examples_and_classes(learner):
    X, Y = text_like(n=80, d=60, labels=1)
    y = Y[:, 0]
    times = 1 + np.arange(len(y)) % 3
    learner.set_params(tol=1e-7, max_iter=5000, C=0.1)
    weighted = learner.fit(X, y, sample_weight=times).objective_
    repeated = learner.fit(X[np.repeat(np.arange(len(y)), times)], np.repeat(y, times)).objective_
    assert weighted == pytest.approx(repeated, rel=1e-6)
    by_class = learner.set_params(class_weight={1: 3.0}).fit(X, y).objective_
    by_hand = learner.set_params(class_weight=None).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    assert by_class == pytest.approx(by_hand.objective_, rel=1e-6)


@pytest.mark.parametrize("learner", [DualSVM(), LargeMarginWinnow(), LargeMarginWinnow(normalize=True)])
def test_labels_and_threads_do_not_change_a_model(learner):
    X, Y = text_like(values="real")
    learner.set_params(max_iter=20)
    coefs = [learner.set_params(n_jobs=jobs).fit(X, Y).coef_.copy() for jobs in (1, 2, 3)]
    np.testing.assert_array_equal(coefs[0], coefs[1])
    np.testing.assert_array_equal(coefs[0], coefs[2])
    for k in (0, 7, 18):
        np.testing.assert_allclose(learner.fit(X, Y[:, k]).coef_[0], coefs[0][k], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    "learner",
    [
        DualSVM(C=0),
        DualSVM(eta="steepest"),
        DualSVM(eta=-1.0),
        DualSVM(tol=2),
        LargeMarginWinnow(start_weight=0),
        LargeMarginWinnow(total_weight=0),
        LargeMarginWinnow(max_iter=0),
        LargeMarginWinnow(bias=0),
    ],
)
def test_parameters_out_of_range_are_refused(learner):
    with pytest.raises(UsageError, match="expected"):
        learner.fit(np.eye(2), [0, 1])
