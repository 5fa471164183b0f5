"""A fitted classifier as a model file, and the parts of one back from it or from a file of SVM-light."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from numpy.typing import NDArray

from widemargin._model_parts import (
    features_class,
    features_name,
    learner_class,
    learner_name,
    pack,
    unpack,
    without_machine,
    without_seconds,
)
from widemargin.decide.rule import DecisionRule
from widemargin.documents.svmlight_model import read_svmlight_model
from widemargin.errors import DataError, UsageError
from widemargin.models import Model, save_model

KIND = "text-classifier"


class StoredParts(NamedTuple):
    """What a file holds of a classifier; `asked` are the parameters of `fit` that it was trained with."""

    vectorizer: Any
    features: Any
    learner: Any
    rule: DecisionRule
    n_features: int
    summary: dict[str, Any]
    asked: dict[str, Any]


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
        config["features"] = {"name": features_name(parts.features), "state": state}
        pack("features", found, arrays, texts)
    state, found = parts.learner.get_state()
    config["learner"] = {"name": learner_name(parts.learner), "state": without_machine(state)}
    pack("learner", found, arrays, texts)
    state, found = parts.rule.get_state()
    config["decision"] = {**state, **parts.asked}
    pack("decision", found, arrays, texts)
    summary = without_seconds(parts.summary)
    return save_model(
        path, kind=KIND, config=config, arrays=arrays, texts=texts, summary=summary, force=force
    )


def read_parts(model: Model, where: str) -> StoredParts:
    """The parts in a model file that has been read and verified; `where` is what errors call it."""
    if model.kind != KIND:
        raise DataError(f"{where} holds a {model.kind}, not a {KIND}. Use another model.")
    try:
        return _parts(model)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise DataError(
            f"{where} holds no usable classifier ({type(error).__name__}: {error}). Train it again."
        ) from error


def _parts(model: Model) -> StoredParts:
    from widemargin.weight.vectorizer import Vectorizer

    kept = model.config["learner"]
    learner = learner_class(kept["name"]).from_state(kept["state"], unpack("learner", model))
    vectorizer = features = None
    if model.config["vectorizer"] is not None:
        vectorizer = Vectorizer.from_state(model.config["vectorizer"], unpack("vectorizer", model))
    n_seen = int(model.summary["terms"])
    n_features, n_kept = n_seen, n_seen
    kept = model.config.get("features")
    if kept is not None:
        features = features_class(kept["name"]).from_state(kept["state"], unpack("features", model))
        n_features, n_kept = features.n_features_in_, int(features.get_support().sum())
    made = {n_features} if vectorizer is None else {n_features, len(vectorizer.document_frequencies_)}
    taken = {n_seen, n_kept, learner.n_features_in_}
    if len(made) > 1 or len(taken) > 1:
        raise ValueError(
            f"the parts differ in their numbers of terms: {sorted(made)} made, {sorted(taken)} taken"
        )
    decision = model.config.get("decision", {"calibration": None})
    rule = DecisionRule.from_state(learner.label_space_, decision, unpack("decision", model))
    asked = {name: decision.get(name) for name in ("estimate", "thresholds", "calibration")}
    return StoredParts(vectorizer, features, learner, rule, n_features, dict(model.summary), asked)


def read_svmlight_parts(path: str | os.PathLike[str]) -> StoredParts:
    """The parts in a model that SVM-light wrote: a learner of vectors, with the classes "-1" and "1"."""
    from widemargin.learn.svmlight_model import from_svmlight

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
    return StoredParts(None, None, learner, rule, model.n_features, summary, {})
