"""scikit-learn's own checks of its estimator contract; there, every example is labeled."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from widemargin import TransductiveSVM


@pytest.mark.filterwarnings("ignore:Every document is labeled")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some data is badly scaled
@parametrize_with_checks(
    [
        TransductiveSVM(tol=1e-10),
        TransductiveSVM(kernel="rbf", tol=1e-10),
        TransductiveSVM(bias=1.0, tol=1e-10),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
