"""What most collections share: records with an id, a text, a label or labels, and perhaps a split."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from widemargin.documents.collection import Collection
from widemargin.documents.corpora.corpus import Parts
from widemargin.documents.corpora.home import records
from widemargin.documents.record import Document


def document(record: dict[str, Any]) -> Document:
    """A record with `label` or `labels` as a document."""
    labels = record["labels"] if "labels" in record else [record["label"]]
    return Document(str(record["id"]), record["text"], tuple(labels))


def load_labelled(
    paths: tuple[Path, ...],
    split: str | None,
    side: Callable[[dict[str, Any]], str | None] = lambda record: record.get("split"),
    make: Callable[[dict[str, Any]], Document] = document,
) -> Parts:
    """Read the records of every path; `side` says of each whether it is in "train", "test" or neither."""
    train, test = Collection(), Collection()
    sides = {"train": train, "test": test}
    for path in paths:
        for record in records(path):
            where = "train" if split is None else side(record)
            if where in sides:
                sides[where].append(make(record))
    return train, test
