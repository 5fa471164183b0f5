"""A transductive learner inside the flow: unlabeled documents are learned from, the rule is kept."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin import SelectFeatures, TextClassifier, TransductiveSVM, Vectorizer
from widemargin.classifier.scorer import Scorer
from widemargin.documents.collection import Collection
from widemargin.errors import DataError, DataWarning, UsageError

TEXTS = [
    "wheat and corn harvest",
    "the bank cut its rate",
    "corn exports rose",
    "bank profits fell",
    "wheat prices",
    "interest rate cut by the bank",
    "gas and oil",
    "oil exports rose",
    "crude oil harvest",
] * 3
CLASSES = ["grain", "money", "grain", "money", "grain", "money", "oil", "oil", "oil"] * 3
FULL = {
    "binary": [label if label == "oil" else "rest" for label in CLASSES],
    "multiclass": CLASSES,
    "multilabel": [(label,) if label != "oil" else ("grain", "money") for label in CLASSES],
}
KNOWN = 18
PARTLY = {name: [*labels[:KNOWN], *[None] * (len(TEXTS) - KNOWN)] for name, labels in FULL.items()}


def quiet(**parameters) -> TransductiveSVM:
    return TransductiveSVM(on_alarm="ignore", **parameters)


@pytest.mark.parametrize("task", PARTLY)
def test_it_is_the_learner_on_the_vectors_of_all_documents(task):
    classifier = TextClassifier(learner=quiet(), tune=None, estimate=None).fit(TEXTS, PARTLY[task])
    X = Vectorizer().fit_transform(TEXTS)
    alone = quiet().fit(X, PARTLY[task])
    np.testing.assert_array_equal(classifier.learner_.scores_, alone.scores_)
    assert list(classifier.learner_.transduction_) == list(alone.transduction_)
    assert classifier.learner_.unlabeled_.tolist() == [label is None for label in PARTLY[task]]
    assert classifier.training_summary_["documents"] == len(TEXTS)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("task", PARTLY)
def test_saved_and_loaded_it_decides_the_same(tmp_path, kernel, task):
    classifier = TextClassifier(learner=quiet(kernel=kernel, gamma=0.5), tune=None, estimate=None).fit(
        TEXTS, PARTLY[task]
    )
    classifier.save(tmp_path / "model.wm")
    scores = classifier.decision_function(TEXTS)
    loaded = TextClassifier.load(tmp_path / "model.wm")
    assert loaded.learner_.get_params() == {**classifier.learner_.get_params(), "verbose": False}
    for again in (loaded, Scorer.load(tmp_path / "model.wm")):
        found = again.scores(TEXTS) if isinstance(again, Scorer) else again.decision_function(TEXTS)
        np.testing.assert_array_equal(found, scores)
    assert list(loaded.predict(TEXTS)) == list(classifier.predict(TEXTS))


def test_it_is_explained_by_weights_of_terms():
    classifier = TextClassifier(learner=quiet(), tune=None, estimate=None).fit(TEXTS, PARTLY["multiclass"])
    found = classifier.explain("the bank cut its rate")
    assert found.label == "money"
    assert found.score == pytest.approx(found.bias + sum(part.value for part in found.contributions))
    assert "bank" in [term for term, _ in classifier.top_terms("money", 3).positive]
    with pytest.raises(UsageError, match="kernel rbf has no term weights"):
        TextClassifier(learner=quiet(kernel="rbf"), tune=None, estimate=None).fit(
            TEXTS, PARTLY["binary"]
        ).explain("bank")


@pytest.mark.parametrize("mark", [-1, np.int64(-1), -1.0])
def test_the_mark_of_the_learner_counts(tmp_path, mark):
    y = [-1 if label is None else int(label == "oil") for label in PARTLY["binary"]]
    marked = TextClassifier(learner=quiet(unlabeled=mark), tune=None, estimate=None).fit(TEXTS, y)
    plain = TextClassifier(learner=quiet(), tune=None, estimate=None).fit(
        TEXTS, [None if label == -1 else label for label in y]
    )
    np.testing.assert_array_equal(marked.decision_function(TEXTS), plain.decision_function(TEXTS))
    marked.save(tmp_path / "model.wm")
    assert TextClassifier.load(tmp_path / "model.wm").learner_.unlabeled == -1


def test_parameters_of_numpy_and_missing_numbers_are_saved(tmp_path):
    y = [np.nan if label is None else float(label == "oil") for label in PARTLY["binary"]]
    learner = quiet(unlabeled=np.nan, positives=np.array([3]))
    TextClassifier(learner=learner, tune=None, estimate=None).fit(TEXTS, y).save(tmp_path / "model.wm")
    loaded = TextClassifier.load(tmp_path / "model.wm").learner_
    assert (loaded.unlabeled, loaded.positives) == (None, [3])


def test_a_collection_brings_its_unlabeled_documents():
    labels = [None if label is None else (label,) for label in PARTLY["multiclass"]]
    collection = Collection([f"d{i}" for i in range(len(TEXTS))], TEXTS, labels)
    classifier = TextClassifier(learner=quiet(), estimate="k-fold", tune=None).fit(collection)
    expected = TextClassifier(learner=quiet(), tune=None, estimate=None).fit(TEXTS, PARTLY["multiclass"])
    np.testing.assert_array_equal(classifier.decision_function(TEXTS), expected.decision_function(TEXTS))
    doubted = {suspect["document"] for suspect in classifier.training_summary_["suspects"]}
    assert doubted <= set(collection.ids[:KNOWN])


@pytest.mark.parametrize("estimate", ["k-fold", "leave-one-out"])
@pytest.mark.parametrize("task", PARTLY)
def test_estimates_are_of_labeled_documents(task, estimate):
    classifier = TextClassifier(learner=quiet(), estimate=estimate, calibration="platt", tune=None).fit(
        TEXTS, PARTLY[task]
    )
    estimates = classifier.training_summary_["estimates"]
    assert (estimates["method"], estimates["n"]) == ("k-fold", KNOWN)
    assert estimates["micro"]["f1"]["value"] > 0.5
    assert classifier.predict_proba(TEXTS).shape == (len(TEXTS), len(classifier.classes_))


def test_estimates_survive_a_label_with_one_example():
    y = [("rare",) if i == 0 else labels for i, labels in enumerate(PARTLY["multilabel"])]
    learner = quiet(positives={"rare": 1}, class_weight={"rare": 2.0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        classifier = TextClassifier(learner=learner, estimate="k-fold", thresholds="f1", tune=None).fit(
            TEXTS, y
        )
    assert len(classifier.thresholds_) == 3


def test_where_everything_is_labeled_estimates_warn_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        TextClassifier(learner=quiet(), estimate="k-fold", tune=None).fit(TEXTS, FULL["binary"])
    assert [w for w in caught if "Every document is labeled" in str(w.message)][1:] == []


def test_features_are_selected_by_labeled_documents():
    chosen = SelectFeatures("chi2", 6)
    classifier = TextClassifier(learner=quiet(), features=chosen, estimate=None).fit(TEXTS, PARTLY["binary"])
    X = Vectorizer().fit_transform(TEXTS)[:KNOWN]
    expected = SelectFeatures("chi2", 6).fit(X, FULL["binary"][:KNOWN]).get_support()
    np.testing.assert_array_equal(classifier.features_.get_support(), expected)


def test_what_does_not_apply_is_refused():
    with pytest.raises(UsageError, match="cannot be tuned"):
        TextClassifier(learner=quiet(), tune="fast", estimate=None).fit(TEXTS, PARTLY["binary"])
    with pytest.raises(UsageError, match="xi-alpha"):
        TextClassifier(learner=quiet(), estimate="xi-alpha", tune=None).fit(TEXTS, PARTLY["binary"])
    with pytest.raises(DataError, match="None of the 27 documents has a label"):
        TextClassifier(learner=quiet(), tune=None, estimate=None).fit(TEXTS, [None] * len(TEXTS))
    cells = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, np.nan], [0.0, 1.0], [np.nan, np.nan]])
    X = sp.csr_array(Vectorizer().fit_transform(TEXTS)[:5])
    TextClassifier(learner=quiet(), tune=None, estimate=None).fit(X, cells)
    with pytest.raises(UsageError, match="only a part is known"):
        TextClassifier(learner=quiet(), estimate="k-fold", tune=None).fit(X, cells)
