"""Decisions in a tree of labels by trying all consistent sets, and closure by walking up."""

from __future__ import annotations

import itertools


def parents(nodes, separator):
    """The place of each node's parent, -1 for roots, by the longest node that is a proper prefix."""
    found = []
    for node in nodes:
        above = [other for other in nodes if other != node and node.startswith(other + separator)]
        found.append(nodes.index(max(above, key=len)) if above else -1)
    return found


def ancestors(node, parent):
    """The node and all above it."""
    found = set()
    while node >= 0:
        found.add(node)
        node = parent[node]
    return found


def consistent_sets(parent):
    """All sets of nodes that hold the parent of each member."""
    for size in range(len(parent) + 1):
        for some in itertools.combinations(range(len(parent)), size):
            if all(parent[node] < 0 or parent[node] in some for node in some):
                yield frozenset(some)


def best_set(margins, parent, own):
    """The largest sum of margins of a consistent set whose most specific nodes are labels of documents."""
    return max(
        sum(margins[node] for node in some)
        for some in consistent_sets(parent)
        if all(own[node] for node in some - {parent[node] for node in some})
    )


def paths(parent):
    """The sets of a leaf with its ancestors."""
    leaves = set(range(len(parent))) - set(parent)
    return [frozenset(ancestors(leaf, parent)) for leaf in sorted(leaves)]
