"""Regularized least squares against dense solves, and leaving examples out against retraining."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference import ridge
from widemargin import LinearSVM, RegularizedLeastSquares, SampledLeastSquares
from widemargin.errors import DataError, UsageError
from widemargin.estimate.held_out import leave_one_out

BIASES = (None, 1.0, 2.5, "unregularized")
SOLVERS = ("dual", "primal", "iterative")


@parametrize_with_checks(
    [
        RegularizedLeastSquares(solver="dual"),
        RegularizedLeastSquares(solver="primal", bias="unregularized"),
        RegularizedLeastSquares(solver="iterative", tol=1e-12),
        RegularizedLeastSquares(class_weight="balanced"),
        SampledLeastSquares(sampling="weighted", n_features=10_000),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@st.composite
def tasks(draw):
    n, d, labels = draw(st.integers(4, 12)), draw(st.integers(1, 12)), draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    y = (rng.random((n, labels)) < 0.4).astype(int)
    y[:2], y[2:4] = 1, 0
    return X, y, draw(st.sampled_from([0.01, 0.3, 5.0])), draw(st.sampled_from(BIASES))


@pytest.mark.parametrize("solver", SOLVERS)
@given(tasks(), st.booleans())
def test_every_solver_finds_the_dense_solution(solver, task, weighted):
    X, y, regularization, bias = task
    weights = np.linspace(0.0, 2.0, len(X)) if weighted else None
    model = RegularizedLeastSquares(regularization, bias=bias, solver=solver, tol=1e-12)
    model.fit(sp.csr_array(X), y, weights)
    for column, signs in enumerate(np.where(y.T > 0, 1.0, -1.0)):
        w, b = ridge.solve(X, signs, regularization, bias, weights)
        np.testing.assert_allclose(model.coef_[column], w, rtol=1e-6, atol=1e-7)
        assert model.intercept_[column] == pytest.approx(b, rel=1e-6, abs=1e-7)
        penalty = w @ w + ((b / bias) ** 2 if isinstance(bias, float) else 0.0)
        squares = (np.ones(len(X)) if weights is None else weights) @ (signs - X @ w - b) ** 2
        assert model.objective_[column] == pytest.approx(squares + regularization * penalty, rel=1e-7)
        # w = A x of the paper
        np.testing.assert_allclose(X.T @ model.alpha_[:, column], w, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("bias", BIASES)
def test_a_path_is_as_solved_one_by_one(solver, bias):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, 15)), rng.integers(0, 3, 25)
    values = [3.0, 0.01, 0.5, 0.5, 100.0]
    learner = RegularizedLeastSquares(bias=bias, solver=solver, tol=1e-11)
    for value, model in zip(values, learner.path(X, y, values), strict=True):
        alone = RegularizedLeastSquares(value, bias=bias, solver="primal").fit(X, y)
        assert model.regularization == value
        np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(model.intercept_, alone.intercept_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("solver", ["dual", "primal", "auto"])
@given(tasks(), st.booleans())
def test_left_out_scores_are_those_of_retraining(solver, task, weighted):
    X, y, regularization, bias = task
    weights = np.linspace(0.0, 2.0, len(X)) if weighted else None
    model = RegularizedLeastSquares(regularization, bias=bias, solver=solver).fit(X, y, weights)
    found = leave_one_out(model, X, y, sample_weight=weights)
    assert (found.method, found.retrained.sum()) == ("leave-one-out", 0)
    for column, signs in enumerate(np.where(y.T > 0, 1.0, -1.0)):
        expected = ridge.left_out_scores(X, signs, regularization, bias, weights)
        np.testing.assert_allclose(found.scores[:, column], expected, rtol=1e-6, atol=1e-7)


def test_left_out_scores_of_a_path():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 6)), rng.integers(0, 2, 20)
    for solver in ("dual", "primal"):
        learner = RegularizedLeastSquares(solver=solver)
        for value, scores in zip([0.1, 2.0], learner.path_left_out([0.1, 2.0], X, y), strict=True):
            expected = ridge.left_out_scores(X, np.where(y > 0, 1.0, -1.0), value)
            np.testing.assert_allclose(scores[:, 0], expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(6, 15), (15, 6)])
def test_without_regularization_the_smallest_solution_is_taken(solver, shape):
    rng = np.random.default_rng(2)
    X = rng.normal(size=shape)
    X[:, -1] = X[:, 0]  # singular in both forms, or not of full rank
    X[-1] = X[0]
    y = np.tile([0, 1], 8)[: shape[0]]
    y[-1] = y[0]
    model = RegularizedLeastSquares(0, bias=None, solver=solver, tol=1e-13).fit(X, y)
    expected = np.linalg.pinv(X) @ np.where(y > 0, 1.0, -1.0)
    np.testing.assert_allclose(model.coef_[0], expected, rtol=1e-6, atol=1e-8)
    assert model.alpha_ is None


def test_left_out_without_regularization():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 4)), np.tile([0, 1], 6)
    for solver in ("dual", "primal"):
        found = RegularizedLeastSquares(0, bias="unregularized", solver=solver).left_out_scores(X, y).scores
        expected = ridge.left_out_scores(X, np.where(y > 0, 1.0, -1.0), 0, "unregularized")
        np.testing.assert_allclose(found[:, 0], expected, rtol=1e-7)
    alone = np.vstack([X, np.eye(1, 4) * 5])
    alone[:-1, 0] = 0  # only the last example has the first feature
    with pytest.raises(DataError, match="above 0"):
        RegularizedLeastSquares(0, bias=None, solver="primal").left_out_scores(alone, [*y, 1])


def test_a_sample_that_keeps_everything_changes_nothing():
    rng = np.random.default_rng(4)
    X, y = sp.random_array((30, 50), density=0.3, rng=rng, format="csr"), rng.integers(0, 3, 30)
    whole = RegularizedLeastSquares(0.4).fit(X, y)
    for sampling in ("subspace", "ridge", "weighted", "uniform"):
        sampled = SampledLeastSquares(10**9, sampling=sampling, regularization=0.4).fit(X, y)
        assert sampled.sampling_.n_kept_ == np.count_nonzero(sampled.sampling_.probabilities_)
        np.testing.assert_allclose(sampled.decision_function(X), whole.decision_function(X), rtol=1e-9)
        np.testing.assert_allclose(sampled.coef_.toarray(), whole.coef_, rtol=1e-9, atol=1e-12)


def test_a_sample_scores_documents_as_the_algorithm_says():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(10, 40)), np.tile([0, 1], 5)
    queries = rng.normal(size=(4, 40))
    model = SampledLeastSquares(15, regularization=0.7, bias=None, random_state=3).fit(X, y)
    chances = np.minimum(1, 15 * model.sampling_.probabilities_)
    kept = model.sampling_.get_support()
    A, Q = X[:, kept] / np.sqrt(chances[kept]), queries[:, kept] / np.sqrt(chances[kept])
    x = np.linalg.solve(A @ A.T + 0.7 * np.eye(10), np.where(y > 0, 1.0, -1.0))
    np.testing.assert_allclose(model.decision_function(queries), Q @ A.T @ x, rtol=1e-9)
    np.testing.assert_allclose(model.alpha_, x, rtol=1e-7)
    found = leave_one_out(model, X, y)
    expected = ridge.left_out_scores(A, np.where(y > 0, 1.0, -1.0), 0.7, None)
    np.testing.assert_allclose(found.scores[:, 0], expected, rtol=1e-8)


def test_many_documents_are_cross_validated(monkeypatch):
    from widemargin.learn.squares import problem

    monkeypatch.setattr(problem, "LARGEST_MATRIX", 5)
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(40, 20)), np.tile([0, 1], 20)
    model = RegularizedLeastSquares().fit(X, y)
    assert leave_one_out(model, X, y).method == "k-fold"
    with pytest.raises(DataError, match="at most 5"):
        model.left_out_scores(X, y)


def test_the_iteration_says_when_it_was_too_short():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 80)), rng.integers(0, 2, 60)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        RegularizedLeastSquares(1e-6, solver="iterative", max_iter=2).fit(X, y)


def test_labels_without_examples_and_empty_documents():
    X = sp.csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0]]))
    y = np.array([[1, 0], [0, 0], [0, 0], [1, 0]])
    for solver in SOLVERS:
        for bias in BIASES:
            model = RegularizedLeastSquares(0.1, solver=solver, bias=bias, tol=1e-10).fit(X, y)
            assert np.isfinite(model.decision_function(X)).all()
            assert (model.decision_function(X)[:, 1] <= 1e-9).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"regularization": -1}, "at least 0"),
        ({"regularization": np.nan}, "at least 0"),
        ({"bias": 0}, "bias=0"),
        ({"bias": "free"}, "bias='free'"),
        ({"solver": "qr"}, "solver='qr'"),
        ({"tol": 0}, "between 0 and 1"),
        ({"max_iter": 0}, "positive integer"),
    ],
)
def test_mistakes_are_told(parameters, message):
    with pytest.raises(UsageError, match=message):
        RegularizedLeastSquares(**parameters).fit(np.eye(2), [0, 1])
    with pytest.raises(UsageError, match="empty"):
        RegularizedLeastSquares().path(np.eye(2), [0, 1], [])


@pytest.mark.needs_corpus("reuters21578")
def test_text_is_classified_about_as_well_as_by_a_support_vector_machine(corpus):
    from widemargin import Vectorizer
    from widemargin.measure import f_measure, micro
    from widemargin.measure.contingency import contingency

    documents = corpus("reuters21578")
    names, train, test = ["earn", "acq", "crude", "corn"], documents.train, documents.test
    vectorizer = Vectorizer(min_df=3)
    X, Q = vectorizer.fit_transform(train.texts)[:4000], vectorizer.transform(test.texts)
    y = np.array([[name in labels for name in names] for labels in train.labels], dtype=int)[:4000]
    truth = np.array([[name in labels for name in names] for labels in test.labels], dtype=int)
    signs = np.where(truth > 0, 1, -1).astype(np.int8)
    quality = []
    for learner in (RegularizedLeastSquares(0.5), LinearSVM()):
        decided = np.where(learner.fit(X, y).decision_function(Q) > 0, 1, -1).astype(np.int8)
        quality.append(micro(f_measure, contingency(signs, decided)))
    assert quality[0] > quality[1] - 0.03


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 2: 0.0}])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_weights_are_weights_of_a_labels_examples(solver, class_weight, weighted):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(18, 7)), np.repeat([0, 1, 2], [3, 5, 10])
    own = np.linspace(0.0, 2.0, 18) if weighted else np.ones(18)
    model = RegularizedLeastSquares(
        0.3, bias="unregularized", solver=solver, tol=1e-12, class_weight=class_weight
    )
    model.fit(X, y, own if weighted else None)
    left_out = model.left_out_scores(X, y, own if weighted else None).scores
    for label in range(3):
        signs = np.where(y == label, 1.0, -1.0)
        if class_weight == "balanced":
            half = own.sum() / 2
            factors = np.where(signs > 0, half / own[signs > 0].sum(), half / own[signs < 0].sum())
        else:
            factors = np.where(signs > 0, {0: 3.0, 2: 0.0}.get(label, 1.0), 1.0)
        w, b = ridge.solve(X, signs, 0.3, "unregularized", own * factors)
        np.testing.assert_allclose(model.coef_[label], w, rtol=1e-6, atol=1e-8)
        assert model.intercept_[label] == pytest.approx(b, rel=1e-6, abs=1e-8)
        expected = ridge.left_out_scores(X, signs, 0.3, "unregularized", own * factors)
        np.testing.assert_allclose(left_out[:, label], expected, rtol=1e-6, atol=1e-7)


def test_class_weights_of_two_classes():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(12, 3)), np.repeat(["ham", "spam"], [4, 8])
    model = RegularizedLeastSquares(class_weight={"ham": 2.0, "spam": 0.5}).fit(X, y)
    alone = RegularizedLeastSquares().fit(X, y, np.where(y == "ham", 2.0, 0.5))
    np.testing.assert_allclose(model.coef_, alone.coef_)
    np.testing.assert_allclose(model.alpha_, alone.alpha_)
    assert model.objective_ == pytest.approx(alone.objective_)
    with pytest.raises(DataError, match="class_weight is 0"):
        RegularizedLeastSquares(class_weight={"ham": 0, "spam": 0}).fit(X, y)
    with pytest.raises(UsageError, match="not a label"):
        RegularizedLeastSquares(class_weight={"eggs": 2}).fit(X, y)


def test_leave_one_out_is_the_default_where_a_factorization_takes_seconds(monkeypatch):
    from widemargin.estimate import held_out

    X, y = np.random.default_rng(10).normal(size=(30, 8)), np.tile([0, 1, 2], 10)
    plain = RegularizedLeastSquares().fit(X, y)
    balanced = RegularizedLeastSquares(class_weight="balanced").fit(X, y)
    monkeypatch.setattr(held_out, "SECONDS", 8**3 / 4e10)
    monkeypatch.setattr(held_out, "TRAININGS", 0)
    # Class weights take one matrix a label.
    chosen = [held_out.choose_method("auto", model, X) for model in (plain, balanced)]
    assert chosen == ["leave-one-out", "k-fold"]
