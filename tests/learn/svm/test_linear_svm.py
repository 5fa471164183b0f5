"""LinearSVM against a quadratic program, against LinearSVC, and against itself on equivalent problems."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from tests.reference.svm_dual import objective, solve
from widemargin import LinearSVM, Vectorizer
from widemargin.errors import DataError, UsageError

TIGHT = {"tol": 1e-9, "max_iter": 200_000}


def text_like(n=300, d=800, labels=5, seed=0):
    """Sparse rows of length one and overlapping labels, as documents have."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density=0.03, format="csr", random_state=rng, dtype=np.float64)
    norms = (
        np.sqrt(X.multiply(X).sum(axis=1)).A1 if hasattr(X, "A1") else np.sqrt((X.multiply(X)).sum(axis=1))
    )
    X = sp.csr_array(sp.diags_array(1.0 / np.maximum(np.asarray(norms).ravel(), 1e-12)) @ X)
    Y = (X @ rng.normal(size=(d, labels)) + rng.normal(scale=0.3, size=(n, labels)) > 0.5).astype(int)
    return X, Y


@st.composite
def problems(draw):
    n, d = draw(st.integers(2, 14)), draw(st.integers(1, 5))
    value = st.floats(-3, 3).map(lambda v: round(v, 2))
    X = np.array(draw(st.lists(st.lists(value, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    y[0], y[1] = 1.0, -1.0
    return X, y


@settings(max_examples=150, deadline=None)
@given(
    problems(),
    st.sampled_from([0.01, 0.3, 1.0, 8.0]),
    st.sampled_from(["hinge", "squared_hinge"]),
    st.sampled_from([None, 0.5, 1.0]),
    st.booleans(),
)
def test_reaches_the_optimum_of_the_quadratic_program(problem, C, loss, bias, weighted):
    X, y = problem
    weights = 0.25 + np.arange(len(y)) % 3 if weighted else np.ones(len(y))
    best, _, _ = solve(X, y, C * weights, loss, bias)
    model = LinearSVM(C, loss=loss, bias=bias, **TIGHT).fit(X, y, weights if weighted else None)
    reached = objective(X, y, model.coef_[0], model.intercept_[0], C * weights, loss, bias)
    assert reached == pytest.approx(best, rel=1e-6, abs=1e-9)
    assert model.objective_ == pytest.approx(reached, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([0.1, 1.0, 10.0]), st.sampled_from([1e-1, 1e-2, 1e-3]))
def test_the_duality_gap_bounds_what_is_missing(problem, C, tol):
    X, y = problem
    best, _, _ = solve(X, y, np.full(len(y), C))
    model = LinearSVM(C, tol=tol, max_iter=100_000).fit(X, y)
    assert model.objective_ >= best * (1 - 1e-9)
    assert model.objective_ - model.duality_gap_ <= best * (1 + 1e-7)
    assert model.duality_gap_ <= tol * model.objective_ * (1 + 1e-12)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(3, 40),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.1, 1.0, 5.0, 100.0]),
    st.sampled_from([0.05, 1.0, 20.0]),
    st.sampled_from(["hinge", "squared_hinge"]),
    st.sampled_from([2, 5]),  # each alone, or in shared passes
)
@example(39, 1017086, 100.0, 20.0, "hinge", 5)  # where the reference once stopped early
def test_a_bias_feature_of_any_size(n, seed, bias, C, loss, labels):
    # Rows of length 1 and an empty one.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) + 0.5
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[-1] = 0
    Y = (rng.random((n, labels)) < 0.4).astype(int)
    Y[0], Y[1] = 0, 1
    model = LinearSVM(C, bias=bias, loss=loss, balance=0, tol=1e-5, max_iter=100_000).fit(X, Y)
    signs = 2.0 * Y - 1
    alpha = model.alpha_
    assert (alpha >= 0).all()
    assert loss == "squared_hinge" or (alpha <= C).all()
    np.testing.assert_allclose(model.coef_, (X.T @ (alpha * signs)).T, atol=1e-9 * max(1, C))
    np.testing.assert_allclose(
        model.intercept_, bias**2 * (alpha * signs).sum(axis=0), atol=1e-9 * bias**2 * max(1, C)
    )
    for k in range(labels):
        costs = np.full(n, C)
        best, _, _ = solve(X, signs[:, k], costs, loss, bias)
        weights = model.coef_[k], model.intercept_[k]
        reached = objective(X, signs[:, k], *weights, costs, loss, bias)
        assert model.objective_[k] == pytest.approx(reached, rel=1e-6)
        assert reached <= best * (1 + 2e-5) + 1e-9
        assert model.objective_[k] - model.duality_gap_[k] <= best * (1 + 1e-5)
        assert model.duality_gap_[k] <= 1e-5 * model.objective_[k] * (1 + 1e-12)


def test_the_bias_feature_costs_few_passes():
    X, Y = text_like(n=1000, d=2000)
    free = LinearSVM(bias=None).fit(X, Y).n_iter_
    for bias in (1.0, 10.0):
        assert (LinearSVM(bias=bias).fit(X, Y).n_iter_ <= 1.5 * free.max()).all()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_weights_slacks_and_alphas_belong_together(loss):
    X, Y = text_like()
    model = LinearSVM(2.0, loss=loss, balance=0).fit(X, Y)
    signs = 2.0 * Y - 1
    np.testing.assert_allclose(model.coef_, (X.T @ (model.alpha_ * signs)).T, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, (model.alpha_ * signs).sum(axis=0), atol=1e-10)
    np.testing.assert_allclose(model.xi_, np.maximum(0, 1 - signs * model.decision_function(X)), atol=1e-10)
    assert (model.alpha_ >= 0).all()
    if loss == "hinge":
        assert (model.alpha_ <= 2.0).all()
        assert (model.alpha_ == 2.0).any(), "no example at the bound: the problem does not test the bound"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_agrees_with_linear_svc(loss, C):
    X, Y = text_like()
    ours = LinearSVM(C, loss=loss, balance=0, **TIGHT).fit(X, Y)
    for column in range(Y.shape[1]):
        theirs = LinearSVC(loss=loss, C=C, dual=True, tol=1e-10, max_iter=1_000_000).fit(X, Y[:, column])
        y = 2.0 * Y[:, column] - 1
        costs = np.full(len(y), C)
        value = objective(X, y, theirs.coef_[0], theirs.intercept_[0], costs, loss)
        assert ours.objective_[column] == pytest.approx(value, rel=1e-6)
        np.testing.assert_allclose(
            ours.decision_function(X)[:, column], theirs.decision_function(X), atol=1e-3
        )


@pytest.mark.needs_corpus("reuters21578")
def test_agrees_with_linear_svc_on_reuters(corpus):
    train = corpus("reuters21578").train
    X = Vectorizer().fit_transform(train.texts)
    topics = ("earn", "crude", "wheat", "copper")
    Y = np.array([[topic in labels for topic in topics] for labels in train.labels]).astype(int)
    ours = LinearSVM(1.0, balance=0, tol=1e-7, max_iter=100_000).fit(X, Y)
    X64 = X.astype(np.float64)
    for column in range(len(topics)):
        theirs = LinearSVC(loss="hinge", C=1.0, tol=1e-7, max_iter=1_000_000).fit(X64, Y[:, column])
        y = 2.0 * Y[:, column] - 1
        value = objective(X64, y, theirs.coef_[0], theirs.intercept_[0], np.ones(len(y)))
        assert ours.objective_[column] == pytest.approx(value, rel=1e-6)
        scores = ours.decision_function(X)[:, column]
        clear = np.abs(theirs.decision_function(X64)) > 1e-3
        assert ((scores > 0) == (theirs.decision_function(X64) > 0))[clear].all()


def test_the_number_of_threads_changes_nothing():
    X, Y = text_like(labels=37)
    one = LinearSVM(n_jobs=1).fit(X, Y)
    for n_jobs in (2, 3, 8):
        many = LinearSVM(n_jobs=n_jobs).fit(X, Y)
        np.testing.assert_array_equal(many.coef_, one.coef_)
        np.testing.assert_array_equal(many.alpha_, one.alpha_)
        np.testing.assert_array_equal(many.duality_gap_, one.duality_gap_)


def test_a_label_does_not_depend_on_its_neighbors():
    X, Y = text_like(labels=20)
    together = LinearSVM().fit(X, Y)
    some = LinearSVM().fit(X, Y[:, [3, 7, 12, 19]])
    np.testing.assert_array_equal(together.coef_[[3, 7, 12, 19]], some.coef_)


def test_the_seed_decides_the_path_and_nothing_else():
    X, Y = text_like()
    same = [LinearSVM(random_state=3).fit(X, Y).coef_ for _ in range(2)]
    np.testing.assert_array_equal(*same)
    other = LinearSVM(random_state=4, tol=1e-8, max_iter=100_000).fit(X, Y)
    tight = LinearSVM(random_state=3, tol=1e-8, max_iter=100_000).fit(X, Y)
    assert (other.coef_ != tight.coef_).any()
    np.testing.assert_allclose(other.objective_, tight.objective_, rtol=1e-7)


def test_order_of_rows_and_columns():
    X, Y = text_like()
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    plain = LinearSVM(**TIGHT).fit(X, Y)
    turned = LinearSVM(**TIGHT).fit(X[rows][:, columns], Y[rows])
    np.testing.assert_allclose(turned.objective_, plain.objective_, rtol=1e-8)
    np.testing.assert_allclose(turned.coef_, plain.coef_[:, columns], atol=1e-3)


def test_one_row_scores_as_in_a_batch():
    X, Y = text_like()
    model = LinearSVM().fit(X, Y)
    batch = model.decision_function(X)
    for i in (0, 17, 299):
        np.testing.assert_array_equal(model.decision_function(X[[i]]), batch[[i]])


def test_float32_and_dense_input():
    X, Y = text_like()
    exact = LinearSVM(**TIGHT).fit(X, Y)
    np.testing.assert_allclose(LinearSVM(**TIGHT).fit(X.toarray(), Y).objective_, exact.objective_, rtol=1e-8)
    single = LinearSVM(**TIGHT).fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(single.objective_, exact.objective_, rtol=1e-6)
    np.testing.assert_allclose(
        LinearSVM(**TIGHT).fit(sp.csc_array(X), Y).objective_, exact.objective_, rtol=1e-8
    )


def test_duplicate_entries_are_added_in_a_copy():
    X = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    model = LinearSVM(**TIGHT).fit(X, [1, -1])
    np.testing.assert_allclose(model.coef_, LinearSVM(**TIGHT).fit(X.toarray(), [1, -1]).coef_, atol=1e-6)
    assert X.nnz == 3


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_weights_repeat_and_remove_examples(loss):
    X, Y = text_like(n=120)
    counts = np.arange(120) % 3
    repeated = np.repeat(np.arange(120), counts)
    weighted = LinearSVM(loss=loss, **TIGHT).fit(X, Y, sample_weight=counts)
    copies = LinearSVM(loss=loss, **TIGHT).fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(weighted.objective_, copies.objective_, rtol=1e-7)
    assert (weighted.alpha_[counts == 0] == 0).all()


def test_class_weight():
    X, Y = text_like(labels=1)
    y = Y[:, 0]
    share = y.mean()
    balanced = LinearSVM(class_weight="balanced", **TIGHT).fit(X, y)
    by_hand = LinearSVM(class_weight={1: 0.5 / share, 0: 0.5 / (1 - share)}, **TIGHT).fit(X, y)
    assert balanced.objective_ == pytest.approx(by_hand.objective_, rel=1e-7)
    weights = np.where(y == 1, 0.5 / share, 0.5 / (1 - share))
    as_weights = LinearSVM(**TIGHT).fit(X, y, weights)
    assert balanced.objective_ == pytest.approx(as_weights.objective_, rel=1e-7)
    with pytest.raises(UsageError, match="not a label of the training data"):
        LinearSVM(class_weight={"ham": 2.0}).fit(X, y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_path_equals_cold_starts_and_needs_fewer_passes(loss):
    X, Y = text_like()
    costs = [0.1, 1.0, 10.0]
    path = LinearSVM(loss=loss, tol=1e-6, max_iter=100_000).path(X, Y, costs)
    for C, model in zip(costs, path, strict=True):
        cold = LinearSVM(C, loss=loss, tol=1e-6, max_iter=100_000).fit(X, Y)
        np.testing.assert_allclose(model.objective_, cold.objective_, rtol=3e-6)
        assert model.C == C
    assert path[-1].n_iter_.sum() < cold.n_iter_.sum()
    again = path[-1].set_params(warm_start=True)
    assert (again.fit(X, Y).n_iter_ <= 5).all(), "a solution is not recognized as one"


def test_warm_start_ignores_a_solution_of_other_data():
    X, Y = text_like()
    model = LinearSVM(warm_start=True).fit(X, Y)
    model.fit(X[:100], Y[:100])
    assert model.alpha_.shape == (100, 5)


def test_hard_margin():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [4.0, 1.0]])
    y = np.array([-1, -1, 1, 1])
    model = LinearSVM(np.inf, bias=None, tol=1e-8, max_iter=100_000).fit(X[1:] - [2, 0], y[1:])
    # Through the origin, (-1, 0) and (1, 0) are at distance 1.
    np.testing.assert_allclose(model.coef_, [[1.0, 0.0]], atol=1e-4)
    soft = LinearSVM(1e6, tol=1e-8, max_iter=1_000_000).fit(X, y)
    hard = LinearSVM(np.inf, tol=1e-8, max_iter=1_000_000).fit(X, y)
    np.testing.assert_allclose(hard.coef_, soft.coef_, atol=1e-3)
    assert hard.objective_ == pytest.approx(soft.objective_, rel=1e-5)
    assert (y * hard.decision_function(X) > 1 - 1e-3).all()


def test_hard_margin_of_inseparable_classes_says_so():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    with pytest.warns(ConvergenceWarning, match="may not be separable: pass a finite C"):
        LinearSVM(np.inf, max_iter=50).fit(X, [1, -1, 1, -1])


def test_stopping_on_the_projected_gradient():
    X, Y = text_like()
    model = LinearSVM(stop="gradient", tol=1e-7, max_iter=100_000).fit(X, Y)
    np.testing.assert_allclose(model.objective_, LinearSVM(**TIGHT).fit(X, Y).objective_, rtol=1e-6)
    signs = 2.0 * Y - 1
    g = signs * model.decision_function(X) - 1
    pg = np.where(model.alpha_ <= 0, np.minimum(g, 0), np.where(model.alpha_ >= 1, np.maximum(g, 0), g))
    assert (pg.max(axis=0) - pg.min(axis=0) <= 1e-7 * (1 + 1e-6)).all()


def test_no_convergence_is_said():
    X, Y = text_like()
    with pytest.warns(ConvergenceWarning, match=r"5 of 5 labels .* in 1 passes; the largest duality gap"):
        model = LinearSVM(10.0, max_iter=1, tol=1e-9).fit(X, Y)
    assert (model.n_iter_ == 1).all()
    assert (model.duality_gap_ > 1e-9 * model.objective_).all()


def test_sparse_coef_is_the_same_model():
    X, Y = text_like(labels=70)  # more than are trained at once
    dense = LinearSVM().fit(X, Y)
    sparse = LinearSVM(sparse_coef=True).fit(X, Y)
    assert sp.issparse(sparse.coef_)
    assert sp.issparse(sparse.alpha_)
    np.testing.assert_array_equal(sparse.coef_.toarray(), dense.coef_)
    np.testing.assert_array_equal(sparse.alpha_.toarray(), dense.alpha_)
    np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(X), atol=1e-12)
    warm = sparse.set_params(warm_start=True).fit(X, Y)
    assert (warm.n_iter_ <= 3).all()


def test_degenerate_columns_and_rows():
    X, Y = text_like(n=60, labels=4)
    Y[:, 1] = 0  # a label that nothing has
    Y[:, 2] = 0
    Y[5, 2] = 1  # a label of one document
    X = sp.csr_array(sp.vstack([X, sp.csr_array((2, X.shape[1]))]))  # two empty documents
    Y = np.vstack([Y, Y[:2]])
    for bias in (1.0, None):
        model = LinearSVM(100.0, bias=bias, **TIGHT).fit(X, Y)
        assert np.isfinite(model.coef_).all()
        assert (model.decision_function(X)[:, 1] <= 0).all()
        if bias is None:
            np.testing.assert_allclose(model.alpha_[-1], 100.0)  # its loss is constant: at the bound
        else:
            assert model.predict(X)[5, 2] == 1


def test_forms_of_labels():
    X, Y = text_like(n=90, labels=3)
    names = np.array(["crude", "grain", "wheat"])
    sets = [tuple(names[row == 1]) for row in Y]
    model = LinearSVM(10.0).fit(X, sets)
    assert model.classes_.tolist() == names.tolist()
    np.testing.assert_array_equal(model.coef_, LinearSVM(10.0).fit(X, Y).coef_)
    predicted = model.predict(X)
    assert [bool(labels) for labels in predicted] == (model.decision_function(X) > 0).any(axis=1).tolist()
    assert set(predicted[0]) <= set(names)
    single = LinearSVM().fit(X, names[np.arange(90) % 3])
    assert single.decision_function(X).shape == (90, 3)
    assert set(single.predict(X)) <= set(names)


def test_state_round_trip():
    X, Y = text_like()
    for model in (LinearSVM().fit(X, Y), LinearSVM(sparse_coef=True).fit(X, Y), LinearSVM().fit(X, Y[:, 0])):
        config, arrays = model.get_state()
        restored = LinearSVM.from_state(json.loads(json.dumps(config)), arrays)
        np.testing.assert_array_equal(restored.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(restored.predict(X), model.predict(X))
        assert restored.get_params() == model.get_params()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C=0: expected a positive number"),
        ({"C": "1"}, "C='1'"),
        ({"C": float("nan")}, "C=nan"),
        ({"loss": "logistic"}, '"hinge", "squared_hinge", "prbep"'),
        ({"bias": 0}, "bias=0"),
        ({"bias": -1.0}, "or None"),
        ({"stop": "never"}, 'expected "gap" or "gradient"'),
        ({"max_iter": 0}, "max_iter=0"),
        ({"class_weight": "heavy"}, 'expected "balanced"'),
        ({"class_weight": {1: -2.0}}, "weight that is negative"),
        ({"C": np.inf, "loss": "squared_hinge"}, "hard margin"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(UsageError, match=message):
        LinearSVM(**parameters).fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1, -1, 1, 1], "negative"), ([0, 0, 0, 0], "nothing to learn"), ([1, 2], "shape")],
)
def test_bad_sample_weights(weights, message):
    with pytest.raises((DataError, UsageError), match=message):
        LinearSVM().fit(np.eye(4), [0, 1, 0, 1], weights)


def test_an_example_without_weight_is_not_there_for_the_hard_margin_either():
    X, y = np.array([[-1.0], [-0.5], [0.5], [1.0], [0.4]]), np.array([0, 0, 1, 1, 0])
    weighted = LinearSVM(C=np.inf, tol=1e-8).fit(X, y, np.array([1.0, 1.0, 1.0, 1.0, 0.0]))
    without = LinearSVM(C=np.inf, tol=1e-8).fit(X[:4], y[:4])
    assert weighted.coef_ == pytest.approx(without.coef_, rel=1e-4)
