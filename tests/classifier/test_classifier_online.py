"""`TextClassifier.partial_fit`: texts as they come, with every online learner."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from widemargin import (
    Arow,
    BalancedWinnow,
    BalancedWinnowPlus,
    DualSVM,
    LargeMarginWinnow,
    LinearSVM,
    Perceptron,
    PositiveWinnow,
    SelectFeatures,
    TextClassifier,
    Vectorizer,
    Winnow,
)
from widemargin.errors import DataWarning, UsageError

LEARNERS = [
    Arow(),
    Arow(forgetting=0.05, rivals=None),
    Perceptron(),
    Perceptron("threshold", document_length=3.0),
    Perceptron(average="voted"),
    PositiveWinnow(normalize=True),
    BalancedWinnow(document_length=3.0, average="averaged"),
    BalancedWinnowPlus(document_length=3.0),
    Winnow(normalize=True),
    LargeMarginWinnow(),
    LargeMarginWinnow(normalize=True),
    DualSVM(),
]
WORDS = {"grain": "wheat corn harvest export", "money": "bank rate profit loss", "fuel": "oil gas barrel rig"}


def documents(n: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(3)
    labels = [list(WORDS)[i] for i in rng.integers(3, size=n)]
    return [" ".join(rng.choice([*WORDS[label].split(), "the"], 4)) for label in labels], labels


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_save_load_go_on_equals_not_having_stopped(tmp_path, learner):
    texts, labels = documents(90)
    vectorizer = Vectorizer(n_hashed=256, weighting="sxx")
    once = TextClassifier(vectorizer, clone(learner), estimate=None)
    stopped = TextClassifier(vectorizer, clone(learner), estimate=None)
    for start in range(0, 90, 30):
        part = slice(start, start + 30)
        once.partial_fit(texts[part], labels[part])
        stopped.partial_fit(texts[part], labels[part])
        stopped.save(tmp_path / "m.wm")
        stopped = TextClassifier.load(tmp_path / "m.wm")
    assert stopped.training_summary_ == once.training_summary_
    assert stopped.training_summary_["documents"] == 90
    np.testing.assert_array_equal(stopped.decision_function(texts), once.decision_function(texts))
    assert np.mean(once.predict(texts) == labels) > 0.9


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_one_document_at_a_time_equals_batches(learner):
    texts, labels = documents(40)
    vectorizer = Vectorizer(n_hashed=256, weighting="bxx")
    batch = TextClassifier(vectorizer, clone(learner), estimate=None).partial_fit(texts, labels)
    single = TextClassifier(vectorizer, clone(learner), estimate=None)
    for text, label in zip(texts, labels, strict=True):
        single.partial_fit([text], [label])
    np.testing.assert_array_equal(single.decision_function(texts), batch.decision_function(texts))


def test_a_vocabulary_stays_as_the_first_documents_made_it():
    texts, labels = documents(40)
    stream = TextClassifier(Vectorizer(weighting="bxx"), Perceptron(), estimate=None).partial_fit(
        texts[:20], labels[:20]
    )
    terms = list(stream.vectorizer_.vocabulary_)
    stream.partial_fit([*texts[20:], "entirely new words"], [*labels[20:], "new"])
    assert list(stream.vectorizer_.vocabulary_) == terms
    assert "new" in stream.classes_
    assert stream.vectorizer_.n_documents_ == 41


def test_normalized_strength_counts_the_selected_features():
    texts, labels = documents(60)
    learner = PositiveWinnow(normalize=True)
    classifier = TextClassifier(
        Vectorizer(weighting="txx"), learner, features=SelectFeatures("chi2", n_features=6), estimate=None
    )
    classifier.fit(texts, labels)
    X = classifier.features_.transform(classifier.vectorizer_.transform(texts))
    np.testing.assert_allclose(
        classifier.decision_function(texts), classifier.learner_.decision_function(X), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("classifier", "told"),
    [
        (TextClassifier(tune=None, estimate=None), "LinearSVM requires all documents at once"),
        (TextClassifier(learner=LinearSVM(), tune=None, estimate=None), "Use fit"),
        (
            TextClassifier(learner=Perceptron(), estimate="k-fold", tune=None),
            "`estimate` requires all documents",
        ),
        (
            TextClassifier(learner=Perceptron(), features=SelectFeatures(), estimate=None),
            "`features` requires all",
        ),
        (TextClassifier(learner=Perceptron(), tune="fast", estimate=None), "`tune` requires all"),
    ],
)
def test_what_needs_a_whole_collection_is_refused(classifier, told):
    with pytest.raises(UsageError, match=told):
        classifier.partial_fit(*documents(10))


def test_vectors_go_on_as_vectors():
    texts, labels = documents(40)
    X = Vectorizer(weighting="bxx").fit_transform(texts)
    stream = (
        TextClassifier(learner=DualSVM(), tune=None, estimate=None)
        .partial_fit(X[:20], labels[:20])
        .partial_fit(X[20:], labels[20:])
    )
    assert stream.vectorizer_ is None
    assert np.mean(stream.predict(X) == labels) > 0.9
    with pytest.raises(UsageError, match="Pass vectors"):
        stream.partial_fit(texts, labels)


@pytest.mark.parametrize("average", [None, "averaged", "voted"])
@pytest.mark.parametrize("learner", [BalancedWinnowPlus(), PositiveWinnow(normalize=True)], ids=str)
def test_documents_are_scaled_once_before_they_are_scored(learner, average):
    """A square root that is taken twice, or a sum that is divided by twice, is another document."""
    texts = ["wheat wheat wheat corn", "oil oil gas", "wheat corn corn", "gas oil oil oil oil"] * 3
    labels = ["grain", "fuel", "grain", "fuel"] * 3
    model = TextClassifier(
        Vectorizer(weighting="txx"), clone(learner).set_params(average=average), estimate=None
    )
    model.fit(texts, labels)
    rows = model.vectorizer_.transform([*texts, "wheat wheat wheat wheat oil", "corn gas gas gas"])
    np.testing.assert_array_equal(
        model.decision_function([*texts, "wheat wheat wheat wheat oil", "corn gas gas gas"]),
        model.learner_.decision_function(rows),
    )


def test_documents_without_a_label_are_ignored():
    made = [
        TextClassifier(Vectorizer(n_hashed=64, weighting="sxx"), BalancedWinnow(), estimate=None)
        for _ in range(2)
    ]
    made[0].partial_fit(["corn", "bank", "oil"], ["grain", "money", "fuel"])
    with pytest.warns(DataWarning, match="1 of 4 documents have no label"):
        made[1].partial_fit(["corn", "bank", "wheat", "oil"], ["grain", "money", None, "fuel"])
    assert made[0].training_summary_ == made[1].training_summary_
    np.testing.assert_array_equal(made[0].learner_.coef_, made[1].learner_.coef_)
