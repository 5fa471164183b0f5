"""``python tests/models/make_models.py FOLDER``: write small models of all kinds, and what they predict.

Run it when the format of model files changes, into a new folder beside this file; the older ones stay. The
sentences are made up. `tests/test_old_models.py` loads every folder.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

WORDS = {
    "billing": ["invoice", "refund", "amount", "charged twice", "payment", "credit card"],
    "network": ["wifi", "router", "vpn", "timeout", "cable", "slow connection"],
    "hardware": ["printer", "screen", "keyboard", "battery", "fan", "disk"],
}
NEW = ["my invoice and the refund", "the router is slow", "a battery", "nothing that is known", ""]


def tickets() -> tuple[list[str], list[str]]:
    pairs = [
        (f"my {first} and the {second}", label)
        for label, words in WORDS.items()
        for first in words
        for second in words
        if first < second
    ]
    return [text for text, _ in pairs], [label for _, label in pairs]


def models() -> dict[str, tuple[Any, list[Any]]]:
    """Classifiers by name, and the labels to train each on."""
    from widemargin import (
        Arow,
        BalancedWinnow,
        KernelSVM,
        LinearSVM,
        NaiveBayes,
        NearestNeighbors,
        Rocchio,
        SelectFeatures,
        TextClassifier,
        Vectorizer,
    )

    _, labels = tickets()
    sets = [[label] + (["urgent"] if number % 4 == 0 else []) for number, label in enumerate(labels)]
    binary = [label == "billing" for label in labels]
    paths = [f"desk/{label}" if label == "billing" else f"it/{label}" for label in labels]
    short = {"tune": None, "estimate": None, "thresholds": None}
    words = Vectorizer(weighting="ltc")
    return {
        "classes": (TextClassifier(words, LinearSVM(), **short), labels),
        "two-classes": (TextClassifier(words, LinearSVM(), **short), binary),
        "label-sets": (
            TextClassifier(words, LinearSVM(), **{**short, "estimate": "k-fold", "thresholds": "f1"}),
            sets,
        ),
        "probabilities": (
            TextClassifier(words, LinearSVM(), calibration="platt", **{**short, "estimate": "k-fold"}),
            labels,
        ),
        "paths": (TextClassifier(words, LinearSVM(), label_path="/", **short), paths),
        "selected": (
            TextClassifier(words, LinearSVM(), features=SelectFeatures("chi2", 10), **short),
            labels,
        ),
        "characters": (
            TextClassifier(
                Vectorizer(units="chars", ngram_range=(2, 3), max_features=60), LinearSVM(), **short
            ),
            labels,
        ),
        "hashed": (
            TextClassifier(Vectorizer(n_hashed=128, weighting="sxx"), BalancedWinnow(), **short),
            labels,
        ),
        "kernel": (TextClassifier(words, KernelSVM(kernel="poly", degree=2), **short), labels),
        "bayes": (TextClassifier(Vectorizer(weighting="nxx"), NaiveBayes(), **short), labels),
        "rocchio": (TextClassifier(words, Rocchio(), **short), labels),
        "neighbors": (TextClassifier(words, NearestNeighbors(3), **short), labels),
        "arow": (TextClassifier(words, Arow(), **short), labels),
    }


def plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def train_by_command(path: Path) -> None:
    """A model of ``widemargin train``, which also remembers how its documents were read."""
    from widemargin.cli import main as widemargin

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "tickets.jsonl")
        records = [{"text": text, "labels": [label]} for text, label in zip(*tickets(), strict=True)]
        source.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        code = widemargin(["train", str(source), "-o", str(path), "--tune", "none", "--quiet"])
    if code != 0:
        raise SystemExit(code)


def main(folder: Path) -> None:
    from widemargin import TextClassifier

    folder.mkdir(parents=True, exist_ok=True)
    texts, _ = tickets()
    expected: dict[str, Any] = {}
    train_by_command(folder / "command.wm")
    for name, (classifier, labels) in models().items():
        classifier.fit(texts, labels).save(folder / f"{name}.wm")
    for path in sorted(folder.glob("*.wm")):
        classifier, name = TextClassifier.load(path), path.stem
        size = path.stat().st_size
        expected[name] = {
            "labels": [plain(labels) for labels in plain(classifier.predict(NEW))],
            "scores": classifier.decision_function(NEW).round(6).tolist(),
        }
        if classifier.rule_.calibration is not None:
            expected[name]["probabilities"] = classifier.scorer.probabilities(NEW).round(6).tolist()
        print(f"{name}: {size:,} bytes")
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
