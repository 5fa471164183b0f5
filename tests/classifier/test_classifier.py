"""The whole flow as one estimator: what it predicts, how it explains, what it saves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from widemargin import KernelSVM, LinearSVM, Perceptron, TextClassifier, Vectorizer
from widemargin.decide.calibration import fit_isotonic
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate.held_out import held_out
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels
from widemargin.models import load_model, save_model
from widemargin.tune.search_space import Space

GRAIN = ["wheat and corn harvest", "corn exports rose", "wheat wheat wheat prices", "barley, corn and wheat"]
MONEY = ["the bank cut its rate", "bank profits fell", "interest rate of the bank", "a loan, a rate, a bank"]
SHIP = ["the tanker left the port", "port strike stops ships", "ships and a tanker", "cargo in the port"]
TEXTS = GRAIN + MONEY + SHIP
TOPICS = ["grain"] * 4 + ["money"] * 4 + ["ship"] * 4
SETS = [("grain",)] * 3 + [("grain", "ship")] + [("money",)] * 3 + [()] + [("ship",)] * 4


def fitted(**vectorizing) -> TextClassifier:
    return TextClassifier(Vectorizer(**vectorizing), LinearSVM(C=10), estimate=None).fit(TEXTS, TOPICS)


class TestFit:
    def test_several_classes(self):
        classifier = TextClassifier(tune=None, estimate=None).fit(TEXTS, TOPICS)
        assert classifier.classes_.tolist() == ["grain", "money", "ship"]
        assert classifier.predict(["corn and barley", "a bank", "a tanker"]).tolist() == [
            "grain",
            "money",
            "ship",
        ]
        assert classifier.decision_function(["corn", "bank"]).shape == (2, 3)

    def test_two_classes(self):
        classifier = TextClassifier(tune=None, estimate=None).fit(GRAIN + MONEY, [False] * 4 + [True] * 4)
        assert classifier.predict(["corn", "bank"]).tolist() == [False, True]
        assert classifier.decision_function(["corn", "bank"]).shape == (2,)

    def test_label_sets(self):
        classifier = TextClassifier(learner=LinearSVM(C=100), tune=None, estimate=None).fit(TEXTS, SETS)
        assert classifier.predict(TEXTS) == SETS
        assert classifier.training_summary_["task"] == "multilabel"

    def test_indicator_matrix(self):
        y = np.array([[name in labels for name in ("grain", "money", "ship")] for labels in SETS], dtype=int)
        classifier = TextClassifier(learner=LinearSVM(C=100), tune=None, estimate=None).fit(TEXTS, y)
        np.testing.assert_array_equal(classifier.predict(TEXTS), y)

    def test_collection_brings_its_labels(self):
        ids = [str(i) for i in range(len(TEXTS))]
        one_each = Collection(ids, TEXTS, [(topic,) for topic in TOPICS])
        assert TextClassifier(tune=None, estimate=None).fit(one_each).predict(one_each).tolist() == TOPICS
        several = TextClassifier(tune=None, estimate=None).fit(Collection(ids, TEXTS, SETS))
        assert several.label_space_.kind == "multilabel"

    def test_matrix_has_no_vectorizer(self):
        X = Vectorizer().fit_transform(TEXTS)
        classifier = TextClassifier(tune=None, estimate=None).fit(X, TOPICS)
        assert classifier.vectorizer_ is None
        assert classifier.predict(X).tolist() == TOPICS
        term = classifier.top_terms("grain", 1).positive[0][0]
        assert term == str(classifier.learner_.coef_[0].argmax() + 1)
        with pytest.raises(UsageError, match="trained on vectors"):
            classifier.predict(TEXTS)
        with pytest.raises(UsageError, match="trained on vectors"):
            classifier.explain("corn")
        with pytest.raises(DataError, match="features"):
            classifier.predict(X[:, :3])

    def test_vectors_may_end_early_or_late(self):
        X = sp.csr_array(np.eye(4, dtype=np.float32))
        classifier = TextClassifier(tune=None, estimate=None).fit(
            Vectors(list("abcd"), X, [("1",), ("2",), ("1",), ("2",)])
        )
        wide = sp.csr_array(np.eye(4, 6, dtype=np.float32))
        narrow = sp.csr_array(np.eye(2, dtype=np.float32))
        assert classifier.predict(Vectors(list("abcd"), wide, [None] * 4)).tolist() == ["1", "2", "1", "2"]
        assert classifier.predict(Vectors(list("ab"), narrow, [None] * 2)).tolist() == ["1", "2"]
        assert wide.shape == (4, 6)

    def test_unlabeled_are_left_out(self):
        with pytest.warns(DataWarning, match="2 of 14 documents have no label"):
            classifier = TextClassifier(tune=None, estimate=None).fit(
                [*TEXTS, "corn", "bank"], [*TOPICS, None, None]
            )
        assert classifier.training_summary_["documents"] == 12
        np.testing.assert_array_equal(
            classifier.decision_function(TEXTS),
            TextClassifier(tune=None, estimate=None).fit(TEXTS, TOPICS).decision_function(TEXTS),
        )

    @pytest.mark.parametrize("container", ["numpy", "matrix", "pyarrow", "pandas"])
    def test_unlabeled_in_any_container(self, container):
        texts, y = [*TEXTS, "corn"], [*TOPICS, None]
        tests = TEXTS
        if container == "numpy":
            texts, y = np.array(texts), np.array(y, dtype=object)
        elif container == "matrix":
            vectorizer = Vectorizer().fit(TEXTS)
            texts, tests = vectorizer.transform(texts), vectorizer.transform(TEXTS)
        elif container == "pyarrow":
            texts = pytest.importorskip("pyarrow").array(texts)
        else:
            pandas = pytest.importorskip("pandas")
            texts, y = (pandas.Series(values, index=range(100, 113)) for values in (texts, y))
        with pytest.warns(DataWarning, match="1 of 13 documents"):
            classifier = TextClassifier(tune=None, estimate=None).fit(texts, y)
        expected = TextClassifier(tune=None, estimate=None).fit(TEXTS, TOPICS).decision_function(TEXTS)
        np.testing.assert_array_equal(classifier.decision_function(tests), expected)

    @pytest.mark.parametrize(
        ("texts", "y", "error", "message"),
        [
            (TEXTS, [None] * 12, DataError, "None of the 12 documents has a label"),
            (TEXTS, ["grain"] * 12, DataError, "one class, 'grain'"),
            (TEXTS, TOPICS[:-1], DataError, "12 documents and 11 labels"),
            (TEXTS, None, UsageError, "target y is None"),
            ("one text", ["grain"], UsageError, "is one text"),
        ],
    )
    def test_labels_that_cannot_be_learned(self, texts, y, error, message):
        with pytest.raises(error, match=message):
            TextClassifier(tune=None, estimate=None).fit(texts, y)

    def test_summary(self):
        summary = TextClassifier(tune=None, estimate=None).fit(TEXTS, TOPICS).training_summary_
        assert {key: summary[key] for key in ("documents", "labels", "task")} == {
            "documents": 12,
            "labels": 3,
            "task": "multiclass",
        }
        assert summary["terms"] == len(Vectorizer().fit(TEXTS).get_feature_names_out())
        assert set(summary["seconds"]) == {"vectorize", "learn"}
        assert 0 <= summary["duality_gap"] <= 1e-3 * summary["objective"]


class TestWeights:
    """Factors on costs, given to `fit` or brought along by Vectors."""

    WEIGHTS = [3.0, 1.0, 0.5, 1.0] * 3

    def test_they_reach_the_learner(self):
        X = Vectorizer().fit_transform(TEXTS)
        expected = LinearSVM().fit(X, TOPICS, self.WEIGHTS).decision_function(X)
        found = TextClassifier(tune=None, estimate=None).fit(TEXTS, TOPICS, self.WEIGHTS)
        np.testing.assert_allclose(found.decision_function(TEXTS), expected)
        labels = [(topic,) for topic in TOPICS]
        vectors = Vectors([str(i) for i in range(12)], X, labels, None, self.WEIGHTS)
        np.testing.assert_allclose(
            TextClassifier(tune=None, estimate=None).fit(vectors).decision_function(X), expected
        )

    def test_unlabeled_documents_take_theirs_along(self):
        with pytest.warns(DataWarning, match="2 of 14 documents have no label"):
            found = TextClassifier(tune=None, estimate=None).fit(
                [*TEXTS, "corn", "bank"], [*TOPICS, None, None], [*self.WEIGHTS, 9, 9]
            )
        expected = TextClassifier(tune=None, estimate=None).fit(TEXTS, TOPICS, self.WEIGHTS)
        np.testing.assert_array_equal(found.decision_function(TEXTS), expected.decision_function(TEXTS))

    @pytest.mark.parametrize("estimate", ["leave-one-out", "k-fold"])
    def test_held_out_scores_are_of_weighted_rules(self, estimate):
        y = [topic == "grain" for topic in TOPICS]
        vectorizer = Vectorizer()
        counts = vectorizer.fit_counts(TEXTS)
        X = vectorizer.weighed(counts).matrix
        rows = TrainingRows(X, Labels.of(y), TEXTS, vectorizer, counts)
        asked = {"tune": None, "estimate": estimate, "calibration": "isotonic"}
        found = TextClassifier(**asked).fit(TEXTS, y, self.WEIGHTS).rule_.calibration
        held = held_out(
            LinearSVM().fit(X, y, self.WEIGHTS),
            X,
            y,
            method=estimate,
            sample_weight=self.WEIGHTS,
            rows=rows,
        )
        expected, scores = fit_isotonic(held.scores, held.truth), np.linspace(-2, 2, 401)[:, None]
        np.testing.assert_array_equal(found(scores), expected(scores))
        plain = TextClassifier(**asked).fit(TEXTS, y).rule_.calibration
        assert not np.array_equal(found(scores), plain(scores))

    def test_selection_takes_them(self):
        y = ["grain", "money"] * 6
        space = Space(representations=[{}], costs=[0.01, 1.0, 100.0])
        for mode in ("fast", "full"):
            chosen = TextClassifier(tune=mode, space=space, estimate=None).fit(TEXTS, y, self.WEIGHTS)
            X = chosen.vectorizer_.transform(TEXTS)
            same = LinearSVM(C=chosen.learner_.C).fit(X, y, self.WEIGHTS)
            np.testing.assert_allclose(chosen.decision_function(TEXTS), same.decision_function(X), atol=0.02)

    def test_learners_without_weights_say_so(self):
        with pytest.raises(UsageError, match="Perceptron does not accept sample_weight"):
            TextClassifier(learner=Perceptron(), tune=None, estimate=None).fit(TEXTS, TOPICS, self.WEIGHTS)


class TestEstimator:
    def test_nested_parameters(self):
        classifier = TextClassifier(Vectorizer(weighting="txc"), LinearSVM(C=3), estimate=None)
        assert classifier.get_params()["learner__C"] == 3
        assert classifier.get_params()["vectorizer__weighting"] == "txc"
        assert clone(classifier).set_params(learner__C=5).learner.C == 5
        assert classifier.learner.C == 3

    def test_fit_leaves_its_parts_alone(self):
        parts = Vectorizer(), LinearSVM()
        TextClassifier(*parts, tune=None, estimate=None).fit(TEXTS, TOPICS)
        assert not hasattr(parts[0], "vocabulary_")
        assert not hasattr(parts[1], "coef_")

    def test_cross_validation(self):
        assert cross_val_score(TextClassifier(tune=None, estimate=None), TEXTS, TOPICS, cv=4).mean() > 0.5


class TestScores:
    def test_same_as_the_learners_own(self):
        classifier = fitted()
        X = classifier.vectorizer_.transform(TEXTS)
        np.testing.assert_allclose(
            classifier.decision_function(TEXTS),
            classifier.learner_.decision_function(X),
            rtol=1e-5,
            atol=1e-6,
        )

    def test_one_alone_and_in_a_batch(self):
        """Bit for bit, with more documents than one thread takes at a time."""
        classifier = fitted()
        many = [f"{TEXTS[i % 12]} {TEXTS[i * 7 % 12]}" for i in range(1000)]
        together = classifier.decision_function(many)
        for i in range(0, 1000, 37):
            np.testing.assert_array_equal(classifier.decision_function([many[i]])[0], together[i])

    def test_number_of_threads(self):
        many = [f"{TEXTS[i % 12]} {TEXTS[i * 7 % 12]}" for i in range(1000)]
        classifier = fitted()
        classifier.learner_.n_jobs = 1
        one = classifier.decision_function(many)
        classifier.learner_.n_jobs = 4
        np.testing.assert_array_equal(classifier.decision_function(many), one)

    def test_no_known_term_leaves_the_bias(self):
        classifier = fitted()
        expected = classifier.learner_.intercept_
        for text in ("", "xyzzy"):
            np.testing.assert_array_equal(classifier.decision_function([text])[0], expected)

    def test_sparse_weights(self):
        dense = fitted()
        sparse = TextClassifier(Vectorizer(), LinearSVM(C=10, sparse_coef=True), estimate=None).fit(
            TEXTS, TOPICS
        )
        assert sp.issparse(sparse.learner_.coef_)
        np.testing.assert_allclose(
            sparse.decision_function(TEXTS), dense.decision_function(TEXTS), rtol=1e-3, atol=1e-4
        )
        expected = dict(dense.top_terms("grain", 2).positive)
        assert dict(sparse.top_terms("grain", 2).positive) == pytest.approx(expected, rel=1e-3)


WORDS = st.sampled_from(
    [*sorted({word for text in TEXTS for word in text.replace(",", "").split()}), "xyzzy", "é,"]
)
SETTINGS = [
    {},
    {"weighting": "ltc"},
    {"weighting": "bxc"},
    {"ngram_range": (1, 2)},
    {"units": "chars", "ngram_range": (3, 3)},
    {"units": "chars_in_words", "ngram_range": (2, 3)},
    {"n_hashed": 64},
    {"tokens": "unicode", "stemmer": "porter"},
]


class TestExplain:
    @pytest.mark.parametrize("vectorizing", SETTINGS, ids=repr)
    def test_contributions_and_bias_sum_to_the_score(self, vectorizing):
        classifier = fitted(**vectorizing)

        @given(words=st.lists(WORDS, max_size=12), label=st.sampled_from(["grain", "money", "ship"]))
        @settings(max_examples=20, deadline=None)
        def check(words, label):
            text = " ".join(words)
            explanation = classifier.explain(text, label)
            column = classifier.classes_.tolist().index(label)
            assert explanation.score == pytest.approx(
                classifier.decision_function([text])[0, column], abs=1e-6
            )
            total = explanation.bias + sum(part.value for part in explanation.contributions)
            assert total == pytest.approx(explanation.score, abs=1e-5)

        check()

    def test_spans(self):
        text = "Ä bank, the BANK."
        explanation = fitted().explain(text, "money")
        found = [(part.text, part.start, part.end, part.term) for part in explanation.contributions]
        assert found == [("bank", 2, 6, "bank"), ("the", 8, 11, "the"), ("BANK", 12, 16, "bank")]
        first, _, second = (part.value for part in explanation.contributions)
        assert first == second > 0
        assert explanation.by_term()[0] == ("bank", pytest.approx(2 * first), 2)

    def test_hashed_terms_are_called_what_stands_there(self):
        explanation = fitted(n_hashed=4096).explain("The Bank", "money")
        found = [(part.text, part.term) for part in explanation.contributions]
        assert found == [("The", "the"), ("Bank", "bank")]

    def test_chooses_the_best_label(self):
        classifier = fitted()
        assert classifier.explain("wheat").label == "grain"
        assert classifier.explain("wheat", "ship").score < 0 < classifier.explain("wheat").score

    def test_two_classes_are_mirror_images(self):
        classifier = TextClassifier(tune=None, estimate=None).fit(GRAIN + MONEY, TOPICS[:8])
        text = "the wheat bank"
        one, other = classifier.explain(text, "grain"), classifier.explain(text, "money")
        assert one.score == -other.score == -classifier.decision_function([text])[0]
        assert one.bias == -other.bias
        assert [part.value for part in one.contributions] == [-part.value for part in other.contributions]
        assert classifier.explain("bank").label == "money"

    def test_unknown_label(self):
        with pytest.raises(UsageError, match=r"no label 'oil'\. The labels are grain, money, ship"):
            fitted().explain("wheat", "oil")


class TestTopTerms:
    def test_order(self):
        classifier = fitted()
        top = classifier.top_terms("money", 3)
        assert top.positive[0][0] in ("bank", "rate")
        assert [weight for _, weight in top.positive] == sorted((w for _, w in top.positive), reverse=True)
        assert all(weight > 0 for _, weight in top.positive)
        assert all(weight < 0 for _, weight in top.negative)
        assert [weight for _, weight in top.negative] == sorted(w for _, w in top.negative)
        assert len(top.positive) == len(top.negative) == 3

    def test_two_classes_are_mirror_images(self):
        classifier = TextClassifier(tune=None, estimate=None).fit(GRAIN + MONEY, TOPICS[:8])
        grain, money = classifier.top_terms("grain", 5), classifier.top_terms("money", 5)
        assert classifier.top_terms(count=5) == money
        assert {term for term, _ in grain.positive} == {term for term, _ in money.negative}

    def test_label_is_needed(self):
        with pytest.raises(UsageError, match="3 labels"):
            fitted().top_terms()


class TestKernels:
    def test_same_as_the_learners_own(self, tmp_path):
        classifier = TextClassifier(learner=KernelSVM(C=10, gamma=0.5), tune=None, estimate=None).fit(
            TEXTS, TOPICS
        )
        assert classifier.predict(TEXTS).tolist() == TOPICS
        own = classifier.learner_.decision_function(classifier.vectorizer_.transform(TEXTS))
        np.testing.assert_array_equal(classifier.decision_function(TEXTS), own)
        classifier.save(tmp_path / "m.wm")
        loaded = TextClassifier.load(tmp_path / "m.wm")
        assert isinstance(loaded.learner_, KernelSVM)
        np.testing.assert_allclose(loaded.decision_function(TEXTS), own, rtol=1e-12)

    def test_no_terms_speak_for_a_label(self):
        classifier = TextClassifier(learner=KernelSVM(gamma=0.5), tune=None, estimate=None).fit(TEXTS, TOPICS)
        assert not classifier.has_weights
        for ask in (lambda: classifier.explain("a bank"), lambda: classifier.top_terms("money")):
            with pytest.raises(
                UsageError, match=r"KernelSVM with the kernel rbf has no term weights.*LinearSVM"
            ):
                ask()

    def test_the_linear_kernel_has_weights(self):
        classifier = TextClassifier(learner=KernelSVM(C=10, kernel="linear"), tune=None, estimate=None).fit(
            TEXTS, TOPICS
        )
        assert "bank" in dict(classifier.top_terms("money", 3).positive)
        explanation = classifier.explain("a bank in the port", "money")
        total = explanation.bias + sum(part.value for part in explanation.contributions)
        assert total == pytest.approx(classifier.decision_function(["a bank in the port"])[0, 1], abs=1e-5)

    @pytest.mark.parametrize("scheme", ["votes", "dag"])
    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    def test_pairs_of_classes_give_scores_of_classes(self, kernel, scheme):
        texts = [*TEXTS, "a bank in the port", "corn", "nothing known"]
        learner = KernelSVM(C=10, kernel=kernel, gamma=0.5, scheme=scheme)
        classifier = TextClassifier(learner=learner, tune=None, estimate=None).fit(TEXTS, TOPICS)
        scores = classifier.decision_function(texts)
        assert scores.shape == (len(texts), 3)
        voted = classifier.learner_.predict(classifier.vectorizer_.transform(texts))
        assert classifier.predict(texts).tolist() == voted.tolist()
        with pytest.raises(UsageError, match="for pairs of classes"):
            classifier.top_terms("money")

    @pytest.mark.parametrize("kernel", ["rbf", "chi2"])
    def test_features_nobody_trained_on_lengthen_a_vector(self, kernel):
        X = sp.csr_array(np.array([[1, 0], [2, 0], [0, 1], [0, 2]], np.float32))
        learner = KernelSVM(C=10, kernel=kernel, gamma=0.5)
        classifier = TextClassifier(learner=learner, tune=None, estimate=None).fit(X, [0, 0, 1, 1])
        wide = sp.csr_array(np.array([[1, 0, 0, 3], [0, 1, 0, 0]], np.float32))
        padded = sp.csr_array((X.data, X.indices, X.indptr), shape=(4, 4))
        expected = clone(learner).fit(padded, [0, 0, 1, 1]).decision_function(wide)
        found = classifier.decision_function(Vectors(["1", "2"], wide, [None, None]))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        assert classifier.n_features_in_ == classifier.learner_.n_features_in_ == 2


class TestSaveAndLoad:
    @pytest.mark.parametrize("vectorizing", SETTINGS, ids=repr)
    def test_same_scores(self, tmp_path, vectorizing):
        before = fitted(**vectorizing)
        before.save(tmp_path / "m.wm")
        after = TextClassifier.load(tmp_path / "m.wm")
        texts = [*TEXTS, "", "xyzzy wheat ä"]
        np.testing.assert_array_equal(after.decision_function(texts), before.decision_function(texts))
        assert after.predict(texts).tolist() == before.predict(texts).tolist()
        assert after.explain(TEXTS[0], "ship") == before.explain(TEXTS[0], "ship")
        assert after.top_terms("grain") == before.top_terms("grain")
        assert after.classes_.dtype == before.classes_.dtype
        assert after.learner_.get_params()["C"] == 10

    @pytest.mark.parametrize(
        "y", [SETS, [i % 3 for i in range(12)], [i % 2 == 0 for i in range(12)]], ids=repr
    )
    def test_form_of_the_labels(self, tmp_path, y):
        before = TextClassifier(tune=None, estimate=None).fit(TEXTS, y)
        before.save(tmp_path / "m.wm")
        after = TextClassifier.load(tmp_path / "m.wm").predict(TEXTS)
        assert type(after) is type(before.predict(TEXTS))
        assert list(after) == list(before.predict(TEXTS))

    def test_vectors(self, tmp_path):
        X = Vectorizer().fit_transform(TEXTS)
        before = TextClassifier(tune=None, estimate=None).fit(X, TOPICS)
        before.save(tmp_path / "m.wm")
        after = TextClassifier.load(tmp_path / "m.wm")
        assert after.vectorizer_ is None
        np.testing.assert_array_equal(after.decision_function(X), before.decision_function(X))

    def test_same_training_same_file(self, tmp_path):
        fitted().save(tmp_path / "a.wm")
        fitted().save(tmp_path / "b.wm")
        TextClassifier.load(tmp_path / "a.wm").save(tmp_path / "c.wm")
        first = (tmp_path / "a.wm").read_bytes()
        assert (tmp_path / "b.wm").read_bytes() == first
        assert (tmp_path / "c.wm").read_bytes() == first

    def test_vocabulary_is_readable_text(self, tmp_path):
        fitted().save(tmp_path / "m.wm")
        texts = load_model(tmp_path / "m.wm").texts
        assert any(b"barley" in data and data.decode("utf-8") for data in texts.values())

    def test_another_kind_of_model(self, tmp_path):
        from widemargin.models import save_model

        save_model(tmp_path / "m.wm", kind="something-else", config={}, arrays={})
        with pytest.raises(DataError, match=r"m\.wm contains a something-else"):
            TextClassifier.load(tmp_path / "m.wm")
        save_model(tmp_path / "m.wm", kind="text-classifier", config={"learner": {"name": "os"}}, arrays={})
        with pytest.raises(DataError, match=r"m\.wm does not contain a usable classifier"):
            TextClassifier.load(tmp_path / "m.wm")

    @pytest.mark.parametrize("learner", [LinearSVM(), KernelSVM(gamma=0.5), KernelSVM(kernel="linear")])
    @pytest.mark.parametrize("wrong", ["features", "terms", "indices", "intercept"])
    def test_parts_that_do_not_fit_together(self, tmp_path, learner, wrong):
        """A file that was made up, with hashes that are right, must not reach beyond an array."""
        TextClassifier(learner=learner, tune=None, estimate=None).fit(TEXTS, TOPICS).save(tmp_path / "m.wm")
        model = load_model(tmp_path / "m.wm")
        config, arrays, summary = model.config, dict(model.arrays), dict(model.summary)
        if wrong == "features":
            config["learner"]["state"]["n_features"] += 7
        elif wrong == "terms":
            summary["terms"] += 7
        elif wrong == "intercept":
            arrays["learner.intercept"] = arrays["learner.intercept"][:1]
        elif any(name.endswith("_indices") for name in arrays):
            name = next(name for name in arrays if name.endswith("_indices"))
            arrays[name] = arrays[name] + np.int32(1000)
        else:
            arrays["learner.coef"] = arrays["learner.coef"][:-1].copy()
        save_model(
            tmp_path / "bad.wm",
            kind=model.kind,
            config=config,
            arrays=arrays,
            texts=model.texts,
            summary=summary,
        )
        with pytest.raises(DataError, match="does not contain a usable classifier"):
            TextClassifier.load(tmp_path / "bad.wm")

    def test_learner_that_cannot_be_saved(self, tmp_path):
        class Strange(LinearSVM):
            pass

        classifier = TextClassifier(learner=Strange(), tune=None, estimate=None).fit(TEXTS, TOPICS)
        with pytest.raises(UsageError, match="A Strange cannot be saved"):
            classifier.save(tmp_path / "m.wm")


@pytest.mark.needs_corpus("reuters21578")
@pytest.mark.slow
def test_reuters(corpus, tmp_path):
    """Ninety topics at once: explained sums on real documents, and a model that survives the disk."""
    reuters = corpus("reuters21578")
    classifier = TextClassifier(tune=None, estimate=None).fit(reuters.train)
    classifier.save(tmp_path / "reuters.wm")
    loaded = TextClassifier.load(tmp_path / "reuters.wm")
    texts = reuters.test.texts[:300]
    np.testing.assert_array_equal(loaded.decision_function(texts), classifier.decision_function(texts))
    for text in texts[:50]:
        explanation = loaded.explain(text)
        total = explanation.bias + sum(part.value for part in explanation.contributions)
        assert total == pytest.approx(explanation.score, abs=1e-4)
