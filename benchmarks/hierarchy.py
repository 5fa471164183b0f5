"""Does a label hierarchy help? Decisions along the tree against those of flat classifiers, in the same run.

20 Newsgroups (one path per document, such as comp.sys.mac.hardware) and Reuters-21578 (several paths, such as
commodity/grain/wheat; the tree is that of `_reuters_tree.py`). Linear SVMs with C = 1; of label sets with
thresholds for F1. Held-out: scores of the training documents by five folds, thresholds chosen without the
decided document. Test: trained on all training documents.

Rows: flat (only the labels as they were given, ancestors added afterwards), every node alone, the rules of
`decide/tree_rule.py`, and for one path per document top-down with machines that learn against siblings only.
Columns: share of documents with exactly the right labels; micro-F1 of level 1, of all nodes, of the most
specific ones; macro-F1 of all nodes; documents with a node without its parent.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _reuters_tree import path
from widemargin import LinearSVM, Vectorizer, load_corpus
from widemargin.decide.goals import Goal
from widemargin.decide.tree_rule import TreeRule
from widemargin.estimate.cross_validation import out_of_fold
from widemargin.labels import Labels
from widemargin.labels.hierarchy import LabelTree
from widemargin.labels.truth import truth_of
from widemargin.measure.levels import by_level

TASKS = ("newsgroups", "reuters")
RULES = ("bottom-up", "top-down", "max-sum")
FOLDS = 5
GOAL = Goal.read("f1")
Rows = Iterator[dict[str, Any]]


def documents(task: str) -> tuple[Any, Any, Any, Any, str]:
    """Texts and labels for training, and for testing, and the separator of paths."""
    corpus = load_corpus("20newsgroups" if task == "newsgroups" else "reuters21578")
    parts: list[Any] = []
    for part in (corpus.train, corpus.test):
        if task == "newsgroups":
            parts += [part.texts, [labels[0] for labels in part.labels]]
        else:
            parts += [part.texts, [sorted({path(topic) for topic in labels}) for labels in part.labels]]
    return (*parts, "." if task == "newsgroups" else "/")


def scores(X: Any, new: Any, labels: Labels) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], float]:
    """Of the training documents, held out; their folds; of the test documents; seconds of one training."""
    start = time.process_time()
    machine = LinearSVM().fit(X, labels)
    seconds = time.process_time() - start
    found = out_of_fold(machine, X, labels, folds=FOLDS, random_state=0)
    assert found.fold is not None
    return found.scores, found.fold, machine.decision_function(new), seconds


def compared(task: str) -> Rows:
    """A row per way to decide, held out and on the test documents."""
    texts, y, new_texts, new_y, separator = documents(task)
    vectorizer = Vectorizer()
    X = vectorizer.fit_transform(texts)
    new = vectorizer.transform(new_texts)
    flat = Labels.of(y)
    tree, grown = LabelTree.grow(flat, separator)
    sets = [[labels] if tree.exclusive else labels for labels in new_y]
    new_truth = truth_of(sets, grown.space, tree)
    goal = None if tree.exclusive else GOAL
    alone, fold, new_alone, flat_seconds = scores(X, new, flat)
    held, fold, tested, seconds = scores(X, new, grown)

    def rows(name: str, spent: float, chosen: NDArray[Any], new_chosen: NDArray[Any]) -> Rows:
        for what, truth, found in (("held-out", grown.signs, chosen), ("test", new_truth, new_chosen)):
            yield {
                "name": f"{task}, {what}: {name}",
                "peer": "flat",
                "ours_s": round(spent, 2),
                "peer_s": round(flat_seconds, 2),
                "ratio": round(spent / flat_seconds, 2),
                "quality": quality(tree, truth, found),
            }

    def closed(chosen: NDArray[Any], space: Any) -> NDArray[Any]:
        whole = np.zeros((len(chosen), len(tree.nodes)), dtype=bool)
        whole[:, np.searchsorted(tree.nodes, space.column_names)] = chosen > 0
        return np.where(tree.with_ancestors(whole), 1, -1)

    if goal is None:
        decided, new_decided = flat.space.choose(alone), flat.space.choose(new_alone)
        limits = None
    else:
        decided = goal.decisions(alone, flat.signs)
        new_decided = flat.space.choose(new_alone, goal.thresholds(alone, flat.signs))
        limits = goal.thresholds(held, grown.signs)
    yield from rows("flat", flat_seconds, closed(decided, flat.space), closed(new_decided, flat.space))
    nodes = grown.space.choose(held) if goal is None else goal.decisions(held, grown.signs)
    yield from rows("every node alone", seconds, nodes, grown.space.choose(tested, limits))
    for name in RULES:
        rule = TreeRule.read(tree, name, goal)
        chosen = rule.choose(held) if goal is None else goal.decisions(held, grown.signs, hierarchy=rule)
        yield from rows(name, seconds, chosen, rule.choose(tested, limits))
    if tree.exclusive:
        rule = TreeRule.read(tree, "top-down")
        near, new_near = held.copy(), tested.copy()
        start = time.process_time()
        against_siblings(tree, X, grown.signs > 0, new, new_near)
        spent = time.process_time() - start
        for k in range(FOLDS):
            out = fold == k
            some = near[out]
            against_siblings(tree, X[~out], grown.signs[~out] > 0, X[out], some)
            near[out] = some
        yield from rows("top-down, siblings", spent, rule.choose(near), rule.choose(new_near))


def against_siblings(tree: LabelTree, X: Any, truth: NDArray[Any], new: Any, scores: NDArray[Any]) -> None:
    """Replace `scores` of `new` by those of machines that learn each node against its siblings only."""
    for parent, children in enumerate(tree.children):
        if len(children) > 1:
            inside = truth[:, parent] if parent < len(tree.nodes) else np.ones(len(truth), dtype=bool)
            codes = truth[np.ix_(inside, children)].argmax(axis=1)
            found = LinearSVM().fit(X[inside], codes).decision_function(new)
            scores[:, children] = np.column_stack([-found, found]) if found.ndim == 1 else found


def quality(tree: LabelTree, truth: NDArray[Any], chosen: NDArray[Any]) -> dict[str, Any]:
    """The columns of a row."""
    levels = {level.level: level for level in by_level(tree, truth, chosen)}
    loose = [(chosen[:, node] > 0) & (chosen[:, parent] <= 0) for node, parent in tree.downward]
    return {
        "right": levels["all"].right,
        "level_1_right": levels["1"].right,
        "level_1_f1": levels["1"].micro["f1"],
        "f1": levels["all"].micro["f1"],
        "most_specific_f1": levels["most specific"].micro["f1"],
        "macro_f1": levels["all"].macro["f1"],
        "inconsistent": int(np.logical_or.reduce(loose).sum()),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "tasks", nargs="*", choices=[[], *TASKS], help=f"of {', '.join(TASKS)}; by default all"
    )
    parser.add_argument("--json", action="store_true", help="print one object per line")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for task in options.tasks or TASKS:
        for row in compared(task):
            if options.json:
                print(json.dumps(row), flush=True)
                continue
            found = dict(row["quality"])
            loose = found.pop("inconsistent")
            shares = "  ".join(f"{name} {100 * value:.1f}" for name, value in found.items())
            print(f"{row['name']:<42} {shares}  inconsistent {loose:,}  {row['ours_s']} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
