"""The optimism of choosing on the documents that an estimate is made of, against known truth."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin import TextClassifier
from widemargin.estimate.optimism import Optimism, optimism_of_best, outcome_counts
from widemargin.labels import Labels
from widemargin.measure import contingency, f_measure, micro, micro_prbep
from widemargin.measure.contingency import Contingency
from widemargin.measure.quality import quality


def as_counts(right):
    """Counts of single-label documents that are right or wrong."""
    return [np.column_stack([row, np.ones((len(row), 2))])[None].repeat(2, axis=0) for row in right]


def simulated(quality_of_each, n, repeats, seed):
    """The real and the estimated optimism of the best, in `repeats` samples of `n` documents."""
    generator = np.random.default_rng(seed)
    real, found = [], []
    for _ in range(repeats):
        # Some documents are hard for all candidates.
        common = generator.random(n)
        own = generator.random((len(quality_of_each), n))
        luck = np.where(generator.random(own.shape) < 0.8, common, own)
        right = luck < quality_of_each[:, None]
        best = right.mean(axis=1).argmax()
        real.append(right[best].mean() - quality_of_each[best])
        found.append(optimism_of_best(as_counts(right)))
    return np.array(real), np.array(found)


class TestKnownTruth:
    @pytest.mark.parametrize("k", [3, 30])
    def test_equal_candidates(self, k):
        real, found = simulated(np.full(k, 0.8), 500, 150, seed=k)
        error = np.std(real - found) / np.sqrt(len(real))
        assert abs(np.mean(real - found)) < 3 * error
        assert np.mean(found) > 0.004

    def test_one_candidate_is_clearly_the_best(self):
        real, found = simulated(np.r_[0.9, np.full(20, 0.75)], 500, 60, seed=5)
        assert abs(real.mean()) < 0.006
        assert found.mean() < 0.002

    def test_candidates_of_different_quality(self):
        real, found = simulated(0.8 + np.linspace(-0.02, 0.02, 20), 1000, 100, seed=6)
        assert abs(np.mean(real - found)) < 0.003

    def test_one_candidate_or_none(self):
        assert optimism_of_best([]) == optimism_of_best(as_counts(np.ones((1, 9)))) == 0

    def test_the_same_each_time(self):
        right = np.random.default_rng(1).random((5, 300)) < 0.7
        assert optimism_of_best(as_counts(right)) == optimism_of_best(as_counts(right))


class TestOutcomes:
    @pytest.mark.parametrize("n", [50, 5000])
    def test_sums_are_the_measures(self, n):
        generator = np.random.default_rng(0)
        sets = [list(np.flatnonzero(row)) for row in generator.random((n, 4)) < 0.3]
        y = Labels.of([[f"l{j}" for j in row] for row in sets])
        scores = y.signs * 0.3 + generator.normal(size=y.signs.shape)
        compared, shown = outcome_counts(y.space, y.signs, scores, break_even=True).sum(axis=1)
        table = contingency(y.signs, scores > 0)
        assert 2 * shown[0] / (shown[1] + shown[2]) == pytest.approx(float(micro(f_measure, table)), rel=1e-6)
        assert compared[0] / compared[2] == pytest.approx(micro_prbep(y.signs, scores), rel=1e-6)
        assert compared[1] == compared[2]

    @pytest.mark.parametrize("classes", ["ab", "abcde"])
    def test_single_labels_count_right_documents(self, classes):
        generator = np.random.default_rng(0)
        y = Labels.of(list(generator.choice(list(classes), 80)))
        scores = generator.normal(size=y.signs.shape)
        _, shown = outcome_counts(y.space, y.signs, scores, break_even=False).sum(axis=1)
        right = (y.space.choose(scores) == y.signs).all(axis=1).sum()
        assert shown.tolist() == [right, 80, 80]


class TestLowered:
    TABLE = Contingency(*map(np.array, ([40, 30], [10, 5], [5, 10], [45, 55])))
    FOUND = quality(Labels.of([["a"], ["b"]]).space, TABLE, kind="estimate", method="leave-one-out", right=70)

    def test_averages_fall_and_labels_stay(self):
        lowered = Optimism(0.012, 40).lower(self.FOUND)
        assert lowered.labels == self.FOUND.labels
        for name in ("precision", "recall", "f1"):
            for before, after in ((self.FOUND.micro, lowered.micro), (self.FOUND.macro, lowered.macro)):
                for end in ("value", "low", "high"):
                    moved = getattr(before[name], end) - getattr(after[name], end)
                    assert moved == pytest.approx(0.012, abs=1e-5)
        assert lowered.accuracy.value == pytest.approx(self.FOUND.accuracy.value - 0.012)
        growth = lowered.micro["error"].value / self.FOUND.micro["error"].value
        missed = 1 - self.FOUND.micro["f1"].value
        assert growth == pytest.approx((missed + 0.012) / missed, rel=1e-4)
        assert lowered.notes[-1].startswith("Accuracy and averages are lowered by 1.2 points, because the")
        assert "best of 40 candidates" in lowered.notes[-1]

    def test_never_below_zero(self):
        lowered = Optimism(0.9, 4).lower(self.FOUND)
        assert lowered.micro["f1"].value == lowered.micro["f1"].low == 0
        assert lowered.micro["error"].value <= 1

    def test_too_little_to_show_changes_nothing(self):
        assert Optimism(0.0004, 40).lower(self.FOUND) is self.FOUND


def test_a_tuned_classifier_reports_lowered_estimates():
    generator = np.random.default_rng(3)
    words = [f"w{k}" for k in range(60)]
    labels = list(generator.choice(["a", "b"], 150))
    texts = [
        " ".join([*generator.choice(words, 8), str(generator.choice(["left", label, label]))])
        for label in labels
    ]
    tuned = TextClassifier(tune="fast", estimate="leave-one-out").fit(texts, labels)
    summary = tuned.training_summary_
    optimism = summary["tuning"]["optimism"]
    assert optimism > 0.001
    shown = summary["estimates"]
    assert any("lowered by" in note for note in shown["notes"])
    hits = sum(row["recall"]["value"] * row["examples"] for row in shown["labels"])
    assert shown["accuracy"]["value"] == pytest.approx(hits / 150 - optimism, abs=1e-4)
