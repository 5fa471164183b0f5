"""Unlabeled documents beside training documents: what they change, whether that helps, and odd pools."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tests.estimate.test_held_out_as_new import texts_of
from widemargin import (
    AverageOf,
    KernelSVM,
    LinearSVM,
    LogisticRegression,
    NaiveBayes,
    NearestNeighbors,
    SelectFeatures,
    TextClassifier,
    TransductiveSVM,
    Vectorizer,
)
from widemargin.classifier.scorer import Scorer
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate.cross_validation import stratified_folds
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels
from widemargin.learn.unlabeled.self_training import SelfTraining
from widemargin.tune.race import Split
from widemargin.tune.staged.race_rows import RaceRows

pytestmark = pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")
LABEL_USES = ["self-training", "transductive"]


def task(n=60, m=80, seed=3):
    """Training texts, their labels, and texts of the same kind that are other documents."""
    texts, labels = texts_of(n, seed)
    pool, _ = texts_of(m, seed + 1)
    return texts, labels, [f"{text} v{i % 9}x" for i, text in enumerate(pool)]


def by_term(vectorizer, X):
    """Columns of a matrix by their terms, those that are not empty."""
    X = sp.csc_array(X)
    names = vectorizer.get_feature_names_out()
    return {names[j]: X[:, [j]].toarray().ravel() for j in range(X.shape[1]) if X[:, [j]].nnz}


def same(found, expected, tolerance=1e-6):
    assert found.keys() == expected.keys()
    for term, column in expected.items():
        np.testing.assert_allclose(found[term], column, atol=tolerance)


VECTORIZERS = {
    "words": Vectorizer(),
    "min_df": Vectorizer(min_df=3, weighting="tfc"),
    "min_count": Vectorizer(min_count=4, weighting="lpa"),
    "blocks": Vectorizer(blocks=["words", "bigrams:0.5"], idf_power=1.3),
    "most frequent": Vectorizer(max_features=25),
    "share": Vectorizer(min_df=0.05, max_df=0.9),
}


@pytest.mark.parametrize("name", VECTORIZERS)
def test_the_representation_is_that_of_both(name):
    texts, labels, pool = task()
    found = TextClassifier(VECTORIZERS[name], LinearSVM(), estimate=None).fit(texts, labels, unlabeled=pool)
    both = clone(VECTORIZERS[name])
    X = both.fit_transform(texts + pool)[: len(texts)]
    assert list(found.vectorizer_.vocabulary_) == list(both.vocabulary_)
    np.testing.assert_array_equal(found.vectorizer_.document_frequencies_, both.document_frequencies_)
    assert found.vectorizer_.n_documents_ == len(texts) + len(pool)
    np.testing.assert_array_equal(found.learner_.coef_, LinearSVM().fit(X, labels).coef_)
    summary = found.training_summary_
    assert (summary["documents"], summary["terms"]) == (len(texts), len(both.vocabulary_))
    assert summary["pool"] == {
        "documents": len(pool),
        "also_training": 0,
        "asked": "representation",
        "use": "representation",
    }


def rows_with(vectorizer, texts, labels, pool):
    fitted = clone(vectorizer)
    counts = fitted.fit_counts(texts + pool)
    X = fitted.weighed(counts.rows(0, len(texts))).matrix
    return TrainingRows(X, Labels.of(labels), texts, fitted, counts, beside=pool)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**20), name=st.sampled_from(sorted(VECTORIZERS)), share=st.floats(0.1, 0.6))
def test_folds_keep_the_pool(seed, name, share):
    texts, labels, pool = task(24, 20, seed)
    rows = rows_with(VECTORIZERS[name], texts, labels, pool)
    out = np.random.default_rng(seed).random(len(texts)) < share
    out[0] = False
    again = clone(VECTORIZERS[name]).fit([texts[i] for i in np.flatnonzero(~out)] + pool)
    refitted = again if name in ("most frequent", "share") else rows.vectorizer
    same(by_term(refitted, rows.without(out)), by_term(again, again.transform(texts)))
    own = by_term(rows.vectorizer, rows.unlabeled_rows())
    same(own, by_term(rows.vectorizer, rows.vectorizer.transform(pool)))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**20))
def test_folds_and_races_learn_vectors_from_the_pool_too(seed):
    texts, labels, pool = task(24, 20, seed)
    representation = {"blocks": ("words", "vectors:dims=3"), "weighting": "ltc"}
    rows = rows_with(Vectorizer(**representation), texts, labels, pool)
    out = np.random.default_rng(seed).random(len(texts)) < 0.3
    out[0] = False
    seen, unseen = np.flatnonzero(~out), np.flatnonzero(out)
    again = Vectorizer(**representation).fit([texts[i] for i in seen] + pool)
    expected = again.transform(texts).toarray()
    folds = rows.without(out).toarray()
    np.testing.assert_allclose(folds @ folds.T, expected @ expected.T, atol=1e-4)
    # Inner products of the same documents: vectors are the same up to a rotation.
    (parts,) = RaceRows(texts, [Split(seen, unseen)], pool).parts(representation)
    raced = np.vstack([part.toarray() for part in parts])
    order = np.concatenate([seen, unseen])
    np.testing.assert_allclose(raced @ raced.T, expected[order] @ expected[order].T, atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**20), name=st.sampled_from(["words", "min_df", "min_count", "blocks"]))
def test_left_out_documents_keep_the_pool(seed, name):
    texts, labels, pool = task(12, 20, seed)
    rows = rows_with(VECTORIZERS[name], texts, labels, pool)
    new = rows.as_new()
    assert new.rows.shape[0] == len(texts)
    for i, text in enumerate(texts):
        again = clone(VECTORIZERS[name]).fit(texts[:i] + texts[i + 1 :] + pool)
        same(by_term(rows.vectorizer, new.rows[[i]]), by_term(again, again.transform([text])))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**20))
def test_races_keep_the_pool_in_every_split(seed):
    texts, labels, pool = task(24, 20, seed)
    fold = stratified_folds(Labels.of(labels).signs, 3, seed)
    splits = [Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    representation = {"blocks": ("words", "bigrams:0.5"), "weighting": "ltc", "min_df": 2}
    rows = RaceRows(texts, splits, pool)
    for split, (seen, unseen) in zip(splits, rows.parts(representation), strict=True):
        again = Vectorizer(**representation).fit([texts[i] for i in split.seen] + pool)
        expected = again.transform([texts[i] for i in np.concatenate([split.seen, split.unseen])])
        expected = sp.csc_array(expected)
        found = sp.csc_array(sp.vstack([seen, unseen]))
        # Columns of terms that no training document of the split has are empty, and terms are in order.
        kept = np.flatnonzero(found.count_nonzero(axis=0))
        there = np.flatnonzero(expected.count_nonzero(axis=0))
        np.testing.assert_allclose(found[:, kept].toarray(), expected[:, there].toarray(), atol=1e-6)


def test_a_race_on_a_part_of_the_documents_takes_the_same_part_of_the_pool():
    texts, _, pool = task()
    rows = RaceRows(texts, [Split(np.arange(10), np.arange(10, 20))], pool)
    whole = RaceRows(texts, [Split(np.arange(30), np.arange(30, 60))], pool)
    plain = RaceRows(texts, [Split(np.arange(10), np.arange(10, 20))])
    counted = {name: made.values({})[1] for name, made in (("some", rows), ("all", whole), ("plain", plain))}
    assert counted["plain"] < counted["some"] < counted["all"]
    rows.parts({"weighting": "ltc"})
    assert rows.values({"weighting": "ltc"})[0] < plain.n_documents * 20  # values of the training documents


@pytest.mark.parametrize("tune", [None, "fast"])
def test_estimates_and_tuning_know_the_pool(tune):
    texts, labels, pool = task()
    found = TextClassifier(tune=tune, estimate="k-fold").fit(texts, labels, unlabeled=pool)
    summary = found.training_summary_
    assert summary["estimates"]["n"] == len(texts)
    assert set(summary["pool"]["figures"]) == {"none", "representation"}
    assert ("tuning" in summary) == (tune is not None)
    again = TextClassifier(tune=tune, estimate="k-fold").fit(texts, labels, unlabeled=pool)
    assert {**again.training_summary_, "seconds": 0, "tuning": 0} == {**summary, "seconds": 0, "tuning": 0}
    np.testing.assert_array_equal(found.decision_function(pool), again.decision_function(pool))


def test_selected_features_go_by_labeled_documents():
    texts, labels, pool = task()
    found = TextClassifier(features=SelectFeatures("chi2", 10), estimate=None).fit(
        texts, labels, unlabeled=pool
    )
    X = Vectorizer().fit(texts + pool).transform(texts)
    np.testing.assert_array_equal(found.features_.scores_, SelectFeatures("chi2", 10).fit(X, labels).scores_)


def by_hand(texts, labels, pool, use, folds):
    """The share of held-out documents that are right, everything fitted again in every fold."""
    y = Labels.of(labels)
    fold = stratified_folds(y.signs, folds, 0)
    right = np.zeros(len(texts), dtype=bool)
    for number in range(folds):
        seen, unseen = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        some, own = [texts[i] for i in seen], [labels[i] for i in seen]
        beside = [] if use == "none" else pool
        vectorizer = Vectorizer().fit(some + beside)
        if use in LABEL_USES:
            learner = SelfTraining(LinearSVM(tol=1e-4))
            if use == "transductive":
                learner = TransductiveSVM(C=20.0, on_alarm="ignore", alarm_level=0)
            learner.fit(vectorizer.transform(some + pool), own + [None] * len(pool))
        else:
            learner = LinearSVM(tol=1e-4).fit(vectorizer.transform(some), own)
        chosen = learner.predict(vectorizer.transform([texts[i] for i in unseen]))
        right[unseen] = np.array([labels[i] for i in unseen]) == chosen
    return right.mean()


@pytest.mark.parametrize("use", ["representation", *LABEL_USES])
@pytest.mark.parametrize("seed", [3, 4])
def test_figures_are_those_of_fitting_everything_again(use, seed):
    texts, labels, pool = task(seed=seed)
    found = TextClassifier(learner=LinearSVM(tol=1e-4), estimate="k-fold", unlabeled_use=use, tune=None)
    summary = found.fit(texts, labels, unlabeled=pool).training_summary_["pool"]
    uses = dict.fromkeys(["none", "representation", use])
    expected = {name: by_hand(texts, labels, pool, name, 5) for name in uses}
    assert summary["figures"] == pytest.approx(expected, abs=1e-6)
    assert (summary["folds"], summary["measure"]) == (5, "accuracy")


@pytest.mark.parametrize("use", LABEL_USES)
def test_estimates_are_those_of_the_folds(use):
    texts, labels, pool = task()
    found = TextClassifier(estimate="auto", unlabeled_use=use, tune=None).fit(texts, labels, unlabeled=pool)
    summary = found.training_summary_
    if summary["pool"]["use"] == use:
        assert summary["estimates"]["method"] == "k-fold"
        lowered = summary["pool"]["figures"][use] - summary["estimates"]["accuracy"]["value"]
        assert 0 <= lowered < 0.05  # the best of three was chosen


def test_transduction_learns_from_the_pool():
    texts, labels, pool = task()
    found = TextClassifier(unlabeled_use="transductive", tune=None, estimate=None).fit(
        texts, labels, unlabeled=pool
    )
    X = found.vectorizer_.transform(texts + pool)
    alone = TransductiveSVM(C=20.0, on_alarm="ignore", alarm_level=0).fit(X, labels + [None] * len(pool))
    np.testing.assert_allclose(found.learner_.coef_, alone.coef_, atol=1e-6)
    assert found.training_summary_["pool"]["use"] == "transductive"


def test_self_training_learns_from_the_pool():
    texts, labels, pool = task()
    found = TextClassifier(unlabeled_use="self-training", tune=None, estimate=None).fit(
        texts, labels, unlabeled=pool
    )
    X = found.vectorizer_.transform(texts + pool)
    alone = SelfTraining(LinearSVM()).fit(X, labels + [None] * len(pool))
    np.testing.assert_allclose(found.learner_.coef_, alone.final_learner_.coef_, atol=1e-6)
    assert isinstance(found.learner_, LinearSVM)
    assert found.training_summary_["pool"]["use"] == "self-training"


@pytest.mark.parametrize(
    "parts",
    [
        {"learner": LogisticRegression()},
        {"learner": NaiveBayes(), "vectorizer": Vectorizer(weighting="txx")},
        {"learner": NearestNeighbors()},
        {"learner": KernelSVM(gamma=0.5)},
        {"learner": AverageOf([("words", LinearSVM()), ("bigrams", LogisticRegression())])},
        {"tune": "fast"},
        {"features": SelectFeatures("chi2", 20)},
    ],
    ids=["logistic", "bayes", "neighbors", "kernel", "average", "tuned", "selected"],
)
def test_self_training_of_other_parts(parts):
    texts, labels, pool = task()
    blocks = Vectorizer(blocks=["words", "bigrams:0.5"], max_features=40)
    if isinstance(parts.get("learner"), AverageOf):
        parts = {**parts, "vectorizer": blocks}
    found = TextClassifier(**parts, unlabeled_use="self-training", estimate="k-fold")
    summary = found.fit(texts, labels, unlabeled=pool).training_summary_["pool"]
    assert set(summary["figures"]) == {"none", "representation", "self-training"}
    assert len(found.predict(pool)) == len(pool)


def misleading(n=60):
    """One word tells the class, and a pool in which words of both classes stand together and are frequent."""
    generator = np.random.default_rng(0)
    words = {kind: [f"{kind}{k}x" for k in range(12)] for kind in "abc"}

    def text(**counts):
        return " ".join(
            word for kind, count in counts.items() for word in generator.choice(words[kind], count)
        )

    labels = ["a", "b"] * (n // 2)
    texts = [text(a=1, c=4) if label == "a" else text(b=1, c=4) for label in labels]
    return texts, labels, [text(a=2, b=4) for _ in range(200)]


@pytest.mark.parametrize("use", ["representation", *LABEL_USES])
def test_what_does_harm_is_not_used(use):
    texts, labels, pool = misleading()
    found = TextClassifier(unlabeled_use=use, estimate="k-fold", tune=None).fit(texts, labels, unlabeled=pool)
    summary = found.training_summary_["pool"]
    assert max(summary["figures"]["representation"], summary["figures"][use]) < summary["figures"]["none"]
    assert (summary["use"], summary["asked"]) == (None, use)
    plain = TextClassifier(tune=None, estimate=None).fit(texts, labels)
    np.testing.assert_array_equal(found.learner_.coef_, plain.learner_.coef_)
    np.testing.assert_array_equal(found.decision_function(pool), plain.decision_function(pool))
    unasked = TextClassifier(unlabeled_use=use, tune=None, estimate=None).fit(texts, labels, unlabeled=pool)
    assert unasked.training_summary_["pool"]["use"] == use  # nobody asked whether it helps


def test_several_labels_are_for_the_representation_only():
    texts, labels, pool = task()
    sets = [{label, "d"} if i % 3 else {label} for i, label in enumerate(labels)]
    found = (
        TextClassifier(estimate="k-fold", tune=None)
        .fit(texts, sets, unlabeled=pool)
        .training_summary_["pool"]
    )
    assert found["measure"] == "prbep"
    assert set(found["figures"]) == {"none", "representation"}
    for use in LABEL_USES:
        with pytest.raises(UsageError, match="one label per document"):
            TextClassifier(unlabeled_use=use, tune=None, estimate=None).fit(texts, sets, unlabeled=pool)


@pytest.mark.parametrize("use", ["representation", *LABEL_USES])
def test_threads_do_not_matter(use):
    texts, labels, pool = task()
    scores = []
    for n_jobs in (1, 2):
        parts = Vectorizer(n_jobs=n_jobs), LinearSVM(n_jobs=n_jobs)
        found = TextClassifier(*parts, estimate="k-fold", unlabeled_use=use, tune=None).fit(
            texts, labels, unlabeled=pool
        )
        scores.append(found.decision_function(pool))
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("use", ["representation", *LABEL_USES])
def test_saved_and_loaded(tmp_path, use):
    texts, labels, pool = task()
    found = TextClassifier(unlabeled_use=use, estimate="k-fold", calibration="platt", tune=None)
    found.fit(texts, labels, unlabeled=pool).save(tmp_path / "m.wm")
    for again in (TextClassifier.load(tmp_path / "m.wm"), Scorer.load(tmp_path / "m.wm").scores):
        scores = again(pool) if callable(again) else again.decision_function(pool)
        np.testing.assert_allclose(scores, found.decision_function(pool), rtol=1e-6)
    loaded = TextClassifier.load(tmp_path / "m.wm")
    assert loaded.training_summary_["pool"] == found.training_summary_["pool"]


def test_a_learner_of_unlabeled_documents_gets_them():
    texts, labels, pool = task()
    learner = TransductiveSVM(on_alarm="ignore")
    found = TextClassifier(learner=learner, tune=None, estimate=None).fit(texts, labels, unlabeled=pool)
    marked = TextClassifier(learner=learner, tune=None, estimate=None).fit(
        texts + pool, labels + [None] * len(pool)
    )
    np.testing.assert_array_equal(found.learner_.scores_, marked.learner_.scores_)
    with pytest.raises(UsageError, match="itself"):
        TextClassifier(learner=learner, unlabeled_use="transductive", tune=None, estimate=None).fit(
            texts, labels, unlabeled=pool
        )


@pytest.mark.parametrize("use", LABEL_USES)
def test_vectors(use):
    texts, labels, pool = task()
    X = Vectorizer().fit_transform(texts + pool)
    seen, unseen = X[: len(texts)], X[len(texts) :]
    found = TextClassifier(unlabeled_use=use, estimate="k-fold", tune=None).fit(
        seen, labels, unlabeled=unseen
    )
    assert set(found.training_summary_["pool"]["figures"]) == {"none", use}
    dense = TextClassifier(unlabeled_use=use, tune=None, estimate=None).fit(
        seen.toarray(), labels, unlabeled=unseen.toarray()
    )
    again = TextClassifier(unlabeled_use=use, tune=None, estimate=None).fit(
        seen, labels, unlabeled=Vectors(["1"], unseen, [None])
    )
    np.testing.assert_allclose(dense.learner_.coef_, again.learner_.coef_, atol=1e-6)
    with pytest.raises(UsageError, match="neither words"):
        TextClassifier(tune=None, estimate=None).fit(seen, labels, unlabeled=unseen)
    with pytest.raises(DataError, match="features"):
        TextClassifier(unlabeled_use=use, tune=None, estimate=None).fit(
            seen.toarray(), labels, unlabeled=np.ones((3, 2))
        )


def test_documents_that_are_training_documents_too():
    texts, labels, pool = task()
    with pytest.warns(DataWarning, match="5 of 85 unlabeled documents are training documents too"):
        found = TextClassifier(tune=None, estimate=None).fit(texts, labels, unlabeled=texts[:5] + pool)
    assert found.vectorizer_.n_documents_ == len(texts) + len(pool)
    assert found.training_summary_["pool"]["also_training"] == 5
    with pytest.warns(DataWarning, match="nothing to learn"):
        found = TextClassifier(estimate="k-fold", tune=None).fit(texts, labels, unlabeled=texts)
    assert found.training_summary_["pool"]["use"] is None
    assert found.vectorizer_.n_documents_ == len(texts)


def test_a_pool_in_another_language():
    english = [
        "the price of wheat rose",
        "the bank cut the rate of interest",
        "wheat and the corn harvest",
    ] * 4
    labels = ["grain", "money", "grain"] * 4
    with pytest.warns(DataWarning, match="another language"):
        found = TextClassifier(estimate="k-fold", tune=None).fit(
            english, labels, unlabeled=["der Preis steigt weiter", "die Bank senkt den Zins"]
        )
    assert found.predict(["the wheat harvest"]).tolist() == ["grain"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        TextClassifier(tune=None, estimate=None).fit(
            english, labels, unlabeled=["the harvest of corn rose", "interest at the bank"]
        )


def test_columns():
    texts, labels, pool = task()
    columns = {"title": [text[:10] for text in texts], "body": texts}
    blocks = Vectorizer(blocks=["words", "title:0.5"])
    other = {"body": pool, "title": [text[:8] for text in pool], "id": pool}
    found = TextClassifier(blocks, tune=None, estimate=None).fit(columns, labels, unlabeled=other)
    both = {name: columns[name] + other[name] for name in columns}
    expected = clone(blocks).fit(both)
    np.testing.assert_array_equal(found.vectorizer_.document_frequencies_, expected.document_frequencies_)
    with pytest.raises(DataError, match=r"Unlabeled documents: .* no column 'title'"):
        TextClassifier(blocks, tune=None, estimate=None).fit(columns, labels, unlabeled={"body": pool})
    with pytest.raises(DataError, match="single texts"):
        TextClassifier(tune=None, estimate=None).fit(texts, labels, unlabeled={"body": pool})


@pytest.mark.parametrize(
    ("unlabeled", "error", "words"),
    [
        ([], DataError, "no unlabeled documents"),
        (["", " ... "], DataError, "None of the 2 unlabeled documents has a word"),
        ("one text", UsageError, "one text"),
        ([3], DataError, "Unlabeled documents: Document 0"),
        (np.ones((2, 3)), DataError, "texts and the unlabeled ones are vectors"),
    ],
)
def test_odd_pools(unlabeled, error, words):
    texts, labels, _ = task()
    with pytest.raises(error, match=words):
        TextClassifier(tune=None, estimate=None).fit(texts, labels, unlabeled=unlabeled)


def test_odd_settings():
    texts, labels, pool = task()
    with pytest.raises(UsageError, match="expected one of representation"):
        TextClassifier(unlabeled_use="labels", tune=None, estimate=None).fit(texts, labels, unlabeled=pool)
    with pytest.raises(UsageError, match="needs unlabeled documents"):
        TextClassifier(unlabeled_use="transductive", tune=None, estimate=None).fit(texts, labels)
    with pytest.raises(UsageError, match="xi-alpha"):
        TextClassifier(unlabeled_use="transductive", estimate="xi-alpha", tune=None).fit(
            texts, labels, unlabeled=pool
        )
    classifier = TextClassifier(unlabeled_use="transductive", tune=None, estimate=None)
    with pytest.raises(UsageError, match="Weights"):
        classifier.fit(texts, labels, sample_weight=np.ones(len(texts)), unlabeled=pool)


def test_a_collection_and_an_arrow_column():
    pa = pytest.importorskip("pyarrow")
    texts, labels, pool = task()
    expected = (
        TextClassifier(tune=None, estimate=None).fit(texts, labels, unlabeled=pool).decision_function(pool)
    )
    ids = [str(i) for i in range(len(pool))]
    for unlabeled in (Collection(ids, pool, [("a",)] * len(pool)), pa.array(pool), tuple(pool), iter(pool)):
        found = TextClassifier(tune=None, estimate=None).fit(pa.array(texts), labels, unlabeled=unlabeled)
        np.testing.assert_array_equal(found.decision_function(pool), expected)
