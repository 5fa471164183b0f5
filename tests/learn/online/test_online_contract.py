"""scikit-learn's own checks of its estimator contract, for the online learners."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from widemargin import (
    Arow,
    BalancedWinnow,
    BalancedWinnowPlus,
    DualSVM,
    LargeMarginWinnow,
    Perceptron,
    PositiveWinnow,
    Winnow,
)


@parametrize_with_checks(
    [
        Arow(),
        Arow(forgetting=0.1, max_iter=5),
        Perceptron(),
        Perceptron("threshold"),
        Perceptron(average="voted"),
        PositiveWinnow(normalize=False),
        PositiveWinnow(normalize=True, average="averaged"),
        BalancedWinnow(link="first-sight"),
        BalancedWinnowPlus(),
        Winnow(),
        Winnow(normalize=True),
        # The checks compare solutions of equivalent problems: these are solved to high precision.
        LargeMarginWinnow(max_iter=5000),
        LargeMarginWinnow(normalize=True, total_weight=10.0, max_iter=5000),
        DualSVM(max_iter=5000),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
