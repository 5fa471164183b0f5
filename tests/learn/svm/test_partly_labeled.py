"""An indicator matrix with labels in some columns of a row: every column is a task of its own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin import KernelSVM, TransductiveSVM
from widemargin.errors import DataError, DataWarning

OF_A_COLUMN = ("scores_", "inductive_", "alpha_", "xi_")


@st.composite
def partly_labeled(draw):
    """Documents without negative values, and an indicator whose columns have labels at different places."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, n_columns = draw(st.integers(10, 30)), draw(st.integers(2, 4))
    X = rng.random((n, 17))
    Y = (X[:, :n_columns] + 0.3 * rng.standard_normal((n, n_columns)) > 0.5).astype(float)
    for column in range(n_columns):
        known = rng.random(n) < draw(st.sampled_from([0.2, 0.5, 1.0]))
        known[:2] = True
        Y[:2, column] = [0, 1]
        Y[~known, column] = np.nan
    shuffled = rng.permutation(n)
    return X[shuffled], Y[shuffled]


def fit(X, Y, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Every document is labeled", DataWarning)
        return TransductiveSVM(**{"C": 3.0, "on_alarm": "ignore", **options}).fit(X, Y)


@given(
    partly_labeled(),
    st.fixed_dictionaries(
        {
            "C_unlabeled": st.sampled_from([None, 2.0]),
            "kernel": st.sampled_from(["linear", "rbf"]),
            "class_weight": st.sampled_from([None, "balanced"]),
            "on_alarm": st.sampled_from(["ignore", "inductive"]),
            "alarm_level": st.sampled_from([0.01, 0.5]),
        }
    ),
)
@settings(max_examples=40)
def test_every_column_is_as_alone(task, options):
    X, Y = task
    together = fit(X, Y, **options)
    assert np.array_equal(together.unlabeled_, np.isnan(Y))
    for column in range(Y.shape[1]):
        alone = fit(X, Y[:, column], positives="labeled", **options)
        for name in OF_A_COLUMN:
            assert np.array_equal(getattr(together, name)[:, column], getattr(alone, name)[:, 0]), name
        assert np.array_equal(together.transduction_[:, column], alone.transduction_)
        assert together.positives_[column] == alone.positives_[0]
        assert together.levels_[column] == alone.levels_[0]
        assert together.alarm_[column] == alone.alarm_[0]
        assert together.fell_back_[column] == alone.fell_back_[0]
        assert together.intercept_[column] == alone.intercept_[0]
        if options["kernel"] == "linear":
            assert np.array_equal(together.coef_[column], alone.coef_[0])
    # A kernel's rule adds up the support vectors of all columns, in another order than alone.
    assert together.decision_function(X) == pytest.approx(together.scores_, rel=1e-9, abs=1e-9)


@given(partly_labeled(), st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_the_order_of_documents_does_not_matter(task, random):
    X, Y = task
    X[3:8] = X[2]  # the same document with different labels
    order = random.sample(range(len(X)), len(X))
    model, other = fit(X, Y), fit(X[order], Y[order])
    assert np.array_equal(model.coef_, other.coef_)
    assert np.array_equal(model.intercept_, other.intercept_)
    assert np.array_equal(model.unlabeled_[order], other.unlabeled_)
    # Twins may trade places, and their scores are added up in different orders.
    assert model.scores_[order] == pytest.approx(other.scores_, rel=1e-9, abs=1e-9)


def example():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    Y = (X[:, :3] > 0.2).astype(float)
    Y[:2] = [[0, 1, 0], [1, 0, 1]]
    Y[8:, 0] = np.nan
    Y[2:20, 1] = np.nan
    return X, Y


def test_given_labels_are_kept_and_the_others_are_as_many_as_asked_for():
    X, Y = example()
    model = fit(X, Y, positives={0: 9, 1: 0.5})
    known = ~np.isnan(Y)
    assert np.array_equal(model.transduction_[known], Y[known])
    assert model.positives_.tolist() == [9, 9, 0]
    assert [int(model.transduction_[~known[:, column], column].sum()) for column in range(3)] == [9, 9, 0]
    shares = [Y[known[:, column], column].mean() for column in range(2)]
    assert fit(X, Y).positives_[:2].tolist() == [round(shares[0] * 32), round(shares[1] * 18)]


def test_a_column_with_all_its_labels_is_the_inductive_machine():
    X, Y = example()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # others have something to be labeled
        model = TransductiveSVM(2.0, tol=1e-8, on_alarm="ignore").fit(X, Y)
    inductive = KernelSVM(2.0, kernel="linear", tol=1e-8).fit(X, Y[:, 2])
    assert model.scores_[:, 2] == pytest.approx(inductive.decision_function(X), abs=1e-6)
    assert [alarm is None for alarm in model.alarm_] == [False, False, True]
    assert model.levels_[2] == []
    with pytest.warns(DataWarning, match="Every document is labeled"):
        everything = TransductiveSVM().fit(X, np.where(np.isnan(Y), 0, Y))
    assert everything.unlabeled_.shape == (40, 3)
    assert not everything.unlabeled_.any()


def test_other_forms_and_marks_give_the_same_answer():
    X, Y = example()
    expected = fit(X, Y)
    minus = np.where(np.isnan(Y), -1, Y).astype(int)
    nothing = np.where(np.isnan(Y), None, Y)
    forms = [(Y.tolist(), None), (sp.csr_array(Y), None), (sp.csc_array(minus), -1), (minus, -1)]
    forms += [(minus.tolist(), -1), (nothing, None), (nothing.tolist(), None)]
    for form, unlabeled in forms:
        model = fit(X, form, unlabeled=unlabeled)
        assert np.array_equal(model.scores_, expected.scores_)
        assert np.array_equal(model.unlabeled_, expected.unlabeled_)
        found = model.transduction_.toarray() if sp.issparse(form) else model.transduction_
        assert np.array_equal(found, expected.transduction_)
    assert np.isnan(forms[1][0].data).any()  # what was passed is left as it was


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([1, 1, np.nan, np.nan], "no negative labeled document of 1"),
        ([np.nan, 0, 0, np.nan], "no positive labeled document of 1"),
        ([np.nan] * 4, "no positive labeled document of 1"),
    ],
)
def test_a_column_needs_labels_on_both_sides(column, message):
    Y = np.column_stack([[1, 0, 1, np.nan], column])
    with pytest.raises(DataError, match=message):
        TransductiveSVM().fit(np.eye(4), Y)
