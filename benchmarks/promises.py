"""Promised precision and recall, and probabilities, measured on documents outside the training sample.

Each collection is divided at random several times into a training sample and a test set. Thresholds and
calibration come from leave-one-out scores of the sample, as in training.

Promises: "made" is the share of labels that get a promise, "kept" how many of those have at least the target
on the test set. The test set is a sample, too, so that a promise that holds may look broken. "expected"
allows for that: it is the share of recall promises that would be kept if they held with exactly the stated
confidence. A precision is promised only where a test passes; the promise is about all labels, so "broken" is
the share of all labels whose promise was made and is not kept. It must not exceed 5 %, nor may "kept" of
recall be below "expected", by more than three standard errors over splits.

Probabilities: the expected calibration error of the most probable class (15 bins) and the log loss, for the
sigmoids of the classes scaled to sum to 1 ("apart") and for the default ("joint"), which must have at most
half the error.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc
from scipy.stats import betabinom

from _compare import arguments
from widemargin import LinearSVM, Vectorizer, load_corpus
from widemargin.classifier.training import fit_parts
from widemargin.decide.calibration import fit_platt, normalized
from widemargin.decide.goals import Goal
from widemargin.estimate.held_out import held_out
from widemargin.labels import Labels

Floats = NDArray[np.float64]
Task = tuple[list[str], list[Any]]
CONFIDENCE, BINS, MOST_TEST = 0.95, 15, 10_000
# Fewer positive test documents cannot show whether a promise is kept.
LEAST_POSITIVE = 10


@dataclass
class Split:
    """Scores and signs, (n, labels), of held-out training documents and of test documents."""

    scores: Floats
    truth: NDArray[np.int8]
    test_scores: Floats
    test_truth: NDArray[np.int8]


def documents(name: str) -> Task:
    corpus = load_corpus(name)
    parts = [part for part in (corpus.train, corpus.test) if part is not None]
    return [text for part in parts for text in part.texts], [y for part in parts for y in part.labels]


def reuters() -> Task:
    """The 30 largest topics."""
    texts, labels = documents("reuters21578")
    top = {topic for topic, _ in Counter(topic for topics in labels for topic in topics).most_common(30)}
    return texts, [[topic for topic in topics if topic in top] for topics in labels]


def six_groups() -> Task:
    """Short questions: 150 intents in six random groups."""
    texts, labels = documents("clinc150")
    intents = sorted(set(map(only, labels)))
    group = dict(zip(intents, (np.random.default_rng(7).permutation(len(intents)) % 6).tolist(), strict=True))
    return texts, [[f"group {group[only(label)]}"] for label in labels]


def classes(name: str) -> Task:
    texts, labels = documents(name)
    return texts, list(map(only, labels))


def only(label: Any) -> Any:
    return label[0] if isinstance(label, (list, tuple)) else label


# Documents in a training sample, default number of splits, and the collection.
PROMISES: dict[str, tuple[int, int, Callable[[], Task]]] = {
    "reuters": (3000, 10, reuters),
    "ohsumed": (1500, 10, lambda: documents("ohsumed")),
    "questions": (1000, 24, six_groups),
    "spam": (1000, 24, lambda: classes("sms-spam")),
}
PROBABILITIES: dict[str, tuple[int, int, Callable[[], Task]]] = {
    "20newsgroups": (3000, 2, lambda: classes("20newsgroups")),
    "clinc150": (3000, 3, lambda: classes("clinc150")),
}


def splits(task: Task, size: int, seeds: range) -> Iterator[Split]:
    texts, labels = task
    y = Labels.of(labels)
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(len(texts))
        sample, test = order[:size], order[size : size + MOST_TEST]
        parts = fit_parts(Vectorizer(), None, LinearSVM(), [texts[i] for i in sample], y.take(sample))
        found = held_out(parts.learner, parts.rows.X, parts.rows.y, method="leave-one-out", rows=parts.rows)
        scores = parts.learner.decision_function(parts.vectorizer.transform([texts[i] for i in test]))
        signs = y.take(test).signs
        yield Split(columns(found.scores), columns(found.truth), columns(scores), columns(signs))


def columns(values: Any) -> Any:
    return np.asarray(values).reshape(len(values), -1)


def promises(name: str, found: list[Split], target: float) -> Iterator[dict[str, Any]]:
    for what in ("precision", "recall"):
        goal, labels, made = Goal(what, (target,), CONFIDENCE), 0, 0  # type: ignore[arg-type]
        kept: list[Floats] = []
        expected: list[float] = []
        broken: list[float] = []
        for split in found:
            thresholds = goal.thresholds(split.scores, split.truth)
            chosen, positive = split.test_scores > thresholds, split.test_truth > 0
            hits, of = (
                (chosen & positive).sum(axis=0),
                (chosen if what == "precision" else positive).sum(axis=0),
            )
            enough = positive.sum(axis=0) >= LEAST_POSITIVE
            promised, keeps = np.isfinite(thresholds) & enough, hits >= target * of - 1e-9
            labels, made = labels + int(enough.sum()), made + int(promised.sum())
            kept.append(keeps[promised])
            broken.append(float((promised & ~keeps).sum() / enough.sum()))
            if what == "recall":
                counts = zip((split.truth > 0).sum(axis=0)[promised], of[promised], strict=True)
                expected += [chance_to_keep(int(p), int(m), target) for p, m in counts]
        row = {
            "name": f"{name}, {what} {target:g}",
            "labels": labels,
            "made": made / labels,
            "kept": float(np.mean(np.concatenate(kept))) if made else None,
            "broken": float(np.mean(broken)),
            "error": float(np.std(broken, ddof=1) / np.sqrt(len(found))) if len(found) > 1 else None,
        }
        if what == "recall":
            row["expected"] = float(np.mean(expected)) if expected else None
        yield row


def chance_to_keep(positives: int, test_positives: int, target: float) -> float:
    """How often test documents show a recall that is promised with exactly the stated confidence."""
    j = 1
    while j < positives and betainc(positives - j, j + 1, target) <= 1 - CONFIDENCE:
        j += 1
    needed = np.ceil(target * test_positives - 1e-9)
    return float(betabinom.sf(needed - 1, test_positives, positives - j + 1, j))


def probabilities(name: str, found: list[Split]) -> dict[str, Any]:
    figures: dict[str, list[float]] = {}
    for split in found:
        apart, joint = (fit_platt(split.scores, split.truth, exclusive=how) for how in (False, True))
        truth = split.test_truth.argmax(axis=1)
        for how, chances in (
            ("apart", normalized(apart(split.test_scores))),
            ("joint", joint(split.test_scores)),
        ):
            figures.setdefault(f"ece_{how}", []).append(calibration_error(chances, truth))
            given = chances[np.arange(len(truth)), truth]
            figures.setdefault(f"log_loss_{how}", []).append(float(-np.log(np.maximum(given, 1e-15)).mean()))
    return {
        "name": f"{name}, probabilities",
        **{key: float(np.mean(value)) for key, value in figures.items()},
    }


def calibration_error(chances: Floats, truth: NDArray[Any]) -> float:
    """The mean distance of confidence and accuracy over equally wide bins of confidence."""
    confidence, right = chances.max(axis=1), chances.argmax(axis=1) == truth
    place = np.minimum((BINS * confidence).astype(int), BINS - 1)
    gaps = np.bincount(place, confidence - right, minlength=BINS)
    return float(np.abs(gaps).sum() / len(truth))


def wrong(row: dict[str, Any]) -> str | None:
    """What a row falls short of."""
    if "ece_joint" in row:
        return None if row["ece_joint"] <= row["ece_apart"] / 2 else "error of joint probabilities not halved"
    slack = 3 * max(row["error"] or 0.0, 1 / row["labels"])
    allowed = 1 - CONFIDENCE if row.get("expected") is None else 1 - row["expected"]
    return f"broken for more than {allowed:.3f}" if row["broken"] > allowed + slack else None


def main() -> int:
    parser = arguments(__doc__, repeats=None, tasks=[*PROMISES, *PROBABILITIES])
    parser.add_argument("--splits", type=int, metavar="N", help="random splits of every collection")
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="seed of the first split")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = 0
    for task in options.tasks:
        size, count, read = (PROMISES | PROBABILITIES)[task]
        seeds = range(options.first_seed, options.first_seed + (options.splits or count))
        found = list(splits(read(), size, seeds))
        rows: Any = (
            (row for target in (0.8, 0.9) for row in promises(task, found, target))
            if task in PROMISES
            else [probabilities(task, found)]
        )
        for row in rows:
            row |= {"documents": size, "seeds": [seeds.start, seeds.stop - 1]}
            print(json.dumps(row) if options.json else text(row), flush=True)
            if problem := wrong(row):
                failed = 1
                print(f"{row['name']}: {problem}.", file=sys.stderr)
    return failed


def text(row: dict[str, Any]) -> str:
    shown = (
        f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()
    )
    return ", ".join(shown).removeprefix("name ")


if __name__ == "__main__":
    sys.exit(main())
