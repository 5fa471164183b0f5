"""A fitted classifier as a model file, and the parts of one back from it or from a file of SVM-light."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.classifier.model_parts import (
    FEATURES,
    LEARNERS,
    features_class,
    features_name,
    last_learner,
    learner_class,
    learner_name,
    pack,
    reduction_from_state,
    reduction_of,
    unpack,
    without_machine,
    without_seconds,
)
from widemargin.classifier.record.training_record import NOTHING_KNOWN, TrainingRecord
from widemargin.classifier.summary import checked_summary
from widemargin.decide.abstain.rejection import Asked
from widemargin.decide.calibration import Platt
from widemargin.decide.rule import DecisionRule
from widemargin.documents.formats.svmlight_model import is_svmlight_model, read_svmlight_model
from widemargin.errors import DataError, UsageError, WidemarginError
from widemargin.features.combined_columns import Reduction
from widemargin.measure.class_costs import ClassCosts
from widemargin.models import Model, load_model, save_model
from widemargin.weight.term_vectors import TermVectors

KIND = "text-classifier"


class StoredParts(NamedTuple):
    """What a file holds of a classifier; `asked` are the parameters of `fit` that it was trained with.

    `reduction` is what `features` does; parts that were read to score only have no `features`.
    """

    vectorizer: Any
    features: Any
    reduction: Reduction | None
    learner: Any
    rule: DecisionRule
    n_features: int
    summary: dict[str, Any]
    asked: dict[str, Any]
    record: TrainingRecord = NOTHING_KNOWN


def write_parts(path: str | os.PathLike[str], parts: StoredParts, *, force: bool = False) -> int:
    """Write a model file and return its size in bytes.

    The seconds of training stay out of the file: the same training gives the same bytes.
    """
    config: dict[str, Any] = {"vectorizer": None}
    arrays: dict[str, NDArray[Any]] = {}
    texts: dict[str, bytes] = {}
    if parts.vectorizer is not None:
        state, found = parts.vectorizer.get_state()
        config["vectorizer"] = without_machine(state)
        pack("vectorizer", found, arrays, texts)
    if parts.features is not None:
        state, found = parts.features.get_state()
        config["features"] = {"name": features_name(parts.features), "state": without_machine(state)}
        pack("features", found, arrays, texts)
    learner = last_learner(parts.learner)
    state, found = learner.get_state()
    config["learner"] = {"name": learner_name(learner), "state": without_machine(state)}
    pack("learner", found, arrays, texts)
    state, found = parts.rule.get_state()
    config["decision"] = {**state, **parts.asked}
    pack("decision", found, arrays, texts)
    if not parts.record.is_empty:
        state, found = parts.record.get_state()
        config["record"] = state
        pack("record", found, arrays, texts)
    summary = without_seconds(parts.summary)
    return save_model(
        path, kind=KIND, config=config, arrays=arrays, texts=texts, summary=summary, force=force
    )


def read_file(path: str | os.PathLike[str], *, to_score: bool = False) -> StoredParts:
    """The parts in a model file of this library or of SVM-light."""
    if is_svmlight_model(path):
        return read_svmlight_parts(path)
    return read_parts(load_model(path), os.fspath(path), to_score=to_score)


def read_parts(model: Model, where: str, *, to_score: bool = False) -> StoredParts:
    """The parts in a model file that has been read and verified.

    Parameters
    ----------
    where : what errors call the file
    to_score : read only what scores documents, without scikit-learn where the learner is linear
    """
    if model.kind != KIND:
        raise DataError(f"{where} contains a {model.kind}, not a {KIND}. Use another model.")
    config = Stored(model.config)
    with _named(where, "summary"):
        summary = checked_summary(model.summary)
        n_seen = summary.integer("terms")
    vectorizer = features = reduction = None
    n_made: int | None = None
    with _named(where, "vectorizer"):
        if config.value("vectorizer") is not None:
            cls = _vectorizer_class(to_score)
            vectorizer = cls.from_state(config.value("vectorizer"), unpack("vectorizer", model))
            n_made = vectorizer.n_columns
        elif unpack("vectorizer", model):
            raise DataError("'vectorizer' in manifest.json is null, and its arrays are there")
    n_features = n_seen
    with _named(where, "features"):
        if "features" in config:
            kept = config.inner("features")
            kept.inner("state").same("n_features", n_made)
            name, state = kept.choice("name", FEATURES), (kept.value("state"), unpack("features", model))
            if to_score:
                reduction = reduction_from_state(name, *state)
            else:
                features = features_class(name).from_state(*state)
                reduction = reduction_of(features)
            n_features, n_made = reduction.n_features, reduction.n_columns
        elif unpack("features", model):
            raise DataError("'features' in manifest.json is missing, and its arrays are there")
        summary.same("terms", n_made)
    with _named(where, "learner"):
        kept = config.inner("learner")
        kept.inner("state").same("n_features", n_seen)  # before anything of that size is made
        arrays = unpack("learner", model)
        by_weights = to_score and "dual_coef" not in arrays
        learner = learner_class(kept.choice("name", LEARNERS), to_score=by_weights).from_state(
            kept.value("state"), arrays
        )
    space = learner.label_space_
    with _named(where, "summary"):
        summary.same("labels", len(space.classes))
        summary.same("task", space.kind)
    with _named(where, "decision"):
        decision = {"calibration": None} if "decision" not in config else config.value("decision")
        rule = DecisionRule.from_state(space, decision, unpack("decision", model))
        asked = {name: decision.get(name) for name in ("estimate", "thresholds", "calibration", "abstain")}
        if isinstance(rule.calibration, Platt) and rule.calibration.is_plain:
            asked["calibration"] = None  # the learner's own
        if rule.hierarchy is not None:
            asked |= {"label_path": rule.hierarchy.tree.separator, "hierarchy": rule.hierarchy.name}
        for name, value in asked.items():
            if not isinstance(value, str | None):
                raise DataError(f"{name!r} in manifest.json is {value!r}; expected a string or null")
        if asked["abstain"] is not None:
            Asked.read(asked["abstain"])
        if rule.costs is not None:
            asked["costs"] = ClassCosts(tuple(space.classes.tolist()), rule.costs)
    with _named(where, "record"):
        record = NOTHING_KNOWN
        if "record" in config:
            record = TrainingRecord.from_state(
                config.value("record"), unpack("record", model), space.n_columns
            )
        elif unpack("record", model):
            raise DataError("'record' in manifest.json is missing, and its arrays are there")
    summary_found = dict(model.summary)
    return StoredParts(
        vectorizer, features, reduction, learner, rule, n_features, summary_found, asked, record
    )


def _vectorizer_class(to_score: bool) -> type[TermVectors]:
    if to_score:
        return TermVectors
    from widemargin.weight.vectorizer import Vectorizer

    return Vectorizer


@contextmanager
def _named(where: str, part: str) -> Iterator[None]:
    """Say of which file and of which of its parts something is wrong."""
    expected = (WidemarginError, KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)
    try:
        yield
    except expected as error:
        what = str(error) if isinstance(error, WidemarginError) else f"{type(error).__name__}: {error}"
        raise DataError(
            f"{where} does not contain a usable classifier: {part}: {what.rstrip('.')}. Train it again."
        ) from error


def read_svmlight_parts(path: str | os.PathLike[str]) -> StoredParts:
    """The parts in a model that SVM-light wrote: a learner of vectors, with the classes "-1" and "1"."""
    from widemargin.learn.svm.svmlight_model import from_svmlight

    model = read_svmlight_model(os.fspath(path))
    try:
        learner = from_svmlight(model, ("-1", "1"))
    except UsageError as error:
        raise DataError(f"{os.fspath(path)}: {error}") from error
    summary = {
        "documents": model.n_documents,
        "labels": 2,
        "task": "binary",
        "terms": model.n_features,
    }
    rule = DecisionRule(learner.label_space_)
    return StoredParts(None, None, None, learner, rule, model.n_features, summary, {})
