"""Classifiers as pipelines of scikit-learn, and pipelines as classifiers."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression as ScikitLogisticRegression
from sklearn.linear_model import Perceptron as ScikitPerceptron
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC, LinearSVC

from widemargin import (
    AverageOf,
    KernelSVM,
    LabelWeightedSVM,
    LinearSVM,
    LogisticRegression,
    RegularizedLeastSquares,
    SelectFeatures,
    TextClassifier,
    Vectorizer,
    from_sklearn,
    load_corpus,
)
from widemargin.documents.demo import demo_corpus
from widemargin.errors import UsageError

PLAIN = {"tune": None, "estimate": None}
STRANGE = ["", "unknownword", "Straße 3.14 naïve ÉCOLE a_b x1", "a b c", "array array array"]


@pytest.fixture(scope="module")
def demo():
    corpus = demo_corpus()
    some = np.random.default_rng(0).permutation(len(corpus.texts))[:160]
    texts, labels = [corpus.texts[i] for i in some], [corpus.labels[i][0] for i in some]
    frequent = sorted(set(labels), key=labels.count)[-4:]
    labels = [label if label in frequent else "other" for label in labels]
    sets = [
        [label, "array"] if "array" in text else [label] for text, label in zip(texts, labels, strict=True)
    ]
    return texts, {"two": [label == "other" for label in labels], "classes": labels, "sets": [[], *sets[1:]]}


def assert_same(classifier, pipeline, texts):
    """Scores (above thresholds, where there are some) and labels are the same."""
    assert type(pipeline) is Pipeline
    expected = classifier.decision_function(texts)
    if classifier.thresholds_ is not None:
        expected = expected - classifier.thresholds_
    np.testing.assert_allclose(pipeline.decision_function(texts), expected, rtol=0, atol=1e-6)
    decided = pipeline.predict(texts)
    if classifier.label_space_.kind == "multilabel":
        decided = decided.toarray() if hasattr(decided, "toarray") else decided
        decided = [tuple(classifier.classes_[row > 0].tolist()) for row in decided]
    assert list(decided) == list(classifier.predict(texts))


class TestToScikitLearn:
    @pytest.mark.parametrize("task", ["two", "classes", "sets"])
    @pytest.mark.parametrize(
        ("vectorizer", "learner"),
        [
            ({}, LinearSVM()),
            ({"blocks": ["words", "bigrams:0.5", "chars:0.5"], "idf_power": 1.3}, LogisticRegression()),
            ({"weighting": "bxa", "ngram_range": (1, 2), "phrases": 10.0}, RegularizedLeastSquares()),
            ({"weighting": None, "stop_words": "freewais", "stemmer": "porter"}, LinearSVM(penalty="l1")),
            ({"units": "chars", "ngram_range": (2, 3), "weighting": "tpc"}, LinearSVM(sparse_coef=True)),
            ({"blocks": ["words", "title:0.5"], "pairs": None}, LinearSVM(loss="squared_hinge")),
            ({"pairs": "near:2", "thesaurus": {"matrix": ["array", "arrays"]}}, LinearSVM()),
        ],
        ids=["plain", "blocks", "phrases", "stems", "chars", "title", "pairs"],
    )
    def test_scores_and_labels(self, demo, vectorizer, learner, task):
        texts, tasks = demo
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classifier = TextClassifier(Vectorizer(**vectorizer), learner, **PLAIN).fit(
                texts[:80], tasks[task][:80]
            )
        pipeline = classifier.to_sklearn()
        assert_same(classifier, pipeline, [*texts[60:110], *STRANGE])
        if isinstance(learner, LogisticRegression):
            found = pipeline.predict_proba(texts[:20])
            np.testing.assert_allclose(found, classifier.predict_proba(texts[:20]), atol=1e-6)

    @pytest.mark.parametrize(
        "words",
        [
            {"token_pattern": r"[a-z]{3,}", "ignore_pattern": r"\d+"},
            {"lowercase": False},
            {"tokenizer": str.split},
            {"preprocessor": str.upper},
            {"analyzer": str.split},
        ],
        ids=lambda words: next(iter(words)),
    )
    @pytest.mark.filterwarnings("error::UserWarning")
    def test_words(self, demo, words):
        texts, tasks = demo
        classifier = TextClassifier(Vectorizer(**words), LinearSVM(), **PLAIN).fit(
            texts[:60], tasks["two"][:60]
        )
        assert_same(classifier, classifier.to_sklearn(), [*texts[40:80], *STRANGE])

    @pytest.mark.parametrize("learner", [LabelWeightedSVM(), AverageOf()], ids=["factors", "average"])
    @pytest.mark.parametrize("task", ["classes", "sets"])
    def test_factors_by_label(self, demo, learner, task):
        texts, tasks = demo
        vectorizer = Vectorizer(blocks=["words", "bigrams:0.5"])
        classifier = TextClassifier(vectorizer, learner, **PLAIN).fit(texts[:80], tasks[task][:80])
        assert_same(classifier, classifier.to_sklearn(), [*texts[60:110], *STRANGE])

    @pytest.mark.parametrize("task", ["two", "classes", "sets"])
    def test_thresholds(self, demo, task):
        texts, tasks = demo
        goal = "f1" if task != "classes" else "proportional"
        settings = {"estimate": "k-fold", "thresholds": goal}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classifier = TextClassifier(Vectorizer(), LinearSVM(), **settings).fit(texts, tasks[task])
        assert classifier.thresholds_ is not None
        assert_same(classifier, classifier.to_sklearn(), texts[:40])

    @pytest.mark.parametrize("task", ["classes", "sets"])
    def test_the_default_classifier(self, demo, task):
        texts, tasks = demo
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classifier = TextClassifier().fit(texts[:60], tasks[task][:60])
        if classifier.vectorizer_.vectors_:  # the demo corpus differs between installations
            with pytest.raises(UsageError, match="blocks of vectors"):
                classifier.to_sklearn()
            return
        assert_same(classifier, classifier.to_sklearn(), texts[60:90])

    @pytest.mark.parametrize(
        "name",
        [
            pytest.param("20newsgroups", marks=pytest.mark.needs_corpus("20newsgroups")),
            pytest.param("reuters21578", marks=pytest.mark.needs_corpus("reuters21578")),
        ],
    )
    def test_real_text(self, name):
        collection = load_corpus(name)
        train = (
            collection["train"] if isinstance(collection, dict) else getattr(collection, "train", collection)
        )
        texts = train.texts[:: max(len(train.texts) // 300, 1)]
        labels = train.labels[:: max(len(train.texts) // 300, 1)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            blocks = ["words", "bigrams:0.5", "chars:0.5"]
            classifier = TextClassifier(Vectorizer(blocks=blocks), LinearSVM(), estimate=None)
            classifier.fit(texts, [list(some) for some in labels])
        assert_same(classifier, classifier.to_sklearn(), train.texts[1:150:3])

    def test_pickles(self, demo):
        texts, tasks = demo
        classifier = TextClassifier(**PLAIN).fit(texts, tasks["classes"])
        assert_same(classifier, pickle.loads(pickle.dumps(classifier.to_sklearn())), texts[:20])

    @pytest.mark.parametrize(
        ("settings", "why"),
        [
            ({"learner": KernelSVM()}, "a fitted KernelSVM. Train a LinearSVM"),
            ({"vectorizer": Vectorizer(weighting="stc")}, "the weighting 'stc'. Train with 'ltc'"),
            ({"vectorizer": Vectorizer(n_hashed=64)}, "our hashed terms.*omit n_hashed"),
            ({"vectorizer": Vectorizer(units="bytes", ngram_range=(2, 2))}, "n-grams of bytes"),
            ({"vectorizer": Vectorizer(blocks=["words", "vectors:dims=4:min=1"])}, "blocks of vectors"),
            ({"features": SelectFeatures("chi2", 20)}, "a selection of features"),
            ({"costs": np.ones((5, 5)) - np.eye(5), "calibration": "platt"}, "costs between classes"),
            ({"vectorizer": TfidfVectorizer()}, "a vectorizer of scikit-learn"),
        ],
    )
    def test_what_cannot_be_expressed(self, demo, settings, why):
        texts, tasks = demo
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classifier = TextClassifier(**{**PLAIN, **settings}).fit(texts, tasks["classes"])
        with pytest.raises(UsageError, match=f"no equivalent of {why}"):
            classifier.to_sklearn()


MODELS = {
    "svm": LinearSVC(),
    "logistic": ScikitLogisticRegression(),
    "sgd": SGDClassifier(random_state=0),
    "ridge": RidgeClassifier(),
    "perceptron": ScikitPerceptron(random_state=0),
}
VECTORIZERS = {
    "tfidf": [TfidfVectorizer()],
    "sublinear": [TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2, stop_words="english")],
    "plain": [TfidfVectorizer(smooth_idf=False, norm="l1")],
    "counts": [CountVectorizer(max_df=0.5)],
    "binary": [CountVectorizer(binary=True)],
    "pattern": [TfidfVectorizer(token_pattern=r"[a-z]{3,}")],
    "upper case": [TfidfVectorizer(lowercase=False)],
    "two steps": [CountVectorizer(), TfidfTransformer(use_idf=False)],
}


def check_read(pipeline, texts, tmp_path):
    """The same scores and labels, also after saving."""
    classifier = from_sklearn(pipeline)
    classifier.save(tmp_path / "m.wm")
    for each in (classifier, TextClassifier.load(tmp_path / "m.wm")):
        found = each.decision_function(texts)
        np.testing.assert_allclose(found, pipeline.decision_function(texts), rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(each.predict(texts), pipeline.predict(texts))
    return classifier


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestFromScikitLearn:
    @pytest.mark.parametrize("task", ["two", "classes"])
    @pytest.mark.parametrize("name", MODELS)
    def test_models(self, demo, tmp_path, name, task):
        texts, tasks = demo
        pipeline = make_pipeline(TfidfVectorizer(), MODELS[name]).fit(texts[:90], tasks[task][:90])
        classifier = check_read(pipeline, texts, tmp_path)
        assert classifier.classes_.tolist() == pipeline.classes_.tolist()
        label = classifier.classes_[1]
        explanation = classifier.explain(texts[0], label)
        parts = sum(part.value for part in explanation.contributions) + explanation.bias
        assert explanation.score == pytest.approx(parts, abs=1e-6)
        assert classifier.top_terms(label).positive
        if name == "logistic" and task == "two":
            np.testing.assert_allclose(
                classifier.predict_proba(texts), pipeline.predict_proba(texts), atol=1e-6
            )

    @pytest.mark.parametrize("name", VECTORIZERS)
    def test_vectorizers(self, demo, tmp_path, name):
        texts, tasks = demo
        pipeline = make_pipeline(*VECTORIZERS[name], LinearSVC()).fit(texts[:90], tasks["classes"][:90])
        check_read(pipeline, [*texts, "", "unknownword"], tmp_path)

    def test_any_order_of_terms(self, demo, tmp_path):
        texts, tasks = demo
        terms = ["zeros", "array", "file", "returns", "a_b"]
        vectorizer = TfidfVectorizer(vocabulary=terms)
        pipeline = make_pipeline(vectorizer, LinearSVC()).fit(texts, tasks["classes"])
        classifier = check_read(pipeline, texts, tmp_path)
        assert list(classifier.vectorizer_.vocabulary_) == sorted(terms)

    @pytest.mark.parametrize("learner", [LinearSVC(), ScikitLogisticRegression()], ids=["svm", "logistic"])
    def test_one_against_the_rest(self, demo, tmp_path, learner):
        texts, tasks = demo
        names = sorted({label for labels in tasks["sets"] for label in labels})
        Y = np.array([[name in labels for name in names] for labels in tasks["sets"]]).astype(int)
        for y in (Y, tasks["classes"]):
            pipeline = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(learner)).fit(texts, y)
            classifier = check_read(pipeline, texts, tmp_path)
            if not isinstance(learner, LinearSVC):
                found = classifier.predict_proba(texts)
                np.testing.assert_allclose(found, pipeline.predict_proba(texts), atol=1e-6)

    def test_there_and_back(self, demo):
        texts, tasks = demo
        pipeline = make_pipeline(TfidfVectorizer(), LinearSVC()).fit(texts, tasks["classes"])
        again = from_sklearn(pipeline).to_sklearn()
        np.testing.assert_allclose(
            again.decision_function(texts), pipeline.decision_function(texts), atol=1e-6
        )

    @pytest.mark.parametrize(
        ("steps", "why"),
        [
            ([TfidfVectorizer(analyzer="char_wb")], "analyzer='char_wb' cannot be read"),
            ([TfidfVectorizer(tokenizer=str.split, token_pattern=None)], r"a callable \(tokenizer\)"),
            ([TfidfVectorizer(analyzer=str.split)], "analyzer="),
            ([TfidfVectorizer(strip_accents="unicode")], "strip_accents='unicode'"),
            ([HashingVectorizer(n_features=64)], "HashingVectorizer before the classifier"),
        ],
    )
    def test_terms_that_cannot_be_read(self, demo, steps, why):
        texts, tasks = demo
        pipeline = make_pipeline(*steps, LinearSVC()).fit(texts[:40], tasks["two"][:40])
        with pytest.raises(UsageError, match=why):
            from_sklearn(pipeline)

    @pytest.mark.parametrize("model", [MultinomialNB(), SVC(kernel="linear"), SVC()])
    def test_models_that_cannot_be_read(self, demo, model):
        texts, tasks = demo
        pipeline = make_pipeline(TfidfVectorizer(), model).fit(texts[:60], tasks["classes"][:60])
        with pytest.raises(UsageError, match=f"with a {type(model).__name__}.* cannot be read. Use"):
            from_sklearn(pipeline)

    def test_what_is_no_pipeline(self):
        with pytest.raises(UsageError, match="Pass a fitted Pipeline"):
            from_sklearn(LinearSVC())
