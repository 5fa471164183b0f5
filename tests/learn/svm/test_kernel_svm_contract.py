"""scikit-learn's own checks of its estimator contract."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference.kernel_dual import gram, solve
from widemargin import KernelSVM, LinearSVM


def expected_failures(estimator):
    if isinstance(estimator, KernelSVM) and estimator.bias is None:
        # test_class_weight_through_the_origin: the exact solution fails in the same way.
        return {
            "check_class_weight_classifiers": "expects heavy costs to move a threshold that this machine "
            "does not have: far from the heavy class the nearest light example decides, whatever it weighs"
        }
    return {}


# The checks compare solutions of equivalent problems, so they are solved to high precision here.
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # some check data is badly scaled
@parametrize_with_checks(
    [
        KernelSVM(tol=1e-8),
        KernelSVM(kernel="linear", tol=1e-9, max_iter=200_000),
        KernelSVM(scheme="votes", tol=1e-8),
        KernelSVM(bias=None, scheme="votes", tol=1e-8),
        KernelSVM(bias="stabilized", scheme="dag", tol=1e-8),
        LinearSVM(bias="unregularized", tol=1e-9, max_iter=200_000),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_class_weight_through_the_origin():
    """The data of check_class_weight_classifiers, solved by the oracle: as few predictions of class 0."""
    X, y = make_blobs(centers=2, random_state=0, cluster_std=20)
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    weights = {0: 1000, 1: 0.0001}
    model = KernelSVM(bias=None, tol=1e-8, class_weight=weights).fit(X_train, y_train)
    signs, upper = 2.0 * y_train - 1, np.where(y_train == 0, weights[0], weights[1])
    alpha, _ = solve(gram(X_train, X_train, "rbf"), signs, upper, biased=False)
    scores = gram(X_test, X_train, "rbf") @ (alpha * signs)
    assert model.decision_function(X_test) == pytest.approx(scores, abs=1e-6)
    assert np.mean(scores < 0) < 0.87
