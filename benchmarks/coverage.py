"""Do estimates keep their word? Bias and coverage over random splits of collections.

Every split trains a classifier on some documents of a collection, estimates its quality from these alone, and
measures it on all others. Printed for every collection and configuration: the mean difference between the
estimate and the measurement, in points (bias); the share of splits, or of labels and splits, whose 95 %
interval contains the measured value (covers); the share that would contain it if every decision were right or
wrong by itself, with the probabilities that the test set shows (ideal: below 95 % since the test set is a
sample too); and the median half width of the intervals, in points, and as a multiple of that of independent
counts. The first line has the median seconds of one training (representation and learner as they were chosen)
and of all of `fit`, and how often the one goes into the other.

Bars: bias of accuracy and micro-F1 within 0.5 points and of macro-F1 within 1.5; over all collections
together, coverage within 3 points of the ideal and widths up to 1.3 times those of independent counts; `fit`
within 5 seconds or 20 trainings. `--all` tries every learner, tuning and thresholds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _whole_corpora import CORPORA, collection
from widemargin import BalancedWinnow, KernelSVM, LinearSVM, RegularizedLeastSquares, TextClassifier
from widemargin.labels import Labels
from widemargin.measure import Contingency, contingency, f_measure
from widemargin.measure.intervals import bootstrap_interval, clopper_pearson
from widemargin.measure.quality import quality

SLOW = 1.0  # seconds of a fit above which there are fewer splits
MANY, FEW = 100, 16
MOST_TESTED = 10_000


LEARNERS: dict[str, Callable[[], Any]] = {
    "linear-svm": LinearSVM,
    "least-squares": RegularizedLeastSquares,
    "kernel-svm": lambda: KernelSVM(kernel="rbf", gamma=0.5),
    "balanced-winnow": BalancedWinnow,
}


def tried(
    texts: list[str], labels: list[Any], n: int, splits: int | None, settings: dict[str, Any], learner: str
) -> Iterator[dict[str, Any]]:
    """The figures of every split."""
    everything = Labels.of(labels)
    for seed in range(splits or MANY):
        order = np.random.default_rng(seed).permutation(len(texts))
        train, test = order[:n], order[n : n + MOST_TESTED]
        y = [labels[i] for i in train]
        classifier = TextClassifier(
            **{"learner": LEARNERS[learner](), "tune": None, "estimate": None, **settings}
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begin = time.perf_counter()
            classifier.fit([texts[i] for i in train], y)
            spent = time.perf_counter() - begin
            once = time.perf_counter()
            again = TextClassifier(classifier.vectorizer_, classifier.learner_, estimate=None).fit(
                [texts[i] for i in train], y
            )
            once = time.perf_counter() - once
            del again
        found = classifier.training_summary_["estimates"]
        chosen = chosen_signs(classifier, [texts[i] for i in test])
        space = classifier.label_space_
        truth = signs_in(space, everything, test)
        yield {
            "estimates": found,
            "measured": quality(
                space,
                contingency(truth, chosen),
                kind="measured",
                method="test",
                right=int((truth == chosen).all(axis=1).sum()),
            ).to_dict(),
            "table": contingency(truth, chosen),
            "confusion": None if space.kind == "multilabel" else confusion(truth, chosen),
            "n": len(train),
            "m": len(test),
            "seconds": (once, spent),
            "kind": space.kind,
        }
        if seed + 1 >= FEW and splits is None and spent > SLOW:
            return


def signs_in(space: Any, everything: Labels, rows: NDArray[np.intp]) -> NDArray[np.int8]:
    """The truth of some documents, in the columns of a classifier that may not know all labels."""
    signs = everything.take(rows).signs
    if space.kind == "binary":
        return signs
    names = everything.space.column_names.tolist()
    return signs[:, [names.index(name) for name in space.column_names.tolist()]]


def chosen_signs(classifier: TextClassifier, texts: list[str]) -> NDArray[np.int8]:
    """The decisions of a classifier as signs."""
    space = classifier.label_space_
    return Labels.of(classifier.predict(texts), len(texts), space=space).signs


def confusion(truth: NDArray[np.int8], chosen: NDArray[np.int8]) -> NDArray[np.int64]:
    """How many documents of one class were given another: (classes, classes)."""
    k = max(truth.shape[1], 2)
    rows, columns = (
        (signs[:, 0] > 0).astype(np.int64) if signs.shape[1] == 1 else signs.argmax(axis=1)
        for signs in (truth, chosen)
    )
    return np.bincount(rows * k + columns, minlength=k * k).reshape(k, k)


def macro_f1(counts: NDArray[Any]) -> NDArray[np.float64]:
    """The mean F1 of the classes of confusion matrices, in the last two axes."""
    given, asked = counts.sum(axis=-2), counts.sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.nanmean(2 * np.diagonal(counts, axis1=-2, axis2=-1) / (given + asked), axis=-1)


def ideal_macro(row: dict[str, Any], generator: np.random.Generator) -> list[tuple[bool, float]]:
    """The same for the macro-average of exclusive classes, where documents are independent, not labels."""
    counts = row["confusion"]
    shares = (counts / counts.sum()).ravel()
    estimate = generator.multinomial(row["n"], shares)
    again = generator.multinomial(row["n"], estimate / row["n"], size=300).reshape(300, *counts.shape)
    low, high = np.quantile(macro_f1(again), [0.025, 0.975])
    measured = macro_f1(generator.multinomial(row["m"], shares).reshape(counts.shape))
    return [(bool(low <= measured <= high), float(high - low))]


def both(table: Contingency) -> Contingency:
    """The table of a binary task as the tables of its two classes."""
    a, b, c, d = (
        int(np.ravel(part)[0])
        for part in (table.true_positive, table.false_positive, table.false_negative, table.true_negative)
    )
    return Contingency(*map(np.array, ([d, a], [c, b], [b, c], [a, d])))


def drawn(table: Contingency, n: int, generator: np.random.Generator) -> Contingency:
    """The decisions of `n` documents if all were made by themselves."""
    cells = np.stack(
        [table.true_positive, table.false_positive, table.false_negative, table.true_negative], axis=-1
    ).reshape(-1, 4)
    return Contingency(*np.array([generator.multinomial(n, cell / cell.sum()) for cell in cells]).T)


def ideal(row: dict[str, Any], seed: int) -> dict[str, list[tuple[bool, float]]]:
    """Whether intervals of independent counts cover independent measurements, and their widths."""
    generator = np.random.default_rng(seed)
    table = both(row["table"]) if row["kind"] == "binary" else row["table"]
    right = row["measured"]["accuracy"]["value"]
    found: dict[str, list[tuple[bool, float]]] = {}
    estimate, measured = (drawn(table, size, generator) for size in (row["n"], row["m"]))
    low, high = clopper_pearson(generator.binomial(row["n"], right), row["n"])
    inside = low <= generator.binomial(row["m"], right) / row["m"] <= high
    found["accuracy"] = [(bool(inside), float(high - low))]
    for name, average in (("micro f1", "micro"), ("macro f1", "macro"), ("label f1", None)):
        low, high = bootstrap_interval(f_measure, estimate, average=average, samples=300)  # type: ignore[arg-type]
        value = f_measure(measured.merged() if average == "micro" else measured)
        if average == "macro":
            value = np.nanmean(value)
        found[name] = [
            (bool(a <= v <= b), float(b - a))
            for v, a, b in zip(np.ravel(value), np.ravel(low), np.ravel(high), strict=True)
            if not np.isnan(v + a + b)
        ]
    if row["kind"] != "multilabel":
        found["micro f1"], found["macro f1"] = found["accuracy"], ideal_macro(row, generator)
    return found


def compared(row: dict[str, Any]) -> dict[str, list[tuple[float, float, float, float]]]:
    """Value, low and high end of every estimate, and what was measured."""
    estimates, measured = row["estimates"], row["measured"]

    def pair(a: dict[str, Any] | None, b: dict[str, Any] | None) -> list[tuple[float, float, float, float]]:
        if a is None or b is None or a["value"] is None or b["value"] is None:
            return []
        return [(a["value"], a["low"], a["high"], b["value"])]

    found = {"accuracy": pair(estimates["accuracy"], measured["accuracy"])}
    found |= {f"{each} f1": pair(estimates[each]["f1"], measured[each]["f1"]) for each in ("micro", "macro")}
    for name in ("f1", "precision", "recall"):
        found[f"label {name}"] = [
            one
            for a, b in zip(estimates["labels"], measured["labels"], strict=True)
            if b["examples"] >= 5 and a["examples"] >= 2
            for one in pair(a[name], b[name])
        ]
    return found


# What `--all` tries: learner, and parameters of TextClassifier.
CONFIGURATIONS: list[tuple[str, dict[str, Any]]] = [
    ("linear-svm", {}),
    ("linear-svm", {"estimate": "leave-one-out"}),
    ("linear-svm", {"estimate": "one-step"}),
    ("linear-svm", {"estimate": "k-fold"}),
    ("linear-svm", {"tune": "fast"}),
    ("linear-svm", {"thresholds": "f1"}),
    ("least-squares", {}),
    ("kernel-svm", {}),
    ("balanced-winnow", {}),
]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "corpora", nargs="*", default=CORPORA, help="collections; NAME:K takes the K most frequent labels"
    )
    parser.add_argument("--documents", type=int, default=3000, help="training documents")
    parser.add_argument("--splits", type=int, help="the seeds are 0 to SPLITS - 1")
    parser.add_argument("--learner", choices=LEARNERS, default="linear-svm")
    parser.add_argument("--estimate", default="auto")
    parser.add_argument("--tune")
    parser.add_argument("--thresholds")
    parser.add_argument("--all", action="store_true", help="learners, tuning and thresholds one by one")
    parser.add_argument("--json", action="store_true", help="print every row as JSON")
    asked = parser.parse_args(arguments)
    settings = {"estimate": asked.estimate, "tune": asked.tune, "thresholds": asked.thresholds}
    for learner, changes in CONFIGURATIONS if asked.all else [(asked.learner, {})]:
        one_configuration(asked, learner, settings | changes)
    return 0


def one_configuration(asked: argparse.Namespace, learner: str, settings: dict[str, Any]) -> None:
    """Print all collections, and what they come to together."""
    pooled: dict[str, list[NDArray[np.float64]]] = {}
    for name in asked.corpora:
        texts, labels = collection(name)
        if settings["thresholds"] and Labels.of(labels).space.kind == "multiclass":
            continue  # the largest score decides
        rows = list(tried(texts, labels, asked.documents, asked.splits, settings, learner))
        report: dict[str, Any] = {
            "corpus": name,
            "seeds": len(rows),
            "learner": learner,
            "settings": {key: value for key, value in settings.items() if value is not None},
            "method": dict(Counter(row["estimates"]["method"] for row in rows)),
        }
        ideals = [ideal(row, seed) for seed, row in enumerate(rows)]
        for kind in compared(rows[0]):
            pairs = np.array([one for row in rows for one in compared(row)[kind]]).reshape(-1, 4)
            if not len(pairs):
                continue
            inside = (pairs[:, 1] <= pairs[:, 3]) & (pairs[:, 3] <= pairs[:, 2])
            widths = pairs[:, 2] - pairs[:, 1]
            best = np.array([one for each in ideals for one in each.get(kind, [])]).reshape(-1, 2)
            report[kind] = {
                "bias": round(100 * float(np.mean(pairs[:, 0] - pairs[:, 3])), 2),
                "covers": round(float(inside.mean()), 3),
                "ideal": round(float(best[:, 0].mean()), 3) if len(best) else None,
                "half width": round(50 * float(np.median(widths)), 2),
                "wider": round(float(np.median(widths) / np.median(best[:, 1])), 2) if len(best) else None,
            }
            if len(best):
                ratio = len(pairs) * np.median(widths) / np.median(best[:, 1])
                sums = [inside.sum(), len(pairs), best[:, 0].sum(), len(best), ratio]
                pooled.setdefault(kind, []).append(np.array(sums, dtype=np.float64))
        once, spent = np.median([row["seconds"] for row in rows], axis=0)
        report["seconds of one training"], report["seconds of fit"] = round(once, 2), round(spent, 2)
        print(json.dumps(report) if asked.json else text_of(report), flush=True)
    for kind, figures in pooled.items():
        covered, count, best, n_best, ratio = np.sum(figures, axis=0)
        print(
            f"all collections: {kind:9s} covers {covered / count:.3f}, ideal {best / n_best:.3f}; "
            f"{ratio / count:.2f} times as wide as independent counts",
            flush=True,
        )


def text_of(report: dict[str, Any]) -> str:
    once, spent = report["seconds of one training"], report["seconds of fit"]
    lines = [
        f"{report['corpus']}: {report['learner']} {report['settings']} by {report['method']}, "
        f"seeds 0 to {report['seeds'] - 1}; one training {once} s, fit {spent} s "
        f"({spent / max(once, 0.01):.0f} trainings)"
    ]
    for kind, figures in report.items():
        if isinstance(figures, dict) and "bias" in figures:
            known = figures["ideal"] is not None
            best = f" (ideal {figures['ideal']:.3f})" if known else ""
            wider = f" ({figures['wider']:.2f} times independent)" if known else ""
            lines.append(
                f"  {kind:16s} bias {figures['bias']:+6.2f}   covers {figures['covers']:.3f}{best}   "
                f"half width {figures['half width']:.2f}{wider}"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
