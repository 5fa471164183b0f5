"""The model card: where a model comes from, what it is made of, how good it is, and where it ends."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from widemargin import __version__
from widemargin.classifier.text_classifier import TextClassifier
from widemargin.documents.collection import Collection, Vectors
from widemargin.documents.wording import counted
from widemargin.measure.intervals import Figure
from widemargin.measure.quality import Quality

Facts = list[tuple[str, str]]
FEW = 10  # examples
_TASKS = {
    "binary": "one of two classes per document",
    "multiclass": "one of several classes per document",
    "multilabel": "any number of labels per document",
}


def card_of(
    classifier: TextClassifier,
    path: Path | None,
    estimated: Quality | None,
    train: Collection | Vectors | None,
    test: Collection | Vectors | None,
) -> list[tuple[str, Facts]]:
    """The facts in groups, each with its title."""
    summary = classifier.training_summary_
    return [
        ("Model", _model(path)),
        ("Training data", _training(classifier, summary, train)),
        *([] if test is None else [("Test data", _data(test))]),
        ("Configuration", _configuration(classifier)),
        ("Estimates", _estimates(estimated)),
        ("Limits", [("note", text) for text in limits(classifier, estimated)]),
        ("How to load it", _loading(path, classifier)),
    ]


def _model(path: Path | None) -> Facts:
    found = [("written by", f"widemargin {__version__}")]
    if path is None:
        return [("report by", f"widemargin {__version__}"), ("file", "none: the model was given in memory")]
    content = path.read_bytes()
    found = [("file", path.name), ("size", f"{len(content):,} bytes")]
    return [
        *found,
        ("SHA-256", hashlib.sha256(content).hexdigest()),
        ("report by", f"widemargin {__version__}"),
    ]


def _training(
    classifier: TextClassifier, summary: dict[str, Any], train: Collection | Vectors | None
) -> Facts:
    found = [("documents", f"{summary['documents']:,}"), ("labels", f"{summary['labels']:,}")]
    found += [("task", _TASKS[summary["task"]])] if "task" in summary else []
    found += [("terms", f"{summary['terms']:,}")]
    hashes = classifier.record_.hashes
    if hashes is not None:
        digest = hashlib.sha256(hashes.tobytes()).hexdigest()
        found.append(("data hash", f"{digest} (SHA-256 of the hashes of {len(hashes):,} distinct texts)"))
    elif train is None:
        found.append(("data hash", "not in this model file"))
    if train is not None:
        found.append(("hash of the documents given", fingerprint(train)))
    if classifier.record_.reading:
        found.append(("read with", _settings(classifier.record_.reading)))
    return found


def _data(test: Collection | Vectors) -> Facts:
    return [("documents", f"{len(test):,}"), ("data hash", fingerprint(test))]


def fingerprint(documents: Collection | Vectors) -> str:
    """SHA-256 of ids, texts (or vectors) and labels, in their order.

    Examples
    --------
    >>> spam, ham = Collection(["1"], ["spam"], [("food",)]), Collection(["1"], ["ham"], [("food",)])
    >>> len(fingerprint(spam)), fingerprint(spam) == fingerprint(ham)
    (64, False)
    """
    digest = hashlib.sha256()
    content: Any = documents.texts if isinstance(documents, Collection) else documents.X
    for i, (name, labels) in enumerate(zip(documents.ids, documents.labels, strict=True)):
        digest.update(repr((name, None if labels is None else sorted(map(str, labels)))).encode())
        if isinstance(documents, Collection):
            digest.update(content[i].encode("utf-8", "surrogatepass"))
        else:
            row = content[[i]]
            digest.update(row.indices.tobytes() + row.data.tobytes())
    return digest.hexdigest()


def _configuration(classifier: TextClassifier) -> Facts:
    parts = (
        ("vectorizer", classifier.vectorizer_),
        ("features", classifier.features_),
        ("learner", classifier.learner_),
    )
    found = [
        (name, f"{type(part).__name__}: {_settings(part.get_params(deep=False))}")
        for name, part in parts
        if part is not None and hasattr(part, "get_params")
    ]
    rule = classifier.rule_
    if rule.costs is not None:
        decides = "by the least expected cost"
    elif classifier.thresholds not in (None, "auto"):
        decides = f"by thresholds chosen for {classifier.thresholds}"
    else:
        decides = "by thresholds" if rule.thresholds is not None else "by score"
    found.append(("decides", decides))
    if rule.calibration is not None:
        found.append(("probabilities", type(rule.calibration).__name__))
    return found


def _settings(values: Any) -> str:
    """The settings that are plain values.

    Examples
    --------
    >>> _settings({"C": 1.0, "n_jobs": None, "ngram_range": (1, 2), "verbose": False})
    'C=1.0, ngram_range=(1, 2)'
    """
    skipped = ("n_jobs", "verbose", "cache")
    return ", ".join(
        f"{name}={value}"
        for name, value in values.items()
        if name not in skipped and value is not None and isinstance(value, str | int | float | tuple | list)
    )


def _estimates(estimated: Quality | None) -> Facts:
    if estimated is None:
        return [("estimates", "none in this model file; train with --estimate auto")]
    found = [("method", estimated.method), ("documents", f"{estimated.n:,}")]
    figures = {"micro-F1": estimated.micro["f1"], "macro-F1": estimated.macro["f1"]}
    if estimated.accuracy is not None:
        figures = {"all labels right": estimated.accuracy, **figures}
    found += [(name, in_percent(figure)) for name, figure in figures.items()]
    return found + [("note", note) for note in estimated.notes]


def in_percent(figure: Figure) -> str:
    """A share with its interval.

    Examples
    --------
    >>> in_percent(Figure(0.5, 0.25, 0.75, "estimate")), in_percent(Figure(0.5, 0.5, 1.0, "bound"))
    ('50.0 % (25.0-75.0)', 'at least 50.0 %')
    """
    if figure.value != figure.value:
        return "undefined"
    if figure.kind == "bound":
        return f"at least {100 * figure.value:.1f} %"
    return f"{100 * figure.value:.1f} % ({100 * figure.low:.1f}-{100 * figure.high:.1f})"


def limits(classifier: TextClassifier, estimated: Quality | None) -> list[str]:
    """What not to expect of the model, in sentences."""
    found = ["The figures hold for documents like those the model was trained and tested on."]
    if classifier.vectorizer_ is not None:
        found.append(
            "The model knows the words of its training documents only; documents in another language or "
            "about new subjects are not recognized as such."
        )
    if estimated is not None:
        few = [str(row.label) for row in estimated.labels if row.examples < FEW]
        if few:
            found.append(
                f"{_some(few)} {_have(few)} fewer than {FEW} training examples: expect little of them."
            )
        never = [str(row.label) for row in estimated.labels if row.threshold == "never"]
        if never:
            found.append(
                f"{_some(never)} {'is' if len(never) == 1 else 'are'} never assigned: no threshold "
                f"reached the goal."
            )
        if estimated.kind == "bound":
            found.append(
                "The estimates are lower bounds (xi-alpha), which may be far below the real quality."
            )
    if classifier.rule_.calibration is None:
        found.append("Scores are not probabilities. Train with --calibrate platt for those.")
    return found


def _some(labels: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(label if len(label) <= 40 else label[:37] + "..." for label in labels[:most])
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return f"{counted(len(labels), 'label')} ({shown}{more})"


def _have(labels: Sequence[str]) -> str:
    return "has" if len(labels) == 1 else "have"


def _loading(path: Path | None, classifier: TextClassifier) -> Facts:
    name = "model.wm" if path is None else path.name
    if classifier.vectorizer_ is None:
        return [("command", f"widemargin predict {name} NEW.svmlight")]
    return [
        ("command", f"widemargin predict {name} NEW.jsonl"),
        ("Python", f'widemargin.TextClassifier.load("{os.fspath(name)}").predict(["a text"])'),
    ]
