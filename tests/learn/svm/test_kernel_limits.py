"""Kernel machines on extreme values and parameters: a finite result, or an error that names the cause."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tests.reference.kernel_dual import gram, kkt_violation
from widemargin import KernelSVM, LinearSVM, TransductiveSVM
from widemargin.errors import DataError, UsageError, WidemarginError

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(60, 4))
Y = np.where(X[:, 0] + 0.3 * GENERATOR.normal(size=60) > 0, 1, -1)
SOME = [int(y) if k < 20 else None for k, y in enumerate(Y)]
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e300])
@pytest.mark.parametrize(
    "name", ["gamma", "degree", "coef0", "tol", "cache", "bias", "power", "stabilizer_size"]
)
def test_numbers_that_are_none(name, value):
    with pytest.raises(UsageError, match=name):
        KernelSVM(**{name: value}).fit(X, Y)
    if name not in ("power", "stabilizer_size"):
        with pytest.raises(UsageError, match=name):
            TransductiveSVM(**{name: value}).fit(X, SOME)


@pytest.mark.parametrize(("value", "words"), [(NAN, "NaN"), (INF, "infinity"), (1e200, r"1e\+200")])
@pytest.mark.parametrize("learner", [KernelSVM(), KernelSVM(kernel="linear"), TransductiveSVM(kernel="rbf")])
def test_a_value_of_a_dense_matrix_is_named_with_its_place(learner, value, words):
    damaged = X.copy()
    damaged[7, 2] = value
    with pytest.raises(DataError, match=f"Input X contains {words}: row 7, column 2"):
        learner.fit(damaged, SOME if isinstance(learner, TransductiveSVM) else Y)
    learner.fit(X, SOME if isinstance(learner, TransductiveSVM) else Y)
    with pytest.raises(DataError, match=f"Input X contains {words}: row 7, column 2"):
        learner.decision_function(damaged)


def test_a_number_beyond_the_limit_is_told_the_limit():
    for name in ("coef0", "bias"):
        with pytest.raises(UsageError, match=f"{name}=1e.300: expected .* 1e100"):
            KernelSVM(**{name: 1e300}).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": NAN}, "C=nan"),
        ({"C": 1e300}, r"C=1e\+300"),
        ({"tol": 1e-300}, "tol=1e-300"),
        ({"shrink_threshold": NAN}, "shrink_threshold=nan"),
        ({"shrink_history": 0}, "shrink_history=0"),
        ({"working_set": NAN}, "working_set=nan"),
        ({"class_weight": {1: NAN}}, "class_weight"),
        ({"class_weight": {1: INF}}, "class_weight"),
        ({"kernel": "poly", "degree": 500, "gamma": 100.0}, "degree=500"),
        ({"bias": 2**40}, r"bias=1\.09951e\+12"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(UsageError, match=message):
        KernelSVM(**parameters).fit(X, Y)


def test_transduction_refuses_bad_parameters():
    for parameters, message in [
        ({"C_unlabeled": INF}, "C_unlabeled=inf"),
        ({"C_unlabeled": NAN}, "C_unlabeled=nan"),
        ({"alarm_support": NAN}, "alarm_support=nan"),
        ({"tol": 1e-300}, "tol=1e-300"),
        ({"bias": 2**40}, "bias=1"),
    ]:
        with pytest.raises(UsageError, match=message):
            TransductiveSVM(**parameters).fit(X, SOME)


def test_a_free_threshold_needs_a_tolerance_that_can_be_met():
    with pytest.raises(UsageError, match="tol=1e-300"):
        LinearSVM(bias="unregularized", tol=1e-300).fit(X, Y)


@pytest.mark.parametrize("n", [4, 3000])
def test_a_fractional_power_of_a_negative_number(n):
    rows = np.tile([[1.0], [-1.0], [2.0], [-2.0]], (n // 4, 1))
    machine = KernelSVM(kernel="poly", degree=2.5, coef0=0)
    with pytest.raises(UsageError, match=r"degree=2\.5"):
        machine.fit(rows, np.tile([0, 1], n // 2))
    with pytest.raises(UsageError, match=r"degree=2\.5"):
        TransductiveSVM(kernel="poly", degree=2.5, coef0=0).fit(rows, [0, 1] + [None] * (n - 2))
    machine.set_params(coef0=10).fit(rows, np.tile([0, 1], n // 2))
    with pytest.raises(UsageError, match=r"degree=2\.5"):
        machine.decision_function(1e6 * rows)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "chi2"])
def test_rows_that_are_too_long(kernel):
    rows = np.abs(X)
    rows[7] *= 1e200
    with pytest.raises(DataError, match=r"[Rr]ow 7"):
        KernelSVM(kernel=kernel).fit(rows, Y)
    with pytest.raises(DataError, match=r"[Rr]ow 7"):
        TransductiveSVM(kernel=kernel).fit(rows, SOME)
    machine = KernelSVM(kernel=kernel).fit(np.abs(X), Y)
    if kernel != "linear":
        with pytest.raises(DataError, match=r"[Rr]ow 7"):
            machine.decision_function(rows)
    with pytest.raises(DataError, match=r"[Rr]ow 7"):
        LinearSVM(bias="unregularized").fit(rows, Y)


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e100, 1e140, 1e200, 1e300])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("bias", ["unregularized", "stabilized", 1.0, None])
@pytest.mark.filterwarnings("ignore")
def test_finite_or_an_error(scale, kernel, bias):
    """No machine comes to something that is not a number."""
    try:
        machine = KernelSVM(kernel=kernel, bias=bias, max_iter=2000).fit(scale * X, Y)
        scores = machine.decision_function(scale * X)
    except WidemarginError:
        return
    found = (
        machine.alpha_,
        machine.xi_,
        machine.objective_,
        machine.duality_gap_,
        machine.violation_,
        scores,
    )
    assert all(np.isfinite(values).all() for values in [*found, scores])
    assert np.isfinite(machine.intercept_).all()


@pytest.mark.parametrize("bias", [1e3, 1e5])
def test_a_large_bias_feature_converges(bias):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        found = KernelSVM(1.0, gamma=0.3, bias=bias).fit(X, Y)
    free = KernelSVM(1.0, gamma=0.3).fit(X, Y)
    np.testing.assert_allclose(found.decision_function(X), free.decision_function(X), atol=0.01)
    assert found.n_iter_ < 10_000


@pytest.mark.parametrize("working_set", [None, 20])
@pytest.mark.parametrize("bias", ["unregularized", 1.0])
def test_a_tolerance_below_rounding_ends(bias, working_set):
    """Nothing is left to gain long before so many iterations."""
    machine = KernelSVM(1e8, gamma=0.3, bias=bias, tol=1e-12, max_iter=2**40, working_set=working_set)
    noise = np.where(np.random.default_rng(1).random(60) > 0.5, 1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(X, noise)
    K = gram(X, X, "rbf", gamma=0.3) + (bias**2 if isinstance(bias, float) else 0)
    if bias == "unregularized":
        assert kkt_violation(K, noise, machine.alpha_, machine.intercept_[0], np.full(60, 1e8)) < 1e-3


def test_numbers_beyond_the_counters_of_the_core():
    huge = KernelSVM(gamma=0.3, max_iter=2**62, working_set=2**62, shrink_history=2**62, cache=1e90).fit(X, Y)
    usual = KernelSVM(gamma=0.3).fit(X, Y)
    np.testing.assert_allclose(huge.decision_function(X), usual.decision_function(X), atol=2e-3)
    linear = LinearSVM(bias="unregularized", max_iter=2**62).fit(X, Y)
    assert np.isfinite(linear.coef_).all()


def test_steps_inside_a_working_set_count():
    """All variables in one step: an iteration does not hide the work of thousands."""
    hard = KernelSVM(1e8, gamma=1e-3, working_set=60, tol=1e-9, max_iter=30)
    noise = np.where(np.random.default_rng(1).random(60) > 0.5, 1, -1)
    with pytest.warns(ConvergenceWarning):
        hard.fit(X, noise)
    assert hard.n_iter_ <= 30


def test_left_out_scores_of_a_kernel_that_does_not_exist():
    rows = np.tile([[1.0], [2.0], [3.0], [4.0]], (5, 1))
    signs = np.tile([0, 1, 1, 0], 5)
    machine = KernelSVM(kernel="poly", degree=2.5, coef0=0).fit(rows, signs)
    with pytest.raises(UsageError, match=r"degree=2\.5"):
        machine.left_out_scores(rows * np.where(np.arange(20) % 2, 1, -1)[:, None], signs)
