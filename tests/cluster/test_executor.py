"""Tuning, comparing and cross-validation by an executor: the same results as in one process."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest

from tests.cli.conftest import WORDS
from widemargin import LinearSVM, TextClassifier, Vectorizer, compare
from widemargin.cluster import ClusterExecutor
from widemargin.estimate.cross_validation import out_of_fold
from widemargin.tune.search_space import Space
from widemargin.tune.tuning import tune


@pytest.fixture(scope="module")
def executor(tasks):
    return ClusterExecutor(tasks)


@pytest.fixture(scope="module")
def documents() -> tuple[list[str], list[str]]:
    generator = random.Random(1)
    noise = [word for words in WORDS.values() for word in words]
    texts, labels = [], []
    for _ in range(150):
        label = generator.choice(list(WORDS))
        words = generator.choices(WORDS[label], k=2) + generator.choices(noise, k=3)
        texts.append(" ".join(words))
        labels.append(label)
    return texts, labels


def without_seconds(value):
    if isinstance(value, dict):
        return {name: without_seconds(item) for name, item in value.items() if "seconds" not in name}
    return [without_seconds(item) for item in value] if isinstance(value, list) else value


def test_tuning_chooses_the_same(executor, documents):
    here = TextClassifier(tune="fast", estimate="k-fold").fit(*documents)
    there = TextClassifier(tune="fast", estimate="k-fold").fit(*documents, executor=executor)
    summaries = [without_seconds(found.training_summary_) for found in (here, there)]
    assert summaries[0] == summaries[1]
    assert np.array_equal(here.learner_.coef_, there.learner_.coef_)


def test_a_product_of_choices_is_raced_the_same(executor, documents):
    space = Space(representations=[{"stemmer": None}, {"stemmer": "porter"}], costs=[0.01, 0.1, 1.0, 10.0])
    here, there = (tune(*documents, space, effort="fast", executor=each) for each in (None, executor))
    assert without_seconds(here.to_dict()) == without_seconds(there.to_dict())


def test_folds_give_the_same_scores(executor, documents):
    texts, labels = documents
    X = Vectorizer().fit_transform(texts)
    learner = LinearSVM().fit(X, labels)
    here, there = (out_of_fold(learner, X, labels, folds=5, executor=each) for each in (None, executor))
    assert np.array_equal(here.scores, there.scores)


def test_comparing_gives_the_same_figures(executor, documents):
    learners = ["linear-svm", "naive-bayes", "rocchio"]
    here, there = (
        compare(*documents, learners=learners, folds=3, executor=each) for each in (None, executor)
    )
    for one, other in zip(here.rows, there.rows, strict=True):
        assert (one.learner, one.setting, one.candidates) == (other.learner, other.setting, other.candidates)
        assert one.accuracy.to_dict() == other.accuracy.to_dict()
        assert one.model_bytes == other.model_bytes


def test_a_learner_that_fails_elsewhere_is_a_row(executor, documents):
    class Odd(LinearSVM):
        def fit(self, X, y, sample_weight=None):
            raise io.UnsupportedOperation("odd")

    found = compare(*documents, learners={"odd": Odd(), "plain": LinearSVM()}, executor=executor)
    assert [(row.learner, row.status) for row in found.rows] == [("plain", "measured"), ("odd", "failed")]
