"""Multi-class SVMs: the optimum of a generic quadratic program, and a gap that is a certificate."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from tests.reference import multiclass as reference
from tests.reference.kernel_dual import gram
from widemargin import KernelSVM, LinearSVM, MulticlassSVM

FORMULATIONS = ("crammer-singer", "weston-watkins")
KERNELS = {
    "linear": {"kernel": "linear"},
    "quadratic": {"kernel": "poly", "gamma": 0.2, "degree": 2, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.3},
    "chi2 root": {"kernel": "chi2", "gamma": 0.5, "power": 0.5},
}
# Examples in few dimensions are nearly dependent, and coordinate descent creeps: many short passes.
SLOW = {"max_iter": 1_000_000, "tol": 1e-5}


def text_like(n=300, d=400, classes=5, seed=0, dtype=np.float64):
    """Sparse rows of length one, and classes that overlap."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.05, format="csr", rng=rng, dtype=np.float64)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_array(sp.diags_array(1.0 / np.maximum(lengths, 1e-12)) @ X)
    y = (X @ rng.normal(size=(d, classes)) + rng.normal(scale=0.2, size=(n, classes))).argmax(axis=1)
    return X.astype(dtype), y


@st.composite
def problems(draw, kernels=tuple(KERNELS)):
    kernel = draw(st.sampled_from(kernels))
    n, d, n_classes = draw(st.integers(3, 9)), draw(st.integers(1, 4)), draw(st.integers(2, 4))
    n_classes = min(n, n_classes)
    least = 0 if kernel.startswith("chi2") else -3
    values = st.floats(least, 3).map(lambda v: round(v, 1))
    X = np.array(draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)))
    y[:n_classes] = np.arange(n_classes)
    return X, y, KERNELS[kernel]


def two_columns(scores):
    """Scores of both classes of a binary task: their difference is what there is."""
    return np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores


@settings(max_examples=60, deadline=None)
@given(
    problems(),
    st.sampled_from([0.1, 1.0, 5.0]),
    st.sampled_from([None, 0.5, 1.0]),
    st.booleans(),
    st.sampled_from(FORMULATIONS),
)
def test_reaches_the_optimum_of_the_quadratic_program(problem, C, bias, weighted, formulation):
    X, y, kernel = problem
    each_class = formulation == "weston-watkins"
    weights = 0.25 + np.arange(len(y)) % 3 if weighted else np.ones(len(y))
    K = gram(X, X, **kernel) + (0.0 if bias is None else bias**2)
    costs = C * weights
    model = MulticlassSVM(C, formulation=formulation, bias=bias, **kernel, **SLOW)
    model.fit(X, y, weights if weighted else None)

    # What it says of itself is so, by the formulas.
    alpha, scale = model.alpha_, costs.sum()
    assert reference.infeasibility(y, alpha, costs, each_class) <= 1e-12 * scale
    assert model.objective_ == pytest.approx(reference.primal(K, y, alpha, costs, each_class), rel=1e-9)
    value = reference.dual(K, y, alpha)
    assert model.objective_ - model.duality_gap_ == pytest.approx(value, rel=1e-9, abs=1e-9 * scale)
    assert model.duality_gap_ <= model.tol * model.objective_
    np.testing.assert_allclose(model.xi_, reference.slacks(K @ alpha, y, each_class), atol=1e-9)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(alpha.any(axis=1)))

    # The best value of the generic program lies in between.
    best = reference.dual(K, y, reference.solve(K, y, y.max() + 1, costs, each_class))
    assert best <= model.objective_ * (1 + 1e-9)
    assert best >= value - 1e-6 * max(1.0, scale), "the oracle did not solve the problem"

    # Scores of the training examples by the stored rule are those of alpha.
    scores = K @ alpha
    found = model.decision_function(X)
    expected = scores[:, 1] - scores[:, 0] if found.ndim == 1 else scores
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("classes", [3, 11, 37])
def test_the_gap_is_certified_in_any_precision(formulation, dtype, tol, classes):
    X, y = text_like(n=400, classes=classes, dtype=dtype)
    _, y = np.unique(y, return_inverse=True)
    model = MulticlassSVM(2.0, formulation=formulation, tol=tol).fit(X, y)
    scores, costs = model.decision_function(X), np.full(len(y), 2.0)
    xi = reference.slacks(scores, y, formulation == "weston-watkins")
    squares = (model.coef_**2).sum() + (model.intercept_**2).sum()
    assert model.objective_ == pytest.approx(0.5 * squares + costs @ xi, rel=1e-8)
    K = (X @ X.T).toarray().astype(np.float64) + 1.0
    dual = reference.dual(K, y, model.alpha_)
    assert model.objective_ - dual <= tol * model.objective_ * (1 + 1e-5) + 1e-5 * (dtype is np.float32)
    np.testing.assert_allclose(X.T @ model.alpha_, model.coef_.T, atol=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_linear_kernel_is_the_linear_machine(formulation):
    X, y = text_like()
    linear = MulticlassSVM(formulation=formulation, tol=1e-8).fit(X, y)
    matrix = (X @ X.T).toarray()
    given = MulticlassSVM(formulation=formulation, kernel="precomputed", tol=1e-8).fit(matrix, y)
    as_kernel = MulticlassSVM(
        formulation=formulation, kernel="poly", degree=1, coef0=0.0, gamma=1.0, tol=1e-8
    ).fit(X, y)
    assert given.objective_ == pytest.approx(linear.objective_, rel=2e-8)
    # |W - W*|^2 <= 2 gap.
    apart = 2 * np.sqrt(2 * 2e-8 * linear.objective_)
    np.testing.assert_allclose(given.decision_function(matrix), linear.decision_function(X), atol=apart)
    np.testing.assert_allclose(as_kernel.decision_function(X), linear.decision_function(X), atol=apart)
    np.testing.assert_allclose(given.intercept_, linear.intercept_, atol=apart)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("bias", [None, 1.0])
def test_two_classes_are_the_binary_machine_with_twice_the_cost(formulation, bias):
    X, y = text_like(classes=2)
    names = np.array(["ham", "spam"])[y]
    two = MulticlassSVM(0.7, formulation=formulation, bias=bias, tol=1e-8).fit(X, names)
    one = LinearSVM(1.4, bias=bias, tol=1e-8).fit(X, names)
    assert 2 * two.objective_ == pytest.approx(one.objective_, rel=3e-8)
    assert two.coef_.shape == (1, X.shape[1])
    np.testing.assert_allclose(two.decision_function(X), one.decision_function(X), atol=3e-3)
    kernel = MulticlassSVM(0.7, formulation=formulation, bias=bias, tol=1e-8, kernel="rbf").fit(X, names)
    binary = KernelSVM(1.4, bias=bias, kernel="rbf", tol=1e-6).fit(X, names)
    assert 2 * kernel.objective_ == pytest.approx(binary.objective_, rel=1e-6)
    np.testing.assert_allclose(kernel.decision_function(X), binary.decision_function(X), atol=3e-3)


@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_agrees_with_liblinear(C):
    X, y = text_like()
    theirs = LinearSVC(
        C=C, multi_class="crammer_singer", fit_intercept=False, tol=1e-6, max_iter=100_000, random_state=0
    ).fit(X, y)
    ours = MulticlassSVM(C, bias=None, tol=1e-7).fit(X, y)
    xi = reference.slacks(X @ theirs.coef_.T, y, each_class=False)
    objective = 0.5 * (theirs.coef_**2).sum() + C * xi.sum()
    assert ours.objective_ <= objective * (1 + 1e-7)
    assert objective == pytest.approx(ours.objective_, rel=1e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.01)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "chi2"])
def test_the_same_machine_on_any_number_of_threads(formulation, kernel):
    X, y = text_like()
    machines = [
        MulticlassSVM(formulation=formulation, kernel=kernel, n_jobs=jobs).fit(X, y) for jobs in (1, 2, 5)
    ]
    for other in machines[1:]:
        np.testing.assert_array_equal(other.alpha_, machines[0].alpha_)
        assert other.objective_ == machines[0].objective_
        np.testing.assert_array_equal(other.decision_function(X), machines[0].decision_function(X))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_small_cache_finds_the_same_optimum(formulation):
    X, y = text_like()
    large = MulticlassSVM(formulation=formulation, kernel="rbf", gamma=1.0, tol=1e-6).fit(X, y)
    small = MulticlassSVM(formulation=formulation, kernel="rbf", gamma=1.0, tol=1e-6, cache=0.01).fit(X, y)
    assert small.n_kernel_rows_ > large.n_kernel_rows_
    assert large.n_kernel_rows_ <= X.shape[0]
    np.testing.assert_array_equal(small.alpha_, large.alpha_)


def test_single_precision_of_kernel_values_is_enough_for_many_examples():
    X, y = text_like(n=2500, d=200)
    model = MulticlassSVM(kernel="rbf", gamma=1.0, tol=1e-4).fit(X, y)
    K = rbf_kernel(X, gamma=1.0) + 1.0
    value = reference.primal(K, y, model.alpha_, np.ones(len(y)), each_class=False)
    assert model.objective_ == pytest.approx(value, rel=1e-5)
    assert value - reference.dual(K, y, model.alpha_) <= 1.1e-4 * value


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weights_are_costs(formulation, kernel):
    X, y = text_like()
    options = {"formulation": formulation, "kernel": kernel, "tol": 1e-7}
    factors = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    by_class = MulticlassSVM(class_weight=dict(enumerate(factors)), **options).fit(X, y)
    by_sample = MulticlassSVM(**options).fit(X, y, factors[y])
    assert by_class.objective_ == by_sample.objective_
    balanced = MulticlassSVM(class_weight="balanced", **options).fit(X, y)
    shares = len(y) / (5 * np.bincount(y))
    assert balanced.objective_ == pytest.approx(MulticlassSVM(**options).fit(X, y, shares[y]).objective_)
    # An example of weight 0 takes no part.
    weights = np.ones(len(y))
    weights[::3] = 0.0
    some = MulticlassSVM(**options).fit(X, y, weights)
    alone = MulticlassSVM(**options).fit(X[weights > 0], y[weights > 0])
    assert some.objective_ == pytest.approx(alone.objective_, rel=2e-7)
    assert not some.alpha_[::3].any()


def test_the_seed_decides_the_order():
    X, y = text_like()
    first, again, other = (MulticlassSVM(random_state=seed).fit(X, y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert (first.coef_ != other.coef_).any()
    assert first.objective_ == pytest.approx(other.objective_, rel=1e-3)
