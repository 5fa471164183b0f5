"""Dasgupta's theorems on random problems, with what they ask of the sample measured."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin import SampledLeastSquares
from widemargin.errors import DataError, UsageError
from widemargin.theory.least_squares import sampling_bounds


@pytest.mark.parametrize("regularization", [0.0, 0.05, 3.0])
@pytest.mark.parametrize("inside", [False, True])
def test_no_score_moves_further_than_the_theorems_allow(regularization, inside):
    tried = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(6, 400)) * rng.gamma(0.5, size=400), np.tile([0, 1], 3)
        queries = rng.normal(size=(5, 6)) @ X if inside else rng.normal(size=(5, 400))
        model = SampledLeastSquares(
            300, regularization=regularization, bias=None, solver="dual", random_state=seed
        ).fit(X, y)
        chances = np.where(model.sampling_.get_support(), model.sampling_.keep_probabilities_, 0.0)
        found = sampling_bounds(X, np.where(y > 0, 1, -1)[:, None], queries, chances, regularization)
        changes = np.abs(model.decision_function(queries)[:, None] - found.scores)
        trusted = found.epsilon <= 0.5
        tried += int(trusted.sum())
        assert (changes[trusted] <= found.additive[trusted] * (1 + 1e-9) + 1e-9).all()
        assert np.isinf(found.additive[~trusted]).all()
        if inside and regularization > 0:
            assert np.isfinite(found.relative[trusted]).all()
            assert (changes[trusted] <= found.relative[trusted] * np.abs(found.scores[trusted]) + 1e-9).all()
        if not inside:
            assert np.isinf(found.relative).all()
    assert tried >= 40


def test_the_scores_are_those_of_all_features():
    rng = np.random.default_rng(0)
    X, signs, queries = (
        rng.normal(size=(8, 20)),
        np.tile([[1, -1], [-1, -1]], (4, 1)),
        rng.normal(size=(3, 20)),
    )
    found = sampling_bounds(X, signs, queries, np.ones(20), 0.5)
    expected = queries @ X.T @ np.linalg.solve(X @ X.T + 0.5 * np.eye(8), signs)
    np.testing.assert_allclose(found.scores, expected)
    assert found.epsilon.max() < 1e-10
    assert found.additive.max() < 1e-8


def test_bad_input_is_told():
    with pytest.raises(DataError, match="no span"):
        sampling_bounds(np.zeros((2, 3)), np.ones((2, 1)), np.ones((1, 3)), np.ones(3), 1.0)
    with pytest.raises(UsageError, match="at least 0"):
        sampling_bounds(np.eye(2), np.ones((2, 1)), np.eye(2), np.ones(2), -1.0)
