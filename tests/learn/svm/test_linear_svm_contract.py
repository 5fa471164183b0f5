"""scikit-learn's own checks of its estimator contract."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from widemargin import LinearSVM


# The checks compare solutions of equivalent problems, so they are solved to high precision here.
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # some check data is badly scaled
@parametrize_with_checks(
    [LinearSVM(loss=loss, stop="gradient", tol=1e-12, max_iter=20_000) for loss in ("hinge", "squared_hinge")]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
