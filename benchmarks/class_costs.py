"""What do decisions cost, by the largest score and by the least expected cost? Offsets of classes too.

20 Newsgroups, by its dates: a message in the wrong top-level group costs 5, in the wrong group of the right
one 1. Short messages, random halves: a good message taken for spam costs 10, a spam message let through 1.
Printed: the average cost on the test documents of both decisions and of the cheapest single class, and the
cost that was estimated in training.

Then the accuracy and macro-F1 of Reuters-21578 (documents with one topic), of 20 Newsgroups, and of 20
Newsgroups with classes of falling size (each three quarters of the next larger), without offsets of classes
and with those of each goal.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from widemargin import TextClassifier, load_corpus
from widemargin.labels import Labels
from widemargin.measure import ClassCosts, average_cost, summarize

Part = tuple[list[str], list[str]]
GOALS = (None, "f1", "f1-per-label", "proportional")


def newsgroups() -> tuple[Part, Part]:
    corpus = load_corpus("20newsgroups")
    return one_label(corpus.train), one_label(corpus.test)


def one_label(collection: Any) -> Part:
    """Documents with one label."""
    pairs = [
        (text, labels[0])
        for text, labels in zip(collection.texts, collection.labels, strict=True)
        if len(labels or ()) == 1
    ]
    return [text for text, _ in pairs], [label for _, label in pairs]


def some(part: Part, rows: Any) -> Part:
    return [part[0][i] for i in rows], [part[1][i] for i in rows]


def costs() -> Iterator[tuple[str, Any, Part, Part]]:
    train, test = newsgroups()
    names = sorted(set(train[1]))
    top = {a: {b: 1 if a.split(".")[0] == b.split(".")[0] else 5 for b in names if a != b} for a in names}
    yield "20newsgroups", top, train, test
    corpus = load_corpus("sms-spam")
    whole = [a + b for a, b in zip(one_label(corpus.train), one_label(corpus.test), strict=True)]
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(whole[0])).tolist()
        half = len(order) // 2
        lost = {"ham": {"spam": 10}, "spam": {"ham": 1}}
        yield f"sms-spam {seed}", lost, some(whole, order[:half]), some(whole, order[half:])


def tasks() -> Iterator[tuple[str, Part, Part]]:
    corpus = load_corpus("reuters21578")
    train, test = one_label(corpus.train), one_label(corpus.test)
    known = set(train[1])
    yield "reuters21578", train, some(test, [i for i, label in enumerate(test[1]) if label in known])
    train, test = newsgroups()
    yield "20newsgroups", train, test
    for seed in range(3):
        rng = np.random.default_rng(seed)
        share = {
            name: 0.75 ** int(place)
            for name, place in zip(sorted(set(train[1])), rng.permutation(20), strict=True)
        }
        kept = [
            [i for i, label in enumerate(part[1]) if rng.random() < share[label]] for part in (train, test)
        ]
        yield f"20newsgroups, falling {seed}", some(train, kept[0]), some(test, kept[1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--estimate", default="auto", help="as `train --estimate`")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, between, train, test in costs():
        classifier = TextClassifier(costs=between, estimate=asked.estimate, tune=None).fit(*train)
        space, scores = classifier.label_space_, classifier.decision_function(test[0])
        truth, plain = (
            Labels.of(test[1], space=space).codes,
            Labels.of(space.decide(scores), space=space).codes,
        )
        decided = Labels.of(classifier.predict(test[0]), space=space).codes
        found = average_cost(ClassCosts.of(between, space.classes.tolist()), truth, decided, by_scores=plain)
        row = {
            "name": name,
            "least_cost": found.average.value,
            "largest_score": found.by_scores,
            "always": found.always,
            "estimated": classifier.training_summary_["costs"]["average"]["value"],
            "estimated_largest_score": classifier.training_summary_["costs"]["by_scores"],
        }
        print(json.dumps(row), flush=True) if asked.json else print(
            f"{name:16s} least expected cost {row['least_cost']:.4f} (estimated {row['estimated']:.4f})   "
            f"largest score {row['largest_score']:.4f} (estimated {row['estimated_largest_score']:.4f})   "
            f"always {found.always_class} {row['always']:.4f}",
            flush=True,
        )
    for name, train, test in tasks():
        for goal in GOALS:
            classifier = TextClassifier(thresholds=goal, estimate="k-fold", tune=None).fit(*train)
            space, scores = classifier.label_space_, classifier.decision_function(test[0])
            summary = summarize(space, space.encode(test[1]), scores, classifier.rule_.choose(scores))
            estimated = classifier.training_summary_["estimates"]
            figures = {
                "accuracy": summary.accuracy,
                "macro_f1": summary.macro.f1,
                "estimated_accuracy": estimated["accuracy"]["value"],
                "estimated_macro_f1": estimated["macro"]["f1"]["value"],
            }
            print(json.dumps({"name": name, "goal": goal, **figures}), flush=True) if asked.json else print(
                f"{name:24s} {goal or 'none':13s} accuracy {100 * summary.accuracy:.1f} "
                f"(estimated {100 * figures['estimated_accuracy']:.1f})   macro-F1 "
                f"{100 * summary.macro.f1:.1f} (estimated {100 * figures['estimated_macro_f1']:.1f})",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
