"""The mean of machines over blocks of columns is what fitting each by hand and averaging gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from widemargin import (
    AverageOf,
    KernelSVM,
    LabelWeightedSVM,
    LinearSVM,
    LogisticRegression,
    NaiveBayes,
    RegularizedLeastSquares,
    SelectFeatures,
    TextClassifier,
    Vectorizer,
    leave_one_out,
)
from widemargin._arrays import canonical_csr
from widemargin.classifier.scorer import Scorer
from widemargin.errors import DataError, UsageError
from widemargin.estimate.cross_validation import hold_out, out_of_fold, stratified_folds
from widemargin.labels import Labels

TIGHT = {"tol": 1e-8, "max_iter": 100_000}
LEARNERS = [
    LinearSVM(**TIGHT),
    LinearSVM(loss="squared_hinge", bias=None, **TIGHT),
    LogisticRegression(**TIGHT),
    LabelWeightedSVM(**TIGHT),
    RegularizedLeastSquares(),
]
WORDS = {"grain": "wheat corn harvest crop", "money": "bank rate loan profit", "fuel": "oil gas barrel well"}


# The checks compare solutions of equivalent problems, so they are solved to high precision here.
EXACT = {"stop": "gradient", "tol": 1e-12, "max_iter": 20_000}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [AverageOf([(None, LinearSVM(**EXACT)), (slice(0, None), LinearSVM(0.3, loss="squared_hinge", **EXACT))])]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def task(n=30, d=9, kind="multilabel", seed=0, empty=True):
    rng = np.random.default_rng(seed)
    X = sp.csr_array(rng.random((n, d)) * (rng.random((n, d)) < 0.5))
    if empty:
        X = sp.csr_array(sp.diags_array((np.arange(n) != 3).astype(float)) @ X)
        X.eliminate_zeros()
    Y = (X @ rng.normal(size=(d, 3)) + 0.2 * rng.normal(size=(n, 3)) > 0).astype(int)
    Y[0], Y[1] = 0, 1
    return X, {"multilabel": Y, "binary": Y[:, 0], "multiclass": np.arange(n) % 3}[kind]


def by_hand(parts, X, y, new, weights=None):
    """Slices of dense rows, each scaled to length 1 on its own, each machine fitted alone."""
    scores = []
    for columns, learner in parts:
        rows = []
        for matrix in (X, new):
            dense = matrix.toarray()[:, columns]
            lengths = np.linalg.norm(dense, axis=1, keepdims=True)
            rows.append(np.divide(dense, lengths, out=np.zeros_like(dense), where=lengths > 0))
        scores.append(clone(learner).fit(rows[0], y, weights).decision_function(rows[1]))
    return np.mean(scores, axis=0)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**31),
    st.sampled_from(["binary", "multiclass", "multilabel"]),
    st.lists(
        st.tuples(st.sets(st.integers(0, 8), min_size=1), st.sampled_from(LEARNERS)), min_size=1, max_size=3
    ),
    st.booleans(),
)
def test_is_the_mean_of_members_fitted_by_hand(seed, kind, members, weighted):
    X, y = task(kind=kind, seed=seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, X.shape[0]) if weighted else None
    parts = [(sorted(columns), learner) for columns, learner in members]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = by_hand(parts, X, y, X, weights)
        average = AverageOf(parts, n_jobs=1).fit(X, y, weights)
    np.testing.assert_allclose(
        average.decision_function(X), expected, atol=2e-4 * (1 + np.abs(expected).max())
    )
    for given_as in (X.toarray(), sp.csc_array(X)):
        np.testing.assert_allclose(
            average.decision_function(given_as), average.decision_function(X), atol=1e-9
        )
    # What the values of a row add is the score.
    scores = average.decision_function(X).reshape(X.shape[0], -1)
    for i in range(5):
        constants, values = average.score_parts(canonical_csr(X[[i]]))
        np.testing.assert_allclose(
            constants + values.sum(axis=0), scores[i], atol=1e-6 * (1 + np.abs(scores).max())
        )


def test_columns_by_name_slice_and_number_are_the_same():
    X, y = task()
    blocks = {"words": slice(0, 4), "chars": slice(4, 7), "title": [7, 9]}
    ways = [
        (["words", "title"], "chars"),
        ([0, 1, 2, 3, 7, 8], slice(4, 7)),
        (np.r_[0:4, 7:9], np.arange(4, 7)),
    ]
    found = [
        AverageOf([(a, LinearSVM()), (b, LinearSVM())], blocks=blocks).fit(X, y).decision_function(X)
        for a, b in ways
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    told = AverageOf([("words", LinearSVM())]).with_blocks({"words": slice(0, 4)}).fit(X, y)
    np.testing.assert_array_equal(
        told.decision_function(X), AverageOf([(slice(0, 4), LinearSVM())]).fit(X, y).decision_function(X)
    )


def test_members_by_default():
    X, Y = task()
    blocks = {"words": (0, 5), "chars": (5, 9)}
    sets = AverageOf(blocks=blocks).fit(X, Y)
    assert [type(member).__name__ for member in sets.members_] == ["LabelWeightedSVM", "LinearSVM"]
    assert sets.ranges_ == [[(0, 5)], [(0, 9)]]
    classes = AverageOf(blocks=blocks).fit(X, Y[:, 0])
    assert [type(member).__name__ for member in classes.members_] == ["LinearSVM", "LinearSVM"]
    assert AverageOf().fit(X, Y).ranges_ == [[(0, 9)], [(0, 9)]]
    assert len(AverageOf().fit(X, Y[:, 0]).members_) == 1
    assert AverageOf(blocks={"words": (0, 0), "chars": (0, 9)}).fit(X, Y).ranges_ == [[(0, 9)], [(0, 9)]]


def test_a_member_without_columns_is_left_out():
    X, y = task()
    blocks = {"words": (0, 9), "title": (9, 9)}
    both = AverageOf([("title", LinearSVM()), ("words", LinearSVM())], blocks=blocks).fit(X, y)
    np.testing.assert_array_equal(
        both.decision_function(X), AverageOf([(None, LinearSVM())]).fit(X, y).decision_function(X)
    )
    with pytest.raises(DataError, match="all its blocks are empty"):
        AverageOf([("title", LinearSVM())], blocks=blocks).fit(X, y)


def test_threads_do_not_matter_and_members_take_them():
    X, y = task(n=80)
    one, three = (AverageOf(n_jobs=n).fit(X, y) for n in (1, 3))
    np.testing.assert_array_equal(one.decision_function(X), three.decision_function(X))
    assert [member.n_jobs for member in three.members_] == [3, 3]


def test_weights_of_terms_are_means():
    X, y = task()
    average = AverageOf([(slice(0, 4), LinearSVM()), (None, LinearSVM())]).fit(X, y)
    first, second = average.members_
    expected = second.coef_ / 2
    expected[:, :4] += first.coef_ / 2
    np.testing.assert_allclose(average.term_weights_, expected)
    np.testing.assert_allclose(average.intercept_, (first.intercept_ + second.intercept_) / 2)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([], "expected a list of pairs"),
        ("words", "expected a list of pairs"),
        ([LinearSVM()], "expected a list of pairs"),
        ([("words", "linear-svm")], "expected a learner of widemargin"),
        ([("words", LinearSVM())], "the columns have no names"),
        ([([0, 12], LinearSVM())], "learns from column 12, but there are 9"),
        ([([-1], LinearSVM())], "learns from column -1"),
        ([(0.5, LinearSVM())], "expected names of blocks, a slice"),
    ],
)
def test_what_is_no_member(members, words):
    X, y = task()
    with pytest.raises(UsageError, match=words):
        AverageOf(members).fit(X, y)


def test_blocks_that_are_not_there():
    X, y = task()
    with pytest.raises(UsageError, match="which the vectorizer does not have"):
        AverageOf([("title", LinearSVM())], blocks={"words": slice(0, 9)}).fit(X, y)
    with pytest.raises(UsageError, match="ends at column 10, but there are 9"):
        AverageOf([("words", LinearSVM())], blocks={"words": slice(0, 10)}).fit(X, y)
    for blocks in ("words", {"words": 3}, {"words": (3, 1)}, {3: (0, 3)}):
        with pytest.raises(UsageError, match="blocks="):
            AverageOf(blocks=blocks).fit(X, y)


def test_what_cannot_be_explained_or_saved():
    X, y = task()
    average = AverageOf([(None, KernelSVM()), (None, LinearSVM())]).fit(X, y)
    with pytest.raises(UsageError, match="KernelSVM in an average has no term weights"):
        average.score_parts(canonical_csr(X[[0]]))
    assert not hasattr(average, "term_weights_")
    with pytest.raises(UsageError, match="with a NaiveBayes cannot be saved"):
        AverageOf([(None, NaiveBayes())]).fit(X, y).get_state()
    with pytest.raises(UsageError, match="Use k-fold"):
        leave_one_out(AverageOf().fit(X, y), X, y)


@pytest.fixture(scope="module")
def articles():
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for _ in range(60):
        chosen = sorted(rng.choice(list(WORDS), size=rng.integers(1, 3), replace=False).tolist())
        words = [*" ".join(WORDS[label] for label in chosen).split(), "the", "of", "and"]
        texts.append(" ".join([*rng.choice(words, size=8), f"rare{rng.integers(40)}"]))
        labels.append(chosen)
    return texts, labels


MEMBERS = [("words", LabelWeightedSVM()), (["words", "chars"], LinearSVM()), (None, LogisticRegression())]


@pytest.mark.parametrize("members", [None, MEMBERS])
@pytest.mark.parametrize("exclusive", [True, False])
def test_from_texts_to_a_model_file_and_back(articles, tmp_path, members, exclusive):
    texts, labels = articles
    labels = [sorted(each)[0] for each in labels] if exclusive else labels
    model = TextClassifier(
        Vectorizer(blocks="words,bigrams:0.5,chars:0.5"), AverageOf(members), estimate=None
    )
    model.fit(texts, labels)
    assert model.learner_.blocks["words"][1] == model.vectorizer_.blocks_["words"].stop
    path = tmp_path / "average.wm"
    model.save(path)
    for loaded in (TextClassifier.load(path), Scorer.load(path)):
        again = loaded if isinstance(loaded, TextClassifier) else None
        scores = loaded.scores(texts) if again is None else again.decision_function(texts)
        np.testing.assert_allclose(scores, model.decision_function(texts), atol=1e-9)
    loaded = TextClassifier.load(path)
    assert loaded.predict(texts) == model.predict(texts) if not exclusive else True
    for text in texts[:5]:
        explained = loaded.explain(text, "grain")
        total = explained.bias + sum(each.value for each in explained.contributions)
        assert total == pytest.approx(explained.score, abs=1e-6)
    assert loaded.top_terms("grain").positive
    # A loaded classifier can be trained again, with the same members.
    again = clone(loaded).fit(texts, labels)
    np.testing.assert_allclose(again.decision_function(texts), model.decision_function(texts), atol=1e-6)


@pytest.mark.parametrize(
    ("vectorizer", "features"),
    [
        (Vectorizer(blocks="words,bigrams"), None),
        (Vectorizer(blocks="words,bigrams", max_features=200), None),  # chosen again in every fold
        (Vectorizer(blocks="words,bigrams", min_df=0.03), None),
        (Vectorizer(blocks="words,bigrams"), SelectFeatures("chi2", 60)),
    ],
)
def test_folds_know_the_columns_of_their_blocks(articles, vectorizer, features):
    texts, labels = articles
    members = [("words", LinearSVM(**TIGHT)), ("bigrams", LinearSVM(**TIGHT))]
    model = TextClassifier(vectorizer, AverageOf(members), features=features, estimate="k-fold")
    model.fit(texts, labels)
    from widemargin.classifier.training import fit_parts

    y = Labels.of(labels)
    parts = fit_parts(vectorizer, features, AverageOf(members), texts, y)
    rows = parts.rows
    found = out_of_fold(parts.learner, rows.X, y, folds=5, rows=rows)
    fold = stratified_folds(y.signs, 5, 0)
    widths = set()
    for number in range(5):
        seen, out = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        alone = fit_parts(vectorizer, features, AverageOf(members), [texts[i] for i in seen], y.take(seen))
        new = alone.vectorizer.transform([texts[i] for i in out])
        new = new if alone.features is None else alone.features.transform(new)
        widths.add(str(alone.learner.ranges_))
        np.testing.assert_allclose(found.scores[out], alone.learner.decision_function(new), atol=1e-3)
    assert hold_out(parts.learner, rows.X, y, rows=rows).scores.shape[1] == 3
    assert len(widths) > 1, "all folds have the same columns, so this tests nothing"
