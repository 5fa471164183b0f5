"""`y` is read once, and taken as it is afterwards."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from widemargin import KernelSVM, LinearSVM, RegularizedLeastSquares, Rocchio, SelectFeatures
from widemargin.errors import DataError
from widemargin.labels import Labels, labeled_rows

FORMS = {
    "binary": ["ham", "spam", "ham", "spam"],
    "multiclass": ["c", "a", "b", "a"],
    "numbers": np.array([3, 1, 3, 2]),
    "label sets": [("a",), (), ("a", "b"), ("b",)],
    "indicator": np.array([[1, 0], [0, 1], [1, 1], [0, 0]]),
    "sparse": sp.csr_array(np.array([[1, 0], [0, 1], [1, 1], [0, 0]])),
}
X = np.array([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1], [0.9, 0.1, 0.0], [0.2, 0.8, 1.0]])


@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS.keys())
def test_labels_stand_for_what_they_were_read_from(y):
    labels = Labels.of(y)
    assert Labels.of(labels) is labels
    assert Labels.partial(labels) is labels
    assert Labels.of(labels, space=labels.space) is labels
    assert len(labels) == 4
    again = Labels.of(np.asarray(labels))
    np.testing.assert_array_equal(again.signs, labels.signs)
    assert again.space.classes.tolist() == labels.space.classes.tolist()


@pytest.mark.parametrize("learner", [LinearSVM(), KernelSVM(), RegularizedLeastSquares(), Rocchio()])
@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS.keys())
def test_learners_take_labels_like_any_y(learner, y):
    scores = learner.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(learner.fit(X, Labels.of(y)).decision_function(X), scores)


def test_selections_and_learners_of_scikit_learn_take_labels():
    y = FORMS["binary"]
    selected = SelectFeatures(n_features=2).fit(X, Labels.of(y)).get_support()
    np.testing.assert_array_equal(selected, SelectFeatures(n_features=2).fit(X, y).get_support())
    assert LogisticRegression().fit(X, Labels.of(y)).predict(X).tolist() == y


def test_some_documents_keep_the_space():
    labels = Labels.of(["a", "b", "c", "a"])
    for rows in (np.array([0, 3]), np.array([True, False, False, True])):
        some = labels.take(rows)
        assert some.space is labels.space
        assert some.signs.flags.f_contiguous
        assert np.asarray(some).tolist() == ["a", "a"]


PARTIAL = {
    "strings": (["ham", None, "spam"], None),
    "nan": ([1.0, np.nan, 2.0], None),
    "array": (np.array([1.0, np.nan, 2.0]), None),
    "objects": (np.array(["ham", None, "spam"], dtype=object), None),
    "mark": ([1, -1, 2], -1),
    "mark in an array": (np.array([1, -1, 2]), -1),
    "none beside a mark": ([1, None, 2], -1),
    "word": (["ham", "?", "spam"], "?"),
    "label sets": ([["a"], None, []], None),
}


@pytest.mark.parametrize(("y", "mark"), PARTIAL.values(), ids=PARTIAL.keys())
def test_unlabeled_rows(y, mark):
    labels = Labels.partial(y, mark)
    assert labels.unlabeled.tolist() == [False, True, False]
    assert labels.signs[1].tolist() == [0]
    assert labeled_rows(y, mark) == [0, 2]
    known = labels.take(~labels.unlabeled)
    assert known.marked is None
    assert Labels.of(known) is known
    with pytest.raises(DataError, match="Drop unlabeled rows"):
        Labels.of(labels)
    with pytest.raises(DataError, match="Drop unlabeled rows"):
        LinearSVM().fit(X[:3], labels)


def test_unlabeled_cells():
    y = np.array([[1, np.nan], [0, 1], [np.nan, np.nan], [1, 0]])
    for matrix in (y, y.tolist(), sp.csr_array(y)):
        labels = Labels.partial(matrix)
        assert labels.unlabeled.tolist() == [False, False, True, False]
        assert labels.signs.tolist() == [[1, 0], [-1, 1], [0, 0], [1, -1]]
    with pytest.raises(DataError, match="indicator matrices hold"):
        Labels.partial(np.array([[1, 0], [0, 1]]), 0)


def test_hidden_labels_are_unlabeled():
    labels = Labels.of(["a", "b", "a"]).hide(np.array([False, False, True]))
    assert labels.unlabeled.tolist() == [False, False, True]
    assert labels.signs.ravel().tolist() == [-1, 1, 0]
    cells = Labels.of(np.array([[1, 0], [0, 1]])).hide(np.array([True, False]))
    assert cells.marked.tolist() == [[True, True], [False, False]]


def test_what_is_wrong_is_said():
    with pytest.raises(DataError, match="There are 2 documents and 3 labels"):
        Labels.of(["a", "b", "a"], 2)
    with pytest.raises(DataError, match="There are 2 documents and 3 labels"):
        Labels.of(Labels.of(["a", "b", "a"]), 2)
    with pytest.raises(DataError, match="None of the 2 documents has a label"):
        Labels.partial([None, None])
    with pytest.raises(DataError, match="'c' is not among the 2 labels"):
        Labels.of(["c"], space=Labels.of(["a", "b"]).space)


def test_labels_of_another_space_are_read_again():
    space = Labels.of(["a", "b", "c"]).space
    labels = Labels.of(Labels.of(["a", "b"]), space=space)
    assert labels.signs.tolist() == [[1, -1, -1], [-1, 1, -1]]


def test_documents_with_one_label_each_are_of_classes():
    sets = [("ham",), ("spam",), None]
    assert Labels.of_documents(sets).space.kind == "binary"
    assert Labels.of_documents(sets, multilabel=True).space.kind == "multilabel"
    assert Labels.of_documents([*sets, ()]).space.kind == "multilabel"
