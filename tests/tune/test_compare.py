"""Learners side by side: the same figures as by hand, marks, budgets, and rows for what goes wrong."""

from __future__ import annotations

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB

import widemargin
from widemargin import LinearSVM, NaiveBayes, TextClassifier, Vectorizer, compare
from widemargin.classifier.model_parts import learner_class
from widemargin.classifier.record.training_record import NOTHING_KNOWN
from widemargin.decide.goals import Goal
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate.cross_validation import stratified_folds
from widemargin.labels import Labels
from widemargin.measure import compare_decisions, holm, micro_prbep, sign_p_value
from widemargin.report.comparison import Comparison
from widemargin.tune import compare as engine
from widemargin.tune.compare import compare_learners
from widemargin.tune.compared import ComparedLearner
from widemargin.tune.learners import ENTRIES, Work
from widemargin.tune.shared_rows import SharedRows
from widemargin.tune.trials.training import Contender, Trial

WORDS = {
    "grain": "wheat corn harvest crop crops tonnes export farm",
    "money": "bank banks rate rates interest dollar currency loans",
    "oil": "crude barrel barrels opec drilling rig export tonnes",
}
COMMON = ["the", "of", "and", "said", "to", "in", "a", "mln", "year", "company"]
pytestmark = pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")


def sample(n=90, seed=0, several=False):
    """Texts of random words, few of them typical of their labels."""
    generator = np.random.default_rng(seed)
    names = list(WORDS)
    texts, labels = [], []
    for i in range(n):
        chosen = [names[i % 3]]
        if several and i % 4 == 0:
            chosen.append(names[(i + 1) % 3])
        if several and i % 9 == 8:
            chosen = []
        words = list(generator.choice(COMMON, 12))
        for name in chosen:
            words += list(generator.choice(WORDS[name].split(), 2))
        words += list(generator.choice(WORDS[names[generator.integers(3)]].split(), 1))
        texts.append(" ".join(words))
        labels.append(chosen if several else chosen[0])
    return texts, labels


def figures(found):
    """The figures of quality, which nothing but the documents and the seed may change."""
    return [
        (
            row.learner,
            row.status,
            row.setting,
            row.accuracy,
            row.micro_prbep,
            row.micro_f1,
            row.macro_f1,
            row.p_value,
        )
        for row in found.rows
    ]


class TestByHand:
    """The same figures as training every setting on every fold from the texts."""

    @staticmethod
    def held_out(name, setting, texts, labels, fold):
        entry = ENTRIES[name]
        scores = np.empty(labels.signs.shape)
        for k in range(fold.max() + 1):
            seen, unseen = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            vectorizer = Vectorizer(**entry.text).fit([texts[i] for i in seen])
            learner = learner_class(name)(**setting)
            learner.fit(vectorizer.transform([texts[i] for i in seen]).astype(np.float32), labels.take(seen))
            found = learner.decision_function(
                vectorizer.transform([texts[i] for i in unseen]).astype(np.float32)
            )
            scores[unseen] = found.reshape(len(unseen), -1)
        return scores

    @pytest.mark.parametrize("name", ["linear-svm", "naive-bayes", "balanced-winnow"])
    def test_cross_validation_of_one_label_per_document(self, name):
        texts, y = sample()
        row = compare(texts, y, learners=[name], folds=3).rows[0]
        labels = Labels.of(y)
        fold = stratified_folds(labels.signs, 3, 0)
        settings = ENTRIES[name].settings
        every = [self.held_out(name, setting, texts, labels, fold) for setting in settings]
        right = np.array([scores.argmax(axis=1) == labels.codes for scores in every])
        for found, setting, own in zip(row.candidates, settings, right, strict=True):
            assert found == {"setting": dict(setting), "estimate": pytest.approx(own.mean(), abs=1e-6)}
        assert row.setting == settings[right.mean(axis=1).argmax()]
        chosen = np.empty(len(texts), bool)
        for k in range(3):
            best = right[:, fold != k].mean(axis=1).argmax()
            chosen[fold == k] = right[best, fold == k]
        assert row.accuracy.value == pytest.approx(chosen.mean(), abs=1e-6)
        assert row.micro_f1.value == row.accuracy.value
        assert row.accuracy.low < row.accuracy.value < row.accuracy.high
        assert row.accuracy.kind == "estimate"

    def test_label_sets_on_test_documents(self):
        texts, y = sample(120, several=True)
        new, truth = sample(60, seed=1, several=True)
        row = compare(texts, y, test=(new, truth), learners=["linear-svm"], folds=3).rows[0]
        labels = Labels.of(y)
        fold = stratified_folds(labels.signs, 3, 0)
        settings = ENTRIES["linear-svm"].settings
        every = [self.held_out("linear-svm", setting, texts, labels, fold) for setting in settings]
        values = [micro_prbep(labels.signs, scores) for scores in every]
        place = int(np.argmax(values))
        assert [found["estimate"] for found in row.candidates] == pytest.approx(values, abs=1e-6)
        assert row.setting == settings[place]
        vectorizer = Vectorizer()
        learner = LinearSVM(**settings[place]).fit(vectorizer.fit_transform(texts), labels)
        scores = learner.decision_function(vectorizer.transform(new))
        signs = labels.space.encode(truth)
        limits = Goal("f1").thresholds(every[place], labels.signs)
        hits = (scores > limits) & (signs > 0)
        f1 = 2 * hits.sum() / ((scores > limits).sum() + (signs > 0).sum())
        assert row.micro_f1.value == pytest.approx(f1, abs=1e-6)
        assert row.micro_prbep.value == pytest.approx(micro_prbep(signs, scores), abs=1e-6)
        assert row.micro_prbep.low < row.micro_prbep.value < row.micro_prbep.high
        assert row.micro_f1.kind == "measured"

    def test_cross_validation_of_label_sets(self):
        """Setting and thresholds of a fold come from the other folds."""
        texts, y = sample(120, several=True)
        row = compare(texts, y, learners=["naive-bayes"], folds=3).rows[0]
        labels = Labels.of(y)
        fold = stratified_folds(labels.signs, 3, 0)
        settings = ENTRIES["naive-bayes"].settings
        every = [self.held_out("naive-bayes", setting, texts, labels, fold) for setting in settings]
        mixed, chosen = np.empty(labels.signs.shape), np.empty(labels.signs.shape, bool)
        for k in range(3):
            others = fold != k
            best = max(
                range(len(every)), key=lambda s: (micro_prbep(labels.signs[others], every[s][others]), -s)
            )
            limits = Goal("f1").thresholds(every[best][others], labels.signs[others])
            mixed[~others] = every[best][~others]
            chosen[~others] = every[best][~others] > limits
        positive = labels.signs > 0
        f1 = 2 * (chosen & positive).sum() / (chosen.sum() + positive.sum())
        assert row.micro_f1.value == pytest.approx(f1, abs=1e-6)
        assert row.micro_prbep.value == pytest.approx(micro_prbep(labels.signs, mixed), abs=1e-6)

    def test_fewer_folds_where_they_only_choose(self):
        texts, y = sample(30)
        assert compare(texts, y, learners="naive-bayes").folds == 5
        assert compare(texts, y, test=(texts, y), learners="naive-bayes").folds == 3

    def test_test_documents_do_not_choose(self):
        texts, y = sample()
        new, truth = sample(45, seed=1)
        names = ["linear-svm", "naive-bayes", "perceptron"]
        first = compare(texts, y, test=(new, truth), learners=names, folds=3)
        second = compare(texts, y, test=(new, truth[1:] + truth[:1]), learners=names, folds=3)
        for name in names:
            assert first[name].candidates == second[name].candidates
            assert first[name].setting == second[name].setting
            assert first[name].accuracy != second[name].accuracy


class Column(ClassifierMixin, BaseEstimator):
    """Scores by one column of the matrix."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X.toarray())[:, self.column]


class Columns(Column):
    """Scores of two labels by two columns of the matrix."""

    def decision_function(self, X):
        return np.asarray(X.toarray())[:, self.column : self.column + 2]


class Failing(Column):
    def fit(self, X, y):
        raise RuntimeError("out of\npaper")


class Interrupted(Column):
    def fit(self, X, y):
        raise KeyboardInterrupt


NOW = [0.0]


class Slow(Column):
    """Takes two seconds of a clock that only it moves."""

    def fit(self, X, y):
        NOW[0] += 2.0
        return super().fit(X, y)


class Hungry(Column):
    def fit(self, X, y):
        self.held = len(np.ones(50_000_000 // 8))
        return super().fit(X, y)


class TestHonesty:
    def test_the_best_of_many_settings_by_chance_is_as_good_as_chance(self):
        """Forty settings guess at random; the best of them is right on far more than half, by chance."""
        generator = np.random.default_rng(0)
        shown, chosen = [], []
        for seed in range(20):
            X = sp.csr_array(generator.choice([-1.0, 1.0], (100, 40)))
            labels = Labels.of(generator.permutation([0, 1] * 50))
            settings = [{"column": k} for k in range(40)]
            contender = Contender("chance", settings, [Column(k) for k in range(40)], {})
            trial = Trial(labels, SharedRows(X, labels), folds=5, random_state=seed)
            (row,) = compare_learners([contender], trial)
            shown.append(row.accuracy.value)
            chosen.append(max(each["estimate"] for each in row.candidates))
        error = np.std(shown) / np.sqrt(len(shown))
        assert np.mean(chosen) > 0.58
        assert abs(np.mean(shown) - 0.5) < 3 * error


class TestDifferences:
    def test_marks_by_hand(self):
        """Of 40 documents, "half" misses 12 that the others get right, "near" 5 others."""
        y = np.array([0, 1] * 20)
        signs = np.where(y > 0, 1.0, -1.0)
        half, near = signs.copy(), signs.copy()
        half[:12] *= -1
        near[20:25] *= -1
        X = sp.csr_array(np.column_stack([signs, half, near]))
        rows = compare(X, y, learners={"half": Column(1), "near": Column(2), "right": Column(0)}, folds=2)
        assert [row.learner for row in rows] == ["right", "near", "half"]
        assert [row.accuracy.value for row in rows] == [1.0, 35 / 40, 28 / 40]
        p = holm([sign_p_value(12, 0), sign_p_value(5, 0), sign_p_value(12, 5)])
        assert rows["half"].p_value == pytest.approx(p[0])
        assert rows["near"].p_value == pytest.approx(p[1])
        assert [row.significantly_worse for row in rows] == [False, False, True]
        assert [row.best for row in rows] == [True, False, False]
        assert rows.best is rows["right"]
        assert "half" in str(rows)
        assert str(rows).splitlines()[4].endswith("worse")

    def test_marks_of_label_sets(self):
        generator = np.random.default_rng(0)
        truth = np.where(generator.random((80, 2)) < 0.4, 1, -1)
        weak, near = truth.astype(float), truth.astype(float)
        weak[:25] *= -1
        near[50:52] *= -1
        X = sp.csr_array(np.hstack([truth, weak, near]))
        y = (truth > 0).astype(int)
        found = compare(
            X, y, test=(X, y), learners={"right": Columns(0), "weak": Columns(2), "near": Columns(4)}, folds=2
        )
        # Scores are -1 and 1, and so are decisions, if the thresholds are between them.
        names = {"right": 0, "weak": 2, "near": 4}
        thresholds = {
            name: Goal("f1").thresholds(X.toarray()[:, k : k + 2], truth) for name, k in names.items()
        }
        decisions = {
            name: np.where(X.toarray()[:, k : k + 2] > thresholds[name], 1, -1) for name, k in names.items()
        }
        pairs = compare_decisions(truth, decisions).pairs
        assert found["weak"].p_value == pairs[0].corrected <= 0.05
        assert found["near"].p_value == pairs[1].corrected > 0.05
        assert found["weak"].significantly_worse
        assert not found["near"].significantly_worse

    def test_one_learner_is_compared_with_none(self):
        texts, y = sample()
        found = compare(texts, y, learners="naive-bayes", folds=2)
        assert found.rows[0].p_value is None
        assert found.advice == "naive-bayes is the only learner that was measured."


class TestRowsThatSayWhy:
    def task(self):
        y = np.array([0, 1] * 10)
        return sp.csr_array(np.where(y > 0, 1.0, -1.0)[:, None]), y

    def test_a_learner_that_fails(self):
        found = compare(*self.task(), learners={"bad": Failing(), "good": Column()}, folds=2)
        assert (found["bad"].status, found["bad"].why) == ("failed", "RuntimeError: out of paper")
        assert [row.learner for row in found] == ["good", "bad"]
        assert found["good"].accuracy.value == 1.0
        assert "failed: RuntimeError: out of paper" in str(found)

    def test_an_error_of_ours_is_told_as_it_is(self):
        X, y = self.task()
        found = compare(X, y, learners=["naive-bayes", "linear-svm"], folds=2)
        assert found["naive-bayes"].status == "failed"
        assert found["naive-bayes"].why.startswith("Negative values in data: X holds -1 in row 1")
        assert found["linear-svm"].status == "measured"

    def test_an_interruption_is_the_end(self):
        with pytest.raises(KeyboardInterrupt):
            compare(*self.task(), learners={"bad": Interrupted(), "good": Column()}, folds=2)

    def test_a_budget_of_nothing(self):
        texts, y = sample(30)
        found = compare(texts, y, budget=0, folds=2)
        assert {row.status for row in found} == {"not reached"}
        assert {row.why for row in found} == {"the budget of 0 s was spent"}
        assert [row.learner for row in found] == list(ENTRIES)
        assert found.advice == "No learner could be measured."
        assert found.best is None

    def test_a_budget_that_ends_in_a_learner(self, monkeypatch):
        X, y = self.task()
        NOW[0] = 100.0
        monkeypatch.setattr(engine, "time", SimpleNamespace(perf_counter=lambda: NOW[0]))
        found = compare(X, y, learners={"a": Column(), "b": Slow(), "c": Column()}, budget=3, folds=3)
        assert found["a"].status == "measured"
        assert found["b"].status == found["c"].status == "not reached"
        assert found["b"].why == "the budget of 3 s was spent after 2 of 4 trainings"
        assert found["c"].why == "the budget of 3 s was spent"

    def test_predicted_work(self, monkeypatch):
        X, y = self.task()
        trial = Trial(Labels.of(y), SharedRows(X, Labels.of(y)), folds=2, n_jobs=1)
        # 20 documents with a value each, one column, three trainings.
        work = Work(passes=4e8)

        def run(named, **more):
            contender = Contender("column", ({},), (Column(),), {}, work, named)
            return compare_learners([contender], trial, **more)[0]

        late = run(True, budget=59)
        assert (late.status, late.why[:45]) == (
            "not reached",
            "predicted to take 60 s, with 59 s of the budg",
        )
        assert run(True, budget=100).status == "measured"
        assert run(False).status == "measured"
        monkeypatch.setattr(engine, "MOST_WORK", 59 * engine.RATE)
        long = run(False)
        assert (long.status, long.why) == ("left out", "predicted to take 60 s; name it to compare it")
        assert run(True).status == "measured"

    def test_what_does_not_apply(self):
        texts, y = sample(40, several=True)
        found = compare(texts, y, learners=["multiclass-svm", "naive-bayes", "profiles"], folds=2)
        for name in ("multiclass-svm", "profiles"):
            assert (found[name].status, found[name].why[:26]) == ("left out", "does not learn label sets,")
        X, y = self.task()
        found = compare(X, y, learners=["profiles", "linear-svm"], folds=2)
        assert found["profiles"].why == "learns from texts, not from vectors"
        assert found["linear-svm"].status == "measured"

    def test_weights_of_documents(self):
        X = sp.csr_array(np.array([[1.0], [2.0], [-1.0], [-2.0]] * 5, dtype=np.float32))
        vectors = Vectors(
            [str(i) for i in range(20)], X, [("a",), ("a",), ("b",), ("b",)] * 5, weights=[1.0] * 20
        )
        found = compare(vectors, learners=["linear-svm", "perceptron"], folds=2)
        assert found["linear-svm"].status == "measured"
        assert found["perceptron"].why == "Perceptron does not accept sample_weight. Omit it."

    def test_warnings_of_the_chosen_model_are_kept(self):
        texts, y = sample()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", DataWarning)
            found = compare(texts, y, learners={"hasty": LinearSVM(C=1e6, tol=1e-9, max_iter=1)}, folds=2)
        assert len(found.rows[0].warnings) == 1
        assert "hasty: " in str(found)


class TestOtherEstimators:
    def test_scores_or_probabilities(self):
        texts, y = sample()
        new, truth = sample(45, seed=1)
        learners = {
            "logistic": LogisticRegression(),
            "bayes": MultinomialNB(),
            "ours": LinearSVM(),
            "counts": TextClassifier(Vectorizer(weighting="txx"), MultinomialNB(), estimate=None),
        }
        found = compare(texts, y, test=(new, truth), learners=learners, folds=2)
        for name, weighting in {"logistic": "ltc", "bayes": "ltc", "ours": "ltc", "counts": "txx"}.items():
            vectorizer = Vectorizer(weighting=weighting)
            estimator = learners[name] if name != "counts" else MultinomialNB()
            estimator.fit(vectorizer.fit_transform(texts), y)
            by_hand = np.mean(estimator.predict(vectorizer.transform(new)) == np.array(truth))
            assert found[name].status == "measured", found[name].why
            assert found[name].accuracy.value == pytest.approx(by_hand, abs=1e-6)
            assert found[name].model_bytes > 100

    def test_two_classes(self):
        texts, y = sample()
        y = [label == "oil" for label in y]
        found = compare(texts, y, learners={"a": MultinomialNB(), "b": NaiveBayes()}, folds=3)
        assert found["a"].accuracy.value > 0.6
        assert found["b"].accuracy.value > 0.6

    def test_label_sets(self):
        texts, y = sample(60, several=True)
        learners = {
            "one by one": OneVsRestClassifier(MultinomialNB()),
            "forest": RandomForestClassifier(5, random_state=0),
            "alone": LogisticRegression(),
        }
        found = compare(texts, y, learners=learners, folds=2)
        assert found["one by one"].status == found["forest"].status == "measured"
        assert found["one by one"].micro_prbep.value > 0.5
        assert found["alone"].status == "failed"
        assert found["alone"].why.startswith("ValueError: ")


class TestFootprint:
    def test_memory_at_its_highest(self):
        y = np.array([0, 1] * 10)
        X = sp.csr_array(np.where(y > 0, 1.0, -1.0)[:, None])
        found = compare(X, y, learners={"small": Column(), "hungry": Hungry()}, folds=2)
        if not sys.platform.startswith("linux"):
            assert found["hungry"].memory is None
        elif found["hungry"].memory is not None:
            assert found["hungry"].memory >= 45_000_000
            assert found["small"].memory < 20_000_000

    def test_the_size_is_that_of_the_file(self, tmp_path):
        texts, y = sample()
        found = compare(texts, y, learners=["linear-svm", "naive-bayes"], folds=2)
        for row in found:
            entry = ENTRIES[row.learner]
            learner = learner_class(row.learner)(**row.setting)
            classifier = TextClassifier(Vectorizer(**entry.text), learner, estimate=None).fit(texts, y)
            classifier.record_ = NOTHING_KNOWN
            assert abs(classifier.save(tmp_path / "m.wm") - row.model_bytes) < 300

    def test_time(self):
        texts, y = sample()
        row = compare(texts, y, learners="linear-svm", folds=2).rows[0]
        assert row.train_seconds == row.vectorize_seconds + row.learn_seconds > 0
        assert row.documents_per_second > 0


class TestSameFigures:
    def test_threads_and_repetition(self):
        texts, y = sample(60, several=True)
        first = compare(texts, y, folds=2, n_jobs=1)
        assert sum(row.status == "measured" for row in first) >= 11
        assert figures(first) == figures(compare(texts, y, folds=2, n_jobs=2))

    def test_the_seed_deals_out_the_folds(self):
        texts, y = sample()
        first, same, other = (
            compare(texts, y, learners=["naive-bayes"], folds=3, random_state=seed) for seed in (0, 0, 5)
        )
        assert figures(first) == figures(same) != figures(other)

    def test_a_collection_brings_its_labels(self):
        texts, y = sample()
        ids = [str(i) for i in range(len(texts))]
        collection = Collection([*ids, "x"], [*texts, "corn"], [*((label,) for label in y), None])
        with pytest.warns(DataWarning, match="1 of 91 documents have no label"):
            found = compare(collection, test=collection.subset(range(45)), learners=["naive-bayes"], folds=3)
        assert found.documents == 90
        assert found.test_documents == 45
        assert figures(found) == figures(
            compare(texts, y, test=(texts[:45], y[:45]), learners=["naive-bayes"], folds=3)
        )

    def test_text_options_are_for_all_learners_on_words(self):
        texts, y = sample()
        plain = compare(texts, y, learners=["naive-bayes", "chi-square-network"], folds=2)
        fewer = compare(
            texts,
            y,
            learners=["naive-bayes", "chi-square-network"],
            folds=2,
            text_options={"stop_words": COMMON},
        )
        assert fewer["naive-bayes"].model_bytes < plain["naive-bayes"].model_bytes
        assert fewer["chi-square-network"].accuracy == plain["chi-square-network"].accuracy


class TestErrors:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"learners": ["svm"]}, "there is no learner 'svm'. Choose from: naive-bayes"),
            ({"learners": []}, "there is no learner named"),
            ({"learners": {}}, "no learners to compare"),
            ({"learners": {"a": "linear-svm"}}, "'a' is 'linear-svm', not an estimator"),
            ({"budget": -1}, "budget=-1: expected a number of seconds"),
            ({"budget": float("inf")}, "budget=inf: expected"),
            ({"folds": 1}, "folds=1: expected"),
            ({"test": 3}, "test: expected a pair"),
        ],
    )
    def test_usage(self, options, message):
        with pytest.raises(UsageError, match=message):
            compare(*sample(20), **options)

    @pytest.mark.parametrize(
        ("test", "message"),
        [
            ((["corn"], ["grain", "oil"]), "1 documents and 2 labels"),
            ((["corn"], [None]), "None of the 1 test documents has a label"),
            (
                (sp.csr_array(np.ones((1, 3))), ["grain"]),
                "training documents are texts and the test documents vec",
            ),
            (Collection(["1"], ["corn"], [("grain", "oil")]), "1 document have none or several labels"),
        ],
    )
    def test_test_documents(self, test, message):
        with pytest.raises(DataError, match=message):
            compare(*sample(20), test=test)

    def test_width_of_vectors(self):
        X, y = sp.csr_array(np.eye(4)), [0, 1, 0, 1]
        with pytest.raises(DataError, match="have 3 features, the training documents 4"):
            compare(X, y, test=(sp.csr_array(np.ones((1, 3))), [0]))

    def test_labels_that_only_test_documents_have(self):
        texts, y = sample()
        with pytest.warns(DataWarning, match="left out 1 test documents"):
            found = compare(
                texts, y, test=(texts[:4], [*y[:2], "gold", None]), learners="naive-bayes", folds=2
            )
        assert found.test_documents == 3
        assert found.rows[0].accuracy.value <= 0.67, "nothing finds the class that it never saw"


class TestPresentation:
    @staticmethod
    def comparison(*rows):
        return Comparison(list(rows), "multiclass", 100, 3, None, 5, 1.0)

    @staticmethod
    def row(name, value, seconds, worse=False, best=False):
        from widemargin.measure.intervals import Figure

        figure = Figure(value, value - 0.1, value + 0.1, "estimate")
        return ComparedLearner(
            name,
            accuracy=figure,
            micro_f1=figure,
            macro_f1=figure,
            best=best,
            significantly_worse=worse,
            vectorize_seconds=0.0,
            learn_seconds=seconds,
        )

    def test_advice(self):
        best = self.row("svm", 0.9, 10.0, best=True)
        close, fast = self.row("ridge", 0.89, 6.0), self.row("bayes", 0.88, 0.5)
        worse = self.row("trees", 0.5, 1.0, worse=True)
        similar = "svm is best; {} not significantly worse{}."
        for rows, expected in (
            ((best, close, fast, worse), similar.format("bayes is", " and trains 20 times as fast")),
            (
                (best, self.row("lsi", 0.88, 4.0)),
                similar.format("lsi is", " and trains 2.5 times as fast"),
            ),
            ((best, close, worse), similar.format("ridge is", "")),
            ((best, close, self.row("lda", 0.8, 9.0)), similar.format("ridge and lda are", "")),
            ((best, worse), "Use svm: trees is significantly worse."),
            ((best, worse, worse), "Use svm: both others are significantly worse."),
            ((best, worse, worse, worse), "Use svm: all 3 others are significantly worse."),
            ((best,), "svm is the only learner that was measured."),
            ((ComparedLearner("svm", "failed", "no"),), "No learner could be measured."),
        ):
            assert self.comparison(*rows).advice == expected
        assert self.comparison(best, close, fast, worse).faster is fast
        assert self.comparison(best, close, worse).faster is None

    def test_html_is_escaped(self):
        found = self.comparison(self.row("<b>", 0.9, 1.0, best=True), ComparedLearner("x", "failed", "a < b"))
        page = found._repr_html_()
        assert "&lt;b&gt;" in page
        assert "<b>" not in page
        assert "failed: a &lt; b" in page
        assert page.count("<tr>") == 3

    def test_pandas(self):
        pandas = pytest.importorskip("pandas")
        texts, y = sample()
        found = compare(texts, y, learners=["naive-bayes", "linear-svm", "multiclass-svm"], folds=2)
        frame = found.to_pandas()
        assert isinstance(frame, pandas.DataFrame)
        assert frame.index.tolist() == [row.learner for row in found]
        best = frame.iloc[0]
        assert best["best"]
        assert best["accuracy_low"] < best["accuracy"] < best["accuracy_high"]
        assert best["setting"] == ", ".join(
            f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in found.rows[0].setting.items()
        )

    def test_without_pandas(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(UsageError, match="pip install pandas"):
            self.comparison(self.row("svm", 0.9, 1.0, best=True)).to_pandas()

    def test_unknown_rows(self):
        with pytest.raises(KeyError, match=r"'c45' was not compared\. Choose from: svm"):
            self.comparison(self.row("svm", 0.9, 1.0, best=True))["c45"]

    def test_plot(self, tmp_path):
        self.comparison(self.row("svm", 0.9, 1.0, best=True), self.row("bayes", 0.8, 0.01)).plot(
            tmp_path / "plot.png"
        )
        assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")

    def test_it_is_public(self):
        assert widemargin.compare is compare
        assert "compare" in widemargin.__all__
