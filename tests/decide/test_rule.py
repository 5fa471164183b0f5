"""Decisions and probabilities from scores, and the state that a model file keeps."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin.decide.calibration import fit_calibration
from widemargin.decide.rule import DecisionRule
from widemargin.errors import DataError
from widemargin.labels import Labels

FITS = ("platt", "isotonic")
TASKS = {
    "binary": ["ham", "spam"] * 30,
    "multiclass": ["a", "b", "c"] * 20,
    "multilabel": [["a"], ["b"], ["a", "b", "c"]] * 20,
}


def scored(kind: str) -> tuple:
    space, truth = Labels.of(TASKS[kind]).space_and_signs
    scores = truth + np.random.default_rng(0).normal(size=truth.shape)
    return space, truth, scores


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("kind", TASKS)
def test_probabilities(kind, fit):
    space, truth, scores = scored(kind)
    rule = DecisionRule(space, None, fit_calibration(fit, scores, truth, exclusive=kind == "multiclass"))
    found = rule.probabilities(scores[:, 0] if kind == "binary" else scores)
    assert found.shape == (60, len(space.classes))
    assert ((found >= 0) & (found <= 1)).all()
    if kind != "multilabel":
        np.testing.assert_allclose(found.sum(axis=1), 1)
    positive = truth > 0 if kind != "binary" else np.hstack([truth < 0, truth > 0])
    assert found[positive].mean() > found[~positive].mean() + 0.2


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("kind", TASKS)
def test_state_and_back(kind, fit):
    space, truth, scores = scored(kind)
    limits = None if kind == "multiclass" else np.array([-0.5, np.inf, 0.25])[: space.n_columns]
    rule = DecisionRule(space, limits, fit_calibration(fit, scores, truth, exclusive=kind == "multiclass"))
    config, arrays = rule.get_state()
    assert all(isinstance(array, np.ndarray) for array in arrays.values())
    again = DecisionRule.from_state(space, config, arrays)
    np.testing.assert_array_equal(again.probabilities(scores), rule.probabilities(scores))
    assert list(again.decide(scores)) == list(rule.decide(scores))


def test_nothing_to_keep():
    space, _, scores = scored("multilabel")
    config, arrays = DecisionRule(space).get_state()
    assert arrays == {}
    assert DecisionRule.from_state(space, config, arrays).decide(scores) == space.decide(scores)


@pytest.mark.parametrize(
    "thresholds",
    [np.zeros(2), np.zeros((3, 1)), np.array([0.0, np.nan, 0.0]), np.zeros(3, np.float32)],
    ids=["short", "matrix", "nan", "type"],
)
def test_thresholds_that_do_not_fit(thresholds):
    space, _, _ = scored("multilabel")
    with pytest.raises(DataError, match="thresholds"):
        DecisionRule.from_state(space, {"calibration": None}, {"thresholds": thresholds})
    several, _, _ = scored("multiclass")
    with pytest.raises(DataError, match="thresholds"):
        DecisionRule.from_state(several, {"calibration": None}, {"thresholds": np.zeros(3)})


@pytest.mark.parametrize("fit", FITS)
def test_a_calibration_of_other_labels(fit):
    space, _, _ = scored("multilabel")
    other, truth, scores = scored("binary")
    config, arrays = DecisionRule(
        other, None, fit_calibration(fit, scores, truth, exclusive=False)
    ).get_state()
    with pytest.raises((DataError, ValueError)):
        DecisionRule.from_state(space, config, arrays)
