"""Leave-one-out by one step: exact while nobody changes sides, and always within what is proven."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.kernel_dual import solve
from widemargin import KernelSVM, LinearSVM, Perceptron, TextClassifier
from widemargin.errors import UsageError
from widemargin.estimate.held_out import choose_method, leave_one_out
from widemargin.learn.left_out.one_step import falls, step_work

# Dual variables nearer than this to a bound are at it; nearer than that to where they were have not moved.
NEAR = 1e-5
COLORS = ("red", "blue", "green")


@st.composite
def machines(draw):
    """A kernel matrix, signs, upper bounds, the diagonal of the loss, and whether there is a threshold."""
    n, seed = draw(st.integers(4, 12)), draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, draw(st.integers(2, 15))))
    y = np.where(X[:, 0] + 0.5 * generator.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = [1, -1]
    C, squared = draw(st.sampled_from([0.05, 0.5, 5.0])), draw(st.booleans())
    upper = np.full(n, np.inf if squared else C)
    return X @ X.T, y, upper, np.full(n, 0.5 / C if squared else 0.0), draw(st.booleans())


def sides(alpha, upper):
    return np.where(alpha < NEAR, 0, np.where(alpha > upper - NEAR, 2, 1))


@settings(max_examples=150)
@given(machines())
def test_exact_while_nobody_changes_sides(machine):
    K, y, upper, diagonal, equality = machine
    n = len(y)
    hessian = K + np.diag(diagonal)
    alpha, b = solve(hessian, y, upper, biased=equality)
    alpha[alpha < NEAR] = 0
    fall = falls(lambda r, c: K[np.ix_(r, c)], K.diagonal(), diagonal, alpha, upper, equality=equality)
    margins = y * (K @ (alpha * y) + (b if equality else 0.0))
    for t in np.flatnonzero(alpha > 0):
        others = np.arange(n) != t
        if equality and len(set(y[others])) < 2:
            continue
        without, b_t = solve(hessian[np.ix_(others, others)], y[others], upper[others], biased=equality)
        now, then = sides(alpha, upper)[others], sides(without, upper[others])
        if (now != then).any() or (equality and not (now == 1).any()):
            continue
        exact = y[t] * (K[t, others] @ (without * y[others]) + (b_t if equality else 0.0))
        # What moved is solved by an interior point method, and the factors have a ridge of 1e-6.
        assert margins[t] - fall[t] == pytest.approx(exact, abs=1e-3 * (1 + abs(fall[t])))
    assert (fall >= 0).all()
    assert (fall[alpha == 0] == 0).all()


def clouds(n=150, labels=3, seed=0):
    generator = np.random.default_rng(seed)
    X = sp.random(n, 600, density=0.03, random_state=generator, format="csr", dtype=np.float32)
    Y = (X @ generator.normal(size=(600, labels)) + 0.3 * generator.normal(size=(n, labels)) > 0.3).astype(
        int
    )
    return X, Y


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", [None, 1.0])
@pytest.mark.parametrize("C", [0.3, 5.0])
def test_within_what_is_proven_and_near_the_exact_scores(loss, bias, C):
    X, Y = clouds()
    model = LinearSVM(C, loss=loss, bias=bias, class_weight="balanced", tol=1e-3).fit(X, Y)
    exact = leave_one_out(model, X, Y, accuracy=1e-3)
    found = leave_one_out(model, X, Y, one_step=True)
    assert found.method == "one-step"
    away = np.abs(found.scores - exact.scores)
    assert (away <= found.accuracy + exact.accuracy).all()
    support = np.asarray(model.alpha_ > 0)
    training = np.abs(model.decision_function(X) - exact.scores)
    # The step leaves a small part of what leaving out does to the score.
    assert away[support].mean() < 0.2 * training[support].mean()


@pytest.mark.parametrize("bias", [None, 1.0, "unregularized"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_kernel_machines(kernel, bias):
    X, Y = clouds(100)
    X = (X @ X.T).toarray().astype(float) if kernel == "precomputed" else X
    model = KernelSVM(2.0, kernel=kernel, gamma=0.5, bias=bias, tol=1e-6).fit(X, Y)
    exact, found = leave_one_out(model, X, Y, accuracy=1e-3), leave_one_out(model, X, Y, one_step=True)
    support = np.asarray(model.alpha_ > 0)
    away, training = (
        np.abs(scores - exact.scores)[support].mean() for scores in (found.scores, model.decision_function(X))
    )
    assert away < 0.2 * training
    if kernel == "linear" and bias != "unregularized":
        same = LinearSVM(2.0, bias=bias, tol=1e-8, max_iter=10**5).fit(X, Y)
        linear = leave_one_out(same, X, Y, one_step=True)
        assert np.abs(linear.scores - found.scores).max() < 0.02


def test_same_for_any_number_of_threads():
    X, Y = clouds()
    model = LinearSVM(2.0).fit(X, Y)
    scores = [leave_one_out(model, X, Y, one_step=True, n_jobs=jobs).scores for jobs in (1, 2, 3)]
    assert np.array_equal(scores[0], scores[1])
    assert np.array_equal(scores[0], scores[2])


def test_examples_that_are_equal():
    """The matrix of the free examples is singular; twins hardly miss each other."""
    generator = np.random.default_rng(0)
    half = generator.normal(size=(40, 300))
    X, y = np.vstack([half, half]), np.tile(half[:, 0] + 0.5 * generator.normal(size=40) > 0, 2)
    model = LinearSVM(50.0, tol=1e-6, max_iter=10**5).fit(X, y)
    exact, found = leave_one_out(model, X, y), leave_one_out(model, X, y, one_step=True)
    assert np.isfinite(found.scores).all()
    assert (np.abs(found.scores - exact.scores) <= found.accuracy + exact.accuracy).all()


def test_auto_takes_it_where_exact_scores_cost_too_much(monkeypatch):
    X, Y = clouds()
    model = LinearSVM(2.0).fit(X, Y)
    cost = model.left_out_cost(X)
    assert 0 < cost.one_step < np.inf
    assert choose_method("auto", model, X) == "leave-one-out"
    monkeypatch.setattr("widemargin.estimate.held_out.allowed_work", lambda *_: cost.one_step)
    dear = type(cost)(2 * cost.one_step, "", cost.one_step)
    monkeypatch.setattr(LinearSVM, "left_out_cost", lambda *_: dear)
    assert choose_method("auto", model, X) == "one-step"
    monkeypatch.setattr("widemargin.estimate.held_out.allowed_work", lambda *_: 0.5 * cost.one_step)
    assert choose_method("auto", model, X) == "k-fold"


def test_too_many_free_examples_cost_too_much():
    assert np.isinf(step_work(np.array([10, 5001]), np.array([0, 0]), 10_000, 10**6, 10**5))


def test_free_examples_that_span_the_space_tell_nothing():
    """Without one of the others the step would not move the rule, and training error be the estimate."""
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(300, 10)), generator.integers(0, 2, 300)
    assert np.isinf(LinearSVM().fit(X, y).left_out_cost(X).one_step)


@pytest.mark.parametrize("learner", [Perceptron(), KernelSVM(bias="stabilized", kernel="linear")])
def test_other_learners_are_refused(learner):
    X, Y = clouds(30, 1)
    y = Y.ravel()
    with pytest.raises(UsageError, match="Use leave-one-out or k-fold"):
        leave_one_out(learner.fit(X, y), X, y, one_step=True)


def test_a_classifier_reports_it():
    texts = [
        f"{a} word{10 * i + j} word{11 * i + 2 * j} common" for i in range(9) for j, a in enumerate(COLORS)
    ]
    labels = [text.split()[0] for text in texts]
    found = TextClassifier(estimate="one-step", tune=None).fit(texts, labels).training_summary_["estimates"]
    assert found["method"] == "one-step"
    assert any("approximate" in note for note in found["notes"])
