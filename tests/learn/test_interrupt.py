"""Ctrl-C ends any fit and any scoring of the linear learners soon, with one thread too."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin import (
    Arow,
    BalancedWinnow,
    BoostedTrees,
    DualSVM,
    LabelWeightedSVM,
    LargeMarginWinnow,
    LinearSVM,
    LogisticRegression,
    Perceptron,
    RegularizedLeastSquares,
    Winnow,
)
from widemargin._arrays import canonical_csr, times

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an interval timer")


def noise(n=2000, d=50, seed=0):
    """Labels that no rule explains: learners go on for ever."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density=0.2, format="csr", random_state=rng)
    X.data[:] = 1.0
    return X, rng.integers(0, 2, n)


def interrupt(work):
    """Run `work` until a signal comes, a fifth of a second later; without an end to it the test hangs."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals arrive in the main thread")

    def press(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, press)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# 2**62 passes: their number times that of values is beyond 64 bits.
@pytest.mark.parametrize("passes", [10**9, 2**62])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("empty", [False, True], ids=["", "no values"])
@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(),
        Arow(1e6),
        BalancedWinnow(1.0000001, 0.9999999),
        Winnow(eta=1e-9),
        DualSVM(eta=1e-9),
        LargeMarginWinnow(eta=1e-9),
        LinearSVM(1e6, tol=0.0),
        LabelWeightedSVM(1e6, tol=0.0),
        LogisticRegression(1e4, tol=0.0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_a_signal_ends_a_fit(learner, n_jobs, passes, empty):
    X, y = noise()
    if empty:
        if not isinstance(learner, Perceptron):
            pytest.skip("without values only the constant feature can be learned for ever")
        X = sp.csr_array(X.shape)
    learner = type(learner)(**learner.get_params()).set_params(n_jobs=n_jobs, max_iter=passes)
    interrupt(lambda: learner.fit(X, y))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_signal_ends_a_product_before_its_last_row(n_jobs):
    """Scores and least squares are products of sparse rows: seconds of work in one call."""
    n, d, columns = 10_000, 300, 1024
    csr = canonical_csr(np.ones((n, d), dtype=np.float32))
    out = np.full((n, columns), np.nan)
    interrupt(lambda: times(csr, np.ones((d, columns)), n_jobs, out=out))
    assert not np.isnan(out[0, 0])
    assert np.isnan(out[-1, -1])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_signal_ends_least_squares(n_jobs):
    X, y = noise(20_000, 3000)
    model = RegularizedLeastSquares(1e-12, solver="iterative", tol=1e-15, max_iter=10**6, n_jobs=n_jobs)
    interrupt(lambda: model.fit(X, y))
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "options", [{}, {"base": "stumps"}, {"base": "stumps", "committees": "shared"}], ids=str
)
def test_a_signal_ends_boosting(options, n_jobs):
    X, y = noise(20_000, 3000)
    model = BoostedTrees(10**6, **options, n_jobs=n_jobs)
    interrupt(lambda: model.fit(X, y))
    assert not hasattr(model, "training_loss_")
