"""Mistake bounds and margin terms against their formulas, written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin import DualSVM, LargeMarginWinnow, LinearSVM
from widemargin.errors import DataError, UsageError
from widemargin.theory.mistakes import (
    entropy_terms,
    perceptron_mistakes,
    terms_of,
    two_norm_terms,
    winnow_mistakes,
)

X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.5], [0.0, 2.0, 1.0]])
Y = np.array([1, -1, 1, -1])
W = np.array([2.0, -1.0, 0.5])  # margins 3, 1, 1.25, 1.5


def test_mistake_bounds_written_out():
    assert perceptron_mistakes(X, Y, W) == pytest.approx(W @ W * 5.0 / 1.0**2)
    bound = winnow_mistakes(X, Y, W, start_weight=0.3)
    size, positive = 3.5, np.array([2.0, 1.0, 0.5])
    entropy = (positive * np.log(positive * 6 * 0.3 / (0.3 * size))).sum()
    assert bound.mistakes == pytest.approx(2 * size * entropy * 2.0**2 / 1.0**2)
    assert bound.eta == pytest.approx(1.0 / (size * 4))


def test_the_scale_of_weights_and_of_an_even_prior_do_not_matter():
    assert perceptron_mistakes(X, Y, 7 * W) == pytest.approx(perceptron_mistakes(X, Y, W))
    one, other = winnow_mistakes(X, Y, W), winnow_mistakes(X, Y, 7 * W, start_weight=0.01)
    assert one.mistakes == pytest.approx(other.mistakes)
    assert one.eta == pytest.approx(other.eta)  # margin and size grow alike


def test_a_prior_that_is_right_needs_no_mistakes():
    right = winnow_mistakes(X[:, :1] + 1, [1, 1, 1, 1], [1.0], positive=True)
    assert right.mistakes == pytest.approx(0)
    better = winnow_mistakes(X, Y, W, start_weight=np.abs(W))
    assert better.mistakes < winnow_mistakes(X, Y, W).mistakes


def test_margin_terms_written_out():
    two = two_norm_terms(X, Y, W, margin=1.2)
    a, b = np.sqrt(W @ W), np.sqrt(5.0)
    assert two.below == 0.25
    assert two.complexity == pytest.approx(a**2 * b**2 * np.log(4 * a * b / 1.2 + 2) / (1.2**2 * 4))
    one = entropy_terms(X, Y, W, margin=1.2)
    assert (one.size, one.radius, one.below) == (3.5, 2.0, 0.25)
    assert one.complexity == pytest.approx(
        4.0 * (3.5**2 + 3.5 * one.entropy) * np.log(4 * 3.5 * 2 / 1.2 + 2) / (1.2**2 * 4)
    )


def test_without_documents_below_the_margin_there_is_no_root():
    some, none = two_norm_terms(X, Y, W, margin=1.2), two_norm_terms(X, Y, W, margin=1.0)
    assert some.excess == pytest.approx(np.sqrt(some.complexity))
    assert none.below == 0
    assert none.excess == none.complexity
    # The margin of separable documents is the smallest of them, and its bound does not depend on the scale.
    for terms in (two_norm_terms, entropy_terms):
        one, other = terms(X, Y, W, margin=None), terms(X, Y, 7 * W, margin=None)
        assert (one.margin, other.margin) == (1.0, 7.0)
        assert one.excess == pytest.approx(other.excess)
    with pytest.raises(DataError, match="do not separate"):
        two_norm_terms(X, -Y, W, margin=None)


@pytest.mark.parametrize(
    ("learner", "terms"), [(LinearSVM(np.inf), two_norm_terms), (LargeMarginWinnow(np.inf), entropy_terms)]
)
def test_errors_of_separable_documents_fall_like_the_bound(learner, terms):
    """With 16 times as many documents the bound falls by 16, but for its logarithm; its root would fall by 4.
    So does the error of the hard margin."""
    rng = np.random.default_rng(0)
    target = np.zeros(20)
    target[:3] = [2.0, -1.0, 1.0]

    def draw(n):
        X = rng.normal(size=(2 * n, 20)).clip(-3, 3)
        margin = X @ target
        keep = np.abs(margin) > 0.02
        return X[keep][:n], np.sign(margin[keep][:n])

    X_test, y_test = draw(20_000)
    excess, errors = [], []
    for n in (50, 800):
        found, bounds = [], []
        for _ in range(5):
            X, y = draw(n)
            model = learner.set_params(bias=None, max_iter=5000, tol=1e-2).fit(X, y)
            found.append(np.mean(model.predict(X_test) != y_test))
            bounds.append(terms(X, y, target, margin=0.02).excess)
        errors.append(np.mean(found))
        excess.append(np.mean(bounds))
    assert 8 < excess[0] / excess[1] < 16
    assert errors[0] / errors[1] > 8
    assert all(error <= bound for error, bound in zip(errors, excess, strict=True))


@pytest.mark.parametrize("learner", [LargeMarginWinnow(C=5), DualSVM(C=5), LinearSVM(C=5, sparse_coef=True)])
def test_terms_of_trained_rules_sparse_or_dense(learner):
    labels = np.column_stack([Y > 0, X[:, 1] > 0]).astype(int)
    dense, sparse = (terms_of(learner.fit(x, labels), x, labels) for x in (X, sp.csr_array(X)))
    assert dense == sparse
    assert len(dense) == 2
    for two, one in dense:
        assert one.size >= two.size
        assert one.radius <= two.radius


def test_what_has_no_bound_is_refused():
    with pytest.raises(DataError, match="do not separate"):
        perceptron_mistakes(X, -Y, W)
    with pytest.raises(DataError, match="negative"):
        entropy_terms(X, Y, W, positive=True)
    with pytest.raises(UsageError, match="start_weight holds"):
        winnow_mistakes(X, Y, W, start_weight=0)
    with pytest.raises(UsageError, match="margin=0"):
        two_norm_terms(X, Y, W, margin=0)
