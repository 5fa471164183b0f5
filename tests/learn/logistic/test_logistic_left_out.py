"""Leave-one-out of logistic regression against refitting without every example."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.logistic import left_out
from widemargin import LogisticRegression, TextClassifier, Vectorizer, leave_one_out
from widemargin.estimate.held_out import choose_method
from widemargin.labels import Labels
from widemargin.learn.left_out.machines import LeaveOut
from widemargin.learn.logistic.left_out import left_out_logistic


@st.composite
def problems(draw):
    n, d = draw(st.integers(4, 10)), draw(st.integers(1, 10))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = generator.normal(size=(n, d)) * draw(st.sampled_from([0.3, 1.0, 3.0]))
    Y = generator.random((n, draw(st.sampled_from([1, 3])))) < 0.4
    Y[:2], Y[2:4] = True, False
    weights = generator.choice([0.5, 1.0, 2.0], size=n) if draw(st.booleans()) else np.ones(n)
    return (
        X,
        Y.astype(int),
        draw(st.sampled_from([0.1, 1.0, 20.0])),
        draw(st.sampled_from([None, 1.0])),
        weights,
    )


@settings(max_examples=15, deadline=None)
@given(problems())
def test_bounds_steps_and_exact_scores(problem):
    X, Y, C, bias, weights = problem
    model = LogisticRegression(C, bias=bias).fit(X, Y, sample_weight=weights)
    exact = np.column_stack(
        [left_out(X, np.where(Y[:, k] > 0, 1.0, -1.0), C * weights, bias) for k in range(Y.shape[1])]
    )
    find = left_out_logistic(model, X, Labels.of(Y), weights, LeaveOut(accuracy=0.01))
    for scores, within, *_ in (find.bounds(), find.one_step(), find()):
        assert (np.abs(scores - exact) <= within + 1e-7).all()
    found = leave_one_out(model, X, Y, sample_weight=weights, accuracy=0.01)
    assert found.method == "leave-one-out"
    assert (found.accuracy <= 0.01 + 1e-9).all()
    assert np.abs(found.scores - exact).max() <= 0.01 + 1e-7
    clear = np.abs(exact) > 1e-5
    assert (found.signs[clear] == np.where(exact > 0, 1, -1)[clear]).all()


def documents(n=120, labels=4, seed=0, d=400):
    generator = np.random.default_rng(seed)
    X = sp.random(n, d, density=20 / d, random_state=generator, format="csr")
    X = sp.diags_array(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())) @ X
    Y = X @ generator.normal(size=(d, labels)) + 0.2 * generator.normal(size=(n, labels)) > 0.3
    return sp.csr_array(X), Y.astype(int)


@pytest.mark.parametrize("C", [0.3, 3.0, 30.0])
def test_one_step_is_much_nearer_than_the_middle_of_the_bounds(C):
    X, Y = documents()
    model = LogisticRegression(C, tol=1e-6).fit(X, Y)
    exact = leave_one_out(model, X, Y, accuracy=1e-3).scores
    step = leave_one_out(model, X, Y, one_step=True)
    assert step.method == "one-step"
    find = left_out_logistic(model, X, Labels.of(Y), None, LeaveOut())
    middles = find.bounds()[0]
    error, error_of_middles = (np.abs(scores - exact).mean() for scores in (step.scores, middles))
    assert error < 0.1 * error_of_middles
    falls = np.abs(model.decision_function(X) - exact).mean()
    assert error < 0.1 * falls


def test_several_classes_have_proven_winners():
    X, _ = documents(n=40, d=40)
    y = np.array(["a", "b", "c", "d"])[(X @ np.random.default_rng(1).normal(size=(40, 4))).argmax(axis=1)]
    model = LogisticRegression(3.0).fit(X, y)
    found = leave_one_out(model, X, y)
    names = sorted(set(y))
    dense = X.toarray()
    exact = np.column_stack(
        [left_out(dense, np.where(y == name, 1.0, -1.0), np.full(len(y), 3.0)) for name in names]
    )
    assert found.undecided == 0
    assert (found.scores.argmax(axis=1) == exact.argmax(axis=1)).all()


def test_the_method_of_auto():
    X, Y = documents()
    assert choose_method("auto", LogisticRegression().fit(X, Y), X) == "leave-one-out"
    X, Y = documents(n=1000, labels=20)
    assert choose_method("auto", LogisticRegression(100.0).fit(X, Y), X) in ("one-step", "k-fold")


@pytest.mark.parametrize("estimate", ["leave-one-out", "one-step", "k-fold", "xi-alpha"])
def test_every_estimate_of_a_classifier(estimate):
    texts = [f"{'wheat corn' if i % 2 else 'bank rate'} w{i % 7} v{i % 5}" for i in range(40)]
    y = ["grain" if i % 2 else "money" for i in range(40)]
    model = TextClassifier(Vectorizer(), LogisticRegression(10.0), estimate=estimate).fit(texts, y)
    assert model.training_summary_["estimates"]["method"] == estimate


def test_the_same_for_any_number_of_threads():
    X, Y = documents()
    model = LogisticRegression(3.0).fit(X, Y)
    one, two = (leave_one_out(model, X, Y, n_jobs=threads).scores for threads in (1, 3))
    assert np.array_equal(one, two)
