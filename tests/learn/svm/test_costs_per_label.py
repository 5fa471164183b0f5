"""A C for each label: the same machines as one by one."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from widemargin import LinearSVM, TextClassifier, leave_one_out
from widemargin.errors import UsageError
from widemargin.estimate.error_bounds import error_bounds

COSTS = [0.1, 1.0, 20.0]


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 30), density=0.3, rng=rng, format="csr")
    Y = (X @ rng.normal(size=(30, 3)) + 0.3 * rng.normal(size=(60, 3)) > 0).astype(int)
    return X, Y


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from(["hinge", "squared_hinge"]), st.sampled_from([1.0, None]))
def test_every_label_has_the_machine_of_its_own_cost(seed, loss, bias):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 6)) * (rng.random((25, 6)) < 0.6)
    Y = (rng.random((25, 3)) < 0.4).astype(int)
    Y[0], Y[1] = 0, 1
    costs = (10.0 ** rng.uniform(-2, 1, 3)).tolist()
    machine = LinearSVM(C=costs, loss=loss, bias=bias, balance=0, tol=1e-7, max_iter=10_000)
    together = clone(machine).fit(X, Y)
    for k, C in enumerate(costs):
        alone = clone(machine).set_params(C=C).fit(X, Y[:, k])
        # Objectives are within their gaps of the optimum, and 1/2 |w - w*|^2 is no more than the gap.
        gaps = np.array([together.duality_gap_[k], alone.duality_gap_])
        assert abs(together.objective_[k] - alone.objective_) <= gaps.sum() + 1e-9 * alone.objective_
        assert np.linalg.norm(together.coef_[k] - alone.coef_[0]) <= np.sqrt(2 * gaps).sum() + 1e-6
        assert gaps.max() <= 1e-3 * alone.objective_


@pytest.mark.parametrize(
    "machine",
    [
        LinearSVM(balance=0, tol=1e-6),
        LinearSVM(loss="squared_hinge", balance=0.3, tol=1e-6),
        LinearSVM(bias="unregularized", balance=0),
    ],
)
def test_left_out_scores_go_by_each_cost(task, machine):
    X, Y = task
    together = clone(machine).set_params(C=COSTS).fit(X, Y)
    found = leave_one_out(together, X, Y, accuracy=1e-3)
    assert found.method == "leave-one-out"
    for k, C in enumerate(COSTS):
        alone = leave_one_out(clone(machine).set_params(C=C).fit(X, Y[:, k]), X, Y[:, k], accuracy=1e-3)
        np.testing.assert_allclose(found.scores[:, k], alone.scores[:, 0], atol=5e-3)


def test_costs_of_any_sequence_are_stored(task, tmp_path):
    X, Y = task
    expected = LinearSVM(C=COSTS).fit(X, Y).decision_function(X)
    for C in (tuple(COSTS), np.array(COSTS)):
        classifier = TextClassifier(learner=LinearSVM(C=C), tune=None, estimate=None).fit(X, Y)
        np.testing.assert_array_equal(classifier.decision_function(X), expected)
        classifier.save(tmp_path / "model.wm")
        again = TextClassifier.load(tmp_path / "model.wm")
        assert list(again.learner.C) == COSTS
        np.testing.assert_array_equal(again.decision_function(X), expected)
    json.dumps(LinearSVM(C=np.array(COSTS)).fit(X, Y).get_state()[0])


def test_costs_that_are_no_costs(task):
    X, Y = task
    for C in ([1.0, -1.0, 1.0], [1.0, np.inf, 1.0], [], [[1.0]], [1.0, np.nan, 1.0], "many", np.ones((3, 1))):
        with pytest.raises(UsageError, match="C="):
            LinearSVM(C=C).fit(X, Y)
    with pytest.raises(UsageError, match="C has 2 numbers, but there are 3 labels"):
        LinearSVM(C=[1.0, 2.0]).fit(X, Y)
    with pytest.raises(UsageError, match="one C"):
        error_bounds(LinearSVM(C=COSTS).fit(X, Y), X, Y)
    with pytest.raises(UsageError, match="for each label already"):
        TextClassifier(learner=LinearSVM(C=COSTS), tune="fast", estimate=None).fit(X, Y)
