"""Goals in words: what is understood, what is refused, and decisions that do not flatter their thresholds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from widemargin.decide.cross_fitting import PARTS
from widemargin.decide.goals import Goal
from widemargin.decide.promises import precision_thresholds
from widemargin.decide.thresholds import best_f_thresholds, shrunk_f_thresholds
from widemargin.errors import DataWarning, UsageError
from widemargin.measure import contingency, cost, f_measure


def noisy(n: int = 600, labels: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random((n, labels)) < 0.3, 1, -1)
    return 0.6 * truth + rng.normal(size=truth.shape), truth


@pytest.mark.parametrize(
    ("text", "name", "values", "confidence"),
    [
        ("f1", "f1", (), 0.95),
        ("f1-per-label", "f1-per-label", (), 0.95),
        ("precision:0.9", "precision", (0.9,), 0.95),
        ("recall:0.75@0.99", "recall", (0.75,), 0.99),
        ("cost:1,5", "cost", (1.0, 5.0), 0.95),
        ("proportional", "proportional", (), 0.95),
    ],
)
def test_words(text, name, values, confidence):
    assert Goal.read(text) == Goal(name, values, confidence)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "F2",
        "f1:0.9",
        "f1@0.9",
        "precision",
        "precision:",
        "precision:high",
        "precision:0.9,0.8",
        "precision:1.5",
        "precision:nan",
        "recall:0",
        "recall:0.9@1",
        "cost:1",
        "cost:-1,2",
        "cost:0,0",
        "cost:1,2@0.9",
        "cost:inf,1",
        "cost:nan,1",
    ],
)
def test_what_is_no_goal(text):
    with pytest.raises(UsageError, match="thresholds"):
        Goal.read(text)


def test_thresholds_are_those_of_the_functions():
    scores, truth = noisy()
    np.testing.assert_array_equal(
        Goal.read("f1").thresholds(scores, truth), shrunk_f_thresholds(scores, truth)
    )
    np.testing.assert_array_equal(
        Goal.read("f1-per-label").thresholds(scores, truth), best_f_thresholds(scores, truth)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        np.testing.assert_array_equal(
            Goal.read("precision:0.7@0.9").thresholds(scores, truth),
            precision_thresholds(scores, truth, 0.7, 0.9),
        )


@pytest.mark.parametrize(("costs", "matrix"), [("5,1", [[0, 5], [1, 0]]), ("1,5", [[0, 1], [5, 0]])])
def test_costs_are_of_false_positives_first(costs, matrix):
    scores, truth = noisy()
    limits = Goal.read(f"cost:{costs}").thresholds(scores, truth)
    best = cost(contingency(truth, scores - limits), matrix)
    for shift in (-1, -0.3, 0.3, 1):
        assert (cost(contingency(truth, scores - limits - shift), matrix) >= best).all()


def test_proportional_gives_each_label_its_share():
    scores, truth = noisy()
    limits = Goal.read("proportional").thresholds(scores, truth)
    np.testing.assert_array_equal((scores > limits).sum(axis=0), (truth > 0).sum(axis=0))
    truth[:, 0], truth[:, 1] = -1, 1
    limits = Goal.read("proportional").thresholds(scores, truth)
    assert limits[0] == np.inf
    assert limits[1] == -np.inf


def test_decisions_do_not_flatter():
    """Scores that say nothing: thresholds fit the noise they were chosen on, and that alone."""
    rng = np.random.default_rng(1)
    truth, later = (np.where(rng.random((100, 1000)) < 0.1, 1, -1) for _ in range(2))
    scores, later_scores = rng.normal(size=truth.shape), rng.normal(size=truth.shape)
    goal = Goal.read("f1-per-label")
    limits = goal.thresholds(scores, truth)
    fitted, honest, fresh = (
        np.nanmean(f_measure(contingency(signs, chosen)))
        for signs, chosen in (
            (truth, scores - limits),
            (truth, goal.decisions(scores, truth)),
            (later, later_scores - limits),
        )
    )
    assert fitted > 1.5 * fresh
    assert honest < fresh + 0.3 * (fitted - fresh)


def test_each_document_is_decided_by_the_others():
    scores, truth = noisy(n=40)
    chosen = Goal.read("f1-per-label").decisions(scores, truth)
    np.testing.assert_array_equal(chosen, Goal.read("f1-per-label").decisions(scores, truth))
    part = np.random.default_rng(0).permutation(40) % PARTS
    for k in range(PARTS):
        limits = best_f_thresholds(scores[part != k], truth[part != k])
        np.testing.assert_array_equal(chosen[part == k] > 0, scores[part == k] > limits)


def test_two_documents():
    chosen = Goal.read("f1").decisions(np.array([[1.0], [-1.0]]), np.array([[1], [-1]]))
    assert chosen.shape == (2, 1)
