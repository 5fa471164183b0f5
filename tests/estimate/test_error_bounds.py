"""The bounds on the error of support vector machines, in their order and on average over training sets."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin import KernelSVM, LinearSVM, NaiveBayes
from widemargin.errors import UsageError
from widemargin.estimate.error_bounds import error_bounds
from widemargin.theory import TCatConcept

CONCEPT = TCatConcept([(6, 2, 20), (2, 6, 20), (4, 4, 20)])
NOISE = {"attribute_noise": 0.2, "label_noise": 0.05}
MACHINES = {
    "bias feature": lambda C: LinearSVM(C=C, tol=1e-6, n_jobs=1),
    "unbiased": lambda C: LinearSVM(C=C, bias=None, tol=1e-6, n_jobs=1),
    "biased": lambda C: KernelSVM(C=C, kernel="linear", tol=1e-6, n_jobs=1),
    "stabilized": lambda C: KernelSVM(C=C, kernel="linear", bias="stabilized", tol=1e-6, n_jobs=1),
    "rbf": lambda C: KernelSVM(C=C, kernel="rbf", gamma=0.02, bias=1.0, tol=1e-6, n_jobs=1),
}


def documents(n, seed):
    X, y = CONCEPT.sample(n // 2, n - n // 2, random_state=seed, **NOISE)
    return X.astype(np.float64), y


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0])
def test_bounds_are_in_their_order(name, C):
    for seed in range(5):
        X, y = documents(40, seed)
        learner = MACHINES[name](C).fit(X, y)
        (found,) = error_bounds(learner, X, y)
        assert found.stable == getattr(learner, "stable_", True) or name != "biased"
        if not found.stable:
            continue
        assert found.leave_one_out <= found.xi_alpha + 1e-12
        assert found.xi_alpha <= found.support_vectors + 1e-12
        assert found.xi_alpha <= found.expected + 1e-4
        assert found.rho == (2 if name == "biased" else 1)
        assert found.vc == float("inf")  # 60 words and 40 documents
        assert np.isnan(found.hoeffding)


@pytest.mark.parametrize("name", ["unbiased", "biased", "bias feature"])
@pytest.mark.parametrize("C", [0.005, 1.0])
def test_theorem_1_holds_on_average(name, C):
    """The expected error after n - 1 documents is at most the expected bound of n documents."""
    bounds, test_errors = [], []
    for seed in range(40):
        X, y = documents(31, seed)
        learner = MACHINES[name](C).fit(X, y)
        bounds.append(error_bounds(learner, X, y, left_out=False)[0].expected)
        smaller = np.delete(np.arange(31), seed % 31)
        learner = MACHINES[name](C).fit(X[smaller], y[smaller])
        test_X, test_y = documents(400, 1000 + seed)
        (found,) = error_bounds(learner, X[smaller], y[smaller], test=(test_X, test_y), left_out=False)
        test_errors.append(found.test_error)
        assert found.hoeffding > found.test_error
    assert np.mean(test_errors) <= np.mean(bounds)


def test_all_labels_at_once_and_sparse_weights():
    X, y = documents(60, 0)
    both = np.column_stack([y > 0, y < 0]).astype(int)
    with pytest.raises(UsageError, match="balance=0"):
        error_bounds(LinearSVM().fit(X, both), X, both)
    one, other = error_bounds(LinearSVM(balance=0, tol=1e-8).fit(X, both), X, both)
    assert one.label == 0
    assert one.expected == pytest.approx(other.expected, rel=1e-3)
    learner = LinearSVM(balance=0, tol=1e-8, sparse_coef=True).fit(X, both)
    sparse = error_bounds(learner, X, both, left_out=False)
    assert sparse[0].expected == pytest.approx(one.expected, rel=1e-3)
    assert np.isnan(sparse[0].leave_one_out)


def test_a_hard_margin_has_no_loss():
    X, y = CONCEPT.sample(20, 20, random_state=0)
    (found,) = error_bounds(KernelSVM(C=np.inf, kernel="linear").fit(X.astype(float), y), X.astype(float), y)
    assert found.loss == 0
    assert found.expected == pytest.approx(2 * found.R2 / found.margin**2 / 40)


def test_what_has_no_margin_is_refused():
    X, y = documents(20, 0)
    with pytest.raises(UsageError, match="has no margin"):
        error_bounds(NaiveBayes().fit(X, y), X, y)
    with pytest.raises(UsageError, match="hinge loss"):
        error_bounds(LinearSVM(loss="squared_hinge").fit(X, y), X, y)
    with pytest.raises(UsageError, match="fitted on 20 examples"):
        error_bounds(LinearSVM().fit(X, y), X[:5], y[:5])
