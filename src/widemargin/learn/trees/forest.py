"""Trees as flat arrays: grown and pruned by the core, scored, saved and verified."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import DataError
from widemargin.learn.trees.conditions import Condition, OutlineLine, Step

Floats = NDArray[np.float64]
LEAF = -1


def laplace_scores(n: Floats, positive: Floats) -> Floats:
    """The share of positive examples that is expected by Laplace's estimator, (p + 1) / (n + 2), minus 0.5.

    Examples
    --------
    >>> laplace_scores(np.array([0.0, 8.0]), np.array([0.0, 8.0])).tolist()
    [0.0, 0.4]
    """
    found: Floats = (positive + 1) / (n + 2) - 0.5
    return found


class Growing(NamedTuple):
    """How trees are grown and pruned (core/trees/tree_builder.hpp, core/trees/pruning.hpp).

    Attributes
    ----------
    min_objects : the least weight of a branch
    max_depth : number of tests on a path, None for no limit
    gain_ratio : split by gain ratio, or by gain alone
    penalty : subtract log2(distinct - 1) / n from the gain of numeric columns
    confidence : of pessimistic pruning and of rules, None for no pruning
    """

    min_objects: float = 2.0
    max_depth: int | None = None
    gain_ratio: bool = True
    penalty: bool = True
    confidence: float | None = 0.25

    def native(self, *, rules: bool = False) -> _core.GrowOptions:
        """The same as a struct of the core, for trees or for rules."""
        return _core.GrowOptions(
            min_objects=float(self.min_objects),
            max_depth=2**31 if self.max_depth is None else int(self.max_depth),
            gain_ratio=self.gain_ratio,
            penalty=self.penalty,
            confidence=1.0 if self.confidence is None else float(self.confidence),
            rules=rules,
        )


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees one after the other. A node comes before its left subtree, and that before its right one.

    Attributes
    ----------
    begin : (trees + 1,) the first node of each tree
    column : the tested column of each node, -1 for a leaf
    threshold : rows with a value up to this go to the left
    left, right : children, counted from the first node of the tree
    n, positive : weight of the training examples that reached the node, and of the positive ones among them
    """

    begin: NDArray[np.int64]
    column: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    threshold: Floats
    n: Floats
    positive: Floats

    @classmethod
    def grown(
        cls, csr: Csr, signs: NDArray[np.int8], weights: Floats, growing: Growing, n_jobs: int | None
    ) -> Forest:
        """One tree per column of `signs`.

        Parameters
        ----------
        csr : the examples
        signs : (n, trees) of +1 and -1; 0 for examples that a tree does not use
        weights : (n,) of the examples; empty if each counts once

        Examples
        --------
        >>> from widemargin._arrays import canonical_csr
        >>> X = canonical_csr(np.array([[1.0, 0], [1, 1], [0, 1], [0, 1]]))
        >>> forest = Forest.grown(X, np.array([[1], [1], [-1], [-1]], np.int8), np.zeros(0), Growing(), 1)
        >>> forest.column.tolist(), forest.threshold.tolist(), forest.positive.tolist()
        ([0, -1, -1], [0.0, 0.0, 0.0], [2.0, 0.0, 2.0])
        """
        threads = thread_count(n_jobs)
        columns = _core.TreeColumns(csr.native(), threads)
        examples = np.ascontiguousarray(signs.T), weights
        made: Any = _core.grow_trees(columns, *examples, growing.native(), threads)
        return cls(*made)

    @property
    def n_trees(self) -> int:
        return len(self.begin) - 1

    @property
    def node_scores(self) -> Floats:
        """The score of every node, if it is a leaf: :func:`laplace_scores`."""
        return laplace_scores(self.n, self.positive)

    def scores(self, csr: Csr, n_jobs: int | None) -> Floats:
        """The score of the leaf that each row reaches in each tree, (n, trees)."""
        return self.values(csr, self.node_scores, n_jobs)

    def values(self, csr: Csr, of_leaf: Floats, n_jobs: int | None) -> Floats:
        """The number in `of_leaf` of the leaf that each row reaches in each tree, (n, trees)."""
        native = _core.Forest(
            begin=self.begin,
            column=self.column,
            left=self.left,
            right=self.right,
            threshold=self.threshold,
            score=of_leaf,
        )
        found = np.empty((csr.n_rows, self.n_trees))
        _core.score_by_trees(csr.native(), native, found, thread_count(n_jobs))
        return found

    def path(self, tree: int, columns: NDArray[Any], values: NDArray[Any]) -> list[int]:
        """The nodes that a row with these `values` in these `columns` visits, the root first."""
        row = dict(zip(columns.tolist(), values.tolist(), strict=True))
        first = node = int(self.begin[tree])
        visited = [node]
        while self.column[node] != LEAF:
            is_left = row.get(int(self.column[node]), 0.0) <= self.threshold[node]
            node = first + int((self.left if is_left else self.right)[node])
            visited.append(node)
        return visited

    def steps(self, tree: int, columns: NDArray[Any], values: NDArray[Any]) -> tuple[float, list[Step]]:
        """The score of the root, and the conditions on the path of a row."""
        row = dict(zip(columns.tolist(), values.tolist(), strict=True))
        path, scores = self.path(tree, columns, values), self.node_scores
        steps = []
        for node, child in pairwise(path):
            column = int(self.column[node])
            above = child == int(self.begin[tree]) + int(self.right[node])
            condition = Condition(column, above, float(self.threshold[node]))
            steps.append(Step(condition, row.get(column, 0.0), float(scores[child])))
        return float(scores[path[0]]), steps

    def outline(self, tree: int) -> list[OutlineLine]:
        """The nodes of a tree, the root left out if it has children."""
        first, scores = int(self.begin[tree]), self.node_scores
        if self.column[first] == LEAF:
            return [
                OutlineLine(0, (), float(self.n[first]), float(self.positive[first]), float(scores[first]))
            ]
        lines = []
        waiting: list[tuple[int, int, Condition | None]] = [(first, -1, None)]
        while waiting:
            node, depth, condition = waiting.pop()
            column = int(self.column[node])
            if condition is not None:
                score = float(scores[node]) if column == LEAF else None
                counts = float(self.n[node]), float(self.positive[node])
                lines.append(OutlineLine(depth, (condition,), *counts, score))
            if column != LEAF:
                threshold = float(self.threshold[node])
                for above, children in ((True, self.right), (False, self.left)):
                    child = first + int(children[node])
                    waiting.append((child, depth + 1, Condition(column, above, threshold)))
        return lines

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a model file."""
        return {f"tree_{name}": getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def read(cls, stored: Stored, n_trees: int, n_features: int) -> Forest:
        """Verified trees of a model file: every walk from the root ends in a leaf."""
        begin = stored.array("tree_begin", (n_trees + 1,), np.int64)
        column = stored.array("tree_column", (None,), np.int32, least=LEAF, most=n_features - 1)
        shape = column.shape
        left, right = (stored.array(f"tree_{name}", shape, np.int32) for name in ("left", "right"))
        threshold = stored.array("tree_threshold", shape)
        n, positive = (stored.array(f"tree_{name}", shape, least=0) for name in ("n", "positive"))
        if begin[0] != 0 or begin[-1] != len(column) or (np.diff(begin) < 1).any():
            raise DataError("'tree_begin' in arrays.safetensors does not divide the nodes among the trees")
        if (positive > n).any():
            raise DataError("'tree_positive' in arrays.safetensors exceeds 'tree_n'")
        inner = np.flatnonzero(column != LEAF)
        first = np.repeat(begin[:-1], np.diff(begin))
        children = np.concatenate([first[inner] + left[inner], first[inner] + right[inner]])
        parents = np.concatenate([inner, inner])
        ends = np.repeat(begin[1:], np.diff(begin))
        others = np.setdiff1d(np.arange(len(column)), begin[:-1], assume_unique=True)
        if (
            (children <= parents).any()
            or (children >= ends[parents]).any()
            or not np.array_equal(np.sort(children), others)
        ):
            raise DataError("'tree_left' and 'tree_right' in arrays.safetensors do not form trees")
        return cls(begin, column, left, right, threshold, n, positive)
