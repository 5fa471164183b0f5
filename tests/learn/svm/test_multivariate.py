"""LinearSVM(loss="prbep") and loss="f1" against brute force over all labelings, and against themselves."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference.multivariate import objective, solve
from widemargin import LinearSVM, TextClassifier, leave_one_out
from widemargin.errors import DataError, UsageError
from widemargin.estimate.held_out import choose_method

LOSSES = ("prbep", "f1")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some data is badly scaled
@parametrize_with_checks(
    [LinearSVM(loss=loss) for loss in LOSSES],
    expected_failed_checks=lambda _: {
        "check_class_weight_classifiers": "a loss of all examples together has no weights of classes",
        "check_sample_weight_equivalence_on_dense_data": "equal only to the tolerance: tested below",
        "check_sample_weight_equivalence_on_sparse_data": "equal only to the tolerance: tested below",
    },
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def text_like(n=300, d=200, labels=3, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.csr_array(sp.random(n, d, density=0.05, format="csr", random_state=rng, dtype=np.float64))
    truth = rng.normal(size=(d, labels))
    scores = X @ truth + rng.normal(scale=0.3, size=(n, labels))
    return X, (scores > np.quantile(scores, 0.85, axis=0)).astype(int)


@st.composite
def problems(draw):
    n, d = draw(st.integers(2, 7)), draw(st.integers(1, 4))
    value = st.floats(-2, 2).map(lambda v: round(v, 2))
    X = np.array(draw(st.lists(st.lists(value, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    y[0], y[1] = 1, -1
    return X, y


def weights_of(model, bias):
    w = model.coef_[0]
    return w if bias is None else np.append(w, model.intercept_[0] / bias)


@settings(max_examples=150, deadline=None)
@given(
    problems(),
    st.sampled_from([0.05, 0.5, 3.0]),
    st.sampled_from(LOSSES),
    st.sampled_from([None, 0.5, 1.0]),
    st.sampled_from([1e-1, 1e-3, 1e-5]),
)
def test_reaches_the_optimum_over_all_labelings(problem, C, loss, bias, tol):
    X, y = problem
    model = LinearSVM(C, loss=loss, bias=bias, tol=tol, max_iter=5000).fit(X, y)
    best = solve(X, y, C, loss, bias)
    # A constant does not change PRBEP: the bias feature has no weight there.
    w = np.append(model.coef_[0], 0.0) if loss == "prbep" and bias else weights_of(model, bias)
    reached = objective(X, y, w, C, loss, bias)
    # That the objective is that of all labelings shows that the most violated one was found.
    assert model.objective_ == pytest.approx(reached, rel=1e-9, abs=1e-12)
    assert model.duality_gap_ <= tol * reached * (1 + 1e-12)
    assert reached - model.duality_gap_ <= best * (1 + 1e-9)
    assert reached >= best * (1 - 1e-6) - 1e-9


@settings(max_examples=40, deadline=None)
@given(problems(), st.sampled_from(LOSSES), st.data())
def test_a_weight_is_a_number_of_copies(problem, loss, data):
    X, y = problem
    copies = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
    copies[:2] = np.maximum(copies[:2], 1)
    weighted = LinearSVM(loss=loss, tol=1e-6).fit(X, y, copies)
    repeated = LinearSVM(loss=loss, tol=1e-6).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_result_for_any_number_of_threads_and_form_of_weights(loss):
    X, Y = text_like(labels=66)  # more labels than are dense at a time
    one = LinearSVM(loss=loss, n_jobs=1, tol=0.01).fit(X, Y)
    three = LinearSVM(loss=loss, n_jobs=3, tol=0.01).fit(X, Y)
    np.testing.assert_array_equal(three.coef_, one.coef_)
    np.testing.assert_array_equal(three.intercept_, one.intercept_)
    sparse = LinearSVM(loss=loss, sparse_coef=True, tol=0.01).fit(X, Y)
    np.testing.assert_array_equal(sparse.coef_.toarray(), one.coef_)
    np.testing.assert_allclose(sparse.decision_function(X), one.decision_function(X), atol=1e-12)


def test_prbep_decides_for_as_many_documents_as_there_are_positives():
    X, Y = text_like()
    decided = LinearSVM(0.1, loss="prbep").fit(X, Y).predict(X)
    np.testing.assert_array_equal(decided.sum(axis=0), Y.sum(axis=0))
    unbiased = LinearSVM(0.1, loss="prbep", bias=None).fit(X, Y)
    np.testing.assert_array_equal(unbiased.intercept_, 0)


def test_f1_decides_for_more_documents_than_the_hinge_where_labels_are_rare():
    X, Y = text_like(seed=3)
    hinge = LinearSVM(0.1, balance=0).fit(X, Y).predict(X).sum()
    assert LinearSVM(0.1, loss="f1").fit(X, Y).predict(X).sum() > 2 * max(hinge, 1)


@pytest.mark.parametrize("loss", LOSSES)
def test_labels_of_no_or_of_all_documents(loss):
    X, Y = text_like()
    Y[:, 0], Y[:, 1] = 0, 1
    model = LinearSVM(loss=loss).fit(X, Y)
    decided = model.predict(X)
    assert not decided[:, 0].any()
    assert decided[:, 1].all()
    assert not model.coef_[0].any()


@pytest.mark.parametrize("loss", LOSSES)
def test_a_cost_for_each_label(loss):
    X, Y = text_like(labels=2)
    both = LinearSVM([0.1, 3.0], loss=loss, tol=1e-4).fit(X, Y)
    for k, C in enumerate((0.1, 3.0)):
        alone = LinearSVM(C, loss=loss, tol=1e-4).fit(X, Y[:, k])
        assert both.objective_[k] == pytest.approx(alone.objective_, rel=2e-4)


def test_exclusive_classes_and_a_saved_model(tmp_path):
    rng = np.random.default_rng(0)
    kinds = np.array(["red", "green", "blue"])[rng.integers(0, 3, 200)]
    texts = [f"{kind} {' '.join(f'w{k}' for k in rng.integers(0, 50, 8))}" for kind in kinds]
    model = TextClassifier(learner=LinearSVM(loss="f1"), tune=None, estimate=None).fit(texts, kinds)
    assert (model.predict(texts) == kinds).mean() > 0.95
    model.save(tmp_path / "m")
    again = TextClassifier.load(tmp_path / "m")
    assert again.predict(texts).tolist() == model.predict(texts).tolist()
    config, arrays = model.learner_.get_state()
    assert LinearSVM.from_state(json.loads(json.dumps(config)), arrays).loss == "f1"


def test_examples_are_held_out_in_folds():
    X, Y = text_like()
    model = LinearSVM(loss="prbep").fit(X, Y)
    assert not hasattr(model, "alpha_")
    assert choose_method("auto", model, X) == "k-fold"
    with pytest.raises(UsageError, match=r'LinearSVM\(loss="prbep"\) has no dual variable'):
        leave_one_out(model, X, Y)


def test_no_convergence_is_a_warning():
    X, Y = text_like(labels=1)
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 passes"):
        model = LinearSVM(100.0, loss="f1", max_iter=2).fit(X, Y[:, 0])
    assert model.n_iter_ == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalty": "l1"}, 'requires penalty="l2"'),
        ({"bias": "unregularized"}, "requires a regularized bias"),
        ({"class_weight": "balanced"}, "class_weight does not apply"),
        ({"stop": "gradient"}, "stop='gradient' requires"),
        ({"C": np.inf}, "C=inf"),
    ],
)
def test_what_does_not_go_together_is_refused(parameters, message):
    X, Y = text_like(labels=1)
    for loss in LOSSES:
        with pytest.raises(UsageError, match=message):
            LinearSVM(loss=loss, **parameters).fit(X, Y[:, 0])


def test_weights_that_are_not_whole_numbers_are_refused():
    X, Y = text_like(labels=1)
    weights = np.ones(len(Y))
    weights[5] = 0.5
    with pytest.raises(DataError, match=r"sample_weight\[5\] = 0.5.*number of copies"):
        LinearSVM(loss="f1").fit(X, Y[:, 0], weights)
