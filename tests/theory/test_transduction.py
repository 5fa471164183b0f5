"""Bounds of transductive learning: labelings counted one by one, and errors simulated."""

from __future__ import annotations

import itertools
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy.stats import hypergeom

from widemargin import KernelSVM
from widemargin.errors import UsageError
from widemargin.theory.transduction import log_labelings, transductive_bound


@given(
    n=st.integers(1, 30),
    k=st.integers(1, 30),
    share=st.floats(0, 1),
    classes=st.integers(1, 1000),
    eta=st.sampled_from([0.01, 0.05, 0.3]),
)
def test_all_numbers_of_errors_are_tried(n, k, share, classes, eta):
    wrong = round(share * n)
    likely = [
        m
        for m in range(wrong, wrong + k + 1)
        if classes * hypergeom.cdf(wrong, n + k, m, n) > eta * (1 + 1e-9)
    ]
    unsure = [
        m
        for m in range(wrong, wrong + k + 1)
        if classes * hypergeom.cdf(wrong, n + k, m, n) > eta * (1 - 1e-9)
    ]
    found = transductive_bound(wrong, n, k, math.log(classes), eta)
    assert (max(likely, default=wrong) - wrong) / k <= found <= (max(unsure, default=wrong) - wrong) / k


def test_it_holds_at_its_confidence_for_the_best_of_many_labelings():
    """Fifty labelings of 60 examples with random errors; the one with the fewest in training is chosen."""
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(1000):
        wrong = rng.random((50, 60)) < rng.uniform(0.05, 0.5, size=(50, 1))
        seen = rng.permutation(60) < 20
        best = int(np.argmin(wrong[:, seen].sum(axis=1)))
        errors, test_error = int(wrong[best, seen].sum()), wrong[best, ~seen].mean()
        failed += test_error > transductive_bound(errors, 20, 40, math.log(50), 0.1)
    assert failed <= 100


@pytest.mark.parametrize("seed", range(3))
def test_theorem_12_counts_all_labelings_with_a_margin(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(7, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    norms = []
    for rest in itertools.product((-1, 1), repeat=6):
        y = np.array([1, *rest])
        if len(set(y)) == 1:
            norms.append(0.0)
            continue
        machine = KernelSVM(C=1e6, kernel="linear", tol=1e-6).fit(X, y)
        if np.all(machine.decision_function(X) * y > 0.99):
            norms.append(float(machine.margin_) ** -2)
    norms = np.array(norms)
    for delta in (0.1, 0.3, 0.5, 0.9):
        # Every labeling and its opposite; a ball around the origin that contains all has the diameter 2.
        found = 2 * np.count_nonzero(norms <= delta**-2)
        assert math.log(max(found, 1)) <= log_labelings(4, 3, delta**-2, 4.0, 3)


def test_wide_margins_leave_few_labelings():
    assert log_labelings(10, 90, 100.0, 4.0) == pytest.approx(100 * math.log(2))
    assert log_labelings(10, 90, 1.0, 1.0) == pytest.approx(2 * (math.log(50) + 1))
    assert log_labelings(10, 90, 1.0, 1.0, 1) == pytest.approx(math.log(100) + 1)
    bounds = [transductive_bound(1, 100, 900, log_labelings(100, 900, 1.0, R2)) for R2 in (1.0, 4.0, 20.0)]
    assert bounds == sorted(bounds)


def test_what_is_refused():
    with pytest.raises(UsageError, match="n=0"):
        log_labelings(0, 1, 1.0, 1.0)
    with pytest.raises(UsageError, match="training_errors=6"):
        transductive_bound(6, 5, 1)
