"""What training says of itself: the figures of the decisions that are made, and weak ones named."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from widemargin import KernelSVM, LinearSVM, RegularizedLeastSquares, SampledLeastSquares
from widemargin.decide.calibration import fit_calibration
from widemargin.decide.cross_fitting import parts_of
from widemargin.decide.goals import Goal
from widemargin.decide.rule import DecisionRule
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate import held_out as held_out_module
from widemargin.estimate.assessment import NOTHING, Request, assess
from widemargin.estimate.held_out import held_out
from widemargin.estimate.training_rows import TrainingRows
from widemargin.estimate.xi_alpha import xi_alpha_of
from widemargin.labels import Labels
from widemargin.measure import contingency, precision


def rows_of(X, y):
    return TrainingRows(X, Labels.of(y))


def clouds(n: int = 120, k: int = 3, noise: float = 2.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    own = np.arange(n) % k
    return 4 * np.eye(k)[own] + noise * rng.normal(size=(n, k)), own


def request(estimate=None, thresholds=None, calibration=None) -> Request:
    return Request.read(estimate, thresholds, calibration)


@pytest.mark.parametrize("method", ["leave-one-out", "k-fold"])
@pytest.mark.parametrize("learner", [LinearSVM(), KernelSVM(gamma=0.1)], ids=["linear", "kernel"])
@pytest.mark.parametrize("k", [2, 3])
def test_figures_are_those_of_held_out_decisions(k, learner, method):
    X, own = clouds(k=k)
    fitted = learner.fit(X, own)
    found = assess(fitted, rows_of(X, own), request(method))
    space, truth = Labels.of(own).space_and_signs
    chosen = space.choose(held_out(fitted, X, own, method=method).scores)
    expected = precision(contingency(truth, chosen))
    rows = found.quality.labels[-len(expected) :]
    assert [row.figures["precision"].value for row in rows] == pytest.approx(expected.tolist(), abs=1e-6)
    assert found.quality.accuracy.value == pytest.approx((truth == chosen).all(axis=1).mean())
    assert found.quality.kind == "estimate"
    assert found.thresholds is None
    assert found.suspects is not None


def test_auto_leaves_out_one_by_one_where_that_takes_seconds():
    X, own = clouds(k=2)
    for fitted in (LinearSVM().fit(X, own), KernelSVM(gamma=0.1).fit(X, own)):
        assert assess(fitted, rows_of(X, own), request("auto")) == assess(
            fitted, rows_of(X, own), request("leave-one-out")
        )


def test_auto_takes_one_step_for_a_kernel_machine_on_noise():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 10)), rng.integers(0, 2, 1500)
    fitted = KernelSVM(C=10).fit(X, y)
    found = assess(fitted, rows_of(X, y), request("auto", calibration="platt")).quality
    expected = assess(fitted, rows_of(X, y), request("one-step")).quality
    assert found.method == expected.method == "one-step"
    assert found.labels == expected.labels
    assert any(f"{len(fitted.support_):,} of 1,500 are support vectors" in note for note in found.notes)
    assert not any("would take long" in note for note in expected.notes)


@pytest.mark.parametrize("learner", [RegularizedLeastSquares(), SampledLeastSquares(3, sampling="uniform")])
@pytest.mark.parametrize("k", [2, 3])
def test_auto_takes_folds_for_large_least_squares(monkeypatch, learner, k):
    """What makes leave-one-out long differs between learners, and so does the note about it."""
    monkeypatch.setattr(held_out_module, "SECONDS", (k**3 - 1) / 4e10)
    monkeypatch.setattr(held_out_module, "TRAININGS", 0)
    X, own = clouds(k=k)
    found = assess(learner.fit(X, own), rows_of(X, own), request("auto"))
    assert found.quality.method == "k-fold"
    assert any(f"factorize a matrix of {k} rows" in note for note in found.quality.notes)


def test_bounds_are_those_of_xi_alpha():
    X, own = clouds()
    fitted = LinearSVM().fit(X, own)
    found = assess(fitted, rows_of(X, own), request("xi-alpha"))
    expected = precision(xi_alpha_of(fitted, X, own))
    assert [row.figures["precision"].value for row in found.quality.labels] == pytest.approx(
        expected.tolist(), abs=1e-6
    )
    assert (found.quality.kind, found.quality.accuracy, found.suspects) == ("bound", None, None)
    assert any("rule against the rest" in note for note in found.quality.notes)


def test_nothing_asked_nothing_done():
    X, own = clouds()
    assert assess(LinearSVM().fit(X, own), rows_of(X, own), request()) is NOTHING
    assert NOTHING.summary() == {}


def test_thresholds_and_calibration_without_figures():
    X, own = clouds(k=2)
    found = assess(LinearSVM().fit(X, own), rows_of(X, own), request(None, "f1", "platt"))
    assert found.quality is None
    assert found.thresholds.shape == (1,)
    assert found.calibration is not None
    both = assess(LinearSVM().fit(X, own), rows_of(X, own), request("xi-alpha", "f1"))
    assert both.quality.kind == "bound"
    assert any("without thresholds" in note for note in both.quality.notes)


def test_thresholds_reach_the_figures():
    X, own = clouds(n=300)
    sets = [[str(i)] for i in own]
    fitted = LinearSVM().fit(X, sets)
    plain = assess(fitted, rows_of(X, sets), request("leave-one-out"))
    wide = assess(fitted, rows_of(X, sets), request("leave-one-out", "cost:1,20"))
    assert [row.threshold for row in plain.quality.labels] == [0, 0, 0]
    assert [row.threshold for row in wide.quality.labels] == pytest.approx(wide.thresholds.tolist(), abs=1e-6)
    assert (wide.thresholds < 0).all()
    assert wide.quality.micro["recall"].value > plain.quality.micro["recall"].value
    assert wide.quality.micro["precision"].value < plain.quality.micro["precision"].value


def test_labels_that_cannot_be_promised_anything_are_named():
    X, own = clouds(n=60, noise=6.0)
    sets = [[f"cloud {i}"] for i in own]
    with pytest.warns(
        DataWarning, match=r"precision of 0\.99 .* 3 labels \(cloud 0, cloud 1, cloud 2\), which"
    ):
        found = assess(
            LinearSVM().fit(X, sets),
            rows_of(X, sets),
            request("leave-one-out", "precision:0.99"),
        )
    assert (found.thresholds == np.inf).all()
    assert [row.threshold for row in found.quality.labels] == ["never"] * 3


def test_one_class_of_several_has_some_goals_only():
    for goal in ("precision:0.9", "recall:0.9", "cost:1,5"):
        with pytest.raises(UsageError, match=r"exclusive classes.*f1, f1-per-label and proportional"):
            request(thresholds=goal).check(["a", "b", "c"])
        request(thresholds=goal).check(["a", "b", "b"])
        request(thresholds=goal).check([["a"], ["b"], []])
    for goal in ("f1", "f1-per-label", "proportional"):
        request(thresholds=goal).check(["a", "b", "c"])


def uneven(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three classes, the last of which is rare."""
    rng = np.random.default_rng(seed)
    own = np.where(rng.random(n) < 0.08, 2, np.arange(n) % 2)
    return 2 * np.eye(3)[own] + 1.5 * rng.normal(size=(n, 3)), own


@pytest.mark.parametrize("goal", ["f1", "f1-per-label", "proportional"])
def test_thresholds_of_several_classes(goal):
    """Figures are of decisions by thresholds that were chosen without the document."""
    X, own = uneven()
    fitted = LinearSVM().fit(X, own)
    found = assess(fitted, rows_of(X, own), request("leave-one-out", goal))
    scores, truth = held_out(fitted, X, own, method="leave-one-out").scores, Labels.of(own).signs
    wanted = Goal.read(goal)
    np.testing.assert_array_equal(found.thresholds, wanted.thresholds(scores, truth, exclusive=True))
    decided = wanted.decisions(scores, truth, exclusive=True)
    assert (decided > 0).sum(axis=1).tolist() == [1] * len(own)
    right = (decided == truth).all(axis=1).mean()
    assert found.quality.accuracy.value == pytest.approx(right)
    assert [row.predicted for row in found.quality.labels] == (decided > 0).sum(axis=0).tolist()
    assert [row.threshold for row in found.quality.labels] == pytest.approx(
        found.thresholds.tolist(), abs=1e-6
    )
    assert "chosen without it" in found.quality.notes[0]


COSTS = [[0, 1, 8], [1, 0, 8], [1, 1, 0]]


@pytest.mark.parametrize("calibration", [None, "platt", "isotonic"])
@pytest.mark.parametrize("method", ["leave-one-out", "k-fold"])
def test_expected_costs_are_of_probabilities_that_did_not_see_the_document(method, calibration):
    X, own = uneven()
    fitted = LinearSVM().fit(X, own)
    asked = Request.read(method, None, calibration, COSTS).check(own)
    found = assess(fitted, rows_of(X, own), asked)
    space, truth = Labels.of(own).space_and_signs
    scores = held_out(fitted, X, own, method=method).scores
    decided = np.full(len(own), -1)
    for part, others in parts_of(len(own)):
        fit = fit_calibration(calibration or "platt", scores[others], truth[others], exclusive=True)
        chances = DecisionRule(space, None, fit).probabilities(scores[part])
        decided[part] = [
            min(range(3), key=lambda j, p=p: sum(p[i] * COSTS[i][j] for i in range(3))) for p in chances
        ]
    paid = [COSTS[i][j] for i, j in zip(own, decided, strict=True)]
    assert found.cost.average.value == pytest.approx(np.mean(paid), abs=1e-6)
    assert found.cost.by_scores == pytest.approx(
        np.mean([COSTS[i][j] for i, j in zip(own, scores.argmax(axis=1), strict=True)]), abs=1e-6
    )
    assert found.cost.average.kind == "estimate"
    assert found.cost.average.low < found.cost.average.value < found.cost.average.high
    assert found.quality.accuracy.value == pytest.approx(np.mean(own == decided))
    assert any("calibrated without it" in note for note in found.quality.notes)
    np.testing.assert_array_equal(found.rule(fitted).costs, COSTS)


def test_estimates_of_costs_are_not_optimistic():
    """Over many samples, the expected cost is that on new documents; that of the fitted scores is lower."""
    expected, measured = [], []
    for seed in range(12):
        X, own = uneven(120, seed)
        fitted = LinearSVM().fit(X, own)
        found = assess(
            fitted, rows_of(X, own), Request.read("leave-one-out", None, "isotonic", COSTS).check(own)
        )
        new, truth = uneven(4000, 1000 + seed)
        decided = found.rule(fitted).decide(fitted.decision_function(new))
        expected.append(found.cost.average.value)
        measured.append(np.array(COSTS)[truth, decided].mean())
    spread = np.std(np.subtract(expected, measured)) / np.sqrt(12)
    assert abs(np.mean(expected) - np.mean(measured)) < 3 * spread


def test_costs_that_do_not_apply():
    with pytest.raises(UsageError, match="either costs or thresholds"):
        Request.read(None, "f1", None, COSTS)
    with pytest.raises(UsageError, match="cost:FALSE_POSITIVE,FALSE_NEGATIVE"):
        Request.read(None, None, None, COSTS).check([["a"], ["b", "c"], []])
    with pytest.raises(DataError, match="3 rows, and the task 2 classes"):
        Request.read(None, None, None, COSTS).check(["a", "b"])
    assert Request.read(None, None, None, COSTS).calibration == "platt"


@pytest.mark.parametrize("method", ["xi-alpha", "bootstrap", "hold-out"])
def test_costs_with_other_estimates(method):
    X, own = uneven()
    found = assess(
        LinearSVM().fit(X, own), rows_of(X, own), Request.read(method, None, None, COSTS).check(own)
    )
    assert found.cost.average.value > 0
    assert any("Costs are estimated by" in note for note in found.cost.notes) == (method != "hold-out")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("jackknife", None, None),
            "leave-one-out, one-step, k-fold, hold-out, bootstrap, bootstrap-632, xi-alpha",
        ),
        ((None, "best", None), "expected f1"),
        ((None, None, "sigmoid"), "platt, isotonic"),
    ],
)
def test_requests_that_make_no_sense(arguments, message):
    with pytest.raises(UsageError, match=message):
        Request.read(*arguments)


def test_weak_labels_have_defined_figures_and_a_warning():
    """One example, no example, every example: nothing fails, and somebody is told."""
    X, own = clouds(n=40, k=2)
    y = np.zeros((40, 4), dtype=int)
    y[:, 0] = own
    y[5, 1] = 1
    y[:, 3] = 1
    with pytest.warns(DataWarning, match=r"Label more documents") as told:
        found = assess(LinearSVM().fit(X, y), rows_of(X, y), request("leave-one-out", "f1", "platt"))
    rows = found.quality.labels
    assert [row.weak for row in rows] == [None, "one example only", "no example", "every document has it"]
    assert rows[1].figures["recall"].value == 0
    assert np.isnan(rows[2].figures["recall"].value)
    text = " ".join(str(warning.message) for warning in told)
    assert "one example" in text
    assert "no example" in text


def test_fewer_examples_than_folds():
    X = np.array([[0.0], [0.1], [1.0], [1.1]])
    y = ["a", "a", "b", "b"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found = assess(LinearSVM(C=10).fit(X, y), rows_of(X, y), request("k-fold"))
    assert found.quality.n == 4
    assert all(row.sure == "low" for row in found.quality.labels)


@pytest.mark.needs_corpus("reuters21578")
@pytest.mark.slow
def test_what_training_says_of_reuters_is_what_the_test_set_shows(corpus):
    """Thresholds chosen on held-out scores lift both averages of F1, and the estimates foretell it."""
    from widemargin import LinearSVM, TextClassifier
    from widemargin.measure.quality import Quality, quality

    reuters = corpus("reuters21578")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        learner = LinearSVM(balance=0)
        classifier = TextClassifier(learner=learner, estimate="leave-one-out", thresholds="f1", tune=None)
        classifier.fit(reuters.train)
    expected = Quality.from_dict(classifier.training_summary_["estimates"])
    space = classifier.label_space_
    truth = space.encode(reuters.test.labels, unknown="ignore")
    scores = classifier.decision_function(reuters.test)
    plain, chosen = (
        quality(space, contingency(truth, space.choose(scores, limits)), kind="measured", method="test")
        for limits in (None, classifier.thresholds_)
    )
    assert chosen.micro["f1"].value > plain.micro["f1"].value + 0.02
    assert chosen.macro["f1"].value > plain.macro["f1"].value + 0.10
    # The test documents are from later months: close, not equal.
    assert abs(expected.micro["f1"].value - chosen.micro["f1"].value) < 0.03
