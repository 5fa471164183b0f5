"""What most collections share: records with an id, a text, a label or labels, and perhaps a split."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from typing import Any

from widemargin.documents.collection import Collection
from widemargin.documents.corpora.corpus import Parts
from widemargin.documents.record import Document


def document(record: dict[str, Any]) -> Document:
    """A record with `label` or `labels` as a document."""
    labels = record["labels"] if "labels" in record else [record["label"]]
    return Document(str(record["id"]), record["text"], tuple(labels))


def own_side(record: dict[str, Any]) -> str | None:
    """The side that the record itself names."""
    side = record["split"]
    return side if isinstance(side, str) else None


def random_side(record: dict[str, Any]) -> str:
    """Two thirds for training, drawn by the id: the same in every run."""
    return "test" if zlib.crc32(str(record["id"]).encode()) % 3 == 0 else "train"


def load_labeled(
    records: Iterable[dict[str, Any]],
    split: str | None,
    side: Callable[[dict[str, Any]], str | None] = own_side,
    make: Callable[[dict[str, Any]], Document] = document,
) -> Parts:
    """Distribute the records; `side` says of each whether it is in "train", "test" or neither."""
    train, test = Collection(), Collection()
    sides = {"train": train, "test": test}
    for record in records:
        where = "train" if split is None else side(record)
        if where in sides:
            sides[where].append(make(record))
    return train, test
