"""What `TextClassifier` says of itself, its thresholds and probabilities, and what its file keeps of them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import clone

from tests.classifier.test_classifier import SETS, TEXTS, TOPICS
from widemargin import KernelSVM, LinearSVM, TextClassifier, Vectorizer
from widemargin.documents.collection import Collection
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.measure.quality import Quality
from widemargin.models import load_model, save_model
from widemargin.tune.search_space import Space

# Each text with another one of its topic.
MANY = [f"{TEXTS[i % 12]} {TEXTS[4 * (i % 12 // 4) + i // 12 % 4]}" for i in range(60)]
MANY_TOPICS = [TOPICS[i % 12] for i in range(60)]
MANY_SETS = [SETS[i % 12] for i in range(60)]
TWO = ["grain" if topic == "grain" else "other" for topic in MANY_TOPICS]
TASKS = {"binary": TWO, "multiclass": MANY_TOPICS, "multilabel": MANY_SETS}


class TestEstimates:
    @pytest.mark.parametrize("estimate", ["leave-one-out", "k-fold", "xi-alpha"])
    @pytest.mark.parametrize("task", TASKS)
    def test_every_label_has_figures(self, task, estimate):
        summary = TextClassifier(estimate=estimate, tune=None).fit(MANY, TASKS[task]).training_summary_
        json.dumps(summary, allow_nan=False)
        found = Quality.from_dict(summary["estimates"])
        assert found.kind == ("bound" if estimate == "xi-alpha" else "estimate")
        expected = sorted({label for labels in MANY_SETS for label in labels}) if task != "binary" else None
        assert [row.label for row in found.labels] == (expected or ["grain", "other"])
        for row in found.labels:
            for name in ("precision", "recall", "f1", "error"):
                figure = row.figures[name]
                assert 0 <= figure.low <= figure.value <= figure.high <= 1
        assert "estimate" in summary["seconds"]
        assert ("suspects" in summary) == (estimate != "xi-alpha")

    def test_nothing_unless_asked(self):
        summary = TextClassifier(tune=None, estimate=None).fit(TEXTS, TOPICS).training_summary_
        assert not {"estimates", "suspects"} & set(summary)
        assert set(summary["seconds"]) == {"vectorize", "learn"}

    def test_other_learners(self):
        learner = KernelSVM(kernel="linear", scheme="votes")
        summary = (
            TextClassifier(learner=learner, estimate="k-fold", tune=None)
            .fit(MANY, MANY_TOPICS)
            .training_summary_
        )
        assert len(summary["estimates"]["labels"]) == 3

    def test_suspects_are_called_by_their_ids(self):
        labels = [(topic,) for topic in MANY_TOPICS]
        labels[7] = ("ship",)
        collection = Collection([f"doc-{i}" for i in range(60)], MANY, labels)
        suspects = (
            TextClassifier(estimate="leave-one-out", tune=None).fit(collection).training_summary_["suspects"]
        )
        assert suspects[0]["document"] == "doc-7"
        assert (suspects[0]["given"], suspects[0]["suggested"]) == ("ship", "money")

    def test_or_by_their_numbers_among_all_documents(self):
        y = [*[None] * 3, *MANY_TOPICS]
        y[10] = "ship"
        with pytest.warns(DataWarning, match="have no label"):
            classifier = TextClassifier(estimate="leave-one-out", tune=None).fit([*TEXTS[:3], *MANY], y)
        assert classifier.training_summary_["suspects"][0]["document"] == 10

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"estimate": "guess"}, "estimate='guess'"),
            ({"thresholds": "low"}, "thresholds low: expected f1"),
            ({"calibration": "guess"}, "calibration='guess'"),
            ({"thresholds": "precision:0.9"}, "exclusive classes, every document gets one"),
            ({"thresholds": "f1", "costs": np.ones((3, 3))}, "either costs or thresholds"),
            ({"costs": [1, 2, 3]}, "square matrix of numbers"),
        ],
    )
    def test_what_makes_no_sense_is_told_before_the_work(self, parameters, message):
        classifier = TextClassifier(**parameters)
        with pytest.raises(UsageError, match=message):
            classifier.fit(TEXTS, TOPICS)
        assert not hasattr(classifier, "learner_")


class TestTuning:
    def test_the_chosen_parts_are_fitted(self):
        space = Space(representations=[{"weighting": "bxc"}, {"weighting": "tfc"}], costs=[0.1, 10.0])
        classifier = TextClassifier(tune="full", space=space, estimate=None).fit(MANY, MANY_TOPICS)
        found = classifier.training_summary_["tuning"]
        best = found["candidates"][found["chosen"]]
        assert best["estimate"] == max(each["estimate"] for each in found["candidates"])
        assert classifier.vectorizer_.weighting == best["parameters"]["weighting"]
        assert best["parameters"]["C"] == classifier.learner_.C
        plain = TextClassifier(clone(classifier.vectorizer_), clone(classifier.learner_), estimate=None).fit(
            MANY, MANY_TOPICS
        )
        np.testing.assert_allclose(
            classifier.decision_function(TEXTS), plain.decision_function(TEXTS), atol=0.05
        )
        assert set(classifier.training_summary_["seconds"]) == {"tune"}

    @staticmethod
    def tried(classifier, *names):
        """The different values of parameters among the candidates."""
        found = classifier.fit(MANY, MANY_SETS).training_summary_["tuning"]["candidates"]
        return [{each["parameters"][name] for each in found} for name in names]

    def test_what_differs_from_the_defaults_is_kept(self):
        classifier = TextClassifier(
            Vectorizer(weighting="txc", min_df=2), LinearSVM(C=3), tune="fast", estimate=None
        )
        found = self.tried(classifier, "weighting", "min_df", "C", "stemmer")
        assert found == [{"txc"}, {2}, {3.0}, {None, "porter"}]

    def test_what_set_params_sets_is_kept_even_a_default(self):
        classifier = TextClassifier(tune="fast", estimate=None).set_params(
            vectorizer__weighting="tfc", learner__C=1.0
        )
        kept = [{"tfc"}, {1.0}, {None, "porter"}]
        assert self.tried(classifier, "weighting", "C", "stemmer") == kept
        assert self.tried(clone(classifier), "weighting", "C", "stemmer") == kept
        other = clone(classifier).set_params(learner=LinearSVM())
        assert self.tried(other, "weighting")[0] == {"tfc"}
        assert len(self.tried(other, "C")[0]) > 2
        everything = classifier.set_params(
            vectorizer__stemmer=None,
            vectorizer__stop_words=None,
            vectorizer__idf_power=1.0,
            vectorizer__blocks=None,
            learner__loss="hinge",
            learner__balance=0.15,
        )
        assert "tuning" not in everything.fit(MANY, MANY_SETS).training_summary_

    def test_seconds(self):
        tiny, large = (
            TextClassifier(tune=s, estimate=None).fit(MANY, MANY_SETS).training_summary_ for s in (1e-6, 1000)
        )
        fast = TextClassifier(tune="fast", estimate=None).fit(MANY, MANY_SETS).training_summary_
        for summary in (tiny, large, fast):
            for each in (summary["tuning"], *summary["tuning"]["candidates"]):
                each["seconds"] = None
        assert (tiny["tuning"]["effort"], large["tuning"]["effort"]) == ("1e-06s", "1000s")
        assert sum(each["estimate"] is not None for each in tiny["tuning"]["candidates"]) == 1
        assert large["tuning"] == {**fast["tuning"], "effort": "1000s"}

    def test_file_without_the_clock(self, tmp_path):
        space = Space(representations=[{}], costs=[1.0, 10.0])
        for name in "ab":
            classifier = TextClassifier(tune="full", space=space, estimate="k-fold").fit(MANY, MANY_TOPICS)
            classifier.save(tmp_path / name)
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
        loaded = TextClassifier.load(tmp_path / "a")
        kept = loaded.training_summary_["tuning"]
        assert kept["chosen"] == classifier.training_summary_["tuning"]["chosen"]
        loaded.save(tmp_path / "c")
        assert (tmp_path / "c").read_bytes() == (tmp_path / "a").read_bytes()

    def test_matrix(self):
        X = Vectorizer().fit_transform(MANY)
        classifier = TextClassifier(tune="fast", estimate=None).fit(X, MANY_TOPICS)
        assert classifier.vectorizer_ is None
        tried = [found["parameters"] for found in classifier.training_summary_["tuning"]["candidates"]]
        assert all(set(one) <= {"learner", "C", "loss"} for one in tried)
        assert len({one["C"] for one in tried}) > 1

    @pytest.mark.parametrize("tune", ["best", 0, -1.0, True, float("nan"), float("inf")])
    def test_unknown(self, tune):
        with pytest.raises(UsageError, match=f"tune={tune!r}"):
            TextClassifier(tune=tune, estimate=None).fit(TEXTS, TOPICS)


class TestThresholds:
    @pytest.mark.parametrize("task", ["binary", "multilabel"])
    @pytest.mark.parametrize("goal", ["f1", "f1-per-label", "cost:1,9", "proportional"])
    def test_predict_decides_by_them(self, task, goal):
        classifier = TextClassifier(thresholds=goal, tune=None, estimate=None).fit(MANY, TASKS[task])
        scores = classifier.decision_function(MANY).reshape(60, -1)
        assert classifier.thresholds_.shape == (scores.shape[1],)
        chosen = scores > classifier.thresholds_
        if task == "binary":
            expected = np.where(chosen[:, 0], "other", "grain").tolist()
        else:
            expected = [
                tuple(label for label, yes in zip(classifier.classes_, row, strict=True) if yes)
                for row in chosen
            ]
        assert list(classifier.predict(MANY)) == expected

    def test_never_and_always(self):
        with pytest.warns(DataWarning, match="which is never chosen"):
            classifier = TextClassifier(thresholds="precision:0.999", tune=None, estimate=None).fit(MANY, TWO)
        assert set(classifier.predict(MANY)) == {"grain"}
        with pytest.warns(DataWarning, match="which is always chosen"):
            classifier = TextClassifier(thresholds="recall:0.999", tune=None, estimate=None).fit(MANY, TWO)
        assert set(classifier.predict(MANY)) == {"other"}
        assert classifier.explain(MANY[0]).label == "other"

    def test_explanations_name_the_threshold(self):
        classifier = TextClassifier(thresholds="cost:1,9", tune=None, estimate=None).fit(MANY, TWO)
        limit = float(classifier.thresholds_[0])
        assert classifier.explain("a bank", "other").threshold == limit
        assert classifier.explain("a bank", "grain").threshold == -limit
        assert "threshold" in classifier.explain("a bank").to_dict()
        assert TextClassifier(tune=None, estimate=None).fit(MANY, TWO).explain("a bank").threshold is None
        for text in MANY:
            assert classifier.explain(text).label == classifier.predict([text])[0]


class TestProbabilities:
    @pytest.mark.parametrize("calibration", ["platt", "isotonic"])
    @pytest.mark.parametrize("task", TASKS)
    def test_shape_and_sum(self, task, calibration):
        classifier = TextClassifier(calibration=calibration, tune=None, estimate=None).fit(MANY, TASKS[task])
        found = classifier.predict_proba(MANY)
        assert found.shape == (60, len(classifier.classes_))
        assert ((found >= 0) & (found <= 1)).all()
        if task != "multilabel":
            np.testing.assert_allclose(found.sum(axis=1), 1)
            assert (classifier.classes_[found.argmax(axis=1)] == classifier.predict(MANY)).mean() > 0.9

    def test_only_when_calibrated(self):
        assert not hasattr(TextClassifier(tune=None, estimate=None), "predict_proba")
        assert not hasattr(TextClassifier(tune=None, estimate=None).fit(TEXTS, TOPICS), "predict_proba")
        assert hasattr(TextClassifier(calibration="platt", tune=None, estimate=None), "predict_proba")
        assert hasattr(clone(TextClassifier(calibration="platt", tune=None, estimate=None)), "predict_proba")

    def test_higher_scores_are_not_less_probable(self):
        classifier = TextClassifier(calibration="isotonic", tune=None, estimate=None).fit(MANY, TWO)
        order = classifier.decision_function(MANY).argsort()
        assert (np.diff(classifier.predict_proba(MANY)[order, 1]) >= 0).all()


class TestFiles:
    @pytest.mark.parametrize("calibration", [None, "platt", "isotonic"])
    @pytest.mark.parametrize("task", TASKS)
    def test_everything_comes_back(self, tmp_path, task, calibration):
        thresholds = None if task == "multiclass" else "f1"
        before = TextClassifier(
            learner=LinearSVM(C=3),
            estimate="leave-one-out",
            thresholds=thresholds,
            calibration=calibration,
            tune=None,
        ).fit(MANY, TASKS[task])
        before.save(tmp_path / "m.wm")
        after = TextClassifier.load(tmp_path / "m.wm")
        assert list(after.predict(MANY)) == list(before.predict(MANY))
        np.testing.assert_array_equal(after.thresholds_, before.thresholds_)
        kept = {key: value for key, value in before.training_summary_.items() if key != "seconds"}
        assert after.training_summary_ == json.loads(json.dumps(kept))
        assert hasattr(after, "predict_proba") == (calibration is not None)
        if calibration is not None:
            np.testing.assert_array_equal(after.predict_proba(MANY), before.predict_proba(MANY))
        for name in ("estimate", "thresholds", "calibration"):
            assert getattr(after, name) == getattr(before, name)
        after.save(tmp_path / "again.wm")
        assert (tmp_path / "again.wm").read_bytes() == (tmp_path / "m.wm").read_bytes()

    def test_infinite_thresholds_are_kept(self, tmp_path):
        with pytest.warns(DataWarning, match="never"):
            TextClassifier(thresholds="precision:0.999", tune=None, estimate=None).fit(MANY, TWO).save(
                tmp_path / "m.wm"
            )
        assert TextClassifier.load(tmp_path / "m.wm").thresholds_.tolist() == [np.inf]

    def test_a_file_from_before_there_were_thresholds(self, tmp_path):
        TextClassifier(tune=None, estimate=None).fit(TEXTS, TOPICS).save(tmp_path / "m.wm")
        model = load_model(tmp_path / "m.wm")
        del model.config["decision"]
        parts = {"kind": model.kind, "config": model.config, "arrays": model.arrays, "texts": model.texts}
        save_model(tmp_path / "old.wm", summary=model.summary, **parts)
        old = TextClassifier.load(tmp_path / "old.wm")
        assert old.thresholds_ is None
        assert old.predict(TEXTS).tolist() == TOPICS
        assert not hasattr(old, "predict_proba")

    @pytest.mark.parametrize("wrong", ["thresholds", "nan", "slope", "missing", "name"])
    def test_parts_that_do_not_fit_are_refused(self, tmp_path, wrong):
        TextClassifier(thresholds="f1", calibration="platt", tune=None, estimate=None).fit(
            MANY, MANY_SETS
        ).save(tmp_path / "m.wm")
        model = load_model(tmp_path / "m.wm")
        arrays = dict(model.arrays)
        if wrong == "thresholds":
            arrays["decision.thresholds"] = arrays["decision.thresholds"][:1]
        elif wrong == "nan":
            arrays["decision.thresholds"] = np.full(3, np.nan)
        elif wrong == "slope":
            for name in ("slope", "offset"):
                arrays[f"decision.calibration.{name}"] = np.ones(2)
        elif wrong == "missing":
            del arrays["decision.calibration.slope"]
        else:
            model.config["decision"]["calibration"] = "os.system"
        parts = {"kind": model.kind, "config": model.config, "texts": model.texts, "summary": model.summary}
        save_model(tmp_path / "bad.wm", arrays=arrays, **parts)
        with pytest.raises(DataError, match="does not contain a usable classifier"):
            TextClassifier.load(tmp_path / "bad.wm")
