"""Leave-one-out of kernel machines is what retraining without each example gives, label by label."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from tests.estimate.test_xi_alpha import RUNS
from tests.reference.kernel_dual import gram
from tests.reference.retraining import left_out_scores
from widemargin import KernelSVM, LinearSVM
from widemargin.errors import UsageError
from widemargin.learn.svm.left_out import kernel as left_out_kernel

SAME = 1e-5  # what both sides may be off by
BIASES = (None, 0.5, 2.0, "unregularized", "unregularized", "stabilized")
SHAPE = {"gamma": 0.5, "degree": 2, "coef0": 1.0}


def problem(seed):
    """Two labels of a few points, some of them equal, and a machine; weights of 0 take no part."""
    generator = np.random.default_rng(seed)
    n, d = int(generator.integers(5, 26)), int(generator.integers(1, 6))
    X = generator.normal(size=(n, d)) * generator.choice([0.3, 1.0, 3.0])
    rounded = generator.random() < 0.3
    if rounded:
        X = np.round(X)
    Y = (generator.random((n, 2)) < generator.choice([0.15, 0.5])).astype(int)
    Y[0], Y[1] = 1, 0
    weights = generator.choice([0.0, 0.5, 1.0, 2.0], size=n) if generator.random() < 0.4 else np.ones(n)
    weights[:2] = 1.0
    C = float(generator.choice([0.05, 0.5, 2.0, 100.0, np.inf]))
    classes = {0: 3.0} if generator.random() < 0.5 else None
    kernel = str(generator.choice(["linear", "rbf", "poly", "chi2", "precomputed", "linear machine"]))
    bias = BIASES[generator.integers(len(BIASES))]
    if np.isinf(C) and (kernel != "rbf" or rounded or d < 3):
        C = 5.0  # a hard margin needs separable classes, with and without any example
    if kernel == "linear machine":
        machine = LinearSVM(C, bias="unregularized", class_weight=classes, max_iter=100_000)
    else:
        machine = KernelSVM(C, kernel=kernel, bias=bias, class_weight=classes, stabilizer_size=1.5, **SHAPE)
    if kernel == "chi2":
        X = np.abs(X)
    if kernel == "precomputed":
        X = X @ X.T
    return X, Y, weights, machine


def kernel_leave_one_out(machine, X, y, weights=None, *, accuracy=0.01, **how):
    found = machine.left_out_scores(X, y, weights, accuracy=accuracy, **how)
    return found.scores, found.accuracy, found.retrained, found.unstable


def retrained(machine, X, Y, weights, t):
    """Trained without example t, at the costs that all examples had."""
    without = weights.copy()
    without[t] = 0.0
    again = clone(machine).set_params(tol=1e-9)
    if Y.ndim == 2 and machine.class_weight is None:
        ratio = (weights @ (1 - Y)) / (weights @ Y)
        again.set_params(class_weight=dict(enumerate((ratio**0.15).tolist())))
    return again.fit(X, Y, sample_weight=without).decision_function(X[[t]])[0]


@pytest.mark.parametrize("block", range(12))
def test_equals_retraining(block):
    """240 problems; values, signs, and what is claimed about the accuracy."""
    proven = {1e-4: [], 0.3: []}
    for seed in range(20 * block, 20 * block + 20):
        X, Y, weights, machine = problem(seed)
        machine.fit(X, Y, sample_weight=weights)
        exact = np.array([retrained(machine, X, Y, weights, t) for t in range(len(Y))])
        certain = np.abs(exact) > SAME
        for wanted in (1e-4, 0.3, None):
            scores, accuracy, _, _ = kernel_leave_one_out(
                machine, X, Y, weights, scores=wanted is not None, accuracy=wanted or 0.0, n_jobs=1
            )
            np.testing.assert_array_equal(np.sign(scores[certain]), np.sign(exact[certain]), str(seed))
            assert (np.abs(scores - exact) <= accuracy + SAME).all(), seed
            assert (np.abs(scores - exact) <= (wanted or np.inf) + SAME).all(), seed
            if wanted is not None:
                proven[wanted].append(np.mean(accuracy <= wanted))
    # What was asked for is proven, unless costs times kernel values are so large that few digits are left.
    assert np.mean(proven[0.3]) > 0.99
    assert np.mean(proven[1e-4]) > 0.8


@pytest.mark.parametrize("hyperplane", ["unbiased", "bias-feature", "biased", "stabilized"])
def test_equals_another_solver(hyperplane):
    """An interior-point method; where thresholds form an interval it says any of it."""
    bias = {"unbiased": None, "bias-feature": 0.7, "biased": "unregularized", "stabilized": "stabilized"}
    for seed in range(8):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(int(generator.integers(6, 14)), 3))
        y = np.where(X[:, 0] + 0.7 * generator.normal(size=len(X)) > 0, 1, -1)
        y[:4] = [1, 1, -1, -1]
        C = float(generator.choice([0.3, 3.0]))
        machine = KernelSVM(C, kernel="rbf", bias=bias[hyperplane], stabilizer_size=0.7, **SHAPE).fit(X, y)
        scores, _, _, unstable = kernel_leave_one_out(machine, X, y, accuracy=1e-4)
        K = gram(X, X, "rbf", gamma=0.5)
        exact, stable = left_out_scores(K, y, np.full(len(y), C), hyperplane, 0.7)
        np.testing.assert_allclose(scores[stable, 0], exact[stable], atol=1e-4)
        assert unstable[0] == np.count_nonzero(~stable)


def test_the_middle_of_an_interval():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]]), np.array([1, -1, -1, 1, 1])
    machine = KernelSVM(0.2, kernel="linear").fit(X, y)
    scores, _, _, unstable = kernel_leave_one_out(machine, X, y, accuracy=1e-6)
    # Without the first example both sides are at their bounds: w = 0.4, and -1 + 0 <= b <= 1 - 0.4.
    assert scores[0, 0] == pytest.approx(-0.2)
    assert unstable[0] >= 1
    exact, stable = left_out_scores(X @ X.T, y, np.full(5, 0.2), "biased")
    np.testing.assert_allclose(scores[stable, 0], exact[stable], atol=1e-5)


@pytest.mark.parametrize("signs", [1, -1])
def test_one_class_is_left(signs):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
    y = signs * np.array([1, -1, -1, -1])
    for machine in (KernelSVM(), LinearSVM(bias="unregularized")):
        scores, _, _, unstable = kernel_leave_one_out(machine.fit(X, y), X, y)
        assert scores[0, 0] == -signs
        assert unstable[0] >= 1
    # Other hyperplanes are defined by what is left.
    for bias in (None, 1.0, "stabilized"):
        machine = KernelSVM(bias=bias).fit(X, y)
        scores, accuracy, _, _ = kernel_leave_one_out(machine, X, y, accuracy=1e-3)
        assert accuracy.max() <= 1e-3
        assert scores[0, 0] * signs < 0


def test_label_without_examples():
    X, Y = np.arange(5.0)[:, None], np.array([[0, 1], [0, 0], [0, 1], [0, 0], [0, 1]])
    scores, _, _, _ = kernel_leave_one_out(KernelSVM().fit(X, Y), X, Y)
    np.testing.assert_array_equal(scores[:, 0], -1)


@pytest.mark.parametrize("bias", BIASES[1:])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("cache", [None, 0.002])
def test_threads_and_memory_change_nothing(bias, kernel, cache):
    generator = np.random.default_rng(3)
    X = sp.random_array((60, 400), density=0.1, rng=generator, format="csr")
    Y = (generator.random((60, 3)) < 0.3).astype(int)
    machine = KernelSVM(bias=bias, kernel=kernel).fit(X, Y)
    plenty = kernel_leave_one_out(machine, X, Y, accuracy=1e-3, n_jobs=1)
    if cache is not None:  # rows that come and go, or a weight vector
        machine.set_params(cache=cache)
    one = kernel_leave_one_out(machine, X, Y, accuracy=1e-3, n_jobs=1)
    three = kernel_leave_one_out(machine, X, Y, accuracy=1e-3, n_jobs=3)
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(one[0], plenty[0], atol=2e-3)
    for t in (0, 11, 37):
        exact = retrained(machine, X, Y, np.ones(60), t)
        np.testing.assert_allclose(one[0][t], exact, atol=1e-3 + SAME)


def test_the_cache_is_that_of_the_learner(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.tile([0, 1], 15)
    machine = KernelSVM(cache=7).fit(X, y)
    seen = []
    core = left_out_kernel._core.leave_one_out_kernel
    monkeypatch.setattr(
        left_out_kernel._core, "leave_one_out_kernel", lambda *given: seen.append(given) or core(*given)
    )
    kernel_leave_one_out(machine, X, y)
    (options,) = (given for given in seen[0] if isinstance(given, left_out_kernel._core.KernelSvmOptions))
    assert options.cache_bytes == 7 * 2**20


def test_the_last_bits_do_not_depend_on_threads(monkeypatch):
    """Products of a weight vector's working sets: which came before on a thread must not be seen."""
    monkeypatch.setattr(left_out_kernel, "_CACHE", 0.001)
    for seed in range(3):
        generator = np.random.default_rng(seed)
        X = sp.random_array((120, 200), density=0.3, rng=generator, format="csr")
        X.data = generator.normal(size=X.nnz)
        Y = (generator.random((120, 3)) < 0.4).astype(int)
        machine = LinearSVM(bias="unregularized").fit(X, Y)
        one, two, three = (kernel_leave_one_out(machine, X, Y, accuracy=1e-3, n_jobs=n)[0] for n in (1, 2, 3))
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)


def test_rows_that_training_keeps_in_single_precision():
    generator = np.random.default_rng(5)
    X = generator.normal(size=(2100, 30)).astype(np.float32)
    y = np.where(X[:, 0] + 0.3 * generator.normal(size=2100) > 0, 1, -1)
    machine = KernelSVM(gamma=0.02, C=0.5).fit(X, y)
    scores, accuracy, n_retrained, _ = kernel_leave_one_out(machine, X, y, scores=False)
    assert n_retrained[0] < np.count_nonzero(machine.alpha_)
    nearest = np.argsort(np.abs(scores[:, 0]))[[3, 10]]
    for t in (*nearest, *np.flatnonzero(machine.alpha_ > 0)[:2]):
        weights = np.ones(2100)
        exact = clone(machine).set_params(tol=1e-5)
        weights[t] = 0
        value = exact.fit(X, y, sample_weight=weights).decision_function(X[[t]])[0]
        assert np.sign(scores[t, 0]) == np.sign(value)
        assert abs(scores[t, 0] - value) <= accuracy[t, 0] + 1e-3


def test_few_features():
    """Many examples on a few features: steps on hundreds of variables."""
    generator = np.random.default_rng(2)
    X = generator.random((80, 3))
    y = (X @ [1.0, -1.0, 0.5] + 0.2 * generator.normal(size=80) > 0.2).astype(int)
    machine = LinearSVM(C=10.0, bias="unregularized", max_iter=100_000).fit(X, y)
    scores, _, _, _ = kernel_leave_one_out(machine, X, y, accuracy=1e-3)
    for t in range(0, 80, 9):
        assert scores[t, 0] == pytest.approx(retrained(machine, X, y, np.ones(80), t), abs=1e-3 + SAME)


def test_sigmoid_promises_nothing_but_retrains():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(20, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    machine = KernelSVM(kernel="sigmoid", gamma=0.05, coef0=0.0, tol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an indefinite kernel
        machine.fit(X, y)
        scores, accuracy, n_retrained, _ = kernel_leave_one_out(machine, X, y)
        exact = np.array([retrained(machine, X, y, np.ones(20), t) for t in range(20)])
    assert np.isinf(accuracy).any()
    assert n_retrained[0] >= np.count_nonzero(machine.alpha_)
    np.testing.assert_allclose(scores[:, 0], exact, atol=1e-6)


def test_what_has_no_leave_one_out():
    X, y = np.eye(6), [0, 0, 1, 1, 2, 2]
    with pytest.raises(UsageError, match="pairs of classes"):
        kernel_leave_one_out(KernelSVM(scheme="votes").fit(X, y), X, y)
    with pytest.raises(UsageError, match="6 examples; X has 5"):
        kernel_leave_one_out(KernelSVM().fit(X, y), X[:5], y[:5])
    machine = KernelSVM().fit(X, y)
    del machine.alpha_
    with pytest.raises(UsageError, match="just fitted"):
        kernel_leave_one_out(machine, X, y)


@pytest.mark.parametrize("name", RUNS)
def test_agrees_with_svm_light(svmlight_stories, name):
    X, y, answers = svmlight_stories
    answer = answers[name]
    truth = np.where(y == "1", 1, -1)
    machine = KernelSVM(**RUNS[name], tol=1e-5).fit(X, y)
    signs, _, skipped, _ = kernel_leave_one_out(machine, X, y, scores=False)
    values, _, _, _ = kernel_leave_one_out(machine, X, y, accuracy=0.01)
    np.testing.assert_array_equal(np.sign(signs), np.sign(values))
    assert skipped[0] < machine.n_support_ / 1.5
    found = np.sign(signs[:, 0])
    if "cost" in name:
        # SVM-light leaves out whom the rule rho = 1 calls safe, and with unequal costs the rule is wrong
        # about three: retraining shows that, and we say so.
        safe = machine.left_out_risk(X, risk_factor=1.0) < 1
        wrong = np.flatnonzero(safe & (found != truth))
        assert len(wrong) == 3
        for t in wrong:
            without = retrained(machine, X, y, np.ones(len(y)), t)
            assert without == pytest.approx(values[t, 0], abs=0.01)
            assert without * truth[t] < 0
        found = np.where(safe, truth, found)
    right = np.count_nonzero((found > 0) & (truth > 0))
    figures = {
        "error": np.mean(found != truth),
        "recall": right / np.count_nonzero(truth > 0),
        "precision": right / np.count_nonzero(found > 0),
    }
    for key, value in figures.items():
        assert 100 * value == pytest.approx(answer["leave_one_out"][key], abs=0.006)
