"""Requests to answers: what one model says about some documents. No HTTP here."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from widemargin.decide.rule import DecisionRule
from widemargin.documents.record import SEPARATOR, join_columns
from widemargin.errors import WidemarginError
from widemargin.report.predictions import prediction_rows
from widemargin.serve.messages import Document, ExplainRequest, PredictRequest, Text
from widemargin.serve.problems import Problem
from widemargin.serve.registry import ServedModel


def plain_texts(model: ServedModel, texts: Sequence[Text]) -> list[str]:
    """Texts as the model takes them: those of several columns are joined.

    Raises
    ------
    Problem
        Columns that the model does not have.
    """
    columns = model.columns
    return [text if isinstance(text, str) else _joined(text, columns, model.name) for text in texts]


def _joined(text: dict[str, str | None], columns: Sequence[str], name: str) -> str:
    if not columns:
        raise Problem(
            422, f"Model {name!r} takes one text per document, not columns. Pass a string as `text`."
        )
    unknown = [column for column in text if column not in columns]
    if unknown:
        raise Problem(422, f"Model {name!r} has no column {unknown[0]!r}. Columns are {', '.join(columns)}.")
    return join_columns([text.get(column) for column in columns])


def predict(
    model: ServedModel, request: PredictRequest, documents: Sequence[Document], texts: list[str]
) -> list[dict[str, Any]]:
    """One row per document, given their texts as the model takes them.

    Raises
    ------
    Problem
        The model cannot do what is asked.
    """
    scorer = model.scorer
    if request.probabilities and scorer.rule.calibration is None:
        raise Problem(
            422,
            f"Model {model.name!r} gives scores only. Train it with --calibrate platt, or with "
            f"--learner logistic-regression, for probabilities.",
        )
    if not texts:
        return []
    try:
        scores, lengths = scorer.scores(texts), scorer.lengths(texts)
        rows = prediction_rows(
            rule_at(scorer.rule, request.threshold),
            scores,
            lengths,
            every_score=request.scores,
            proba=request.probabilities,
            top=request.top,
        )
    except WidemarginError as error:
        raise Problem(422, str(error)) from None
    if request.threshold is not None and scorer.space.kind != "multilabel":
        _keep_above(scorer.rule, scores, rows, request.threshold)
    return [{"id": document.id, **row} for document, row in zip(documents, rows, strict=True)]


def rule_at(rule: DecisionRule, threshold: float | None) -> DecisionRule:
    """The rule with one threshold for all labels, where each label is decided by itself."""
    if threshold is None or rule.space.kind != "multilabel":
        return rule
    return replace(rule, thresholds=np.full(rule.space.n_columns, float(threshold)), costs=None)


def _keep_above(rule: DecisionRule, scores: Any, rows: list[dict[str, Any]], threshold: float) -> None:
    """Of exclusive classes, keep the one that was chosen if its score is above the threshold."""
    place = {label: j for j, label in rule.candidates}
    for row, columns in zip(rows, rule.by_label(scores).tolist(), strict=True):
        row["labels"] = [label for label in row["labels"] if columns[place[label]] > threshold]


def encode_prediction(model: ServedModel, rows: list[dict[str, Any]]) -> bytes:
    """The body of an answer."""
    return msgspec.json.encode({"model": model.name, "version": model.version, "documents": rows})


def explain(model: ServedModel, request: ExplainRequest) -> dict[str, Any]:
    """Why a label has its score.

    Raises
    ------
    Problem
        There is no such label, or the model has no weights of terms.
    """
    (text,) = plain_texts(model, [request.text])
    label = _label(model, request.label)
    try:
        found = model.scorer.explain(text, label).to_dict()
    except WidemarginError as error:
        raise Problem(422, str(error)) from None
    if model.columns:
        _place_in_columns(found["contributions"], text, model.columns)
    return {"model": model.name, "version": model.version, **found}


def _label(model: ServedModel, wanted: Any) -> Any:
    """The label as the model has it: labels that are numbers may be named by strings."""
    if wanted is None:
        return None
    labels = model.scorer.space.classes.tolist()
    if wanted in labels and not isinstance(wanted, bool):
        return labels[labels.index(wanted)]
    for label in labels:
        if str(label) == str(wanted):
            return label
    raise Problem(422, f"Model {model.name!r} has no label {wanted!r}. GET /v1/models lists its labels.")


def _place_in_columns(contributions: list[dict[str, Any]], text: str, columns: Sequence[str]) -> None:
    """Count places from the beginning of the column that a term begins in."""
    begins, at = [], 0
    for part in text.split(SEPARATOR):
        begins.append(at)
        at += len(part) + 1
    for each in contributions:
        column = bisect_right(begins, each["start"]) - 1
        each["column"] = columns[min(column, len(columns) - 1)]
        begin = begins[column]
        each["start"], each["end"] = each["start"] - begin, each["end"] - begin
        if "spans" in each:
            each["spans"] = [[start - begin, end - begin] for start, end in each["spans"]]
