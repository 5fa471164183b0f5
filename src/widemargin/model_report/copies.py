"""Test documents that are also training documents, or nearly: they make test figures too good."""

from __future__ import annotations

from typing import Any

import numpy as np

from widemargin.classifier.scorer import Scorer
from widemargin.diagnose.copies import find_copies
from widemargin.diagnose.parts import Part
from widemargin.documents.collection import Collection
from widemargin.model_report.errors import shortened
from widemargin.report.contents import Copied, Copies

_GROUPS, _LONGEST = 100, 300


def copies_across(train: Collection, test: Collection, n_jobs: int | None = None) -> Copies:
    """Copies and near-duplicates, by the overlap of their word shingles.

    Examples
    --------
    >>> train = Collection(["a", "b"], ["corn is up again", "oil fell"], [("x",), ("y",)])
    >>> found = copies_across(train, Collection(["t"], ["Corn is up again!"], [("x",)]))
    >>> found.documents, found.groups[0].training
    (1, ['a'])
    """
    found = find_copies(_part(train), _part(test), n_jobs=n_jobs)
    texts = dict(zip(test.ids, test.texts, strict=True))
    groups = [
        Copied(
            [str(name) for name in group.test],
            [str(name) for name in group.documents],
            group.similarity,
            list(dict.fromkeys(_labels(one) for one in group.labels)),
            " ".join(shortened(texts[group.test[0]], _LONGEST)[0].split()),
        )
        for group in found.leaks[:_GROUPS]
    ]
    return Copies(groups, found.leaked, "copies and near-duplicates of the training documents")


def copies_by_hash(scorer: Scorer, test: Collection) -> Copies | None:
    """Exact copies of training documents, which a model recognizes by hashes; None if it keeps no hashes."""
    if scorer.record.hashes is None:
        return None
    seen = np.flatnonzero(scorer.seen(test.texts)).tolist()
    groups = [
        Copied(
            [test.ids[i]],
            [],
            1.0,
            [_labels(test.labels[i])],
            " ".join(shortened(test.texts[i], _LONGEST)[0].split()),
        )
        for i in seen[:_GROUPS]
    ]
    return Copies(groups, len(seen), "exact copies of training documents, by the hashes in the model")


def _part(documents: Collection) -> Part:
    sets: list[tuple[Any, ...] | None] = [
        None if labels is None else tuple(sorted(labels)) for labels in documents.labels
    ]
    return Part(list(documents.ids), documents.texts, sets)


def _labels(labels: tuple[Any, ...] | None) -> str:
    return "unlabeled" if labels is None else ", ".join(map(str, labels)) or "none"
