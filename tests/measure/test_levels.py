"""Figures by level against counts one document at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widemargin.labels import Labels
from widemargin.labels.hierarchy import LabelTree
from widemargin.measure.levels import by_level

PATHS = ["a", "a/x", "a/x/1", "a/x/2", "a/y", "b", "b/z"]


def closure(paths):
    parts = [path.split("/") for path in paths]
    return {"/".join(path[: i + 1]) for path in parts for i in range(len(path))}


def shares(pairs):
    """Precision, recall, F1 and the share of right documents of sets; 0 / 0 is None."""
    hits = sum(len(true & said) for true, said in pairs)
    had, claimed = sum(len(true) for true, _ in pairs), sum(len(said) for _, said in pairs)
    if not had:
        return [None, None, None]
    f1 = 2 * hits / (had + claimed)
    return [hits / claimed if claimed else 0.0, hits / had, f1]


@given(st.lists(st.tuples(*[st.lists(st.sampled_from(PATHS), max_size=3)] * 2), min_size=1, max_size=10))
def test_levels_of_label_sets(documents):
    tree, grown = LabelTree.grow(Labels.of([[path] for path in PATHS] + [[]]), "/")
    truth = grown.space.encode(tree.nodes_of([true for true, _ in documents]))
    chosen = grown.space.encode(tree.nodes_of([said for _, said in documents]))
    found = {level.level: level for level in by_level(tree, truth, chosen)}
    assert list(found) == ["1", "2", "3", "all", "most specific"]
    closed = [(closure(true), closure(said)) for true, said in documents]
    kept = {
        str(k): [[{n for n in s if n.count("/") == k - 1} for s in pair] for pair in closed]
        for k in (1, 2, 3)
    }
    kept["all"] = closed
    kept["most specific"] = [
        [{n for n in s if not any(m.startswith(n + "/") for m in s)} for s in pair] for pair in closed
    ]
    for name, pairs in kept.items():
        level = found[name]
        expected = shares([tuple(pair) for pair in pairs])
        assert list(level.micro.values()) == [
            None if value is None else pytest.approx(value, abs=1e-6) for value in expected
        ]
        right = np.mean([true == said for true, said in pairs])
        assert level.right == pytest.approx(right, abs=1e-6)
        assert level.examples == sum(len(true) for true, _ in pairs)
        nodes = set().union(*(true for true, _ in pairs))
        single = [shares([(t & {n}, s & {n}) for t, s in pairs])[2] for n in sorted(nodes)]
        if nodes:
            assert level.macro["f1"] == pytest.approx(np.mean(single), abs=1e-6)
        else:
            assert level.macro["f1"] is None


def test_a_stop_is_right_only_where_the_document_stops():
    tree, grown = LabelTree.grow(Labels.of(["a", "a/x", "b"]), "/")
    chosen = grown.signs[[1, 1, 2]]  # a/x instead of a
    found = {level.level: level for level in by_level(tree, grown.signs, chosen)}
    assert found["1"].right == 1.0
    assert found["2"].labels == 1
    assert found["2"].micro["precision"] == 0.5
    assert found["all"].labels == 3
    assert found["all"].right == found["most specific"].right
    assert found["all"].right == pytest.approx(2 / 3, abs=1e-6)
    assert found["most specific"].micro["f1"] == pytest.approx(2 / 3, abs=1e-6)
