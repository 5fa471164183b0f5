"""Decisions and probabilities from scores, and the state that a model file keeps."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin.decide.calibration import fit_calibration
from widemargin.decide.rule import DecisionRule
from widemargin.errors import DataError, UsageError
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
    limits = np.array([-0.5, 1.0 if kind == "multiclass" else np.inf, 0.25])[: space.n_columns]
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
        DecisionRule.from_state(several, {"calibration": None}, {"thresholds": thresholds})


def test_one_of_several_classes_is_always_chosen():
    several, _, _ = scored("multiclass")
    with pytest.raises(DataError, match="thresholds"):
        DecisionRule.from_state(several, {"calibration": None}, {"thresholds": np.array([0.0, np.inf, 0.0])})


def test_the_score_furthest_above_its_threshold_wins():
    space, _, scores = scored("multiclass")
    limits = np.array([-0.5, 0.75, 0.25])
    rule = DecisionRule(space, limits)
    expected = [max(range(3), key=lambda j, row=row: row[j] - limits[j]) for row in scores]
    assert rule.decide(scores).tolist() == [space.classes[j] for j in expected]
    assert rule.choose(scores).argmax(axis=1).tolist() == expected
    assert rule.label_lists(scores) == [[space.classes[j]] for j in expected]
    assert [rule.best(row) for row in scores] == [space.classes[j] for j in expected]
    assert list(rule.decide(scores)) != list(DecisionRule(space).decide(scores))
    again = DecisionRule.from_state(space, *rule.get_state())
    assert again.decide(scores).tolist() == rule.decide(scores).tolist()


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_the_least_expected_cost_wins(kind, fit):
    space, truth, scores = scored(kind)
    k = len(space.classes)
    costs = np.array([[0.0, 1, 9], [1, 0, 9], [2, 3, 0.5]])[:k, :k]
    plain = DecisionRule(space, None, fit_calibration(fit, scores, truth, exclusive=kind == "multiclass"))
    rule = plain.with_costs(costs)
    chances = plain.probabilities(scores)
    expected = [min(range(k), key=lambda j, p=p: sum(p[i] * costs[i, j] for i in range(k))) for p in chances]
    assert rule.decide(scores).tolist() == [space.classes[j] for j in expected]
    np.testing.assert_array_equal(rule.choose(scores), space.encode(rule.decide(scores)))
    assert rule.best(scores[3]) == space.classes[expected[3]]
    assert rule.shown_thresholds is None
    again = DecisionRule.from_state(space, *rule.get_state())
    np.testing.assert_array_equal(again.costs, costs)
    assert again.label_lists(scores) == rule.label_lists(scores)


def test_costs_that_do_not_fit():
    space, truth, scores = scored("multiclass")
    with pytest.raises(UsageError, match=r"needs probabilities\. Train with --costs, or with --calibrate"):
        DecisionRule(space).with_costs(np.ones((3, 3)))
    rule = DecisionRule(space, None, fit_calibration("platt", scores, truth, exclusive=True))
    config, arrays = rule.with_costs(np.ones((3, 3)) - np.eye(3)).get_state()
    for wrong in (np.zeros((2, 2)), -np.ones((3, 3)), np.full((3, 3), np.inf), np.full((3, 3), np.nan)):
        with pytest.raises(DataError, match="costs"):
            DecisionRule.from_state(space, config, {**arrays, "costs": wrong})
    with pytest.raises(DataError, match="costs"):
        DecisionRule.from_state(space, {"calibration": None}, {"costs": arrays["costs"]})
    with pytest.raises(DataError, match="costs"):
        DecisionRule.from_state(space, config, {**arrays, "thresholds": np.zeros(3)})
    sets, truth, scores = scored("multilabel")
    with pytest.raises(UsageError, match="cost:FALSE_POSITIVE"):
        DecisionRule(sets, None, fit_calibration("platt", scores, truth, exclusive=False)).with_costs(
            np.ones((3, 3))
        )


@pytest.mark.parametrize("fit", FITS)
def test_a_calibration_of_other_labels(fit):
    space, _, _ = scored("multilabel")
    other, truth, scores = scored("binary")
    config, arrays = DecisionRule(
        other, None, fit_calibration(fit, scores, truth, exclusive=False)
    ).get_state()
    with pytest.raises((DataError, ValueError)):
        DecisionRule.from_state(space, config, arrays)


def test_thresholds_of_the_first_of_two_classes_turn_the_sign():
    space = Labels.of(["ham", "spam"]).space
    scores = np.array([-1.0, -0.25, 0.25, 1.0])
    rule = DecisionRule(space)
    assert rule.with_thresholds({"spam": 0.5}).decide(scores).tolist() == ["ham", "ham", "ham", "spam"]
    assert rule.with_thresholds({"ham": 0.5}).decide(scores).tolist() == ["ham", "spam", "spam", "spam"]
    assert rule.thresholds is None, "the rule itself stays"
