"""Probabilities: the optimum of Platt's problem, monotone, saved exactly, defined for every label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from widemargin.decide.calibration import Isotonic, Platt, fit_isotonic, fit_platt, normalized
from widemargin.errors import DataError, DataWarning, UsageError


@st.composite
def tables(draw):
    """Two or more examples on either side of every label, scores with ties."""
    n, labels, seed = draw(st.integers(4, 40)), draw(st.integers(1, 4)), draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    truth = np.where(generator.random((n, labels)) < 0.4, 1, -1)
    truth[:4] = [[1], [1], [-1], [-1]]
    scores = (generator.normal(size=truth.shape) + truth * draw(st.sampled_from([0.0, 1.0, 4.0]))).round(1)
    return scores, truth


@given(tables())
def test_platt_is_the_optimum(table):
    scores, truth = table
    platt = fit_platt(scores, truth)
    for k in range(scores.shape[1]):
        positive = truth[:, k] > 0
        target = np.where(positive, (positive.sum() + 1) / (positive.sum() + 2), 1 / ((~positive).sum() + 2))

        def loss(parameters, f=scores[:, k], target=target):
            z = parameters[0] * f + parameters[1]
            return (np.logaddexp(0, z) - target * z).sum()

        best = minimize(loss, [0.0, 0.0], bounds=[(0, None), (None, None)], method="L-BFGS-B").fun
        assert loss([platt.slope[k], platt.offset[k]]) <= best + 1e-6


@given(tables())
def test_isotonic_is_that_of_scikit_learn(table):
    scores, truth = table
    ours = fit_isotonic(scores, truth)
    where = np.linspace(-6, 6, 50)
    values = ours(np.tile(where[:, None], scores.shape[1]))
    for k in range(scores.shape[1]):
        theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores[:, k], truth[:, k] > 0)
        np.testing.assert_allclose(values[:, k], theirs.predict(where), atol=1e-12)


@given(tables(), st.sampled_from([fit_platt, fit_isotonic]))
def test_monotone_and_restored_exactly(table, fit):
    scores, truth = table
    fitted = fit(scores, truth)
    where = np.tile(np.linspace(-1e3, 1e3, 999)[:, None], scores.shape[1])
    values = fitted(where)
    assert ((values >= 0) & (values <= 1)).all()
    assert (np.diff(values, axis=0) >= 0).all()
    again = type(fitted).from_arrays(fitted.to_arrays(), scores.shape[1])
    np.testing.assert_array_equal(again(where), values)
    # Labels are fitted alone.
    alone = fit(scores[:, 0], truth[:, 0])
    np.testing.assert_allclose(alone(where[:, 0]), values[:, 0], atol=1e-6)


@pytest.mark.parametrize("fit", [fit_platt, fit_isotonic])
def test_probabilities_are_those_of_the_source(fit):
    generator = np.random.default_rng(0)
    scores = generator.normal(size=20_000)
    chance = expit(2 * scores - 1)
    truth = np.where(generator.random(20_000) < chance, 1, -1)
    assert np.abs(fit(scores, truth)(scores) - chance).mean() < 0.02


@pytest.mark.parametrize("fit", [fit_platt, fit_isotonic])
def test_labels_with_no_or_one_positive_example(fit):
    scores = np.linspace(-1, 1, 20)
    truth = np.full((20, 3), -1)
    truth[-1, 1], truth[10:, 2] = 1, 1
    with pytest.warns(DataWarning, match="2 of 3 labels"):
        fitted = fit(np.tile(scores[:, None], 3), truth)
    values = fitted(np.tile(scores[:, None], 3))
    assert np.isfinite(values).all()
    assert (values[:, 0] < 0.1).all()
    with pytest.warns(DataWarning):
        assert (fit(scores, np.ones(20))(scores) > 0.9).all()


def test_extreme_scores():
    scores = np.array([1e6, 2e6, 1e5, -1e6, -3e6, -1e5])
    platt = fit_platt(scores, np.sign(scores))
    assert np.isfinite([platt.slope, platt.offset]).all()
    assert platt.slope > 0


def test_rows_that_add_up():
    rows = normalized(np.random.default_rng(0).random((5, 3)))
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    assert normalized(np.zeros((1, 4))).tolist() == [[0.25] * 4]


def test_damaged_arrays_and_wrong_shapes():
    with pytest.raises(DataError, match=r"'offset' .* has shape \(3,\); expected \(2,\)"):
        Platt.from_arrays({"slope": np.ones(2), "offset": np.ones(3)}, 2)
    knots = {"knots": np.arange(2.0), "probabilities": np.ones(2)}
    with pytest.raises(DataError, match=r"'starts' .* holds values from 0 to 3"):
        Isotonic.from_arrays({**knots, "starts": np.array([0, 3])}, 1)
    with pytest.raises(DataError, match=r"'starts' .* does not divide 2 knots"):
        Isotonic.from_arrays({**knots, "starts": np.array([0, 1])}, 1)
    with pytest.raises(DataError, match=r"'knots' .* is not in increasing order"):
        Isotonic.from_arrays({**knots, "knots": np.ones(2), "starts": np.array([0, 2])}, 1)
    with pytest.raises(UsageError, match="each of 1 labels"):
        Platt(np.ones(1), np.ones(1))(np.zeros((2, 2)))
