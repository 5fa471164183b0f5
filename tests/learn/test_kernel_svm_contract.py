"""scikit-learn's own checks of its estimator contract."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from widemargin import KernelSVM, LinearSVM


# The checks compare solutions of equivalent problems, so they are solved to high precision here.
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # some check data is badly scaled
@parametrize_with_checks(
    [
        KernelSVM(tol=1e-8),
        KernelSVM(kernel="linear", tol=1e-8, max_iter=200_000),
        KernelSVM(scheme="votes", tol=1e-8),
        KernelSVM(bias="stabilized", scheme="dag", tol=1e-8),
        LinearSVM(bias="unregularized", tol=1e-8, max_iter=200_000),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
