"""What is diagnosed: labeled documents, and possibly a test set, checked and brought into one form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from widemargin.classifier.representation import is_matrix
from widemargin.classifier.training_input import documents_of, training_input
from widemargin.documents.collection import Collection
from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels
from widemargin.text.inputs import as_texts


@dataclass(frozen=True, eq=False)
class Part:
    """Training or test documents.

    Attributes
    ----------
    names : ids, or positions from 0
    label_sets : the labels of every document; None for a document of the test set without labels
    """

    names: list[Any]
    texts: list[str]
    label_sets: Sequence[tuple[Any, ...] | None]

    def __len__(self) -> int:
        return len(self.texts)


def training_part(texts: Any, y: Any) -> tuple[Part, Labels]:
    """The labeled documents, and their labels."""
    if is_matrix(texts):
        raise DataError(
            "diagnose reads texts, but these are vectors. Pass the documents they were made from."
        )
    given = training_input(texts, y)
    labels = Labels.of(given.labels)
    texts = _strings(given.texts)
    return Part(given.names, texts, label_sets(labels)), labels


def test_part(test: Any, y: Any) -> Part | None:
    """The test documents; their labels may be missing."""
    if test is None:
        if y is not None:
            raise UsageError("There are labels of test documents, but no test documents. Pass test as well.")
        return None
    if is_matrix(test):
        raise DataError("diagnose reads texts, but the test set holds vectors. Pass texts.")
    names: Sequence[Any] | None = None
    sets: Any = None
    if isinstance(test, Collection):
        names, sets, test = test.ids, test.labels if y is None else None, test.texts
    texts = _strings(documents_of(test))
    if y is not None:
        labels = Labels.partial(y, n=len(texts))
        found = label_sets(labels)
        sets = [None if left_out else one for left_out, one in zip(labels.unlabeled, found, strict=True)]
    if not texts:
        raise DataError("The test set has no documents. Check it, or leave it out.")
    names = list(range(len(texts))) if names is None else list(names)
    return Part(names, texts, [None] * len(texts) if sets is None else [_tuple(one) for one in sets])


def label_sets(labels: Labels) -> list[tuple[Any, ...]]:
    """The labels of every document as a tuple.

    Examples
    --------
    >>> label_sets(Labels.of(["a", "b"])), label_sets(Labels.of([["a", "b"], []]))
    ([('a',), ('b',)], [('a', 'b'), ()])
    """
    space = labels.space
    if space.kind == "multilabel":
        names = space.column_names.tolist()
        return [tuple(names[j] for j in np.flatnonzero(row > 0)) for row in labels.signs]
    return [(name,) for name in space.classes[labels.codes].tolist()]


def _tuple(labels: Any) -> tuple[Any, ...] | None:
    return None if labels is None else tuple(sorted(labels, key=str))


def _strings(texts: Any) -> list[str]:
    as_texts(texts)  # names the first document that is not a text
    values = texts.to_pylist() if hasattr(texts, "to_pylist") else list(texts)
    return [text.decode("utf-8", "replace") if isinstance(text, bytes) else text for text in values]
