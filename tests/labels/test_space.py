"""Labels in every form <-> columns of signs."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import DataConversionWarning
from sklearn.preprocessing import MultiLabelBinarizer

from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels, LabelSpace


def stored(space: LabelSpace) -> LabelSpace:
    return LabelSpace.from_dict(json.loads(json.dumps(space.to_dict())))


ONE_A_ROW = {
    "strings": ["spam", "ham", "spam"],
    "tuple of strings": ("spam", "ham", "spam"),
    "array of strings": np.array(["spam", "ham", "spam"]),
    "object strings": np.array(["spam", "ham", "spam"], dtype=object),
    "integers": [3, -1, 3],
    "small unsigned": np.array([3, 1, 3], dtype=np.uint8),
    "whole floats": [1.0, 0.0, 1.0],
    "booleans": [True, False, True],
    "object integers": np.array([3, 1, 3], dtype=object),
    "numpy scalars": [np.int64(3), np.int64(1), np.int64(3)],
}


@pytest.mark.parametrize("y", ONE_A_ROW.values(), ids=ONE_A_ROW.keys())
def test_two_classes_make_one_column_with_plus_for_the_larger(y):
    space, signs = Labels.of(y).space_and_signs
    assert space.kind == "binary"
    assert space.n_columns == 1
    assert signs.dtype == np.int8
    assert signs.flags.f_contiguous
    np.testing.assert_array_equal(signs, [[1], [-1], [1]])
    np.testing.assert_array_equal(space.classes, np.unique(np.asarray(y)))
    np.testing.assert_array_equal(space.column_names, [max(y)])
    for same in (space, stored(space)):
        decided = same.decide(np.array([0.5, -0.5, 1e-9]))
        assert decided.dtype == space.classes.dtype
        np.testing.assert_array_equal(decided, np.asarray(y))
        np.testing.assert_array_equal(same.encode(y), signs)


def test_a_score_of_zero_is_negative():
    space = Labels.of([0, 1]).space
    assert space.decide(np.array([0.0])).tolist() == [0]


@pytest.mark.parametrize("y", [["b", "a", "c", "a"], [2, 1, 3, 1], [2.0, 1.0, 3.0, 1.0]])
def test_three_classes_make_a_column_each_and_the_arg_max_decides(y):
    space, signs = Labels.of(y).space_and_signs
    assert space.kind == "multiclass"
    np.testing.assert_array_equal(signs, [[-1, 1, -1], [1, -1, -1], [-1, -1, 1], [1, -1, -1]])
    assert signs.flags.f_contiguous
    assert space.decide(signs - 10.0).tolist() == y
    assert type(space.decide(signs).tolist()[0]) is type(y[0])


@pytest.mark.parametrize("container", [list, tuple, set, frozenset])
def test_label_sets(container):
    y = [container(["wheat", "grain"]), container([]), container(["corn"])]
    space, signs = Labels.of(y).space_and_signs
    assert (space.kind, space.indicator) == ("multilabel", False)
    assert space.classes.tolist() == ["corn", "grain", "wheat"]
    np.testing.assert_array_equal(signs, [[-1, 1, 1], [-1, -1, -1], [1, -1, -1]])
    assert space.decide(signs * 0.1) == [("grain", "wheat"), (), ("corn",)]
    assert stored(space).decide(signs * 0.1) == [("grain", "wheat"), (), ("corn",)]
    np.testing.assert_array_equal(space.encode(y), signs)


def test_label_sets_with_one_label_keep_their_column_two_dimensional():
    space, signs = Labels.of([["spam"], [], ["spam"]]).space_and_signs
    assert (space.kind, signs.shape) == ("multilabel", (3, 1))
    assert space.decide(np.array([1.0, -1.0])) == [("spam",), ()]


def test_equally_long_string_sets_are_no_matrix():
    space = Labels.of([("a", "b"), ("c", "d")]).space
    assert space.classes.tolist() == ["a", "b", "c", "d"]


def test_ragged_integers_are_label_sets():
    space, signs = Labels.of([[7, 9], [9], []]).space_and_signs
    assert space.decide(signs) == [(7, 9), (9,), ()]
    # Once the space is known, a rectangle is still label sets.
    np.testing.assert_array_equal(space.encode([[7], [9]]), [[1, -1], [-1, 1]])


def test_object_array_and_duplicates_in_label_sets():
    y = np.empty(2, dtype=object)
    y[:] = [["a", "a"], ["b"]]
    np.testing.assert_array_equal(Labels.of(y).signs, [[1, -1], [-1, 1]])


INDICATOR = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]])
INDICATORS = {
    "array": INDICATOR,
    "booleans": INDICATOR.astype(bool),
    "floats": INDICATOR.astype(np.float32),
    "rows of numbers": INDICATOR.tolist(),
    "rows of arrays": list(INDICATOR),
    "tuples": tuple(map(tuple, INDICATOR.tolist())),
    "csr": sp.csr_array(INDICATOR),
    "csc matrix": sp.csc_matrix(INDICATOR),
    "object": INDICATOR.astype(object),
}


@pytest.mark.parametrize("y", INDICATORS.values(), ids=INDICATORS.keys())
def test_indicator_keeps_an_empty_column_and_its_form(y):
    space, signs = Labels.of(y).space_and_signs
    assert (space.kind, space.indicator) == ("multilabel", True)
    np.testing.assert_array_equal(signs, 2 * INDICATOR - 1)
    assert signs.flags.f_contiguous
    for same in (space, stored(space)):
        decided = same.decide(signs * 0.5)
        assert sp.issparse(decided) == sp.issparse(y)
        assert decided.dtype == getattr(y, "dtype", np.int64) or y is INDICATORS["object"]
        np.testing.assert_array_equal(decided.toarray() if sp.issparse(decided) else decided, INDICATOR)
        np.testing.assert_array_equal(same.encode(y), signs)


def test_a_sparse_indicator_with_explicit_zeros():
    y = sp.csr_array((np.array([1, 0, 1]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    np.testing.assert_array_equal(Labels.of(y).signs, [[1, -1], [-1, 1]])


def test_column_vector_is_flattened_with_scikit_learns_warning():
    for y in (np.array([[1], [0], [1]]), np.array([["a"], ["b"], ["b"]], dtype=object)):
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            space, signs = Labels.of(y).space_and_signs
        assert (space.kind, signs.shape) == ("binary", (3, 1))


BAD = {
    "none": (None, "requires y to be passed, but the target y is None"),
    "scalar": (3, "Expected one label"),
    "string": ("spam", "Expected one label"),
    "empty": ([], "no class to learn"),
    "one class": (["a", "a"], "of one class, 'a'.*second class"),
    "one integer": (np.ones(10), "one class"),
    "nan": (np.full(3, np.nan), "Input y contains NaN"),
    "inf": (np.full(3, np.inf), "Input y contains infinity or a value too large"),
    "continuous": ([0.5, 1.0], "Unknown label type: continuous.*0.5"),
    "continuous rows": ([[0.5, 1.0], [0.0, 1.0]], "Unknown label type: continuous-multioutput"),
    "multioutput": (np.array([[1, 2], [3, 4]]), "Unknown label type: multiclass-multioutput"),
    "signs": (np.array([[1, -1], [-1, 1]]), r"holds -1 beside 0 and 1.*\(y > 0\)"),
    "string matrix": (np.array([["a", "b"], ["c", "d"]]), "multiclass-multioutput"),
    "three dimensions": (np.zeros((2, 2, 2)), "3 dimensions"),
    "bytes": (np.array([b"a", b"b"]), "bytes"),
    "bytes in sets": ([[b"a"], []], "bytes"),
    "mixed": (["a", 1], "type int, str"),
    "mixed sets": ([["a"], [1]], "type int, str"),
    "objects": (np.array([object(), object()]), "Unknown label type"),
    "dates": (np.array(["2000-01-01", "2001-01-01"], dtype="datetime64[D]"), "Unknown label type"),
    "complex": (np.array([1j, 2j]), "Unknown label type"),
    "unlabeled": (["a", None, "b"], "row 1 has no label"),
    "nan among strings": (["a", np.nan, "b"], "row 1 has no label"),
    "unlabeled set": ([["a"], None], r"Row 1 of y has no label \(None\)"),
    "half sets": ([["a"], "b"], "Row 1 of y has 'b' where others have label sets"),
    "nested": ([[["a"]], [["b"]], [[]]], "not a label"),
    "none in a set": ([["a", None], ["b"]], "NoneType"),
    "no labels": ([[], []], "no class"),
    "all everywhere": ([["a"], ["a"]], "no class"),
    "empty columns": (np.zeros((3, 2), dtype=int), "no class"),
    "no columns": (np.zeros((3, 0), dtype=int), "no class"),
}


@pytest.mark.parametrize(("y", "message"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_learned_says_so(y, message):
    with pytest.raises(DataError, match=message):
        Labels.of(y)


def test_unknown_labels():
    space = Labels.of(["a", "b", "c"]).space
    with pytest.raises(DataError, match=r"'x', 'y' are not among the 3 labels of the task: 'a', 'b', 'c'"):
        space.encode(["a", "y", "x"])
    np.testing.assert_array_equal(space.encode(["c", "x"], unknown="ignore"), [[-1, -1, 1], [-1, -1, -1]])
    sets = Labels.of([["a"], ["b"]]).space
    np.testing.assert_array_equal(sets.encode([["b", "x"], []], unknown="ignore"), [[-1, 1], [-1, -1]])
    with pytest.raises(DataError, match="'x' is not"):
        sets.encode([["b", "x"]])
    two = Labels.of(["a", "b"]).space
    with pytest.raises(DataError, match="'x' is not among the 2 labels"):
        two.encode(["x"], unknown="ignore")
    with pytest.raises(UsageError, match="skip"):
        space.encode(["a"], unknown="skip")


def test_encode_takes_fewer_classes_than_training():
    space = Labels.of(["a", "b", "c"]).space
    np.testing.assert_array_equal(space.encode(np.array(["b"])), [[-1, 1, -1]])
    assert space.encode([]).shape == (0, 3)
    sets = Labels.of([["a"], ["b"]]).space
    assert sets.encode([]).shape == (0, 2)
    np.testing.assert_array_equal(sets.encode([[], []]), -np.ones((2, 2)))
    np.testing.assert_array_equal(sets.encode(np.array([[0, 1]])), [[-1, 1]])


def test_encode_refuses_another_form():
    flat = Labels.of(["a", "b", "c"]).space
    sets = Labels.of([["a"], ["b"]]).space
    indicator = Labels.of(INDICATOR).space
    with pytest.raises(DataError, match="label sets, but the task is multiclass"):
        flat.encode([["a"]])
    with pytest.raises(DataError, match="one label per row, but the task is multilabel"):
        sets.encode(["a"])
    with pytest.raises(DataError, match=r"shape \(1, 2\); the task has 3 labels"):
        indicator.encode([[0, 1]])


def test_decide_refuses_the_wrong_number_of_columns():
    space = Labels.of(["a", "b", "c"]).space
    with pytest.raises(UsageError, match=r"\(2, 2\); expected \(n, 3\)"):
        space.decide(np.zeros((2, 2)))


def test_spaces_compare_by_content():
    one, two, other = (Labels.of(y).space for y in (["a", "b"], ["b", "a"], ["a", "c"]))
    assert one == two
    assert one != other
    assert one != "binary"


@pytest.mark.parametrize("y", [["a", "b"], [1, 2], [True, False], [1.0, 2.0]])
def test_stored_classes_keep_their_type(y):
    space = Labels.of(y).space
    back = stored(space)
    assert back.classes.dtype == space.classes.dtype
    assert [type(label) for label in back.classes.tolist()] == [type(y[0])] * 2


def test_long_labels_are_not_padded():
    y = ["x" * 10_000, "a", "b"] * 20_000
    space, signs = Labels.of(y).space_and_signs
    assert space.classes.dtype == object
    assert space.decide(signs).tolist() == y
    assert stored(space) == space


def test_a_hundred_thousand_label_sets_of_a_thousand_labels():
    rng = np.random.default_rng(0)
    names = [f"label{i:04d}" for i in range(1000)]
    y = [[names[j] for j in row] for row in rng.integers(0, 1000, size=(100_000, 4)).tolist()]
    space, signs = Labels.of(y).space_and_signs
    decided = space.decide(signs)
    assert decided[:100] == [tuple(sorted(set(labels))) for labels in y[:100]]


label_sets = st.lists(st.sets(st.text(max_size=3), max_size=4), min_size=1, max_size=20)


@given(label_sets)
def test_label_sets_agree_with_scikit_learn(y):
    binarizer = MultiLabelBinarizer()
    expected = binarizer.fit_transform(y)
    positives = expected.sum(axis=0)
    if not ((positives > 0) & (positives < len(y))).any():
        with pytest.raises(DataError, match="no class"):
            Labels.of(y)
        return
    space, signs = Labels.of(y).space_and_signs
    assert space.classes.tolist() == list(binarizer.classes_)
    np.testing.assert_array_equal(signs > 0, expected > 0)
    assert [set(labels) for labels in space.decide(signs)] == y


@given(hnp.arrays(np.int64, st.integers(1, 30), elements=st.integers(-3, 3)))
def test_one_label_a_row_round_trips(y):
    if len(set(y.tolist())) < 2:
        with pytest.raises(DataError, match="one class"):
            Labels.of(y)
        return
    space, signs = Labels.of(y).space_and_signs
    np.testing.assert_array_equal(space.decide(signs), y)
    np.testing.assert_array_equal(space.encode(y), signs)


@given(
    st.sampled_from([np.int8, np.int64, np.bool_]).flatmap(
        lambda kind: hnp.arrays(
            kind, st.integers(3, 30), elements=st.integers(0, 1) if kind == np.bool_ else None
        )
    )
)
def test_whole_numbers_are_the_classes_that_sorting_finds(y):
    expected, codes = np.unique(y, return_inverse=True)
    if len(expected) < 2:
        return
    space, signs = Labels.of(y).space_and_signs
    np.testing.assert_array_equal(space.classes, expected)
    assert space.classes.dtype == y.dtype
    positive = signs[:, 0] > 0 if space.kind == "binary" else signs.argmax(axis=1)
    np.testing.assert_array_equal(positive.astype(int), codes)
