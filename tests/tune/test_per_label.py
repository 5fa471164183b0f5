"""A C for each label, chosen on the representation that is best for all."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.conftest import TICKETS
from widemargin import KernelSVM, LinearSVM, Rocchio, TextClassifier
from widemargin.errors import UsageError
from widemargin.estimate.cross_validation import out_of_fold
from widemargin.estimate.optimism import Optimism, label_outcomes, optimism_per_label
from widemargin.labels import Labels
from widemargin.measure import prbep
from widemargin.tune.criteria import Criterion
from widemargin.tune.per_label import choose_per_label
from widemargin.tune.search_space import Space
from widemargin.tune.tuning import tune

TEXTS, LABELS = [ticket["text"] for ticket in TICKETS], [tuple(ticket["labels"]) for ticket in TICKETS]
COSTS = [0.01, 0.1, 1.0, 10.0, 100.0]


@pytest.fixture
def task():
    """Labels that need different costs: one is noisy, one is not, one has no example at all."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 10))
    Y = np.zeros((120, 3), int)
    Y[:, 0] = X[:, 0] > 0
    Y[:, 1] = X[:, 1] + 2 * rng.normal(size=120) > 0
    return X, Labels.of(Y)


@pytest.mark.filterwarnings("ignore:1 of 3 labels")
def test_every_label_takes_the_cost_that_is_best_for_it(task):
    X, y = task
    criterion = Criterion("k-fold")
    found = tune(X, y, Space(learners=[LinearSVM()], costs=COSTS), effort="full", criterion=criterion)
    chosen = choose_per_label(found, y)
    values = np.array(
        [
            prbep(y.signs, out_of_fold(LinearSVM(C), X, y, folds=criterion.folds, tol=0.01).scores)
            for C in COSTS
        ]
    )
    assert chosen.chosen == found.chosen
    for k in range(2):
        assert values[chosen.by_label[k], k] >= values[:, k].max() - 0.03  # folds end at a loose tolerance
        assert chosen.best.learner.C[k] == COSTS[chosen.by_label[k]]
    assert chosen.best.learner.C[2] == COSTS[found.chosen]  # nothing is known of it
    again = LinearSVM(C=chosen.best.learner.C).fit(X, y)
    np.testing.assert_allclose(chosen.best.learner.coef_, again.coef_, atol=0.05)
    assert chosen.optimism.macro >= found.optimism.value
    assert chosen.to_dict()["chosen_by_label"].keys() == {"0", "1", "2"}


def test_a_common_choice_that_is_as_good_is_kept():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 6)
    y = Labels.of([("a",), ("a",), ("b",), ("b",)] * 6)
    found = tune(X, y, Space(learners=[LinearSVM()], costs=COSTS))
    chosen = choose_per_label(found, y)
    assert set(chosen.by_label.tolist()) == {found.chosen}


def test_the_choice_for_each_label_is_as_optimistic_as_simulations_show():
    """Candidates that are equally good: what the choice gains on these documents is noise."""
    rng = np.random.default_rng(0)
    n, labels, candidates, trials = 400, 6, 5, 30
    gained, estimated = [], []
    for _ in range(trials):
        truth = np.where(rng.random((n, labels)) < 0.15, 1, -1)
        # Errors of a candidate are its own: another sample has the same quality for all of them.
        scores = truth[None] + 1.2 * rng.normal(size=(candidates, n, labels))
        outcomes = [label_outcomes(truth, each, np.where(each > 0, 1, -1)) for each in scores]
        values = np.array([counts[0].sum(axis=0) for counts in outcomes])
        value = 2 * values[..., 0] / (values[..., 1] + values[..., 2])
        shown = np.array([counts[1].sum(axis=0) for counts in outcomes])
        f1 = 2 * shown[..., 0] / (shown[..., 1] + shown[..., 2])
        common = values.sum(axis=1)
        best = (2 * common[:, 0] / (common[:, 1] + common[:, 2])).argmax()
        own = f1[value.argmax(axis=0), np.arange(labels)]
        gained.append(own.mean() - f1[best].mean())
        estimated.append(optimism_per_label(outcomes)[1])
    assert np.mean(gained) > 0.005
    assert np.mean(estimated) == pytest.approx(np.mean(gained), rel=0.35)


def test_one_candidate_is_no_choice():
    truth = np.array([[1], [-1]])
    assert optimism_per_label([label_outcomes(truth, truth.astype(float), truth)]) == (0.0, 0.0)


def test_macro_averages_are_lowered_by_more():
    classifier = TextClassifier(estimate="leave-one-out", tune=None).fit(TEXTS, LABELS)
    from widemargin.measure.quality import Quality

    before = Quality.from_dict(classifier.training_summary_["estimates"])
    after = Optimism(0.01, 7, 0.03).lower(before)
    assert after.micro["f1"].value == pytest.approx(before.micro["f1"].value - 0.01, abs=1e-5)
    assert after.macro["f1"].value == pytest.approx(before.macro["f1"].value - 0.03, abs=1e-5)
    assert "macro-averages by 3.0" in after.notes[-1]
    assert "for each label" in after.notes[-1]


def test_classifiers_with_a_cost_for_each_label(tmp_path):
    classifier = TextClassifier(tune="fast", tune_per_label=True, estimate="auto").fit(TEXTS, LABELS)
    costs = classifier.learner_.C
    tuning = classifier.training_summary_["tuning"]
    assert len(costs) == len(classifier.classes_)
    chosen = [tuning["candidates"][k]["parameters"] for k in tuning["chosen_by_label"].values()]
    assert [found["C"] for found in chosen] == costs
    assert len({json.dumps({**found, "C": None}) for found in chosen}) == 1  # one representation
    classifier.save(tmp_path / "model.wm")
    again = TextClassifier.load(tmp_path / "model.wm")
    np.testing.assert_array_equal(again.decision_function(TEXTS), classifier.decision_function(TEXTS))


def test_a_cost_for_each_label_needs_a_choice_and_a_machine_that_has_one():
    for effort in (None, 1.0):
        with pytest.raises(UsageError, match="--tune fast or full"):
            TextClassifier(tune=effort, tune_per_label=True, estimate=None).fit(TEXTS, LABELS)
    for learner in (Rocchio(), KernelSVM()):
        with pytest.raises(UsageError, match="no C for each label"):
            TextClassifier(learner=learner, tune="fast", tune_per_label=True, estimate=None).fit(
                TEXTS, LABELS
            )
