"""The input of `TextClassifier`: texts or a matrix, and labels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from widemargin._arrays import is_sparse
from widemargin.classifier.checks.of_training import check_training
from widemargin.classifier.representation import is_matrix
from widemargin.decide.tree_rule import TreeRule
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.assessment import Request
from widemargin.labels import Labels
from widemargin.labels.hierarchy import LabelTree
from widemargin.labels.unlabeled import leave_out_unlabeled
from widemargin.learn.costs import sample_weights
from widemargin.text.fields import check_columns, columns_of, has_text_columns, joined, only_column
from widemargin.text.inputs import listed, taken, together

# Settings that require all documents at once.
_WHOLE = (
    "features",
    "estimate",
    "thresholds",
    "calibration",
    "costs",
    "label_path",
    "unlabeled_use",
    "abstain",
)


class TrainingInput(NamedTuple):
    """Texts or a matrix, their labels, their names (ids, or numbers from 0), their weights, their times."""

    texts: Any
    labels: Labels
    names: list[Any]
    sample_weight: Any
    times: Any = None

    @property
    def examples(self) -> tuple[Any, Labels, Any]:
        """What is learned from."""
        return self.texts, self.labels, self.sample_weight

    def joined_by(self, documents: Any, size: int) -> TrainingInput:
        """The same with more documents, which are unlabeled; for learners that learn from those."""
        if not size:
            return self
        y = self.labels
        signs = np.vstack([y.signs, np.zeros((size, y.signs.shape[1]), np.int8)])
        marks = y.unlabeled if y.marked is None else y.marked
        marks = np.concatenate([marks, np.ones((size, *marks.shape[1:]), dtype=bool)])
        more = sp.vstack if is_sparse(documents) else np.vstack
        texts = more([self.texts, documents]) if is_matrix(documents) else together(self.texts, documents)
        labels = Labels(y.space, np.asfortranarray(signs), marks)
        return self._replace(texts=texts, labels=labels, names=[*self.names, *[None] * size])


def training_input(
    texts: Any, y: Any, sample_weight: Any = None, learner: Any = None, times: Any = None
) -> TrainingInput:
    """The documents that `learner` learns from, with what a Collection or Vectors may bring along.

    Those without a label are left out, unless the learner has a use for them: then it has a parameter
    `unlabeled`, another mark of them.
    """
    ids = weights = None
    if isinstance(texts, Collection | Vectors):
        ids = texts.ids
        if y is None:
            y = Labels.of_documents(texts.labels)
        if isinstance(texts, Vectors):
            texts, weights = texts.X, texts.weights
        else:
            times = texts.times if times is None else times
            texts = texts.texts
    if y is None:
        raise UsageError(
            "Training requires y to be passed, but the target y is None. Pass one label, or several, "
            "per document."
        )
    texts = documents_of(texts)
    n = int(texts.shape[0]) if is_matrix(texts) else len(texts)
    labels = Labels.partial(y, getattr(learner, "unlabeled", None), n)
    if not is_matrix(texts):
        check_training(texts, labels, ids)
    names = list(range(n)) if ids is None else ids
    weights = weights if sample_weight is None else sample_weight
    missing = int(np.count_nonzero(labels.unlabeled))
    if not missing or hasattr(learner, "unlabeled"):
        return TrainingInput(texts, labels, names, weights, times)
    _warn_of_unlabeled(missing, n)
    kept = np.flatnonzero(~labels.unlabeled)
    weights = None if weights is None else sample_weights(weights, n)[kept]
    times = times if times is None or len(times) != n else np.asarray(times, dtype=np.float64)[kept]
    return TrainingInput(_rows(texts, kept), labels.take(kept), [names[i] for i in kept], weights, times)


def documents_of(texts: Any) -> Any:
    """Documents as texts that can be read again, or as a matrix; those with columns are joined."""
    texts = only_column(texts)
    if has_text_columns(texts):
        return joined(texts, columns_of(texts) or ())
    if isinstance(texts, str | bytes):
        raise UsageError("texts is one text. Pass a list of texts.")
    if is_matrix(texts):
        return texts if is_sparse(texts) or isinstance(texts, Vectors) else np.asarray(texts)
    return listed(texts)


def in_columns(texts: Any, vectorizer: Any) -> tuple[Any, Any]:
    """Documents with columns as texts, and a vectorizer that knows the columns; otherwise both as given."""
    if getattr(vectorizer, "fields_", getattr(vectorizer, "fields", None)) is None:
        texts = only_column(texts)
    if not has_text_columns(texts) or vectorizer is None:
        return texts, vectorizer
    if hasattr(vectorizer, "fields_"):  # fitted, or of another library, which refuses columns
        return vectorizer.documents(texts), vectorizer
    columns = check_columns(vectorizer.fields) or check_columns(columns_of(texts))
    assert columns is not None
    return joined(texts, columns), clone(vectorizer).set_params(fields=columns)


def in_hierarchy(
    given: TrainingInput, request: Request, label_path: str | None, hierarchy: str, learner: Any
) -> tuple[TrainingInput, Request]:
    """Labels that are paths with all their ancestors, and the request with the rule that decides them."""
    if label_path is None:
        check_no_tree(hierarchy)
        return given, request.check(given.labels)
    tree, labels = LabelTree.grow(given.labels, label_path, given.names)
    return given._replace(labels=labels), along_tree(tree, request, hierarchy, learner)


def along_tree(tree: LabelTree, request: Request, hierarchy: str, learner: Any) -> Request:
    """The request with the rule that decides the nodes of a tree."""
    rule = TreeRule.read(tree, hierarchy, request.goal)
    if request.costs is not None:
        raise UsageError("Costs between classes do not apply to a label hierarchy. Leave one of them out.")
    if request.calibration == "length":
        raise UsageError("Calibration by length does not apply to a label hierarchy. Use platt or isotonic.")
    if not getattr(learner.__sklearn_tags__().classifier_tags, "multi_label", False):
        raise UsageError(
            f"A {type(learner).__name__} chooses one of several classes, but a label hierarchy needs one "
            f"machine per node. Use another learner, such as LinearSVM (--learner linear-svm)."
        )
    return replace(request, hierarchy=rule)


def check_no_tree(hierarchy: str) -> None:
    """Refuse a rule of a tree without one."""
    if hierarchy != "auto":
        raise UsageError(
            f"hierarchy={hierarchy!r} is for labels that are paths. Pass label_path, such as '/' (on the "
            f"command line: --label-path /)."
        )


def check_continues(learner: Any, settings: Mapping[str, Any]) -> None:
    """Refuse a learner or settings of a classifier that require all documents at once, for `partial_fit`."""
    if not hasattr(learner, "partial_fit"):
        raise UsageError(
            f"A {type(learner).__name__} requires all documents at once. Use fit, or an online learner "
            f"such as Arow."
        )
    for name in (*_WHOLE, "tune"):
        if settings[name] not in (None, "auto"):
            raise UsageError(f"`{name}` requires all documents at once: use fit, or omit it.")


def training_batch(texts: Any, y: Any) -> tuple[Any, Any]:
    """The documents and the labels that `partial_fit` learns from: those without a label are left out."""
    known, marked = leave_out_unlabeled(y, None)
    if marked.ndim != 1 or not marked.any():
        return texts, known if marked.ndim == 1 else y
    _warn_of_unlabeled(int(np.count_nonzero(marked)), len(marked))
    return _rows(texts, np.flatnonzero(~marked)), known


def _warn_of_unlabeled(missing: int, n: int) -> None:
    warnings.warn(
        f"{missing} of {n} documents have no label and are ignored in training.", DataWarning, stacklevel=5
    )


def _rows(texts: Any, kept: NDArray[np.intp]) -> Any:
    """The texts, or the rows of a matrix, at `kept`."""
    return texts[kept] if is_matrix(texts) else taken(texts, kept)
