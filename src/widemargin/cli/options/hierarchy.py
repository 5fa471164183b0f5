"""Options of labels that are paths in a tree."""

from __future__ import annotations

from widemargin.cli.options.option import train

HIERARCHY = (
    train(
        "--label-path SEP",
        "Labels are paths in a tree, such as science/physics, and SEP separates their parts. Every node is "
        "learned; documents get the most specific labels.",
        shown="none",
    ),
    train(
        "--hierarchy auto|bottom-up|top-down|max-sum",
        "With --label-path: how to decide nodes together. bottom-up: a node brings its ancestors; top-down: "
        "a node needs its parent; max-sum: the set with the largest sum of scores. One path per document: "
        "the best leaf, the best child of each node, or the best sum of scores on a path.",
        default="auto",
    ),
)
