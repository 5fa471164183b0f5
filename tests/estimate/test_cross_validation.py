"""Out-of-fold scores: each by a rule that did not see the example, whatever the learner and the labels."""

from __future__ import annotations

import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from sklearn.base import clone
from sklearn.neighbors import NearestCentroid
from sklearn.svm import LinearSVC

from widemargin import KernelSVM, LinearSVM
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate.cross_validation import hold_out, out_of_fold, stratified_folds
from widemargin.labels import Labels


class Unweighted(LinearSVM):
    """The same machine for those who know nothing of weights."""

    def fit(self, X, y):
        return super().fit(X, y)


def problem(n=60, d=8, labels=3, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d))
    weights = generator.normal(size=(d, labels))
    return X, (X @ weights + generator.normal(size=(n, labels)) > 0.5).astype(int)


EXACT = {"tol": 1e-8, "max_iter": 10**6}
# Such a gap, of an objective near 20, lets the weights move by sqrt(2 * 2e-7), over documents of length 3.
CLOSE = 2e-3
LEARNERS = [
    LinearSVM(C=1.0, **EXACT),
    LinearSVM(C=1.0, **EXACT, sparse_coef=True),
    LinearSVM(C=1.0, loss="squared_hinge", **EXACT),
    LinearSVM(C=1.0, bias="unregularized", **EXACT),
    LinearSVM(C=1.0, bias=None, **EXACT, class_weight="balanced"),
    KernelSVM(C=1.0, kernel="rbf", gamma=0.1, **EXACT),
    KernelSVM(C=1.0, kernel="rbf", gamma=0.1, **EXACT, bias="stabilized"),
]


@pytest.mark.parametrize("fitted", [False, True], ids=["cold", "warm"])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_every_score_is_that_of_a_rule_learned_on_the_other_folds(learner, fitted):
    X, Y = problem()
    learner = clone(learner)
    found = out_of_fold(learner.fit(X, Y) if fitted else learner, X, Y, folds=4)
    for number in range(4):
        out = found.fold == number
        expected = clone(learner).fit(X[~out], Y[~out]).decision_function(X[out])
        np.testing.assert_allclose(found.scores[out], expected, atol=CLOSE)
    np.testing.assert_array_equal(found.signs, np.where(found.scores > 0, 1, -1))
    np.testing.assert_array_equal(found.truth, np.where(Y > 0, 1, -1))
    assert np.all(found.table.n == len(Y))


def test_a_fitted_learner_does_not_change():
    X, Y = problem()
    learner = LinearSVM(max_iter=10**5).fit(X, Y)
    before = learner.alpha_.copy()
    out_of_fold(learner, X, Y, folds=3)
    np.testing.assert_array_equal(learner.alpha_, before)
    assert not learner.warm_start


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel", "sets"])
def test_learners_without_weights_train_on_the_rest(kind):
    X, Y = problem()
    y = {
        "binary": np.array(["no", "yes"])[Y[:, 0]],
        "multiclass": np.array(["a", "b", "c"])[(X[:, :3] + 0.5 * Y).argmax(axis=1)],
        "multilabel": Y,
        "sets": [tuple(np.array(["x", "y", "z"])[row > 0]) for row in Y],
    }[kind]
    ours, theirs = (out_of_fold(cls(**EXACT), X, y, folds=5) for cls in (LinearSVM, Unweighted))
    np.testing.assert_array_equal(ours.fold, theirs.fold)
    np.testing.assert_allclose(ours.scores, theirs.scores, atol=CLOSE)
    with pytest.raises(UsageError, match="does not accept sample_weight"):
        out_of_fold(Unweighted(), X, y, sample_weight=np.ones(len(X)))


def test_learners_of_scikit_learn():
    X, Y = problem()
    y = np.array(["a", "b", "c"])[(X[:, :3] + 0.5 * Y).argmax(axis=1)]
    for learner in (LinearSVC(), NearestCentroid()):
        found = out_of_fold(learner, sp.csr_array(X), y, folds=3)
        classes = np.unique(y)
        assert np.mean(classes[found.scores.argmax(axis=1)] == y) > 0.6


def test_sample_weights_multiply_costs():
    X, Y = problem()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    learner = LinearSVM(**EXACT)
    found = out_of_fold(learner, X, Y, folds=3, sample_weight=weights)
    out = found.fold == 1
    expected = clone(learner).fit(X[~out], Y[~out], weights[~out]).decision_function(X[out])
    np.testing.assert_allclose(found.scores[out], expected, atol=CLOSE)
    assert not np.allclose(found.scores, out_of_fold(learner, X, Y, folds=3).scores, atol=CLOSE)


def test_a_kernel_matrix_is_cut_in_rows():
    X, Y = problem()
    linear = out_of_fold(KernelSVM(kernel="linear", **EXACT), X, Y, folds=3)
    gram = out_of_fold(KernelSVM(kernel="precomputed", **EXACT), X @ X.T, Y, folds=3)
    np.testing.assert_allclose(linear.scores, gram.scores, atol=CLOSE)


@given(
    st.integers(2, 60).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=n, max_size=n),
            st.integers(2, min(n, 10)),
            st.integers(0, 5),
        )
    )
)
def test_folds_are_of_equal_size_where_one_label_rules_and_never_empty(case):
    rows, folds, seed = case
    truth = np.where(np.array(rows), 1, -1).astype(np.int8)
    fold = stratified_folds(truth[:, :1], folds, seed)
    sizes = np.bincount(fold, minlength=folds)
    assert sizes.max() - sizes.min() <= 1
    for sign in (1, -1):
        counts = np.bincount(fold[truth[:, 0] == sign], minlength=folds)
        assert counts.max() - counts.min() <= (1 if np.sum(truth[:, 0] == sign) * 2 <= len(truth) else 2)
    many = stratified_folds(truth, folds, seed)
    assert (np.bincount(many, minlength=folds) > 0).all()
    rarer = np.minimum((truth > 0).sum(axis=0), (truth < 0).sum(axis=0))
    first = int(np.argmin(rarer))
    side = 1 if (truth[:, first] > 0).sum() * 2 <= len(truth) else -1
    counts = np.bincount(many[truth[:, first] == side], minlength=folds)
    assert counts.max() - counts.min() <= 1, "the rarest label is divided evenly"


def test_the_same_seed_gives_the_same_folds_and_another_seed_others():
    truth = Labels.of(problem()[1]).signs
    np.testing.assert_array_equal(stratified_folds(truth, 5, 3), stratified_folds(truth, 5, 3))
    assert (stratified_folds(truth, 5, 3) != stratified_folds(truth, 5, 4)).any()


class TestTooLittle:
    def test_fewer_examples_than_folds(self):
        X, _ = problem(n=6)
        with pytest.warns(DataWarning, match="6 examples for 10 folds"):
            found = out_of_fold(LinearSVM(), X, [0, 1, 0, 1, 0, 1])
        assert found.folds == 6
        assert sorted(found.fold) == list(range(6))

    def test_a_label_with_one_example_or_none(self):
        X, Y = problem()
        Y[:, 1] = 0
        Y[7, 1] = 1
        Y[:, 2] = 0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = out_of_fold(LinearSVM(), X, Y, folds=5)
        said = " ".join(str(warning.message) for warning in caught)
        assert "1 of 3 labels (2) have no example" in said
        assert "1 of 3 labels (1) have one example" in said
        assert np.isfinite(found.scores).all()
        assert found.signs[7, 1] == -1
        assert (found.signs[:, 2] == -1).all()

    @pytest.mark.parametrize("learner", [LinearSVM(), Unweighted(), KernelSVM()], ids=str)
    def test_a_class_of_one_example_is_missed(self, learner):
        X, _ = problem()
        y = np.array(["many"] * (len(X) - 1) + ["single"])
        with pytest.warns(DataWarning, match="'single'.* one example"):
            found = out_of_fold(learner, X, y, folds=5)
        assert found.signs[-1, 0] == -1
        y[:20] = "some"
        with pytest.warns(DataWarning, match="'single'.* one example"):
            found = out_of_fold(learner, X, y, folds=5)
        assert np.isfinite(found.scores).all()
        assert np.unique(y)[found.scores[-1].argmax()] != "single"

    def test_what_makes_no_sense_is_refused(self):
        X, Y = problem()
        with pytest.raises(UsageError, match="folds=1"):
            out_of_fold(LinearSVM(), X, Y, folds=1)
        with pytest.raises(DataError, match="59 documents and 60 labels"):
            out_of_fold(LinearSVM(), X[1:], Y)


@pytest.mark.parametrize("learner", [LinearSVM(**EXACT), Unweighted(**EXACT)], ids=["weighted", "unweighted"])
def test_hold_out_scores_a_fifth_by_the_rule_of_the_others(learner):
    X, Y = problem(n=100)
    found = hold_out(learner, X, Y)
    assert found.method == "hold-out"
    assert len(found.documents) == 20
    assert found.folds is None
    seen = np.setdiff1d(np.arange(100), found.documents)
    expected = clone(learner).fit(X[seen], Y[seen]).decision_function(X[found.documents])
    np.testing.assert_allclose(found.scores, expected, atol=CLOSE)
    np.testing.assert_array_equal(found.truth, np.where(Y[found.documents], 1, -1))
    assert hold_out(learner, X, Y, random_state=1).documents.tolist() != found.documents.tolist()
    with pytest.raises(UsageError, match=r"share=0\.9"):
        hold_out(learner, X, Y, share=0.9)


def test_hold_out_errors_are_those_of_the_smaller_sample_and_vary_as_bounded():
    """(5.7) is unbiased for the rule of the other examples, with a variance of at most 1 / (4k) (5.9)."""

    def draw(n, generator):
        X = generator.normal(size=(n, 4))
        return X, np.where(X[:, 0] + X[:, 1] > 0, 1, -1)

    errors, true_errors = [], []
    new_X, new_y = draw(4000, np.random.default_rng(10**6))
    for seed in range(60):
        generator = np.random.default_rng(seed)
        X, y = draw(80, generator)
        y[generator.random(80) < 0.1] *= -1
        found = hold_out(LinearSVM(), X, y, random_state=seed)
        errors.append(np.mean(found.signs != found.truth))
        rule = LinearSVM().fit(np.delete(X, found.documents, 0), np.delete(y, found.documents))
        true_errors.append(0.1 + 0.8 * np.mean(rule.predict(new_X) != new_y))
    off = np.array(errors) - np.array(true_errors)
    assert abs(off.mean()) < 3 * off.std() / np.sqrt(len(off))
    assert np.mean(off**2) <= 1 / (4 * 16)
