"""Held-out documents are scored as new ones: brute force refits the vectorizer too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from widemargin import (
    KernelSVM,
    LinearSVM,
    RegularizedLeastSquares,
    SelectFeatures,
    TextClassifier,
    Vectorizer,
)
from widemargin.estimate.held_out import held_out, leave_one_out
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels

pytestmark = pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")


def texts_of(n, seed, words=60, length=12):
    """Documents over a skewed vocabulary, of which many words occur once; labels that words explain."""
    generator = np.random.default_rng(seed)
    share = 1 / np.arange(1, words + 1)
    texts, labels = [], []
    for _ in range(n):
        topic = int(generator.integers(3))
        order = np.roll(np.arange(words), topic * 7)
        drawn = order[generator.choice(words, size=length, p=share / share.sum())]
        texts.append(" ".join(f"w{word}x" for word in drawn))
        labels.append("abc"[topic] if generator.random() < 0.85 else "abc"[int(generator.integers(3))])
    labels[:6] = "abcabc"  # nobody takes a class along
    return texts, labels


def rows_of(texts, y, vectorizer):
    fitted = clone(vectorizer)
    counts = fitted.fit_counts(texts)
    X = fitted.weighed(counts).matrix
    X = X if X.dtype.kind == "f" else X.astype(np.float32)
    return TrainingRows(X, Labels.of(y), texts, fitted, counts)


def brute_force(texts, y, vectorizer, learner):
    """Fit everything again without each document."""
    scores = []
    for i in range(len(texts)):
        rest = [j for j in range(len(texts)) if j != i]
        found = TextClassifier(clone(vectorizer), clone(learner), estimate=None)
        found.fit([texts[j] for j in rest], [y[j] for j in rest])
        scores.append(np.atleast_1d(found.decision_function([texts[i]])[0]))
    return np.array(scores)


SETS = {
    "multiclass": lambda y: y,
    "multilabel": lambda y: [{label, "d"} if n % 3 == 0 else {label} for n, label in enumerate(y)],
}


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    weighting=st.sampled_from(["txc", "bxc", "lxa", "txx"]),
    task=st.sampled_from(sorted(SETS)),
)
def test_without_frequencies_and_threshold_leave_one_out_is_exact(seed, weighting, task):
    texts, y = texts_of(16, seed)
    y = SETS[task](y)
    vectorizer = Vectorizer(weighting=weighting)
    learner = LinearSVM(bias=None, balance=0, tol=1e-9, max_iter=20_000)
    rows = rows_of(texts, y, vectorizer)
    found = leave_one_out(clone(learner).fit(rows.X, rows.y), rows.X, rows.y, accuracy=1e-4, rows=rows)
    expected = brute_force(texts, y, vectorizer, learner)
    assert (np.abs(found.scores - expected) <= found.accuracy + 1e-5 * (1 + np.abs(expected))).all()


# Root mean square of the difference to brute force, since the rows of the other documents keep their document
# frequencies, and intercepts are taken to stay. Here one document is a fortieth of all.
NEAR = 0.06


@pytest.mark.parametrize("task", sorted(SETS))
@pytest.mark.parametrize("weighting", ["tfc", "lpc", "txc", "nfc"])
@pytest.mark.parametrize(
    "learner",
    [
        LinearSVM(tol=1e-6),
        LinearSVM(bias="unregularized", tol=1e-6),
        RegularizedLeastSquares(),
        KernelSVM(kernel="rbf", gamma=0.5, tol=1e-6),
    ],
    ids=["linear", "unregularized", "least squares", "rbf"],
)
def test_leave_one_out_is_near_brute_force(learner, weighting, task):
    texts, y = texts_of(40, 7)
    y = SETS[task](y)
    vectorizer = Vectorizer(weighting=weighting)
    rows = rows_of(texts, y, vectorizer)
    fitted = clone(learner).fit(rows.X, rows.y)
    expected = brute_force(texts, y, vectorizer, learner)
    errors = {}
    for name, made in (("as new", rows), ("as trained", None)):
        scores = leave_one_out(fitted, rows.X, rows.y, accuracy=1e-3, rows=made).scores
        errors[name] = np.sqrt(np.mean((scores - expected) ** 2))
    assert errors["as new"] < NEAR
    assert errors["as new"] < 0.5 * errors["as trained"]


def test_document_of_its_own_words_scores_the_intercept():
    texts = ["unheard words"] + ["corn up", "corn down", "bank up", "bank down"] * 3
    y = ["a"] + ["a", "a", "b", "b"] * 3
    rows = rows_of(texts, y, Vectorizer())
    fitted = LinearSVM(tol=1e-8).fit(rows.X, rows.y)
    score = leave_one_out(fitted, rows.X, rows.y, accuracy=1e-3, rows=rows).scores[0, 0]
    assert score == pytest.approx(fitted.intercept_[0], abs=1e-6)


@pytest.mark.parametrize(
    "vectorizer",
    [
        Vectorizer(),
        Vectorizer(min_df=2),
        Vectorizer(min_count=3, weighting="lpa"),
        Vectorizer(weighting=None),
        Vectorizer(n_hashed=64),
        Vectorizer(min_df=0.1, max_df=0.5),
        Vectorizer(max_features=20),
        Vectorizer(ngram_range=(1, 2), phrases=2.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("features", [None, SelectFeatures(n_features=10)], ids=["all", "selected"])
@pytest.mark.parametrize(
    "learner", [LinearSVM(tol=1e-8, max_iter=50_000), KernelSVM(tol=1e-8)], ids=["linear", "kernel"]
)
def test_folds_fit_everything_again(vectorizer, features, learner):
    texts, y = texts_of(45, 3)
    classifier = TextClassifier(vectorizer, learner, features=features, estimate="k-fold").fit(texts, y)
    rows = rows_of(texts, y, vectorizer)
    if features is not None:
        chosen = clone(features).fit(rows.X, y)
        rows = TrainingRows(chosen.transform(rows.X), rows.y, texts, rows.vectorizer, rows.counts, chosen)
    found = held_out(clone(learner).fit(rows.X, rows.y), rows.X, rows.y, method="k-fold", rows=rows)
    assert found.folds == 40  # as many as little work allows
    for k in range(found.folds):
        seen, unseen = np.flatnonzero(found.fold != k), np.flatnonzero(found.fold == k)
        again = TextClassifier(clone(vectorizer), clone(learner), features=features, estimate=None).fit(
            [texts[i] for i in seen], [y[i] for i in seen]
        )
        np.testing.assert_allclose(
            found.scores[unseen], again.decision_function([texts[i] for i in unseen]), atol=2e-3
        )
    assert classifier.training_summary_["estimates"]["accuracy"]["value"] == pytest.approx(
        np.mean(found.scores.argmax(axis=1) == rows.y.signs.argmax(axis=1)), abs=1e-6
    )


@pytest.mark.slow
@pytest.mark.needs_corpus("ohsumed")
def test_leave_one_out_of_real_documents_is_nearer_to_brute_force(corpus):
    part = corpus("ohsumed").train
    texts, y = part.texts[:800], [list(labels) for labels in part.labels[:800]]
    rows = rows_of(texts, y, Vectorizer())
    fitted = LinearSVM(tol=1e-6).fit(rows.X, rows.y)
    sample = np.random.default_rng(1).choice(len(texts), 30, replace=False)
    expected = []
    for i in sample:
        rest = [j for j in range(len(texts)) if j != i]
        vectorizer = Vectorizer()
        X = vectorizer.fit_transform([texts[j] for j in rest])
        model = LinearSVM(tol=1e-6).fit(X, rows.y.take(np.array(rest)))
        expected.append(model.decision_function(vectorizer.transform([texts[i]]))[0])
    errors = []
    for made in (rows, None):
        scores = leave_one_out(fitted, rows.X, rows.y, accuracy=0.01, rows=made).scores[sample]
        errors.append(np.sqrt(np.mean((scores - expected) ** 2)))
    assert errors[0] < 0.01
    assert errors[0] < 0.25 * errors[1]
