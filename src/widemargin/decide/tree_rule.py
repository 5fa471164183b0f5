"""Decisions that are consistent with a label hierarchy: no node without its ancestors.

What counts is how far a node's score is above its threshold, its margin.

==============  =================================  ===========================================================
rule            several paths per document         one path per document
==============  =================================  ===========================================================
``bottom-up``   nodes above their thresholds, and  the leaf with the largest score
                all their ancestors
``top-down``    nodes above their thresholds whose  from the root to the child with the largest score
                parents are decided, too
``max-sum``     the set with the largest sum of    the leaf with the largest sum of scores on its path
                margins, with ends only where
                labels of training documents end
``auto``        max-sum; top-down for promises of  bottom-up
                precision, bottom-up for recall
==============  =================================  ===========================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.errors import UsageError
from widemargin.labels.hierarchy import LabelTree, State
from widemargin.labels.space import LabelSpace

if TYPE_CHECKING:
    from widemargin.decide.goals import Goal

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Name = Literal["bottom-up", "top-down", "max-sum"]
RULES = ("auto", *get_args(Name))
# Margins of labels that are always or never chosen, so that sums stay numbers.
_FARTHEST = 1e100


@dataclass(frozen=True, eq=False)
class TreeRule:
    """How the nodes of a tree are decided.

    Examples
    --------
    >>> from widemargin.labels import Labels
    >>> tree, _ = LabelTree.grow(Labels.of([["a/x"], ["a/y", "b"], []]), "/")
    >>> scores = np.array([[-0.1, 0.4, -1.0, -1.0]])  # of a, a/x, a/y and b
    >>> for name in ("bottom-up", "top-down", "max-sum"):
    ...     print(name, TreeRule(tree, name).label_lists(scores))
    bottom-up [['a/x']]
    top-down [[]]
    max-sum [['a/x']]
    """

    tree: LabelTree
    name: Name

    @classmethod
    def read(cls, tree: LabelTree, name: str, goal: Goal | None = None) -> TreeRule:
        """The rule called `name`, which fits the goal of the thresholds, if there is one."""
        if name not in RULES:
            raise UsageError(f"hierarchy={name!r}: expected one of {', '.join(RULES)}.")
        if tree.exclusive:
            if goal is not None:
                raise UsageError(
                    "Thresholds are for labels that are decided one by one, but here every document gets one "
                    "path. Leave thresholds out, or train with label sets (on the command line: "
                    "--multilabel)."
                )
            return cls(tree, "bottom-up" if name == "auto" else name)  # type: ignore[arg-type]
        kept = {"precision": "top-down", "recall": "bottom-up"}.get("" if goal is None else goal.name)
        if kept is not None and name not in ("auto", kept):
            assert goal is not None
            raise UsageError(
                f"hierarchy={name!r} cannot reach a {goal.name} with confidence, since it changes what "
                f"thresholds decide. Use {kept}."
            )
        return cls(tree, (kept or "max-sum") if name == "auto" else name)  # type: ignore[arg-type]

    def choose(self, scores: NDArray[Any], thresholds: Floats | None = None) -> NDArray[np.int8]:
        """The decisions as signs (n, nodes)."""
        with np.errstate(invalid="ignore"):
            margins = np.asarray(scores, dtype=np.float64) - (0.0 if thresholds is None else thresholds)
        decide = _one_path if self.tree.exclusive else _any_paths
        return np.where(decide(self.tree, self.name, margins), 1, -1).astype(np.int8)

    def labels(self, scores: NDArray[Any], thresholds: Floats | None = None) -> Bools:
        """(n, nodes) the most specific ones of the decided nodes."""
        return self.tree.most_specific(self.choose(scores, thresholds) > 0)

    def label_lists(self, scores: NDArray[Any], thresholds: Floats | None = None) -> list[list[Any]]:
        """The most specific labels of every document, as full paths."""
        names = self.tree.nodes.tolist()
        return [[names[j] for j in np.flatnonzero(row).tolist()] for row in self.labels(scores, thresholds)]

    def thresholds(self, goal: Goal, scores: NDArray[Any], truth: NDArray[Any]) -> Floats:
        """The thresholds of `goal` for held-out scores.

        A promise of precision is kept among the documents that reach a node. A promise of recall is kept by
        itself: ancestors are only added.
        """
        if goal.name != "precision":
            return goal.thresholds(scores, truth)
        limits = np.full(scores.shape[1], np.inf)
        reached = np.ones(scores.shape, dtype=bool)
        roots = [(int(j), -1) for j in self.tree.children[-1]]
        for node, parent in roots + self.tree.downward:
            if parent >= 0:
                reached[:, node] = reached[:, parent] & (scores[:, parent] > limits[parent])
            rows = reached[:, node]
            if rows.any():
                limits[node] = goal.thresholds(scores[rows, node, None], truth[rows, node, None])[0]
        return limits

    @property
    def calibrated(self) -> NDArray[np.intp]:
        """The nodes whose scores are calibrated: exclusive leaves give the probabilities of all others."""
        tree = self.tree
        return tree.leaves if tree.exclusive else np.arange(len(tree.nodes))

    def probabilities(self, found: Floats) -> Floats:
        """Probabilities (n, nodes) that respect the tree, from those of the `calibrated` nodes.

        The leaves of one path per document sum to 1, and an inner node has the sum of its children.
        Otherwise, a node's probability is at most that of its parent.
        """
        tree = self.tree
        if not tree.exclusive:
            capped = found.copy()
            for node, parent in tree.downward:
                np.minimum(capped[:, node], capped[:, parent], out=capped[:, node])
            return capped
        whole = np.zeros((len(found), len(tree.nodes)))
        whole[:, tree.leaves] = found
        for node, parent in reversed(tree.downward):
            whole[:, parent] += whole[:, node]
        return np.minimum(whole, 1.0)

    def summary(self) -> dict[str, Any]:
        """What a summary of training says of it."""
        tree = self.tree
        return {
            "separator": tree.separator,
            "levels": tree.depth,
            "labels": int(np.count_nonzero(~tree.stops)),
            "one_path": tree.exclusive,
            "rule": self.name,
        }

    def get_state(self) -> State:
        """A configuration for JSON, and arrays."""
        config, arrays = self.tree.get_state()
        return {"rule": self.name, **config}, arrays

    @classmethod
    def from_state(
        cls, space: LabelSpace, config: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> TreeRule:
        """Restore the rule from the result of `get_state`."""
        stored = Stored(config, arrays, path="hierarchy.")
        name: Any = stored.choice("rule", get_args(Name))
        return cls(LabelTree.from_state(space, stored), name)


def _any_paths(tree: LabelTree, name: Name, margins: Floats) -> Bools:
    """Any number of nodes, with their ancestors."""
    if name == "bottom-up":
        return tree.with_ancestors(margins > 0)
    chosen = _worth_it(tree, margins) if name == "max-sum" else margins > 0
    for node, parent in tree.downward:
        chosen[:, node] &= chosen[:, parent]
    return chosen


def _worth_it(tree: LabelTree, margins: Floats) -> Bools:
    """(n, nodes) whether a node is in the set with the largest sum of margins, if its parent is.

    From the leaves up: a node brings its margin and what its best children bring. Children are taken if they
    bring more than 0. Where no label ends at the node itself, the best child is taken even if it does not.
    """
    best = np.clip(margins, -_FARTHEST, _FARTHEST)
    taken = np.empty(best.shape, dtype=bool)
    for node in np.argsort(-tree.levels, kind="stable").tolist():
        below = tree.children[node]
        if len(below):
            values = best[:, below]
            wanted = values > 0
            if not tree.own[node]:
                rows = np.flatnonzero(~wanted.any(axis=1))
                wanted[rows, values[rows].argmax(axis=1)] = True
            taken[:, below] = wanted
            best[:, node] += np.where(wanted, values, 0.0).sum(axis=1)
    roots = tree.children[-1]
    taken[:, roots] = best[:, roots] > 0
    return taken


def _one_path(tree: LabelTree, name: Name, margins: Floats) -> Bools:
    """One leaf, with its ancestors."""
    n = len(margins)
    if name == "top-down":
        node = np.full(n, -1, dtype=np.intp)
        for _ in range(int(tree.levels.max())):
            # From level to level; documents at a leaf stay there.
            for parent in np.unique(node).tolist():
                below = tree.children[parent]
                if len(below):
                    rows = np.flatnonzero(node == parent)
                    node[rows] = below[margins[np.ix_(rows, below)].argmax(axis=1)]
    else:
        if name == "max-sum":
            margins = margins.copy()
            for child, parent in tree.downward:
                margins[:, child] += margins[:, parent]
        node = tree.leaves[margins[:, tree.leaves].argmax(axis=1)]
    chosen = np.zeros(margins.shape, dtype=bool)
    chosen[np.arange(n), node] = True
    return tree.with_ancestors(chosen)
