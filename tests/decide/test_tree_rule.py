"""Decisions in a label hierarchy are consistent, and those that try all sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import label_trees as reference
from widemargin.decide.calibration import fit_calibration
from widemargin.decide.goals import Goal
from widemargin.decide.rule import DecisionRule
from widemargin.decide.tree_rule import RULES, TreeRule
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.labels import Labels
from widemargin.labels.hierarchy import LabelTree
from widemargin.measure.contingency import contingency, precision, recall

NAMES = RULES[1:]
MARGINS = st.floats(-2, 2, width=32)


@st.composite
def trees(draw, exclusive):
    """A tree of at most nine nodes, and scores of five documents."""
    parts = st.lists(st.sampled_from("xyz"), min_size=1, max_size=3)
    paths = draw(st.lists(parts, min_size=1, max_size=3))
    labels = ["/".join(path) for path in paths] + ["v/w", "q"]
    y = labels if exclusive else [[label] for label in labels] + [[]]
    tree, _ = LabelTree.grow(Labels.of(y), "/")
    row = st.lists(MARGINS, min_size=len(tree.nodes), max_size=len(tree.nodes))
    return tree, np.array(draw(st.lists(row, min_size=1, max_size=5)))


def sets_of(signs):
    return [frozenset(np.flatnonzero(row > 0).tolist()) for row in signs]


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_decisions_are_closed_under_ancestors(exclusive, name, data):
    tree, scores = data.draw(trees(exclusive))
    thresholds = None
    if not exclusive:
        limits = st.sampled_from([-np.inf, -0.5, 0.0, 0.5, np.inf])
        size = len(tree.nodes)
        thresholds = np.array(data.draw(st.lists(limits, min_size=size, max_size=size)))
    chosen = TreeRule(tree, name).choose(scores, thresholds)
    assert chosen.shape == scores.shape
    assert set(np.unique(chosen)) <= {-1, 1}
    parent = tree.parents.tolist()
    for some in sets_of(chosen):
        assert all(reference.ancestors(node, parent) <= some for node in some)
        assert not exclusive or some in reference.paths(parent)


@given(trees(exclusive=False))
def test_max_sum_is_the_best_of_all_consistent_sets(drawn):
    tree, scores = drawn
    found = sets_of(TreeRule(tree, "max-sum").choose(scores))
    parent = tree.parents.tolist()
    for some, margins in zip(found, scores.tolist(), strict=True):
        best = reference.best_set(margins, parent, tree.own)
        ends = some - {parent[node] for node in some}
        assert all(tree.own[node] for node in ends)
        assert sum(margins[node] for node in some) == pytest.approx(best, abs=1e-9)


@given(trees(exclusive=False))
def test_top_down_and_bottom_up_by_their_definitions(drawn):
    tree, scores = drawn
    parent = tree.parents.tolist()
    down = sets_of(TreeRule(tree, "top-down").choose(scores))
    up = sets_of(TreeRule(tree, "bottom-up").choose(scores))
    for margins, smaller, larger in zip(scores.tolist(), down, up, strict=True):
        above = {node for node, margin in enumerate(margins) if margin > 0}
        assert smaller == {node for node in above if reference.ancestors(node, parent) <= above}
        assert larger == set().union(*(reference.ancestors(node, parent) for node in above))


@given(trees(exclusive=True))
def test_one_path_by_trying_all_paths(drawn):
    tree, scores = drawn
    parent = tree.parents.tolist()
    paths = reference.paths(parent)
    found = {name: sets_of(TreeRule(tree, name).choose(scores)) for name in NAMES}
    for row, margins in enumerate(scores.tolist()):
        sums = [sum(margins[node] for node in path) for path in paths]
        chosen = paths.index(found["max-sum"][row])
        assert sums[chosen] == pytest.approx(max(sums), abs=1e-9)
        leaf = {path: max(path, key=lambda node: len(reference.ancestors(node, parent))) for path in paths}
        assert margins[leaf[found["bottom-up"][row]]] == max(margins[leaf[path]] for path in paths)
        node = -1
        while (below := [child for child, above in enumerate(parent) if above == node]) != []:
            node = max(below, key=lambda child: (margins[child], -child))
        assert found["top-down"][row] == reference.ancestors(node, parent)


def test_a_stop_is_written_as_its_parent():
    tree, grown = LabelTree.grow(Labels.of(["a", "a/x", "b", "a"]), "/")
    rule = DecisionRule(grown.space, None, None, TreeRule(tree, "bottom-up"))
    scores = np.array([[1.0, 0.5, 0.2, -1.0], [1.0, 0.1, 0.2, -1.0]])  # a, a/, a/x, b
    assert rule.decide(scores).tolist() == ["a", "a/x"]
    assert rule.label_lists(scores) == [["a"], ["a/x"]]
    assert rule.choose(scores).tolist() == [[1, 1, -1, -1], [1, -1, 1, -1]]
    assert rule.best(scores[0]) == "a"
    assert rule.candidates == [(1, "a"), (2, "a/x"), (3, "b")]


def test_label_sets_are_the_most_specific():
    tree, grown = LabelTree.grow(Labels.of([["a/x", "b"], ["a"], []]), "/")
    rule = DecisionRule(grown.space, np.array([0.0, 0.5, 0.0]), None, TreeRule(tree, "top-down"))
    scores = np.array([[1.0, 0.6, -1.0], [1.0, 0.4, 0.1], [-1.0, 2.0, -1.0]])
    assert rule.decide(scores) == [("a/x",), ("a", "b"), ()]
    assert rule.best(scores[1]) == "a"
    assert rule.best(scores[2]) == "a/x"  # nothing is decided
    assert rule.candidates == [(0, "a"), (1, "a/x"), (2, "b")]


def noisy(exclusive, n=2000):
    rng = np.random.default_rng(3)
    paths = ["a/x", "a/y", "b/z", "b", "c"]
    codes = rng.integers(5, size=n)
    y = [paths[code] for code in codes]
    if not exclusive:
        y = [[label] if rng.random() < 0.8 else [label, "c"] for label in y]
    tree, grown = LabelTree.grow(Labels.of(y), "/")
    scores = grown.signs + rng.normal(size=grown.signs.shape) * 1.2
    return tree, grown, scores


@pytest.mark.parametrize("fit", ["platt", "isotonic"])
@pytest.mark.parametrize("exclusive", [False, True])
def test_probabilities_respect_the_tree_and_survive_a_file(exclusive, fit):
    tree, grown, scores = noisy(exclusive)
    hierarchy = TreeRule.read(tree, "auto")
    columns = hierarchy.calibrated
    calibration = fit_calibration(fit, scores[:, columns], grown.signs[:, columns], exclusive=exclusive)
    rule = DecisionRule(grown.space, None, calibration, hierarchy)
    found = rule.probabilities(scores)
    assert found.shape == scores.shape
    assert (found >= 0).all()
    assert (found <= 1).all()
    for node, parent in tree.downward:
        assert (found[:, node] <= found[:, parent] + 1e-12).all()
    if exclusive:
        np.testing.assert_allclose(found[:, tree.leaves].sum(axis=1), 1)
        for node, below in enumerate(tree.children[:-1]):
            if len(below):
                np.testing.assert_allclose(found[:, below].sum(axis=1), found[:, node])
    restored = DecisionRule.from_state(grown.space, *rule.get_state())
    np.testing.assert_array_equal(restored.probabilities(scores), found)
    np.testing.assert_array_equal(restored.choose(scores), rule.choose(scores))


def test_promises_hold_along_the_tree():
    tree, grown, scores = noisy(exclusive=False)
    for text, measure, name in (
        ("precision:0.8", precision, "top-down"),
        ("recall:0.7", recall, "bottom-up"),
    ):
        goal = Goal.read(text)
        rule = TreeRule.read(tree, "auto", goal)
        assert rule.name == name
        limits = rule.thresholds(goal, scores, grown.signs)
        values = measure(contingency(grown.signs, rule.choose(scores, limits)))
        assert (values[np.isfinite(limits)] >= goal.values[0]).all()
        assert np.isfinite(limits).all()


def test_a_node_that_no_document_reaches_is_never_chosen():
    tree, grown = LabelTree.grow(Labels.of([["a/x"], ["b"], []] * 60), "/")
    rng = np.random.default_rng(0)
    scores = grown.signs + 0.1 * rng.normal(size=grown.signs.shape)
    scores[:, 0] = rng.normal(size=180)  # the parent cannot be promised
    with pytest.warns(DataWarning, match="cannot be guaranteed"):
        limits = TreeRule(tree, "top-down").thresholds(Goal.read("precision:0.8"), scores, grown.signs)
    assert limits[0] == limits[1] == np.inf
    assert np.isfinite(limits[2])


def test_rules_that_break_a_promise_are_refused():
    tree, _, _ = noisy(exclusive=False)
    for rule, goal, cure in (
        ("max-sum", "precision:0.9", "top-down"),
        ("bottom-up", "precision:0.9", "top-down"),
        ("top-down", "recall:0.9", "bottom-up"),
    ):
        with pytest.raises(UsageError, match=f"cannot reach a .* with confidence.*Use {cure}"):
            TreeRule.read(tree, rule, Goal.read(goal))
    assert TreeRule.read(tree, "auto", Goal.read("f1")).name == "max-sum"
    with pytest.raises(UsageError, match="expected one of auto, bottom-up, top-down, max-sum"):
        TreeRule.read(tree, "sideways")
    single, _, _ = noisy(exclusive=True)
    assert TreeRule.read(single, "auto").name == "bottom-up"
    with pytest.raises(UsageError, match="every document gets one path"):
        TreeRule.read(single, "auto", Goal.read("f1"))


def test_held_out_decisions_are_consistent():
    tree, grown, scores = noisy(exclusive=False)
    rule = TreeRule.read(tree, "auto")
    chosen = Goal.read("f1").decisions(scores, grown.signs, hierarchy=rule)
    np.testing.assert_array_equal(tree.with_ancestors(chosen > 0), chosen > 0)
    assert (Goal.read("f1").decisions(scores, grown.signs) != chosen).any()


def test_a_damaged_rule_is_refused():
    tree, grown, _ = noisy(exclusive=True)
    rule = DecisionRule(grown.space, None, None, TreeRule(tree, "bottom-up"))
    config, arrays = rule.get_state()
    with pytest.raises(DataError, match=r"'hierarchy.rule'.*'sideways'"):
        DecisionRule.from_state(
            grown.space, {**config, "hierarchy": {**config["hierarchy"], "rule": "sideways"}}, arrays
        )
    with pytest.raises(DataError, match="'own' in arrays"):
        DecisionRule.from_state(grown.space, config, {**arrays, "hierarchy.own": arrays["hierarchy.own"][1:]})
