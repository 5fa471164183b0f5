"""`balance`: positive examples cost C (n-/n+)^balance, in training and in everything that follows from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tests.reference.svm_dual import objective, solve
from widemargin import (
    KernelSVM,
    LabelWeightedSVM,
    LinearSVM,
    LogisticRegression,
    TextClassifier,
    leave_one_out,
)
from widemargin.errors import UsageError
from widemargin.estimate.held_out import held_out
from widemargin.labels import Labels
from widemargin.learn.costs import label_costs

TIGHT = {"tol": 1e-9, "max_iter": 100_000}
MACHINES = [
    LinearSVM(tol=1e-7, max_iter=20_000),
    LinearSVM(loss="squared_hinge", tol=1e-7, max_iter=20_000),
    LinearSVM(bias="unregularized", tol=1e-7),
    KernelSVM(kernel="rbf", gamma=0.5, tol=1e-7),
    KernelSVM(kernel="linear", bias=1.0, tol=1e-7),
    LogisticRegression(tol=1e-8, max_iter=20_000),
]
# And one that has no leave-one-out.
EVERY = [*MACHINES, LabelWeightedSVM(tol=1e-8, max_iter=20_000)]


def names(machines):
    return [f"{type(each).__name__}-{getattr(each, 'loss', each.bias)}-{each.bias}" for each in machines]


def clouds(n=40, labels=3, seed=0, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, labels)) + rng.normal(size=(n, labels)) > 1.0).astype(int)
    Y[0], Y[1] = 1, 0
    return X, Y


def factors(Y, balance, weights=None):
    """The slow way, label by label."""
    weights = np.ones(len(Y)) if weights is None else weights
    found = {}
    for k in range(Y.shape[1]):
        positive = sum(w for w, y in zip(weights, Y[:, k], strict=True) if y == 1)
        negative = sum(w for w, y in zip(weights, Y[:, k], strict=True) if y == 0)
        found[k] = (negative / positive) ** balance if positive and negative else 1.0
    return found


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**31),
    st.sampled_from([0.0, 0.15, 0.5, 1.0]),
    st.sampled_from(["hinge", "squared_hinge"]),
    st.booleans(),
)
def test_reaches_the_optimum_at_these_costs(seed, balance, loss, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 3))
    Y = (rng.random((14, 2)) < 0.3).astype(int)
    Y[0], Y[1] = 1, 0
    weights = rng.choice([0.25, 1.0, 3.0], size=14) if weighted else np.ones(14)
    model = LinearSVM(0.7, loss=loss, balance=balance, **TIGHT).fit(X, Y, weights if weighted else None)
    for k, factor in factors(Y, balance, weights).items():
        y = 2.0 * Y[:, k] - 1
        costs = 0.7 * weights * np.where(y > 0, factor, 1.0)
        best, _, _ = solve(X, y, costs, loss, 1.0)
        reached = objective(X, y, model.coef_[k], model.intercept_[k], costs, loss, 1.0)
        assert reached == pytest.approx(best, rel=1e-6, abs=1e-9)
        assert model.objective_[k] == pytest.approx(reached, rel=1e-6)


@pytest.mark.parametrize("machine", EVERY, ids=names(EVERY))
@pytest.mark.parametrize("balance", [0.15, 0.6])
def test_is_the_same_as_weights_of_classes(machine, balance):
    X, Y = clouds()
    weights = np.linspace(0.5, 2.0, len(Y))
    ours = clone(machine).set_params(C=0.8, balance=balance).fit(X, Y, weights)
    by_hand = clone(machine).set_params(C=0.8, balance=0, class_weight=factors(Y, balance, weights))
    by_hand.fit(X, Y, weights)
    np.testing.assert_allclose(ours.decision_function(X), by_hand.decision_function(X), atol=1e-5)
    plain = clone(machine).set_params(C=0.8, balance=0).fit(X, Y, weights)
    assert np.abs(ours.decision_function(X) - plain.decision_function(X)).max() > 0.01


@pytest.mark.parametrize("machine", [LinearSVM(), KernelSVM(), LabelWeightedSVM()])
def test_auto_is_for_label_sets(machine):
    X, Y = clouds()
    sets = [[f"label {k}" for k in np.flatnonzero(row)] for row in Y]
    classes, two = np.arange(len(Y)) % 3, Y[:, 0]

    def scores(y, **parameters):
        return clone(machine).set_params(**parameters).fit(X, y).decision_function(X)

    for y in (Y, sets):
        np.testing.assert_array_equal(scores(y), scores(y, balance=0.15))
        assert not np.array_equal(scores(y), scores(y, balance=0))
        np.testing.assert_array_equal(
            scores(y, class_weight="balanced"), scores(y, class_weight="balanced", balance=0)
        )
    for y in (classes, two):
        np.testing.assert_array_equal(scores(y), scores(y, balance=0))
        assert not np.array_equal(scores(y), scores(y, balance=0.3))


def test_probabilities_are_not_balanced_unless_asked():
    X, Y = clouds()
    plain = LogisticRegression().fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(plain, LogisticRegression(balance=0).fit(X, Y).decision_function(X))
    np.testing.assert_array_equal(
        LogisticRegression(balance="auto").fit(X, Y).decision_function(X),
        LogisticRegression(balance=0.15).fit(X, Y).decision_function(X),
    )


def test_labels_without_one_side_and_unlabeled_cells():
    space = Labels.of(np.eye(3, dtype=int)).space
    signs = np.array([[1, 1, 1], [1, -1, -1], [1, -1, 0], [1, -1, 0]], dtype=np.int8)
    positive, negative = label_costs(2.0, None, space, signs, np.zeros(0), 1.0)
    assert positive.tolist() == [2.0, 6.0, 2.0]
    assert negative.tolist() == [2.0, 2.0, 2.0]
    # Examples of weight 0 are not there.
    weights = np.array([0.0, 1.0, 1.0, 1.0])
    positive, _ = label_costs(2.0, None, space, signs, weights, 1.0)
    assert positive.tolist() == [2.0, 2.0, 2.0]


def test_one_cost_for_each_label_and_the_hard_margin():
    X, Y = clouds()
    costs = [0.1, 1.0, 5.0]
    ours = LinearSVM(costs, balance=0.5, **TIGHT).fit(X, Y)
    for k, (C, factor) in enumerate(zip(costs, factors(Y, 0.5).values(), strict=True)):
        alone = LinearSVM(C, class_weight={1: factor}, **TIGHT).fit(X, Y[:, k])
        np.testing.assert_allclose(ours.coef_[k], alone.coef_[0], atol=1e-4)
    separable = (X[:, :2] > 0.5).astype(int)
    with_costs, without = (
        LinearSVM(np.inf, balance=e, tol=1e-8, max_iter=1_000_000).fit(X, separable) for e in (1.0, 0)
    )
    np.testing.assert_allclose(with_costs.coef_, without.coef_, rtol=1e-4, atol=1e-4)


def test_starts_from_another_solution():
    X, Y = clouds()
    machine = LinearSVM(balance=0.5, tol=1e-8, max_iter=20_000)
    cold = clone(machine).set_params(C=2.0).fit(X, Y)
    np.testing.assert_allclose(machine.path(X, Y, [0.1, 2.0])[1].coef_, cold.coef_, atol=1e-4)
    warm = LinearSVM(2.0, balance=0, warm_start=True, tol=1e-8, max_iter=20_000).fit(X, Y)
    warm.set_params(balance=0.5).fit(X, Y)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-4)


@pytest.mark.parametrize("machine", MACHINES, ids=names(MACHINES))
def test_leave_one_out_keeps_the_costs_of_all_examples(machine):
    X, Y = clouds(n=24)
    fitted = clone(machine).set_params(balance=0.5).fit(X, Y)
    found = leave_one_out(fitted, X, Y, accuracy=1e-4)
    assert found.method == "leave-one-out"
    as_trained = clone(machine).set_params(balance=0, class_weight=factors(Y, 0.5))
    for t in range(len(Y)):
        rest = np.arange(len(Y)) != t
        expected = clone(as_trained).fit(X[rest], Y[rest]).decision_function(X[[t]])[0]
        assert (np.abs(found.scores[t] - expected) <= found.accuracy[t] + 1e-3).all()


def test_one_step_and_bounds_stay_around_the_truth():
    X, Y = clouds(n=60, seed=3, d=200)
    fitted = LinearSVM(balance=0.5, tol=1e-6, max_iter=20_000).fit(X, Y)
    exact = leave_one_out(fitted, X, Y, accuracy=1e-4)
    step = held_out(fitted, X, Y, method="one-step")
    assert np.sqrt(np.mean((step.scores - exact.scores) ** 2)) < 0.1
    # An example that xi-alpha takes for certain is right when it is left out.
    signs = 2 * Y - 1
    risk = np.asarray(fitted.left_out_risk(X))
    assert (signs * exact.scores > 0)[risk < 1].all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"balance": -0.1}, "balance=-0.1: expected a number from 0 to 1"),
        ({"balance": 1.5}, "balance=1.5: expected a number from 0 to 1"),
        ({"balance": "much"}, 'or "auto"'),
        ({"balance": float("nan")}, "balance=nan"),
        ({"balance": 0.3, "class_weight": "balanced"}, "Pass only one of them"),
        ({"balance": 0.3, "class_weight": {0: 2.0}}, "Pass only one of them"),
    ],
)
@pytest.mark.parametrize("machine", [LinearSVM, KernelSVM, LogisticRegression])
def test_what_is_no_balance(machine, parameters, words):
    X, Y = clouds()
    with pytest.raises(UsageError, match=words):
        machine(**parameters).fit(X, Y)


def test_is_saved_and_shown(tmp_path):
    X, Y = clouds()
    classifier = TextClassifier(learner=LinearSVM(balance=0.3), tune=None, estimate=None).fit(X, Y)
    classifier.save(tmp_path / "model.wm")
    again = TextClassifier.load(tmp_path / "model.wm")
    assert again.learner.balance == 0.3
    np.testing.assert_array_equal(again.decision_function(X), classifier.decision_function(X))
