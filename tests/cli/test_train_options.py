"""Options of `train`, by the real command: the model is what the library learns with the same settings.

Each test trains once by the command. That the setting matters is shown by the library without it.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.conftest import TICKETS, WORDS, write_jsonl
from widemargin import (
    Arow,
    BalancedWinnow,
    KernelSVM,
    LargeMarginWinnow,
    LinearSVM,
    LogisticRegression,
    Perceptron,
    TextClassifier,
    Vectorizer,
    Winnow,
)
from widemargin.errors import DataWarning
from widemargin.features.sampling import SampleFeatures

TEXTS = [f"{ticket['text']} for {number % 5} euros" for number, ticket in enumerate(TICKETS)]
LABELS = [ticket["labels"][0] for ticket in TICKETS]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The tickets, each with a number."""
    records = [{**ticket, "text": text} for ticket, text in zip(TICKETS, TEXTS, strict=True)]
    return write_jsonl(tmp_path_factory.mktemp("options") / "data.jsonl", records)


@pytest.fixture
def train(run, data, tmp_path):
    """Train by the command with options and nothing else than what they ask for; gives the model."""

    def train(*options):
        path = tmp_path / "m.wm"
        done = run("train", data, "-o", path, "--tune", "none", "--estimate", "none", "-q", *options)
        assert done.returncode == 0, done.stderr
        return TextClassifier.load(path)

    return train


def words_of(options):
    """The options as they are typed; a True has no value."""
    return [word for name, value in options.items() for word in (name, str(value)) if word != "True"]


def parameters_of(options):
    """The parameters of the library that mean the same."""
    other_names = {"--passes": "max_iter"}
    return {other_names.get(name, name.removeprefix("--")): value for name, value in options.items()}


def without_each(settings):
    """The settings without the first, without the second, ..."""
    return [{name: value for name, value in settings.items() if name != left} for left in settings]


class TestTerms:
    @pytest.mark.parametrize(
        ("options", "settings"),
        [
            (
                ("--units", "chars", "--ngrams", "2-3", "--max-df", "0.4", "--max-features", "60"),
                {"units": "chars", "ngram_range": (2, 3), "max_df": 0.4, "max_features": 60},
            ),
            (
                ("--units", "chars_in_words", "--ngrams", "4", "--max-df", "3", "--max-features", "50"),
                {"units": "chars_in_words", "ngram_range": (4, 4), "max_df": 3, "max_features": 50},
            ),
            (
                ("--units", "bytes", "--ngrams", "2-3", "--min-df", "2"),
                {"units": "bytes", "ngram_range": (2, 3), "min_df": 2},
            ),
            (("--min-count", "3"), {"min_count": 3}),
            (("--tokens", "unicode", "--max-df", "0.3"), {"tokens": "unicode", "max_df": 0.3}),
        ],
    )
    def test_the_vocabulary(self, train, options, settings):
        found = list(train(*options).vectorizer_.vocabulary_)
        assert found == self.terms(settings)
        for fewer in without_each(settings):
            assert found != self.terms(fewer)

    def test_the_defaults_by_name(self, train):
        found = train("--units", "words", "--tokens", "alnum", "--stop-words", "none", "--stemmer", "none")
        assert list(found.vectorizer_.vocabulary_) == self.terms({})

    def terms(self, settings):
        return list(Vectorizer(**settings).fit(TEXTS).vocabulary_)


class TestLearners:
    def scores(self, learner, weighting="tfc"):
        return (
            TextClassifier(Vectorizer(weighting=weighting), learner, estimate=None)
            .fit(TEXTS, LABELS)
            .decision_function(TEXTS)
        )

    @pytest.mark.parametrize(
        ("kernel", "options"),
        [
            ("poly", {"--coef0": 2.5, "--degree": 2}),
            ("sigmoid", {"--coef0": -0.5, "--gamma": 0.7}),
            ("chi2", {"--power": 0.5, "--gamma": 2.0}),
        ],
    )
    def test_kernels(self, train, kernel, options):
        def by_the_library(given):
            return self.scores(KernelSVM(kernel=kernel, **parameters_of(given)))

        found = train("--learner", "kernel-svm", "--kernel", kernel, *words_of(options))
        scores = found.decision_function(TEXTS)
        np.testing.assert_allclose(scores, by_the_library(options), atol=1e-6)
        for fewer in without_each(options):
            assert np.abs(scores - by_the_library(fewer)).max() > 1e-2

    def test_the_stabilized_hyperplane(self, train):
        options = ("--learner", "kernel-svm", "--bias", "stabilized", "--stabilizer-size", "5")
        found = train(*options, "--scheme", "one-vs-rest").decision_function(TEXTS)
        np.testing.assert_allclose(
            found, self.scores(KernelSVM(bias="stabilized", stabilizer_size=5.0)), atol=1e-6
        )
        assert np.abs(found - self.scores(KernelSVM(bias="stabilized"))).max() > 1e-2

    def test_losses(self, train):
        found = train("--loss", "hinge").decision_function(TEXTS)
        np.testing.assert_allclose(found, self.scores(LinearSVM(loss="hinge")), atol=1e-6)
        assert np.abs(found - self.scores(LinearSVM(loss="squared_hinge"))).max() > 1e-2
        prbep = train("--loss", "prbep").decision_function(TEXTS)
        np.testing.assert_allclose(prbep, self.scores(LinearSVM(loss="prbep")), atol=1e-6)
        f1 = train("--loss", "f1").decision_function(TEXTS)
        np.testing.assert_allclose(f1, self.scores(LinearSVM(loss="f1")), atol=1e-6)
        assert np.abs(f1 - prbep).max() > 1e-2

    def test_penalties(self, train):
        few = train("--penalty", "l1", "--C", "5").decision_function(TEXTS)
        np.testing.assert_allclose(few, self.scores(LinearSVM(5.0, penalty="l1")), atol=1e-6)
        all_terms = train("--penalty", "l2", "--C", "5").decision_function(TEXTS)
        np.testing.assert_allclose(all_terms, self.scores(LinearSVM(5.0)), atol=1e-6)
        assert np.abs(few - all_terms).max() > 1e-2

    @pytest.mark.parametrize(
        ("options", "learner"),
        [
            (("--balance", "0.5"), LinearSVM(balance=0.5)),
            (("--balance", "auto"), LinearSVM()),
            (("--balance", "0.5", "--learner", "kernel-svm"), KernelSVM(balance=0.5)),
            (("--balance", "0.5", "--learner", "logistic-regression"), LogisticRegression(balance=0.5)),
        ],
    )
    def test_costs_of_rare_labels(self, train, options, learner):
        found = train(*options)
        np.testing.assert_allclose(found.decision_function(TEXTS), self.scores(learner), atol=1e-6)
        assert found.learner_.balance == learner.balance
        if learner.balance != "auto":
            others = self.scores(type(learner)(balance=0))
            assert np.abs(found.decision_function(TEXTS) - others).max() > 1e-3

    @pytest.mark.parametrize(
        ("name", "learner", "weighting", "options"),
        [
            (
                "balanced-winnow",
                BalancedWinnow,
                "sxx",
                {"--promotion": 1.5, "--demotion": 0.6, "--average": "voted"},
            ),
            ("winnow", Winnow, "bxx", {"--eta": 0.2, "--normalize": True, "--average": "averaged"}),
            (
                "large-margin-winnow",
                LargeMarginWinnow,
                "bxx",
                {"--eta": 0.05, "--normalize": True, "--passes": 7},
            ),
            ("large-margin-winnow", LargeMarginWinnow, "bxx", {"--C": np.inf, "--passes": 20}),
            ("arow", Arow, "ltc", {"--r": 0.1, "--forgetting": 0.2, "--rivals": 2.0, "--passes": 3}),
            ("perceptron", Perceptron, "bxx", {"--eta": 0.5, "--average": "averaged", "--passes": 2}),
        ],
    )
    def test_online(self, train, name, learner, weighting, options):
        def by_the_library(given):
            return self.scores(learner(**parameters_of(given)), weighting)

        found = train("--learner", name, *words_of(options)).decision_function(TEXTS)
        np.testing.assert_allclose(found, by_the_library(options), atol=1e-6)
        for fewer in without_each(options):
            assert np.abs(found - by_the_library(fewer)).max() > 1e-3

    @pytest.mark.parametrize(("rivals", "given"), [("none", None), ("0.5", 0.5)])
    def test_classes_that_learn_from_all_documents(self, train, rivals, given):
        found = train("--learner", "arow", "--rivals", rivals).decision_function(TEXTS)
        np.testing.assert_allclose(found, self.scores(Arow(rivals=given), "ltc"), atol=1e-6)
        other = Arow(rivals=0.5 if given is None else None)
        assert np.abs(found - self.scores(other, "ltc")).max() > 1e-3

    @pytest.mark.parametrize("updates", ["active", "all"])
    def test_the_weights_that_a_mistake_updates(self, train, updates):
        options = ("--learner", "balanced-winnow", "--updates", updates, "--weighting", "bxx")
        found = train(*options).decision_function(TEXTS)
        np.testing.assert_allclose(found, self.scores(BalancedWinnow(updates=updates), "bxx"), atol=1e-6)
        other = BalancedWinnow(updates="all" if updates == "active" else "active")
        assert np.abs(found - self.scores(other, "bxx")).max() > 1e-3

    @pytest.mark.parametrize(
        ("name", "learner"), [("winnow", Winnow), ("large-margin-winnow", LargeMarginWinnow)]
    )
    def test_starting_weights_of_terms(self, train, tmp_path, name, learner):
        term = Vectorizer(weighting="bxx").fit(TEXTS).get_feature_names_out()[0]
        path = tmp_path / "weights.tsv"
        path.write_text(f"{term}\t0.5\r\n\nnowhere\t2\n", encoding="utf-8")
        found = train("--learner", name, "--start-weights", str(path)).decision_function(TEXTS)
        with pytest.warns(DataWarning, match="'nowhere'"):
            expected = self.scores(learner(start_weight={term: 0.5, "nowhere": 2.0}), "bxx")
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert np.abs(found - self.scores(learner(), "bxx")).max() > 1e-3

    def test_the_seed_of_a_sample_of_features(self, train):
        def by_the_library(seed):
            sample = SampleFeatures(10, sampling="uniform", random_state=seed)
            return TextClassifier(features=sample, estimate=None).fit(TEXTS, LABELS).selected_terms()

        found = train("--features", "uniform:10", "--seed", "5").selected_terms()
        assert found == by_the_library(5)
        assert found != by_the_library(0)

    def test_the_most_labels_of_a_stream(self, run, data, tmp_path):
        options = ("--stream", "--learner", "perceptron", "--hashed", "256", "--max-labels")
        done = run("train", data, "-o", tmp_path / "m.wm", *options, "3")
        assert done.returncode == 0, done.stderr
        done = run("train", data, "-o", tmp_path / "m.wm", *options, "2")
        assert done.returncode == 65
        assert "2" in done.stderr


def noisy(n, seed=0):
    """Documents of one or two of three classes, one of them rare, with words of the others among theirs."""
    rng = np.random.default_rng(seed)
    names = list(WORDS)
    for number in range(n):
        labels = sorted({names[k] for k in rng.choice(3, 1 + (rng.random() < 0.3), p=[0.5, 0.4, 0.1])})
        words = [rng.choice(WORDS[label]) for label in labels for _ in range(2)]
        words += [rng.choice(WORDS[names[rng.integers(3)]]) for _ in range(5)]
        yield {"id": str(number), "text": " ".join(words), "labels": labels}


class TestDecisions:
    @pytest.fixture(scope="class")
    @classmethod
    def documents(cls, tmp_path_factory):
        records = list(noisy(120))
        return write_jsonl(tmp_path_factory.mktemp("noisy") / "noisy.jsonl", records), records

    def fitted(self, records, **settings):
        classifier = TextClassifier(Vectorizer(), LinearSVM(balance=0), estimate="leave-one-out", **settings)
        return classifier.fit([one["text"] for one in records], [tuple(one["labels"]) for one in records])

    @pytest.mark.parametrize("goal", ["recall:0.7", "cost:1,5", "proportional", "f1-per-label"])
    def test_thresholds(self, run, documents, tmp_path, goal):
        path, records = documents
        options = ("--tune", "none", "--estimate", "leave-one-out", "--thresholds", goal, "--json")
        done = run("train", path, "-o", tmp_path / "m.wm", "--balance", "0", *options)
        assert done.returncode == 0, done.stderr
        estimates = json.loads(done.stdout)["estimates"]
        assert estimates["method"] == "leave-one-out"
        found = np.array([row["threshold"] for row in estimates["labels"]])
        expected = self.fitted(records, thresholds=goal).thresholds_
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert np.abs(found - self.fitted(records, thresholds="f1").thresholds_).max() > 1e-3
        np.testing.assert_allclose(TextClassifier.load(tmp_path / "m.wm").thresholds_, expected, atol=1e-6)

    def test_isotonic_probabilities(self, run, documents, tmp_path):
        path, records = documents
        texts, model = [one["text"] for one in records], tmp_path / "m.wm"
        options = ("--tune", "none", "--thresholds", "none", "--calibrate", "isotonic", "-q")
        done = run("train", path, "-o", model, "--balance", "0", *options)
        assert done.returncode == 0, done.stderr
        rows = [json.loads(line) for line in run("predict", model, path, "--proba").stdout.splitlines()]
        found = np.array([list(row["probabilities"].values()) for row in rows])
        isotonic = self.fitted(records, calibration="isotonic")
        np.testing.assert_allclose(found, isotonic.predict_proba(texts), atol=1e-6)
        platt = self.fitted(records, calibration="platt")
        assert np.abs(found - platt.predict_proba(texts)).max() > 1e-2
        order = np.argsort(isotonic.decision_function(texts), axis=0)
        assert (np.diff(np.take_along_axis(found, order, axis=0), axis=0) >= 0).all(), (
            "a rising step function"
        )
