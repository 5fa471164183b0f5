"""Labels that are paths: the tree, the closure under ancestors, and paths that are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import label_trees as reference
from widemargin._stored import Stored
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.labels import Labels
from widemargin.labels.hierarchy import LabelTree
from widemargin.labels.truth import truth_of

PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4)
SEPARATORS = st.sampled_from(["/", ".", "::", " > ", "ab/"])


@st.composite
def label_sets(draw):
    separator = draw(SEPARATORS)
    parts = st.lists(st.sampled_from(["x", "y", "zz"]), min_size=1, max_size=4)
    sets = draw(st.lists(st.lists(parts, max_size=3), min_size=2, max_size=12))
    return separator, [sorted({separator.join(path) for path in paths}) for paths in sets]


@given(label_sets())
def test_a_document_has_all_ancestors_of_its_labels(drawn):
    separator, sets = drawn
    try:
        labels = Labels.of([*sets, [separator.join("xy")], []])
        tree, grown = LabelTree.grow(labels, separator)
    except DataError:
        pytest.fail("a tree of paths is refused")
    nodes = tree.nodes.tolist()
    assert tree.parents.tolist() == reference.parents(nodes, separator)
    assert tree.levels.tolist() == [
        len(reference.ancestors(j, tree.parents.tolist())) for j in range(len(nodes))
    ]
    for paths, signs in zip([*sets, [separator.join("xy")], []], grown.signs, strict=True):
        parts = [path.split(separator) for path in paths]
        expected = {separator.join(path[: i + 1]) for path in parts for i in range(len(path))}
        assert {node for node, sign in zip(nodes, signs, strict=True) if sign > 0} == expected
        own = tree.most_specific(signs[None] > 0)[0]
        specific = {p for p in paths if not any(other.startswith(p + separator) for other in paths)}
        assert {nodes[j] for j in np.flatnonzero(own)} == specific
    assert tree.documents.tolist() == np.count_nonzero(grown.signs > 0, axis=0).tolist()
    assert not tree.exclusive
    assert not tree.stops.any()


@given(st.lists(PATHS, min_size=3, max_size=12))
def test_one_path_per_document_ends_in_exactly_one_leaf(paths):
    labels = ["/".join(path) for path in [*paths, ["a", "b"], ["c"]]]
    tree, grown = LabelTree.grow(Labels.of(labels), "/")
    assert tree.exclusive
    assert (np.count_nonzero(grown.signs[:, tree.leaves] > 0, axis=1) == 1).all()
    found = tree.most_specific(grown.signs > 0)
    assert [tree.nodes[row].tolist() for row in found] == [[label] for label in labels]
    assert int(tree.own.sum()) == len(labels)
    stops = set(tree.nodes[tree.stops].tolist())
    inner = {label for label in labels if any(other.startswith(label + "/") for other in labels)}
    assert stops == {label + "/" for label in inner}


def test_two_exclusive_paths():
    tree, grown = LabelTree.grow(Labels.of(["a/x", "a/y", "a/x"]), "/")
    assert tree.nodes.tolist() == ["a", "a/x", "a/y"]
    assert grown.signs.tolist() == [[1, 1, -1], [1, -1, 1], [1, 1, -1]]


def test_unlabeled_documents_stay_unlabeled():
    tree, grown = LabelTree.grow(Labels.partial(["a/x", None, "b"]), "/")
    assert grown.unlabeled.tolist() == [False, True, False]
    assert grown.signs[1].tolist() == [0, 0, 0]
    assert tree.documents.tolist() == [1, 1, 1]


@pytest.mark.parametrize("label", ["a//b", "/a", "a/", "/", "a/b/"])
def test_empty_parts_are_refused_with_the_document(label):
    with pytest.raises(DataError, match=rf"Document d2: the label '{label}' has an empty part.*'a/b'"):
        LabelTree.grow(Labels.of(["a/x", "b", label]), "/", ["d0", "d1", "d2"])
    with pytest.raises(DataError, match=rf"Document 1: the label '{label}'"):
        LabelTree.grow(Labels.of(["a/x", label]), "/")
    with pytest.raises(DataError, match=rf"Document 1: the label '{label}'"):
        LabelTree.grow(Labels.of([["a/x"], [label, "b"]]), "/")


def test_a_label_that_ends_in_a_part_of_the_separator_is_refused():
    with pytest.raises(DataError, match=r"the label 'a:' .*part of the separator"):
        LabelTree.grow(Labels.of(["a:", "a::b", "c"]), "::")


def test_labels_that_are_not_paths_are_refused():
    with pytest.raises(DataError, match=r"None of the 2 labels \(a.b, c\) contains '/'"):
        LabelTree.grow(Labels.of(["a.b", "c"]), "/")
    with pytest.raises(DataError, match="must be strings"):
        LabelTree.grow(Labels.of([1, 2, 3]), "/")
    with pytest.raises(DataError, match="must be strings"):
        LabelTree.grow(Labels.of(np.array([[1, 0], [0, 1]])), "/")
    for separator in ("", None, 1):
        with pytest.raises(UsageError, match="label_path="):
            LabelTree.grow(Labels.of(["a/b", "c"]), separator)


def test_truth_of_unknown_labels_is_that_of_their_known_ancestors():
    tree, grown = LabelTree.grow(Labels.of([["a/x"], ["b"], []]), "/")
    with pytest.warns(DataWarning, match="1 label that the model does not know: a/new"):
        found = truth_of([("a/new",), ("a/x", "b"), ()], grown.space, tree)
    assert found.tolist() == [[1, -1, -1], [1, 1, 1], [-1, -1, -1]]
    with pytest.raises(DataError, match="'a//x' has an empty part"):
        truth_of([("a//x",)], grown.space, tree)


def test_truth_where_documents_have_one_path():
    tree, grown = LabelTree.grow(Labels.of(["a", "a/x", "b"]), "/")
    assert tree.nodes.tolist() == ["a", "a/", "a/x", "b"]
    found = truth_of([("a",), ("a/x",)], grown.space, tree)
    assert found.tolist() == [[1, 1, -1, -1], [1, -1, 1, -1]]
    with pytest.raises(DataError, match="2 documents have none or several labels"):
        truth_of([("a", "b"), ()], grown.space, tree)


@given(label_sets())
def test_a_restored_tree_is_the_same(drawn):
    separator, sets = drawn
    tree, grown = LabelTree.grow(Labels.of([*sets, [separator.join("xy")], []]), separator)
    restored = LabelTree.from_state(grown.space, Stored(*tree.get_state()))
    assert restored.separator == tree.separator
    assert restored.exclusive == tree.exclusive
    for name in ("nodes", "documents", "own", "parents", "levels", "leaves"):
        np.testing.assert_array_equal(getattr(restored, name), getattr(tree, name))


@pytest.mark.parametrize(
    ("classes", "exclusive"),
    [(["a/x", "b"], False), (["a", "a/", "b"], False), (["a", "a//", "b"], True), (["", "a"], False)],
)
def test_a_damaged_tree_is_refused(classes, exclusive):
    space = Labels.of([[label] for label in classes]).space
    counts = {name: np.ones(len(classes), dtype=np.int64) for name in ("documents", "own")}
    with pytest.raises(DataError, match="is not a node of a tree"):
        LabelTree.from_state(space, Stored({"separator": "/", "exclusive": exclusive}, counts))
    with pytest.raises(DataError, match="are not paths"):
        LabelTree.from_state(space, Stored({"separator": "", "exclusive": exclusive}, counts))
