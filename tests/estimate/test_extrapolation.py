"""Learning curves: what is measured at rising sizes, and what is said of sizes beyond."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin import LinearSVM, Vectorizer
from widemargin.estimate.curves.extrapolation import FEWEST, REACH, Extrapolation
from widemargin.estimate.curves.growth import FOLDS, PARTS, measure_growth
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels
from widemargin.measure import contingency, f_measure

SIZES = np.array([500, 1000, 2000, 4000])


def curve_of(error, rest, exponent, noise=0.0, examples=1000, seed=0):
    f1 = 1 - error * (rest + (1 - rest) * (SIZES / SIZES[-1]) ** -exponent)
    covariance = noise**2 * (0.8 * np.ones((4, 4)) + 0.2 * np.eye(4))
    f1 = f1 + np.random.default_rng(seed).multivariate_normal(np.zeros(4), covariance)
    return Extrapolation(SIZES, f1, covariance, examples=examples, documents=4600)


def test_intervals_cover_power_laws():
    """Curves of all sorts of exponents and rests, measured with noise: F1 at two and four times the size."""
    generator = np.random.default_rng(0)
    inside = {2: [], 4: []}
    for seed in range(300):
        error, rest = generator.uniform(0.1, 0.5), generator.beta(0.5, 1.5)
        exponent, noise = np.exp(generator.normal(np.log(0.5), 0.5)), generator.uniform(0.005, 0.02)
        curve = curve_of(error, rest, exponent, noise, seed=seed)
        for ratio, found in inside.items():
            true = 1 - error * (rest + (1 - rest) * ratio**-exponent)
            predicted = curve.at(ratio * SIZES[-1])
            found.append(predicted.low <= true <= predicted.high)
    # The intervals also allow for what is no power law, which there is not here.
    assert all(0.87 <= np.mean(found) <= 0.99 for found in inside.values())


def test_what_is_measured_again_is_known_better_than_new_documents():
    curve = curve_of(0.3, 0.2, 0.5, 0.02)
    again, new = curve.measured_again(2.0), curve.at(2 * SIZES[-1])
    assert again.high - again.low < new.high - new.low
    assert again.value == pytest.approx(new.value, abs=0.02)


def test_further_ahead_is_wider():
    curve = curve_of(0.3, 0.2, 0.5, 0.01)
    widths = [found.high - found.low for found in (curve.at(r * SIZES[-1]) for r in (1, 4, 16))]
    assert widths == sorted(widths)


class TestNeeded:
    def test_a_number_with_its_interval(self):
        curve = curve_of(0.15, 0.0, 0.5, 0.003, examples=20_000)
        found = curve.needed(0.9)
        assert found.verdict == "within reach"
        # 0.15 r^-0.5 = 0.1 at r = 2.25.
        assert found.low <= 2.25 * SIZES[-1] <= (found.high or np.inf)
        assert found.low < found.documents < (found.high or np.inf)

    def test_reached(self):
        assert curve_of(0.05, 0.5, 0.5, 0.003).needed(0.9).verdict == "reached"

    def test_out_of_reach(self):
        found = curve_of(0.5, 0.9, 0.5, 0.003, examples=20_000).needed(0.9)
        assert (found.verdict, found.documents) == ("out of reach", None)

    def test_not_enough_to_say(self):
        found = curve_of(0.2, 0.5, 0.3, 0.05, examples=20).needed(0.9)
        assert found.verdict == "not enough to say"
        assert found.documents is None

    def test_beyond_reach_has_no_number(self):
        for error in np.linspace(0.05, 0.6, 12):
            found = curve_of(error, 0.2, 0.5, 0.01).needed(0.9)
            for number in (found.documents, found.high):
                assert number is None or number <= REACH * 4600


def test_f1_of_nothing_found_has_a_curve():
    curve = Extrapolation(SIZES, np.zeros(4), np.zeros((4, 4)), examples=12, documents=4600)
    found = curve.at(2 * SIZES[-1])
    assert 0 <= found.low <= found.value <= found.high <= 1


@pytest.fixture(scope="module")
def task():
    """Three topics of unlike size, so that F1 grows."""
    generator = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(300)])
    texts, labels = [], []
    for topic, n in enumerate((200, 120, 12)):
        share = 1 / np.arange(1, 301)
        share[topic * 20 + 40 : topic * 20 + 60] *= 6
        for row in generator.choice(words, size=(n, 12), p=share / share.sum()):
            texts.append(" ".join(row))
            labels.append("abc"[topic])
    return texts, labels


def rows_of(texts, labels):
    vectorizer = Vectorizer()
    counts = vectorizer.fit_counts(texts)
    return TrainingRows(vectorizer.weighed(counts).matrix, Labels.of(labels), texts, vectorizer, counts)


class TestGrowth:
    def test_grows(self, task):
        growth = measure_growth(LinearSVM(), rows_of(*task))
        assert growth.labels == ["a", "b", "c"]
        assert growth.examples.tolist() == [200, 120, 12]
        assert growth.f1[-1, 0] > growth.f1[0, 0]
        n = len(task[0]) * (1 - 1 / FOLDS)
        assert growth.sizes.tolist() == pytest.approx([n * part / PARTS[-1] for part in PARTS], abs=2)

    def test_the_same_for_any_number_of_threads(self, task):
        one, two = (measure_growth(LinearSVM(n_jobs=jobs), rows_of(*task)) for jobs in (1, 2))
        assert np.array_equal(one.f1, two.f1)
        assert np.array_equal(one.covariance, two.covariance)

    def test_two_classes_are_both_there(self, task):
        texts, labels = task
        growth = measure_growth(LinearSVM(), rows_of(texts[:320], labels[:320]))
        assert growth.labels == ["a", "b"]
        assert (growth.f1[-1] > 0.6).all()

    def test_label_sets(self, task):
        texts, labels = task
        sets = [[label] if label != "a" else [] for label in labels]
        growth = measure_growth(LinearSVM(), rows_of(texts, sets))
        assert growth.labels == ["b", "c"]

    def test_variance_is_that_of_other_documents(self):
        """Decisions that do not depend on the size: the variance of F1 over samples is known."""

        class Fixed(LinearSVM):
            def fit(self, X, y, sample_weight=None):
                return self

            def decision_function(self, X):
                return np.asarray(X)[:, 0]

        def sample(seed):
            generator = np.random.default_rng(seed)
            truth = generator.random(400) < 0.3
            return truth, np.where(truth, 1.0, -1.0) + generator.normal(0, 1, 400)

        truth, scores = sample(0)
        growth = measure_growth(Fixed(), TrainingRows(scores[:, None], Labels.of(truth)))
        values = []
        for seed in range(400):
            true, found = sample(seed)
            values.append(f_measure(contingency(np.where(true, 1, -1), np.where(found > 0, 1, -1))))
        assert growth.covariance[1, -1, -1] == pytest.approx(np.var(values), rel=0.4)

    def test_too_few_examples_have_no_curve(self, task):
        texts, labels = task
        growth = measure_growth(LinearSVM(), rows_of(texts[:325], labels[:325]))
        assert growth.examples[2] < FEWEST
        assert Extrapolation.of(growth, 2) is None
        assert Extrapolation.of(growth, 0) is not None
