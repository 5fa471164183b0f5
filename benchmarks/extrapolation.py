"""Do learning curves that are fitted on half of the documents predict F1 on all of them?

For every category of four collections, curves are fitted to held-out F1 on a random half of the documents, at
an eighth to all of its training documents. They predict, with a 90 % interval, the F1 that is measured in the
same way on all documents, the half included. Printed: how many intervals contain what was measured, and their
median width, for every collection, for all categories together, and for the ten largest Reuters topics.

`test` is another question: the interval for F1 on new documents, fitted on half of the training documents of
ModApte, against the test set, which is a sample too; `ideal` is how many would be expected to contain it.

Bars: of all categories 85 to 95 % at a median width of at most 10 points, of the ten largest topics at least
eight. With --json, one object per category and seed.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _whole_corpora import collection
from widemargin import LinearSVM, Vectorizer, load_corpus
from widemargin.estimate.curves.extrapolation import Extrapolation
from widemargin.estimate.curves.growth import Growth, measure_growth
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels
from widemargin.measure import contingency, f_measure
from widemargin.measure.intervals import bootstrap_interval

# Fifty, twenty, twenty-three and seven categories.
CORPORA = ("reuters21578:50", "20newsgroups", "ohsumed", "webkb-7")
TOPICS = 10


def documents(name: str) -> tuple[list[str], list[Any]]:
    if name != "webkb-7":
        return collection(name)
    corpus = load_corpus("webkb", "raw-7")
    both = [corpus.train] + ([corpus.test] if corpus.test is not None else [])
    return [text for part in both for text in part.texts], [one[0] for part in both for one in part.labels]


def rows_of(texts: list[str], labels: Labels) -> TrainingRows:
    vectorizer = Vectorizer()
    counts = vectorizer.fit_counts(texts)
    return TrainingRows(vectorizer.weighed(counts).matrix, labels, texts, vectorizer, counts)


def growth_of(texts: list[str], labels: Labels, some: NDArray[np.intp], seed: int) -> Growth:
    rows = rows_of([texts[i] for i in some], labels.take(some))
    return measure_growth(LinearSVM(), rows, random_state=seed)


def categories(name: str, seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """What was predicted from each half, and what was measured."""
    texts, values = documents(name)
    labels = Labels.of(values)
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(len(texts))
        half, whole = (growth_of(texts, labels, order[:n], seed) for n in (len(texts) // 2, len(texts)))
        for j, label in enumerate(half.labels):
            curve = Extrapolation.of(half, j)
            row = {"name": name, "seed": seed, "category": str(label), "examples": int(whole.examples[j])}
            if curve is not None:
                found, measured = curve.measured_again(2.0), float(whole.f1[-1, j])
                row |= {"half": float(half.f1[-1, j]), **found.to_dict(), "measured": measured}
                row["covers"] = bool(found.low <= measured <= found.high)
            yield row


def on_test_set(seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The ten largest topics: F1 on new documents, against the test set of ModApte."""
    corpus = load_corpus("reuters21578", "modapte")
    counts = corpus.train.label_counts()
    largest = sorted(counts, key=lambda label: -counts[label])[:TOPICS]
    train, test = (
        Labels.of([sorted(set(one) & set(largest)) for one in part.labels])
        for part in (corpus.train, corpus.test)
    )
    rows = rows_of(corpus.train.texts, train)
    learner = LinearSVM().fit(rows.X, train)
    scores = learner.decision_function(rows.vectorizer.transform(corpus.test.texts))
    from widemargin.decide.goals import Goal
    from widemargin.estimate.held_out import held_out

    held = held_out(learner, rows.X, train, method="k-fold", rows=rows)
    limits = Goal.read("f1").thresholds(held.scores, train.signs)
    table = contingency(test.signs, np.where(scores > limits, 1, -1))
    measured = f_measure(table)
    low, high = bootstrap_interval(f_measure, table)
    for seed in seeds:
        half = np.random.default_rng(seed).permutation(len(train))[: len(train) // 2]
        growth = growth_of(corpus.train.texts, train, half, seed)
        for j, label in enumerate(growth.labels):
            curve = Extrapolation.of(growth, j)
            assert curve is not None
            found = curve.at(len(train))
            chance = float(high[j] - low[j]) / 3.92
            wide = (found.high - found.low) / 3.29
            yield {
                "name": "test",
                "seed": seed,
                "category": str(label),
                **found.to_dict(),
                "measured": float(measured[j]),
                "covers": bool(found.low <= measured[j] <= found.high),
                "ideal": _inside(wide * 1.645 / float(np.hypot(wide, chance))),
            }


def _inside(deviations: float) -> float:
    from scipy.stats import norm

    return float(2 * norm.cdf(deviations) - 1)


def summary(rows: list[dict[str, Any]]) -> dict[str, float]:
    known = [row for row in rows if "covers" in row]
    widths = [100 * (row["high"] - row["low"]) for row in known]
    return {
        "categories": len(known),
        "not enough to say": len(rows) - len(known),
        "covers": float(np.mean([row["covers"] for row in known])),
        "median width": float(np.median(widths)),
        "bias": 100 * float(np.mean([row["value"] - row["measured"] for row in known])),
        "growth": 100 * float(np.mean([row["measured"] - row["half"] for row in known]))
        if "half" in known[0]
        else float("nan"),
    }


def show(name: str, rows: list[dict[str, Any]]) -> dict[str, float]:
    found = summary(rows)
    print(name.ljust(28) + "  ".join(f"{key} {value:.4g}" for key, value in found.items()), flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per category and seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="random halves (default: 0)")
    parser.add_argument("--tasks", nargs="+", choices=(*CORPORA, "test"), default=(*CORPORA, "test"))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found: list[dict[str, Any]] = []
    failed = False
    for task in given.tasks:
        rows = list(on_test_set(given.seeds) if task == "test" else categories(task, given.seeds))
        if given.json:
            print("\n".join(map(json.dumps, rows)), flush=True)
        elif task == "test":
            show("test set, ten topics", rows)
            print(f"  ideal {np.mean([row['ideal'] for row in rows]):.3f}")
        else:
            show(task, rows)
        found += rows if task != "test" else []
    topics = sorted((row for row in found if row["name"] == CORPORA[0]), key=lambda row: -row["examples"])
    for seed in given.seeds:
        largest = [row for row in topics if row["seed"] == seed][:TOPICS]
        right = sum(row["covers"] for row in largest)
        failed |= bool(largest) and right < TOPICS - 2
        if largest and not given.json:
            print(f"ten largest topics, seed {seed}: {right} of {len(largest)}")
    if found:
        total = summary(found) if given.json else show("all categories", found)
        failed |= not (0.85 <= total["covers"] <= 0.95 and total["median width"] <= 10)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
