"""Bootstrap estimates: as defined, for every kind of labels, and on tasks whose error is known."""

from __future__ import annotations

import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from sklearn.base import clone

from tests.reference.bootstrap import expected_errors
from widemargin import LinearSVM, NaiveBayes, NearestNeighbors, TextClassifier
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.bootstrap import bootstrap
from widemargin.labels import Labels

EXACT = {"tol": 1e-8, "max_iter": 10**6}


class Unweighted(LinearSVM):
    """A machine that takes no weights, so that examples are repeated."""

    def fit(self, X, y):
        return super().fit(X, y)


def task(n, seed, noise=0.5):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 4))
    return X, np.where(X[:, 0] + noise * generator.normal(size=n) > 0, 1, -1)


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(12, 30),
    correction=st.sampled_from(["optimism", "632+"]),
    kind=st.sampled_from([LinearSVM, Unweighted]),
)
def test_as_defined(seed, n, correction, kind):
    X, y = task(n, seed)
    if min(np.sum(y > 0), np.sum(y < 0)) < 4:
        return
    learner = kind(C=0.3, **EXACT)

    def fit(rows, signs):
        if len(set(signs)) == 1:
            return lambda new: np.full(len(new), signs[0])
        return clone(learner).fit(rows, signs).predict

    found = bootstrap(learner.fit(X, y), X, y, correction=correction, samples=5, random_state=seed)
    errors = expected_errors(fit, X, y, 5, seed, correction)
    # Weighted or repeated, solutions differ by the tolerance: a score of nearly 0 may change its sign.
    close = 0.4 if kind is LinearSVM else 1e-9
    positives, negatives = np.sum(y > 0), np.sum(y < 0)
    assert found.table.false_negative[0] == pytest.approx(np.clip(errors[1], 0, positives), abs=close)
    assert found.table.false_positive[0] == pytest.approx(np.clip(errors[-1], 0, negatives), abs=close)
    assert found.table.positives[0] == pytest.approx(positives)
    wrong = found.table.false_negative[0] + found.table.false_positive[0]
    assert found.right == pytest.approx(n - wrong, abs=1e-9)


def test_of_a_rule_by_heart_only_the_632_rule_is_right():
    """One nearest neighbor of labels that are 20 % noise: no training error, 32 % errors (2 * 0.2 * 0.8)."""
    generator = np.random.default_rng(0)
    X = generator.random((1200, 2)) + 0.01
    y = np.where((X[:, 0] > X[:, 1]) ^ (generator.random(1200) < 0.2), 1, -1)
    learner = NearestNeighbors(n_neighbors=1).fit(X, y)
    errors = {
        correction: 1 - bootstrap(learner, X, y, correction=correction, samples=10).right / 1200
        for correction in ("optimism", "632+")
    }
    true = 0.32
    assert errors["optimism"] == pytest.approx(0.368 * true, abs=0.04)
    assert errors["632+"] == pytest.approx(true, abs=0.06)


def test_of_a_simple_rule_both_are_right():
    generator = np.random.default_rng(1)
    X = generator.normal(size=(400, 2))
    y = np.where((X[:, 0] > 0) ^ (generator.random(400) < 0.2), 1, -1)
    learner = LinearSVM(C=0.1).fit(X, y)
    for correction in ("optimism", "632+"):
        assert 1 - bootstrap(learner, X, y, correction=correction).right / 400 == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize("correction", ["optimism", "632+"])
def test_classes_and_label_sets(correction):
    generator = np.random.default_rng(2)
    X = sp.csr_array((generator.random((90, 12)) < 0.3).astype(np.float32) + np.eye(90, 12, dtype=np.float32))
    dense = X.toarray()
    classes = np.array(list("abc"))[np.argmax(dense[:, :3] + 0.1 * generator.random((90, 3)), axis=1)]
    for y in (
        classes,
        [[name for name, on in zip("xyz", row, strict=True) if on] for row in dense[:, :3] > 0],
    ):
        for learner in (LinearSVM(), NaiveBayes()):
            learner.fit(X, y)
            found = bootstrap(learner, X, y, correction=correction, samples=4)
            truth = Labels.of(y).signs
            np.testing.assert_allclose(found.table.positives, np.sum(truth > 0, axis=0))
            np.testing.assert_allclose(found.table.n, 90)
            assert 0 <= found.right <= 90
            again = bootstrap(learner, X, y, correction=correction, samples=4)
            assert again.right == found.right


def test_what_it_refuses():
    X, y = task(20, 0)
    learner = LinearSVM().fit(X, y)
    with pytest.raises(UsageError, match="correction='more'"):
        bootstrap(learner, X, y, correction="more")
    with pytest.raises(UsageError, match="samples=0"):
        bootstrap(learner, X, y, samples=0)


TEXTS = [
    f"{'wheat corn grain' if i % 2 else 'stocks shares bonds'} word{i % 7} other{i % 5}" for i in range(60)
]
LABELS = [["crop", "news"][: 1 + i % 3 // 2] if i % 2 else ["money"] for i in range(60)]


@pytest.mark.parametrize("method", ["hold-out", "bootstrap", "bootstrap-632"])
@pytest.mark.parametrize("thresholds", [None, "f1"])
def test_as_the_estimate_of_a_text_classifier(method, thresholds):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = TextClassifier(estimate=method, thresholds=thresholds, tune=None).fit(TEXTS, LABELS)
    found = model.training_summary_["estimates"]
    assert found["method"] == method
    assert found["n"] == (12 if method == "hold-out" else 60)
    assert [row["examples"] for row in found["labels"]] == (
        [6, 6, 2] if method == "hold-out" else [30, 30, 10]
    )
    crop = found["labels"][0]
    assert crop["label"] == "crop"
    assert crop["f1"]["value"] > 0.9
    assert ("thresholds of the model" in " ".join(found["notes"])) == (
        thresholds is not None and method != "hold-out"
    )
