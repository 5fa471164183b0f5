"""Labels that are paths in a tree, such as ``science/physics/optics``.

Every prefix of a path is a node, and a document has all nodes of its paths: learners see one column of signs
per node, and a document of ``science/physics`` is a positive example of ``science``, too.

If every document has one path, some may stop at a node where others go on. Such a node has one more child,
its own name with a separator at the end (``science/``): the documents that stop there. So exactly one leaf
is right for every document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.errors import DataError, UsageError
from widemargin.labels.forms import Sets, signs_at, some
from widemargin.labels.labels import Labels
from widemargin.labels.space import LabelSpace

Bools = NDArray[np.bool_]
State = tuple[dict[str, Any], dict[str, NDArray[Any]]]
_MOST_DOCUMENTS = 2**62


@dataclass(frozen=True, eq=False)
class LabelTree:
    """The nodes of a label hierarchy; column j of signs and scores belongs to node j.

    Attributes
    ----------
    separator : what stands between the parts of a path
    nodes : array of full paths, sorted
    exclusive : whether every document has one path, so that one leaf is right
    documents : (nodes,) number of training documents that have the node, or one below it
    own : (nodes,) of which it is the most specific label

    Examples
    --------
    >>> labels = Labels.of([["a/x", "b"], ["a"], ["a/y"]])
    >>> tree, labels = LabelTree.grow(labels, "/")
    >>> tree.nodes.tolist(), tree.parents.tolist(), tree.levels.tolist()
    (['a', 'a/x', 'a/y', 'b'], [-1, 0, 0, -1], [1, 2, 2, 1])
    >>> labels.signs.tolist()
    [[1, 1, -1, 1], [1, -1, -1, -1], [1, -1, 1, -1]]
    >>> tree.documents.tolist(), tree.own.tolist()
    ([3, 1, 1, 1], [1, 1, 1, 1])
    """

    separator: str
    nodes: NDArray[Any]
    exclusive: bool
    documents: NDArray[np.int64]
    own: NDArray[np.int64]

    @classmethod
    def grow(
        cls, labels: Labels, separator: str, names: Sequence[Any] | None = None
    ) -> tuple[LabelTree, Labels]:
        """The tree of the labels of a training set, and the signs of all nodes.

        Parameters
        ----------
        labels : one path per document, or sets of paths
        separator : of one or more characters
        names : what errors call the documents; their numbers by default

        Raises
        ------
        DataError
            The labels are not strings, one has an empty part, or none has the separator.
        """

        def where(label: int) -> str:
            space = labels.space
            column = labels.signs[:, min(label, labels.signs.shape[1] - 1)]
            rows = np.flatnonzero(column == (1 if space.kind != "binary" or label else -1)).tolist()
            return f"Document {rows[0] if names is None else names[rows[0]]}: the label" if rows else "Label"

        tree, lines = cls.of_space(labels.space, separator, where)
        known, positive = ~labels.unlabeled, labels.signs > 0
        if labels.space.kind == "binary":
            positive = np.hstack([~positive, positive])
        signs = signs_at(np.empty(0, np.intp), np.empty(0, np.intp), len(labels), len(tree.nodes))
        for line, column in zip(lines, positive.T, strict=True):
            rows = np.flatnonzero(column & known)
            for node in line:
                signs[rows, node] = 1
        signs[~known] = 0
        grown = Labels(tree.space, signs, None if known.all() else ~known)
        tree.count(signs > 0)
        return tree, grown

    @classmethod
    def of_space(
        cls, space: LabelSpace, separator: str, where: Callable[[int], str] = lambda label: "Label"
    ) -> tuple[LabelTree, list[list[int]]]:
        """The tree of labels, without documents so far, and the places of the nodes of every label.

        Parameters
        ----------
        where : what an error calls the label with this number

        Examples
        --------
        >>> tree, nodes = LabelTree.of_space(Labels.of(["a", "a/x", "b"]).space, "/")
        >>> tree.nodes.tolist(), nodes
        (['a', 'a/', 'a/x', 'b'], [[0, 1], [0, 2], [3]])
        """
        given = _checked_paths(space, separator, where)
        exclusive = space.kind != "multilabel"
        lines = [_line(label, separator) for label in given]
        inner = {node for line in lines for node in line[:-1]}
        if exclusive:
            lines = [
                [*line, label + separator] if label in inner else line
                for label, line in zip(given, lines, strict=True)
            ]
        nodes = Sets(lines).classes()
        place = {node: j for j, node in enumerate(nodes.tolist())}
        tree = cls(separator, nodes, exclusive, *np.zeros((2, len(nodes)), dtype=np.int64))
        return tree, [[place[node] for node in line] for line in lines]

    @property
    def space(self) -> LabelSpace:
        """The nodes as labels."""
        return LabelSpace("multilabel", self.nodes)

    def count(self, closed: Bools) -> None:
        """Add documents to those of the tree, given by their nodes (n, nodes) with all ancestors."""
        self.documents[:] += np.count_nonzero(closed, axis=0)
        self.own[:] += np.count_nonzero(self.most_specific(closed), axis=0)

    @cached_property
    def parents(self) -> NDArray[np.intp]:
        """(nodes,) the places of the parents; -1 for roots."""
        place = {node: j for j, node in enumerate(self.nodes.tolist())}
        above = (_parent(node, self.separator) for node in place)
        return np.array([-1 if name is None else place[name] for name in above], dtype=np.intp)

    @cached_property
    def levels(self) -> NDArray[np.intp]:
        """(nodes,) the number of parts of the path; 1 for roots."""
        found = [len(node.split(self.separator)) for node in self.nodes.tolist()]
        return np.array(found, dtype=np.intp)

    @cached_property
    def stops(self) -> Bools:
        """(nodes,) whether the node stands for the documents that stop at its parent."""
        return np.array([node.endswith(self.separator) for node in self.nodes.tolist()], dtype=bool)

    @cached_property
    def leaves(self) -> NDArray[np.intp]:
        """The places of the nodes without children."""
        inner = self.parents[self.parents >= 0]
        return np.setdiff1d(np.arange(len(self.nodes)), inner)

    @cached_property
    def children(self) -> list[NDArray[np.intp]]:
        """The places of the children of every node, and at the end those of the roots."""
        found: list[list[int]] = [[] for _ in range(len(self.nodes) + 1)]
        for j, parent in enumerate(self.parents.tolist()):
            found[parent].append(j)
        return [np.array(each, dtype=np.intp) for each in found]

    @cached_property
    def downward(self) -> list[tuple[int, int]]:
        """Pairs of node and parent, a parent before its children; roots are left out."""
        order = np.argsort(self.levels, kind="stable").tolist()
        return [(j, parent) for j in order if (parent := int(self.parents[j])) >= 0]

    @property
    def depth(self) -> int:
        """Number of levels."""
        return int(self.levels[~self.stops].max())

    @property
    def label_of(self) -> NDArray[np.intp]:
        """(nodes,) the place of the label that a node stands for: itself, or its parent if it is a stop."""
        return np.where(self.stops, self.parents, np.arange(len(self.nodes)))

    def with_ancestors(self, chosen: Bools) -> Bools:
        """(n, nodes) the chosen nodes and all above them."""
        closed = chosen.copy()
        for node, parent in reversed(self.downward):
            closed[:, parent] |= closed[:, node]
        return closed

    def most_specific(self, closed: Bools) -> Bools:
        """(n, nodes) of nodes chosen with their ancestors, those without a chosen child; stops do not
        count."""
        found = closed & ~self.stops
        for node, parent in self.downward:
            if not self.stops[node]:
                found[:, parent] &= ~closed[:, node]
        return found

    def nodes_of(self, label_sets: Iterable[Iterable[str]]) -> list[tuple[str, ...]]:
        """The nodes of sets of paths, with all ancestors; also those that the tree does not have.

        Examples
        --------
        >>> tree, _ = LabelTree.grow(Labels.of(["a", "a/x", "b"]), "/")
        >>> tree.nodes_of([["a"], ["a/new"]])
        [('a', 'a/'), ('a', 'a/new')]
        """
        known = set(self.nodes.tolist())
        found = []
        for paths in label_sets:
            nodes: dict[str, None] = {}
            for path in paths:
                if not _is_path(path, self.separator):
                    raise _no_path("The label", path, self.separator)
                nodes |= dict.fromkeys(_line(path, self.separator))
                if path + self.separator in known:
                    nodes[path + self.separator] = None
            found.append(tuple(nodes))
        return found

    def get_state(self) -> State:
        """A configuration for JSON, and arrays; the nodes are the labels of the space."""
        config = {"separator": self.separator, "exclusive": self.exclusive}
        return config, {"documents": self.documents, "own": self.own}

    @classmethod
    def from_state(cls, space: LabelSpace, stored: Stored) -> LabelTree:
        """Restore a tree whose nodes are the labels of `space`."""
        separator, exclusive = stored.text("separator"), stored.flag("exclusive")
        nodes = space.classes.tolist()
        if not separator or space.kind != "multilabel" or not all(isinstance(node, str) for node in nodes):
            raise DataError(f"the labels in manifest.json are not paths with the separator {separator!r}")
        known = set(nodes)
        for node in nodes:
            parent, stop = _parent(node, separator), exclusive and node.endswith(separator)
            whole = _is_path(node.removesuffix(separator) if stop else node, separator)
            if not whole or (parent is not None and parent not in known):
                raise DataError(f"the label {node!r} in manifest.json is not a node of a tree")
        shape, most = (len(nodes),), _MOST_DOCUMENTS
        counts = [stored.array(name, shape, np.int64, least=0, most=most) for name in ("documents", "own")]
        return cls(separator, space.classes, exclusive, *counts)


def _checked_paths(space: LabelSpace, separator: str, where: Callable[[int], str]) -> list[str]:
    """The labels that occur, if they are paths."""
    if not isinstance(separator, str) or not separator:
        raise UsageError(
            f"label_path={separator!r}: expected the characters between the parts of a label, such as '/'."
        )
    given: list[str] = space.classes.tolist()
    if space.indicator or not all(isinstance(label, str) for label in given):
        raise DataError(
            "Labels that are paths must be strings, but these are numbers. Pass strings such as 'a/b', or "
            "leave out label_path."
        )
    for j, label in enumerate(given):
        if not _is_path(label, separator):
            raise _no_path(where(j), label, separator)
    if not any(separator in label for label in given):
        raise DataError(
            f"None of the {len(given)} labels ({some(given, 3)}) contains {separator!r}, so they are not "
            f"paths. Pass the characters that separate the parts of a path (--label-path), or leave it out."
        )
    return given


def _is_path(label: str, separator: str) -> bool:
    """Whether all parts have a name, and a separator at the end would not be cut elsewhere."""
    parts = label.split(separator)
    return "" not in parts and (label + separator).split(separator) == [*parts, ""]


def _no_path(where: str, label: str, separator: str) -> DataError:
    return DataError(
        f"{where} {label!r} has an empty part, or ends in a part of the separator. Write a path as "
        f"'a{separator}b', without {separator!r} at either end or twice in a row."
    )


def _line(path: str, separator: str) -> list[str]:
    """A path with all its ancestors, from the root down."""
    parts = path.split(separator)
    return [separator.join(parts[: i + 1]) for i in range(len(parts))]


def _parent(node: str, separator: str) -> str | None:
    *above, _ = node.split(separator)
    return separator.join(above) if above else None
