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
