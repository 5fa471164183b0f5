"""The class with the largest left-out score is that of brute force, wherever it is called proven."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.retraining import left_out_scores
from widemargin import KernelSVM, LinearSVM, leave_one_out
from widemargin.weight.left_out import AsNew

# What the oracle, an interior point method, gets wrong.
ORACLE = 2e-5


@st.composite
def problems(draw):
    """Noisy points of several classes, some of them twice."""
    n, classes = draw(st.integers(6, 14)), draw(st.integers(3, 5))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = generator.normal(size=(n, draw(st.integers(1, 5))))
    if draw(st.booleans()):
        X[-1] = X[0]
    centers = generator.normal(size=(classes, X.shape[1]))
    y = (X @ centers.T + generator.normal(size=(n, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y, draw(st.sampled_from([0.05, 0.5, 2.0, 50.0]))


def brute_force(K, y, upper, plane):
    return np.column_stack(
        [left_out_scores(K, np.where(y == k, 1, -1), upper, plane)[0] for k in np.unique(y)]
    )


def proven_winners(found):
    """Documents where one class is above all others, and that class."""
    low, high = found.scores - found.accuracy, found.scores + found.accuracy
    winner = low.argmax(axis=1)
    np.put_along_axis(high, winner[:, None], -np.inf, axis=1)
    proven = low.max(axis=1) > high.max(axis=1)
    assert found.undecided == np.count_nonzero(~proven)
    assert (winner[proven] == found.scores.argmax(axis=1)[proven]).all()
    return proven, winner


def check_against(exact, found):
    assert (np.abs(found.scores - exact) <= found.accuracy + ORACLE).all()
    proven, winner = proven_winners(found)
    first, second = np.sort(exact, axis=1)[:, :-3:-1].T
    clear = first - second > 2 * ORACLE
    assert (winner == exact.argmax(axis=1))[proven & clear].all()
    # Only what is close to a tie is left open.
    assert (first - second)[~proven].max(initial=0.0) < 1e-3


@pytest.mark.filterwarnings("ignore:.*have one example:widemargin.errors.DataWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=40)
@given(problems(), st.sampled_from([None, 1.0]), st.booleans(), st.sampled_from([None, 0.3, 0.01]))
def test_linear_winners_equal_brute_force(problem, bias, squared, accuracy):
    X, y, C = problem
    K, upper = X @ X.T, np.full(len(y), C)
    if squared:
        K, upper = K + np.eye(len(y)) / (2 * C), np.full(len(y), np.inf)
    exact = brute_force(K, y, upper, "unbiased" if bias is None else "bias-feature")
    model = LinearSVM(C, loss="squared_hinge" if squared else "hinge", bias=bias).fit(X, y)
    check_against(exact, leave_one_out(model, X, y, scores=accuracy is not None, accuracy=accuracy or 1.0))


@pytest.mark.filterwarnings("ignore:.*have one example:widemargin.errors.DataWarning")
@settings(max_examples=20)
@given(problems())
def test_kernel_winners_equal_brute_force(problem):
    X, y, C = problem
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    exact = brute_force(K, y, np.full(len(y), C), "unbiased")
    model = KernelSVM(C, kernel="rbf", gamma=0.5, bias=None).fit(X, y)
    check_against(exact, leave_one_out(model, X, y))


@pytest.mark.filterwarnings("ignore:.*have one example:widemargin.errors.DataWarning")
@pytest.mark.parametrize(
    "learner", [LinearSVM(), LinearSVM(bias=None), KernelSVM(bias=None, kernel="linear")], ids=repr
)
def test_exact_ties_are_undecided(learner):
    # Without the last document, its two twins of other classes have the same score for ever.
    X = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.1], [0.0, 1.2]])
    y = ["a", "b", "c", "d", "d", "d"]
    found = leave_one_out(learner.fit(X, y), X, y)
    proven, _ = proven_winners(found)
    assert proven.tolist() == [False, False, False, True, True, True]
    assert found.undecided == 3


def clouds(n=150, classes=6, seed=0):
    generator = np.random.default_rng(seed)
    X = sp.random(n, 60, density=0.2, random_state=generator, format="csr", dtype=np.float32)
    y = (X @ generator.normal(size=(60, classes)) + 0.5 * generator.normal(size=(n, classes))).argmax(axis=1)
    return X, y


def test_threads_do_not_matter_and_one_decision_at_a_time_has_no_ties():
    X, y = clouds()
    model = LinearSVM(3.0).fit(X, y)
    one, two = (leave_one_out(model, X, y, n_jobs=threads) for threads in (1, 2))
    assert np.array_equal(one.scores, two.scores)
    assert one.undecided == two.undecided == 0
    assert leave_one_out(LinearSVM().fit(X, y > 2), X, y > 2).undecided is None


@pytest.mark.parametrize("learner", [LinearSVM(3.0), KernelSVM(3.0, kernel="rbf", gamma=1.0)], ids=repr)
def test_the_winner_is_that_of_the_scores_as_new_documents(learner):
    X, y = clouds()
    model = learner.fit(X, y)
    new = AsNew(X, X, np.linspace(0.0, 3.0, len(y)))
    if isinstance(learner, KernelSVM):
        new = AsNew(sp.csr_array(sp.diags(np.linspace(0.5, 1.5, len(y))) @ X), X, new.scale)
    found = model.left_out_scores(X, y, as_new=new)
    exact = model.left_out_scores(X, y, as_new=new, accuracy=1e-4)
    proven, winner = proven_winners(found)
    assert np.count_nonzero(proven) > 140
    assert (winner == exact.scores.argmax(axis=1))[proven].all()
    assert (np.abs(found.scores - exact.scores) <= found.accuracy + exact.accuracy).all()


@pytest.mark.filterwarnings("ignore:.*not positive semi-definite")
@pytest.mark.filterwarnings("ignore:.*have one example:widemargin.errors.DataWarning")
def test_nothing_is_proven_of_kernels_that_are_not_definite():
    X, y = clouds(n=40)
    found = leave_one_out(KernelSVM(kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X, y), X, y)
    assert np.isinf(found.accuracy).all()
    assert found.undecided == 40


@pytest.mark.needs_corpus("clinc150")
def test_equals_brute_force_on_short_texts(corpus):
    from widemargin import Vectorizer

    part = corpus("clinc150").train
    labels = np.array([labels[0] for labels in part.labels])
    some = np.flatnonzero(np.isin(labels, np.unique(labels)[:30]))
    some = np.random.default_rng(0).permutation(some)[:400]
    X, y = Vectorizer().fit_transform([part.texts[i] for i in some]), labels[some]
    model = LinearSVM(1.0).fit(X, y)
    found = leave_one_out(model, X, y)
    assert found.undecided == 0
    close = np.diff(np.sort(found.scores, axis=1)[:, -2:], axis=1)[:, 0].argsort()[:30]
    for t in close:
        without = np.ones(len(y))
        without[t] = 0.0
        exact = LinearSVM(1.0, tol=1e-9, max_iter=20_000).fit(X, y, without).decision_function(X[[t]])[0]
        assert exact.argmax() == found.scores[t].argmax()
        assert (np.abs(exact - found.scores[t]) <= found.accuracy[t] + 1e-4).all()
