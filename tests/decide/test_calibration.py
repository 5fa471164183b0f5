"""Probabilities: the optimum of Platt's problem, monotone, saved exactly, defined for every label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax, softmax
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


def one_of(classes, n, seed):
    """Scores of exclusive classes, their true probabilities, and classes drawn from them."""
    generator = np.random.default_rng(seed)
    logits = 2 * generator.normal(size=(n, classes))
    chance = softmax(logits, axis=1)
    drawn = (generator.random((n, 1)) > chance.cumsum(axis=1)).sum(axis=1).clip(max=classes - 1)
    return (
        logits - logits.mean(axis=1, keepdims=True),
        chance,
        np.where(np.arange(classes) == drawn[:, None], 1, -1),
    )


def test_the_power_of_exclusive_classes_is_the_optimum():
    for classes, seed in ((2, 0), (5, 1), (40, 2)):
        scores, _, truth = one_of(classes, 500, seed)
        platt = fit_platt(scores, truth, exclusive=True)
        alone = fit_platt(scores, truth)
        np.testing.assert_array_equal(alone.slope, platt.slope)
        logs = np.log(alone(scores))
        target = (1 - 1 / 502) * (truth > 0) + 1 / 502 / classes

        def loss(power, logs=logs, target=target):
            return -(target * log_softmax(power * logs, axis=1)).sum()

        best = minimize_scalar(loss, bounds=(0, 50), method="bounded").fun
        assert loss(platt.power) <= best + 1e-3
        np.testing.assert_allclose(platt(scores), softmax(platt.power * logs, axis=1), atol=1e-12)


def test_exclusive_classes_are_judged_together():
    """Scaled rows of sigmoids doubt too much: the largest probability is right more often than it says."""
    scores, chance, truth = one_of(20, 4000, seed=3)
    apart, joint = (
        normalized(fit_platt(scores, truth)(scores)),
        fit_platt(scores, truth, exclusive=True)(scores),
    )
    np.testing.assert_allclose(joint.sum(axis=1), 1)
    right = (truth > 0)[np.arange(4000), joint.argmax(axis=1)].mean()
    assert abs(joint.max(axis=1).mean() - right) < (right - apart.max(axis=1).mean()) / 2
    assert np.abs(joint - chance).mean() < np.abs(apart - chance).mean()


def test_powers_at_the_limits():
    scores = np.eye(3)[np.arange(60) % 3] * 10
    sure = fit_platt(scores, np.where(scores > 0, 1, -1), exclusive=True)
    assert np.isfinite(sure.power)
    assert (sure(scores)[scores > 0] > 0.9).all()
    unsure = fit_platt(np.zeros((60, 3)), np.where(scores > 0, 1, -1), exclusive=True)
    np.testing.assert_allclose(unsure(scores), 1 / 3, atol=1e-6)
    assert np.isfinite(sure(1e9 * (scores - 5))).all()
    with pytest.raises(UsageError, match="exactly one positive label"):
        fit_platt(scores, np.where(scores > 0, -1, 1), exclusive=True)


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
    with pytest.raises(DataError, match="'power'"):
        Platt.from_arrays({"slope": np.ones(2), "offset": np.ones(2), "power": np.array([-1.0])}, 2)
    knots = {"knots": np.arange(2.0), "probabilities": np.ones(2)}
    with pytest.raises(DataError, match=r"'starts' .* holds values from 0 to 3"):
        Isotonic.from_arrays({**knots, "starts": np.array([0, 3])}, 1)
    with pytest.raises(DataError, match=r"'starts' .* does not divide 2 knots"):
        Isotonic.from_arrays({**knots, "starts": np.array([0, 1])}, 1)
    with pytest.raises(DataError, match=r"'knots' .* is not in increasing order"):
        Isotonic.from_arrays({**knots, "knots": np.ones(2), "starts": np.array([0, 2])}, 1)
    with pytest.raises(UsageError, match="each of 1 labels"):
        Platt(np.ones(1), np.ones(1))(np.zeros((2, 2)))
