"""Vectorizers and classifiers of scikit-learn in a `TextClassifier`."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import SVC, LinearSVC

from widemargin import LinearSVM, TextClassifier, Vectorizer
from widemargin.errors import UsageError

from .test_contract import LABELS, SETS, TEXTS

TWO = ["oil" if label == "oil" else "other" for label in LABELS]
TASKS = {"two": TWO, "classes": LABELS, "sets": SETS}
VECTORIZERS = {
    "counts": CountVectorizer(),
    "hashed": HashingVectorizer(n_features=2**10),
    "selected": make_pipeline(TfidfVectorizer(), SelectKBest(f_classif, k=12)),
    "union": make_union(TfidfVectorizer(), TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3))),
}
LEARNERS = {
    "logistic": LogisticRegression(),
    "svm": LinearSVC(),
    "ridge": RidgeClassifier(),
    "bayes": MultinomialNB(),
    "neighbors": KNeighborsClassifier(3),
    "forest": RandomForestClassifier(10, random_state=0),
    "votes": VotingClassifier([("one", LinearSVC()), ("two", RidgeClassifier())]),
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", LEARNERS)
def test_learners(name, task):
    """As in a pipeline of scikit-learn."""
    learner, y = LEARNERS[name], TASKS[task]
    classifier = TextClassifier(TfidfVectorizer(), learner).fit(TEXTS, y)
    assert "tuning" not in classifier.training_summary_
    scores = classifier.decision_function(TEXTS)
    assert scores.shape == ((len(TEXTS),) if task == "two" else (len(TEXTS), len(classifier.classes_)))
    if task == "sets":
        Y = np.array([[label in labels for label in classifier.classes_] for labels in y]).astype(int)
        pipeline = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(learner)).fit(TEXTS, Y)
        if name in ("neighbors", "forest"):  # multi-label themselves
            pipeline = make_pipeline(TfidfVectorizer(), learner).fit(TEXTS, Y)
        if name == "votes":
            return
        expected = [tuple(classifier.classes_[row > 0]) for row in pipeline.predict(TEXTS)]
    else:
        pipeline = make_pipeline(TfidfVectorizer(), learner).fit(TEXTS, y)
        expected = pipeline.predict(TEXTS).tolist()
    assert list(classifier.predict(TEXTS)) == expected
    assert classifier.score(TEXTS, y) > 0.7
    assert hasattr(classifier, "predict_proba") == hasattr(learner, "predict_proba")
    if hasattr(learner, "predict_proba") and name not in ("neighbors", "forest"):
        np.testing.assert_allclose(classifier.predict_proba(TEXTS), pipeline.predict_proba(TEXTS))


@pytest.mark.parametrize("name", VECTORIZERS)
@pytest.mark.parametrize("learner", [LogisticRegression(), None], ids=["theirs", "ours"])
def test_vectorizers(name, learner):
    classifier = TextClassifier(VECTORIZERS[name], learner, estimate="k-fold").fit(TEXTS, LABELS)
    assert classifier.score(TEXTS, LABELS) > 0.9
    assert classifier.training_summary_["estimates"]["method"] == "k-fold"
    terms = classifier.top_terms("oil").positive
    assert terms
    named = hasattr(VECTORIZERS[name], "get_feature_names_out")
    assert (not terms[0][0].isdigit()) == named


def test_folds_fit_vectorizers_again():
    """Features that are selected by random labels look good, unless those of other folds select them."""
    generator = np.random.default_rng(0)
    texts = [" ".join(f"w{k}" for k in generator.integers(400, size=12)) for _ in range(60)]
    y = generator.integers(2, size=60)
    selected = make_pipeline(CountVectorizer(), SelectKBest(f_classif, k=40))
    for learner in (LogisticRegression(), LinearSVM()):
        classifier = TextClassifier(selected, learner, estimate="k-fold").fit(texts, y)
        assert classifier.score(texts, y) > 0.8
        assert classifier.training_summary_["estimates"]["accuracy"]["value"] < 0.65


def test_explanations_of_linear_models_on_our_terms():
    for learner in (LogisticRegression(), LinearSVC(), SGDClassifier(random_state=0)):
        classifier = TextClassifier(Vectorizer(), learner).fit(TEXTS, LABELS)
        found = classifier.explain("crude oil and wheat", "oil")
        place = classifier.classes_.tolist().index("oil")
        score = classifier.decision_function(["crude oil and wheat"])[0, place]
        assert found.score == pytest.approx(score, abs=1e-6)
        assert sum(part.value for part in found.contributions) + found.bias == pytest.approx(score, abs=1e-6)
        values = {term: value for term, value, _ in found.by_term()}
        assert values["crude"] > 0 > values["wheat"]


def test_weights_of_documents():
    classifier = TextClassifier(TfidfVectorizer(), LogisticRegression())
    weights = [1e-6 if label == "oil" else 1.0 for label in LABELS]
    assert "oil" not in classifier.fit(TEXTS, LABELS, sample_weight=weights).predict(TEXTS)
    with pytest.raises(UsageError, match="KNeighborsClassifier does not accept sample_weight"):
        TextClassifier(TfidfVectorizer(), KNeighborsClassifier()).fit(TEXTS, LABELS, sample_weight=weights)


def test_calibration():
    classifier = TextClassifier(TfidfVectorizer(), LinearSVC(), calibration="platt").fit(TEXTS, LABELS)
    np.testing.assert_allclose(classifier.predict_proba(TEXTS).sum(axis=1), 1)


class TestRefused:
    @pytest.mark.parametrize(
        ("settings", "why"),
        [
            ({"estimate": "leave-one-out"}, r"LogisticRegression has to be trained again.*estimate='k-fold'"),
            ({"tune": "fast"}, r"does not apply to scikit-learn's TfidfVectorizer. Pass tune=None"),
            ({"learner": "svm"}, "learner='svm' is not a classifier"),
            ({"vectorizer": str}, "is not a vectorizer"),
        ],
    )
    def test_settings(self, settings, why):
        parts = {"vectorizer": TfidfVectorizer(), "learner": LogisticRegression(), **settings}
        with pytest.raises(UsageError, match=why):
            TextClassifier(**parts).fit(TEXTS, LABELS)

    def test_what_needs_our_parts(self, tmp_path):
        classifier = TextClassifier(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, LABELS)
        with pytest.raises(UsageError, match=r"TfidfVectorizer cannot be saved.*widemargin.Vectorizer"):
            classifier.save(tmp_path / "m.wm")
        with pytest.raises(UsageError, match=r"positions of terms, which scikit-learn's TfidfVectorizer"):
            classifier.explain("oil")
        with pytest.raises(AttributeError, match="requires all documents at once"):
            classifier.partial_fit(TEXTS, LABELS)
        ours = TextClassifier(Vectorizer(), LogisticRegression()).fit(TEXTS, LABELS)
        with pytest.raises(UsageError, match=r"LogisticRegression cannot be saved.*LinearSVM"):
            ours.save(tmp_path / "m.wm")
        assert not (tmp_path / "m.wm").exists()

    def test_explanations_of_other_models(self):
        for learner in (RandomForestClassifier(5), SVC(kernel="linear")):
            classifier = TextClassifier(Vectorizer(), learner).fit(TEXTS, LABELS)
            with pytest.raises(UsageError, match="has no term weights"):
                classifier.explain("oil", "oil")
            assert not classifier.has_weights
