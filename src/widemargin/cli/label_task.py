"""What `label` does between reading and writing: who is labeled, learning, a row for everybody else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from widemargin.classifier import TextClassifier
from widemargin.classifier.unlabeled.pool import compare_words
from widemargin.cli.output import bytes_in_words, counted, seconds_in_words, shortened
from widemargin.decide.active import next_to_label, uncertainty
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels, labeled_rows
from widemargin.learn.bayes.semi_supervised import SemiSupervisedBayes
from widemargin.learn.unlabeled.self_training import SelfTraining

# Fractions of classes are guesses and may add up to roughly 1.
ROUGHLY = 0.05


@dataclass(frozen=True)
class Task:
    """Documents with what is known of their labels."""

    source: str
    documents: Collection | Vectors
    labels: Labels

    @property
    def wanted(self) -> list[int]:
        """The numbers of the documents whose labels are not known."""
        return np.flatnonzero(self.labels.unlabeled).tolist()

    def unit_length(self, vectorizing: dict[str, Any]) -> bool:
        """Whether documents have length 1."""
        return isinstance(self.documents, Collection) and vectorizing["weighting"].endswith("c")


def gather(
    source: str,
    first: Collection | Vectors,
    second_source: str | None,
    second: Collection | Vectors | None,
    multilabel: bool,
) -> Task:
    """The documents of one or two files together; those of the second count as unlabeled."""
    if isinstance(first, Vectors) and first.weights is not None:
        raise DataError(
            f"{source}: has costs of single rows (cost:), which a transductive SVM does not support. Remove "
            f"them."
        )
    labels: list[Any] = list(first.labels)
    documents = first
    if second is not None:
        documents = joined(source, first, second_source, second)
        labels += [None] * len(second)
    if not labeled_rows(labels):
        raise DataError(
            f"{source}: none of {counted(len(first), 'document')} has a label. Label a few, or name the "
            f"column with --label."
        )
    try:
        return Task(source, documents, Labels.of_documents(labels, multilabel=multilabel))
    except DataError as error:
        raise DataError(f"{source}: {error}") from error


def joined(
    source: str, first: Collection | Vectors, second_source: str | None, second: Collection | Vectors
) -> Collection | Vectors:
    """The documents of two files, of which both hold texts or both hold vectors."""
    if isinstance(first, Collection) and isinstance(second, Collection):
        return Collection(first.ids + second.ids, first.texts + second.texts, first.labels + second.labels)
    if isinstance(first, Vectors) and isinstance(second, Vectors):
        return Vectors.joined([first, second])
    has, other = ("vectors", "texts") if isinstance(first, Vectors) else ("texts", "vectors")
    raise DataError(
        f"{source} holds {has} and {second_source} holds {other}. Pass two files of the same kind."
    )


def fractions(positives: list[str] | None, task: Task) -> Any:
    """What --positives says, as the learner takes it: None, a fraction, or fractions by label."""
    if not positives:
        return None
    space = task.labels.space
    names = [str(name) for name in space.classes.tolist()]
    found: dict[str, float] = {}
    for given in positives:
        name, equals, number = given.rpartition("=")
        if equals and name not in names:
            shown = ", ".join(shortened(known, 30) for known in names[:10])
            raise UsageError(f"--positives {given}: there is no label {name!r}. The labels are {shown}.")
        if not equals and space.kind != "binary":
            raise UsageError(
                f"--positives {given}: there are {len(names)} labels. Write LABEL=FRACTION, once per label."
            )
        try:
            fraction = float(number)
        except ValueError:
            fraction = -1.0
        if not 0 < fraction < 1:
            raise UsageError(f"--positives {given}: expected a fraction between 0 and 1, such as 0.1.")
        found[name if equals else names[1]] = fraction
    if space.kind == "binary":
        if len(found) == 2 and abs(sum(found.values()) - 1) > 1e-6:
            raise UsageError("--positives: the fractions of two labels must add up to 1. Give one of them.")
        return found[names[1]] if names[1] in found else 1 - found[names[0]]
    missing = [name for name in names if name not in found]
    if missing:
        shown = ", ".join(shortened(name, 30) for name in missing[:10])
        raise UsageError(f"--positives: no fraction for {shown}. Give one for every label, or none at all.")
    total = sum(found.values())
    if space.kind == "multiclass" and abs(total - 1) > ROUGHLY:
        raise UsageError(
            f"--positives: the fractions add up to {total:.2f}, but every document has one label. Give "
            f"fractions that add up to 1."
        )
    return found


def fit(task: Task, classifier: TextClassifier) -> None:
    """Learn from all documents."""
    if not task.wanted:
        raise DataError(
            f"{task.source}: all {counted(len(task.labels), 'document')} have labels. Name a second file "
            f"with documents to label, or use `train` and `predict` for new documents."
        )
    if isinstance(task.documents, Collection):
        wanted, texts = set(task.wanted), task.documents.texts
        labeled = [text for place, text in enumerate(texts) if place not in wanted]
        if labeled:
            compare_words(labeled, [texts[place] for place in task.wanted], "labeled")
    try:
        classifier.fit(task.documents, task.labels)
    except DataError as error:
        raise DataError(f"{task.source}: {error}") from error


def rows(task: Task, learner: Any, *, every_score: bool, keep_text: bool) -> list[dict[str, Any]]:
    """A row for every document that had no label."""
    wanted, space = task.wanted, learner.label_space_
    given = [learner.transduction_[i] for i in wanted]
    scores = np.asarray(learner.scores_, dtype=np.float64).reshape(len(task.labels), -1)[wanted]
    signs = space.encode(given)
    best, certain = _best_score(space.kind, scores, signs), _certainty(space.kind, scores, signs)
    certain = np.tanh(certain) if _of_log_odds(learner) else np.minimum(certain, 1)
    names = [str(name) for name in space.classes.tolist()]
    by_label = np.hstack([-scores, scores]) if space.kind == "binary" else scores
    found = []
    for place, i in enumerate(wanted):
        row: dict[str, Any] = {"id": task.documents.ids[i]}
        if keep_text and isinstance(task.documents, Collection):
            row["text"] = task.documents.texts[i]
        label = given[place]
        row["labels"] = list(label) if space.kind == "multilabel" else [str(label)]
        row["score"] = round(float(best[place]), 6)
        row["certainty"] = round(float(certain[place]), 6)
        if every_score:
            row["scores"] = dict(zip(names, by_label[place].round(6).tolist(), strict=True))
        found.append(row)
    return found


def _best_score(kind: str, scores: Any, signs: Any) -> Any:
    """The score of the label that was given; of several the highest, of none the highest of all."""
    if kind == "binary":
        return (signs * scores)[:, 0]
    some = (signs > 0).any(axis=1, keepdims=True)
    return np.where((signs > 0) | ~some, scores, -np.inf).max(axis=1)


def _certainty(kind: str, scores: Any, signs: Any) -> Any:
    """How far the labels are from any other ones; 0 where the scores alone say otherwise."""
    if kind == "multiclass":
        own = np.where(signs > 0, scores, -np.inf).max(axis=1)
        other = np.where(signs > 0, -np.inf, scores).max(axis=1)
        distance = (own - other) / 2
    else:
        distance = (signs * scores).min(axis=1)
    return np.maximum(distance, 0)


def _of_log_odds(learner: Any) -> bool:
    """Whether its scores are logarithms of probabilities, not distances in units of the margin."""
    return isinstance(learner, SemiSupervisedBayes)


def summary(task: Task, classifier: TextClassifier, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What was done, for people and programs."""
    space, learner = classifier.label_space_, classifier.learner_
    given = {str(name): 0 for name in space.classes.tolist()}
    for row in rows:
        for label in row["labels"]:
            given[label] += 1
    columns = [str(name) for name in space.column_names.tolist()]
    return {
        "documents": len(rows),
        "labeled": len(task.labels) - len(rows),
        "task": space.kind,
        "terms": classifier.training_summary_["terms"],
        "given": given,
        **_of_search(learner, columns),
    }


def _of_search(learner: Any, columns: list[str]) -> dict[str, Any]:
    """How the labels were found, and what the alarm says of them, if there is one."""
    if _of_log_odds(learner):
        return {"turns": learner.n_iter_ - 1, "alarm": {}, "fell_back": []}
    if isinstance(learner, SelfTraining):
        return {"rounds": learner.rounds, "alarm": {}, "fell_back": []}
    return {
        "switches": int(np.sum(learner.n_switches_)),
        "alarm": {
            name: {"fired": bool(alarm.fired), "p_values": alarm.p_values, "sentence": alarm.sentence}
            for name, alarm in zip(columns, learner.alarm_, strict=True)
            if alarm is not None
        },
        "fell_back": [name for name, back in zip(columns, learner.fell_back_, strict=True) if back],
    }


def ask(task: Task, classifier: TextClassifier, count: int, seed: int) -> list[str]:
    """The ids of the documents whose labels would help most: near the boundary, and not all alike."""
    wanted = task.wanted
    scores = np.asarray(classifier.learner_.scores_, dtype=np.float64).reshape(len(task.labels), -1)[wanted]
    X = classifier.scorer.representation.rows(task.documents.subset(wanted)).matrix
    chosen = next_to_label(uncertainty(scores, classifier.label_space_.kind), count, X, random_state=seed)
    return [task.documents.ids[wanted[i]] for i in chosen]


def in_words(summary: dict[str, Any]) -> list[str]:
    """The summary that `label` prints."""
    given = ", ".join(
        f"{shortened(name, 30)} {count:,}" for name, count in list(summary["given"].items())[:10]
    )
    more = len(summary["given"]) - 10
    lines = [
        f"Labeled {counted(summary['documents'], 'document')} from {summary['labeled']:,} labeled ones, "
        f"using {counted(summary['terms'], 'term')}.",
        f"Given: {given}{f' and {more} more labels' if more > 0 else ''}.",
        f"Seconds: {seconds_in_words(summary['seconds'])}.",
    ]
    fired = [name for name, found in summary["alarm"].items() if found["fired"]]
    if fired:
        names = ", ".join(shortened(name, 30) for name in fired)
        fallen = ", labeled from the labeled documents only" if summary["fell_back"] else ""
        lines.append(f"Alarm for {names}{fallen}:")
        lines += [f"  {shortened(name, 30)}: {summary['alarm'][name]['sentence']}" for name in fired[:10]]
    elif "turns" in summary or "rounds" in summary:
        learner = "naive-bayes" if "turns" in summary else "self-training"
        lines.append(f"There is no alarm for {learner}: check a few of the labels.")
    else:
        lines.append("The alarm found nothing unusual.")
    if summary.get("next"):
        lines.append(f"Label next: {', '.join(summary['next'])}")
    if summary["output"] != "-":
        lines.append(f"Wrote {summary['output']}.")
    if "model" in summary:
        lines.append(f"Wrote {summary['model']} ({bytes_in_words(summary['bytes'])}).")
    return lines
