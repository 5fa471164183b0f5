"""KernelSVM against an interior-point method, against LIBSVM, and against itself on every road."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from tests.reference.kernel_dual import (
    dual_value,
    gram,
    intercepts,
    kkt_violation,
    primal_value,
    solve,
    stabilized,
)
from widemargin import KernelSVM, LinearSVM, Vectorizer

TIGHT = {"tol": 1e-7}
KERNELS = {
    "linear": {"kernel": "linear"},
    "quadratic": {"kernel": "poly", "gamma": 0.2, "degree": 2, "coef0": 1.0},
    "cubic": {"kernel": "poly", "gamma": 0.1, "degree": 3, "coef0": 0.5},
    "rbf": {"kernel": "rbf", "gamma": 0.3},
    "narrow rbf": {"kernel": "rbf", "gamma": 3.0},
    "chi2": {"kernel": "chi2", "gamma": 0.2},
    "chi2 root": {"kernel": "chi2", "gamma": 0.5, "power": 0.5},
}


def text_like(n=200, d=300, labels=3, seed=0):
    """Sparse non-negative rows of length one and overlapping labels, as documents have."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.04, format="csr", rng=rng, dtype=np.float64)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_array(sp.diags_array(1.0 / np.maximum(lengths, 1e-12)) @ X)
    Y = (X @ rng.normal(size=(d, labels)) + rng.normal(scale=0.3, size=(n, labels)) > 0.3).astype(int)
    return X, Y


def values(kernel):
    return st.floats(0 if kernel.startswith("chi2") else -3, 3).map(lambda v: round(v, 2))


@st.composite
def problems(draw, kernels=tuple(KERNELS)):
    kernel = draw(st.sampled_from(kernels))
    n, d = draw(st.integers(2, 14)), draw(st.integers(1, 5))
    X = np.array(draw(st.lists(st.lists(values(kernel), min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    y[0], y[1] = 1.0, -1.0
    return X, y, KERNELS[kernel]


def extended(K, y, upper, bias, kappa=1.0):
    """The Gram matrix that a way to have a threshold stands for, and whether it has the constraint."""
    if bias == "stabilized":
        return *stabilized(K, y, upper, kappa), True
    if bias == "unregularized":
        return K, y, upper, True
    return (K if bias is None else K + bias**2), y, upper, False


def rounding(K, alpha):
    """What single precision of kernel values makes of a score."""
    return 4 * np.finfo(np.float32).eps * np.abs(K).max() * alpha.sum()


@settings(max_examples=200)
@given(
    problems(),
    st.sampled_from([0.01, 0.3, 1.0, 8.0]),
    st.sampled_from(["unregularized", None, 0.5, "stabilized"]),
    st.booleans(),
    st.sampled_from([1.0, 0.3, 2.0]),
)
def test_reaches_the_optimum_of_the_quadratic_program(problem, C, bias, weighted, kappa):
    X, y, kernel = problem
    weights = 0.25 + np.arange(len(y)) % 3 if weighted else np.ones(len(y))
    K = gram(X, X, **kernel)
    big, signs, upper, biased = extended(K, y, C * weights, bias, kappa)
    alpha, b = solve(big, signs, upper, biased)
    # With equal rows the oracle may end before it is exact enough to compare with.
    assume(kkt_violation(big, signs, alpha, b, upper, biased) < 1e-6)
    best = dual_value(big, signs, alpha)
    model = KernelSVM(C, bias=bias, stabilizer_size=kappa, **kernel, **TIGHT).fit(
        X, y, weights if weighted else None
    )
    slack = 1e-6 + rounding(big, alpha)
    assert model.objective_ == pytest.approx(best, rel=1e-5, abs=slack * max(1.0, alpha.sum()))
    assert model.duality_gap_ + slack * alpha.sum() >= 0
    scores = big[: len(y)] @ (alpha * signs) + b
    difference = model.decision_function(X) - scores
    if biased and bias == "unregularized":
        low, high = intercepts(K, y, alpha, upper)
        if high - low > 1e-6:
            assert not model.stable_
        low, high = intercepts(K, y, alpha, upper, near=1e-6)
        if high - low > 1e-6:
            assert low - 1e-4 <= model.intercept_[0] <= high + 1e-4
            difference -= model.intercept_[0] - b
    # |w - w*| <= sqrt(2 gap), and every score moves by at most |x| times that.
    np.testing.assert_allclose(difference, 0, atol=2e-3 * (1 + np.sqrt(np.abs(K).max())))


@settings(max_examples=100)
@given(
    problems(),
    st.sampled_from([0.1, 1.0, 20.0]),
    st.sampled_from([2, 4, 10, 30]),
    st.sampled_from([1e-1, 1e-3, 1e-6]),
    st.booleans(),
)
def test_the_solution_fulfills_the_kuhn_tucker_conditions(problem, C, q, tol, shrinking):
    X, y, kernel = problem
    model = KernelSVM(C, working_set=q, tol=tol, shrinking=shrinking, shrink_history=3, **kernel).fit(X, y)
    K, upper = gram(X, X, **kernel), np.full(len(y), C)
    alpha, b = model.alpha_, model.intercept_[0]
    slack = 1e-9 + rounding(K, alpha)
    assert kkt_violation(K, y, alpha, b, upper) <= tol * (1 + 1e-6) + slack
    np.testing.assert_allclose(model.xi_, np.maximum(0, 1 - y * (K @ (alpha * y) + b)), atol=slack)
    value = primal_value(K, y, alpha, b, upper)
    assert model.objective_ == pytest.approx(value, rel=1e-6, abs=slack * (1 + C * len(y)))
    bounded = alpha >= C * (1 - 1e-12)  # rounding may keep an alpha from its bound
    np.testing.assert_array_equal(model.bounded_, bounded)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(alpha > 0))
    assert model.stable_ == bool(((alpha > min(C, 1.0) * 1e-12) & ~bounded).any())
    assert pytest.approx(K.diagonal().max(), rel=1e-6) == model.R2_
    norm = np.sqrt(max(0.0, (alpha * y) @ K @ (alpha * y)))
    if norm > 1e-3:
        assert model.margin_ == pytest.approx(1 / norm, rel=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
def test_agrees_with_libsvm(kernel, C):
    X, Y = text_like()
    y = 2.0 * Y[:, 0] - 1
    K = gram(X.toarray(), X.toarray(), **KERNELS[kernel])
    weights = 0.5 + np.arange(len(y)) % 2
    for class_weight, sample_weight in ((None, None), ({1: 3.0, -1: 0.5}, weights)):
        theirs = SVC(C=C, kernel="precomputed", tol=1e-7, class_weight=class_weight)
        theirs.fit(K, y, sample_weight)
        ours = KernelSVM(C, class_weight=class_weight, **KERNELS[kernel], **TIGHT).fit(X, y, sample_weight)
        upper = C * (np.where(y > 0, 3.0, 0.5) * weights if class_weight else np.ones(len(y)))
        alpha = np.zeros(len(y))
        alpha[theirs.support_] = np.abs(theirs.dual_coef_[0])
        # Slacks are known to the tolerance, and each costs its bound.
        slack = 1e-7 * upper.sum()
        assert ours.objective_ <= primal_value(K, y, alpha, theirs.intercept_[0], upper) + slack
        assert ours.objective_ >= dual_value(K, y, alpha) * (1 - 1e-6)
        assert ours.duality_gap_ <= 2 * slack
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(K), atol=2e-4)
        assert abs(len(ours.support_) - len(theirs.support_)) <= 2
        assert abs(ours.bounded_.sum() - (alpha >= upper).sum()) <= 2


ROADS = [
    {"working_set": 4},
    {"working_set": 10},
    {"working_set": 30},
    {"selection": "steepest"},
    {"selection": "second-order", "working_set": 2},
    {"selection": "random", "working_set": 10},
    {"selection": "random", "working_set": 2},
    {"shrinking": False},
    {"shrinking": False, "working_set": 10},
    {"shrink_history": 1},
    {"shrink_history": 2, "shrink_threshold": 1.0, "working_set": 10},
    {"cache": 0.01},
    {"cache": 0.01, "working_set": 10},
    {"cache": 0.1, "shrink_history": 1, "working_set": 4},
    {"cache": 0.01, "shrinking": False, "selection": "random", "working_set": 4},
    {"n_jobs": 1},
    {"n_jobs": 3, "cache": 0.1},
    {"random_state": 7},
]


@pytest.mark.parametrize("kernel", ["linear", "cubic", "rbf", "chi2"])
@pytest.mark.parametrize("bias", ["unregularized", None, 1.0, "stabilized"])
def test_every_road_leads_to_the_same_solution(kernel, bias):
    X, Y = text_like(n=150)
    parameters = {"C": 3.0, "bias": bias, "tol": 1e-6} | KERNELS[kernel]
    plain = KernelSVM(**parameters).fit(X, Y)
    for road in ROADS:
        other = KernelSVM(**parameters | road).fit(X, Y)
        # Slacks are known to the tolerance, and each costs C.
        slack = 2e-6 * 3.0 * 150
        np.testing.assert_allclose(
            other.objective_, plain.objective_, rtol=1e-7, atol=slack, err_msg=str(road)
        )
        np.testing.assert_allclose(other.intercept_, plain.intercept_, atol=1e-4, err_msg=str(road))
        np.testing.assert_allclose(
            other.decision_function(X), plain.decision_function(X), atol=1e-3, err_msg=str(road)
        )


@settings(max_examples=60)
@given(problems(), st.sampled_from([0.5, 5.0]), st.sampled_from([0.05, 0.5, 50.0]), st.sampled_from([2, 6]))
def test_a_start_changes_nothing(problem, C, earlier, q):
    X, y, kernel = problem
    cold = KernelSVM(C, working_set=q, **kernel, **TIGHT).fit(X, y)
    warm = KernelSVM(earlier, working_set=q, warm_start=True, **kernel, **TIGHT).fit(X, y)
    warm.set_params(C=C).fit(X, y)
    K = gram(X, X, **kernel)
    assert abs(warm.alpha_ @ y) <= 1e-9 * max(1.0, warm.alpha_.sum()), "the constraint was lost"
    assert warm.alpha_.max() <= C
    slack = (1e-6 + rounding(K, cold.alpha_)) * max(1.0, cold.alpha_.sum())
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-5, abs=slack)
    if cold.stable_ and warm.stable_:
        np.testing.assert_allclose(
            warm.decision_function(X),
            cold.decision_function(X),
            atol=2e-3 * (1 + np.sqrt(np.abs(K).max())),
        )


@pytest.mark.parametrize("bias", ["unregularized", None, 1.0, "stabilized"])
def test_a_solution_is_recognized_as_one(bias):
    X, Y = text_like()
    model = KernelSVM(2.0, bias=bias, warm_start=True).fit(X, Y)
    cold = np.sum(model.n_iter_)
    model.fit(X, Y)
    assert np.sum(model.n_iter_) <= 0.02 * cold + 3


def test_the_number_of_threads_changes_nothing():
    X, Y = text_like(labels=7)
    one = KernelSVM(C=2.0, n_jobs=1).fit(X, Y)
    for n_jobs in (2, 3, 8):
        many = KernelSVM(C=2.0, n_jobs=n_jobs).fit(X, Y)
        np.testing.assert_array_equal(many.alpha_, one.alpha_)
        np.testing.assert_array_equal(many.intercept_, one.intercept_)
        np.testing.assert_array_equal(many.decision_function(X), one.decision_function(X))


def test_a_label_does_not_depend_on_its_neighbors():
    X, Y = text_like(labels=6)
    together = KernelSVM(C=2.0, balance=0.15).fit(X, Y)
    for column in range(6):
        alone = KernelSVM(C=2.0, balance=0.15).fit(X, Y[:, column])
        np.testing.assert_array_equal(together.alpha_[:, column], alone.alpha_)
        np.testing.assert_allclose(
            together.decision_function(X)[:, column], alone.decision_function(X), atol=1e-12
        )


@pytest.mark.parametrize("kernel", KERNELS)
def test_scores_are_sums_over_the_support_vectors(kernel):
    X, Y = text_like()
    model = KernelSVM(C=5.0, **KERNELS[kernel]).fit(X[:150], Y[:150])
    K = gram(X.toarray(), model.support_vectors_.toarray(), **KERNELS[kernel])
    expected = K @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-5)
    dense = KernelSVM(C=5.0, **KERNELS[kernel]).fit(X[:150].toarray(), Y[:150])
    np.testing.assert_allclose(dense.decision_function(X.toarray()), expected, atol=1e-5)
    signed = model.alpha_ * (2.0 * Y[:150] - 1)
    np.testing.assert_array_equal(model.dual_coef_, signed[model.support_].T)
    np.testing.assert_array_equal(model.support_, np.flatnonzero((model.alpha_ > 0).any(axis=1)))
    np.testing.assert_array_equal(model.n_support_, (model.alpha_ > 0).sum(axis=0))


def test_one_row_scores_as_in_a_batch():
    X, Y = text_like()
    model = KernelSVM(C=5.0).fit(X, Y)
    batch = model.decision_function(X)
    for i in (0, 17, 199):
        np.testing.assert_allclose(model.decision_function(X[[i]]), batch[[i]], atol=1e-12)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_linear_svm_with_a_free_threshold(C):
    X, Y = text_like()
    linear = LinearSVM(C, bias="unregularized", balance=0, tol=1e-7, max_iter=1_000_000).fit(X, Y)
    kernel = KernelSVM(C, kernel="linear", balance=0, **TIGHT).fit(X, Y)
    np.testing.assert_allclose(linear.objective_, kernel.objective_, rtol=1e-6)
    np.testing.assert_allclose(linear.decision_function(X), kernel.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(linear.coef_, (X.T @ (linear.alpha_ * (2.0 * Y - 1))).T, atol=1e-9)
    np.testing.assert_allclose((linear.alpha_ * (2.0 * Y - 1)).sum(axis=0), 0, atol=1e-8)
    for column in range(Y.shape[1]):
        theirs = SVC(C=C, kernel="linear", tol=1e-7).fit(X, Y[:, column])
        np.testing.assert_allclose(
            linear.decision_function(X)[:, column], theirs.decision_function(X), atol=2e-4
        )


@pytest.mark.needs_corpus("reuters21578")
@pytest.mark.parametrize("kernel", [{"kernel": "rbf", "gamma": 0.8}, {"kernel": "linear"}])
def test_agrees_with_libsvm_on_reuters(corpus, kernel):
    train = corpus("reuters21578").train
    X = Vectorizer().fit_transform(train.texts[:1500])
    topics = ("earn", "crude", "wheat")
    Y = np.array([[topic in labels for topic in topics] for labels in train.labels[:1500]]).astype(int)
    ours = KernelSVM(10.0, balance=0, tol=1e-6, **kernel).fit(X, Y)
    linear = LinearSVM(10.0, bias="unregularized", balance=0, tol=1e-6, max_iter=1_000_000).fit(X, Y)
    X64 = X.astype(np.float64)
    for column in range(len(topics)):
        theirs = SVC(C=10.0, tol=1e-6, **kernel).fit(X64, Y[:, column])
        scores = theirs.decision_function(X64)
        np.testing.assert_allclose(ours.decision_function(X)[:, column], scores, atol=1e-3)
        if kernel["kernel"] == "linear":
            np.testing.assert_allclose(linear.decision_function(X)[:, column], scores, atol=1e-3)
