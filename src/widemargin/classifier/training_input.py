"""What `TextClassifier` is given, sorted out: texts or a matrix, and the label or labels of each document."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from widemargin.classifier.representation import is_matrix
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.labels import is_unlabeled, one_label_each
from widemargin.learn.costs import sample_weights


class TrainingInput(NamedTuple):
    """Labeled texts or a matrix, their labels, what to call them (ids, or numbers from 0), their weights."""

    texts: Any
    y: Any
    names: list[Any]
    sample_weight: Any


def training_input(texts: Any, y: Any, sample_weight: Any = None) -> TrainingInput:
    """The documents that have labels, and what is known of them; Vectors may bring weights along."""
    ids = texts.ids if isinstance(texts, Collection | Vectors) else None
    if sample_weight is None and isinstance(texts, Vectors):
        sample_weight = texts.weights
    texts, y = with_labels(texts, y)
    kept = labeled_rows(texts, y)
    if kept is None:
        return TrainingInput(texts, y, list(range(_length(texts))) if ids is None else ids, sample_weight)
    labels = list(y)
    if sample_weight is not None:
        weights = sample_weights(sample_weight, len(labels))
        sample_weight = weights[np.asarray(kept, dtype=np.intp)]
    names = kept if ids is None else [ids[i] for i in kept]
    return TrainingInput(_rows(texts, kept), [labels[i] for i in kept], names, sample_weight)


def with_labels(texts: Any, y: Any) -> tuple[Any, Any]:
    """Texts or a matrix, and their labels, which a Collection or Vectors may bring along."""
    if isinstance(texts, Collection | Vectors):
        if y is None:
            labels: Sequence[Any] = texts.labels
            known = one_label_each([given for given in labels if given is not None])
            if known is None:
                y = labels
            else:
                single = iter(known)
                y = [None if given is None else next(single) for given in labels]
        texts = texts.texts if isinstance(texts, Collection) else texts.X
    if y is None:
        raise UsageError("There are no labels. Pass y, one label or list of labels a document.")
    if isinstance(texts, str | bytes):
        raise UsageError("texts is one text. Pass a list of texts.")
    return texts, y


def labeled_rows(texts: Any, y: Any) -> list[int] | None:
    """The numbers of the documents that have a label (not None or NaN); None where all have one."""
    n_texts = _length(texts)
    n_labels = y.shape[0] if hasattr(y, "shape") else len(y)
    if n_texts != n_labels:
        raise DataError(f"There are {n_texts} documents and {n_labels} labels. Pass one label a document.")
    may_miss = isinstance(y, list | tuple) or getattr(getattr(y, "dtype", None), "kind", "") == "O"
    kept = [i for i, label in enumerate(y) if not is_unlabeled(label)] if may_miss else []
    if not may_miss or len(kept) == n_labels:
        return None
    if not kept:
        raise DataError(
            f"None of the {n_labels} documents has a label. Name the column that holds the labels."
        )
    warnings.warn(
        f"{n_labels - len(kept)} of {n_labels} documents have no label and are left out of training.",
        DataWarning,
        stacklevel=5,
    )
    return kept


def _length(texts: Any) -> int:
    return int(texts.shape[0]) if is_matrix(texts) else len(texts)


def _rows(texts: Any, kept: list[int]) -> Any:
    """The texts or the rows of a matrix at `kept`."""
    if is_matrix(texts):
        return texts[kept]
    if hasattr(texts, "to_pylist"):  # an Arrow column
        return texts.take(kept)
    texts = list(texts)
    return [texts[i] for i in kept]
