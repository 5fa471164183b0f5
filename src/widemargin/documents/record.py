"""The canonical record: one document with its id, its text and what is known about its labels."""

from __future__ import annotations

import json
from dataclasses import dataclass

# The labels of a document: a tuple, () if it is known to be in no category, None if it is unlabeled.
LabelSet = tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its id and labels.

    `labels` is a tuple: ``()`` means known to be in no category, ``None`` means unlabeled.

    Examples
    --------
    >>> Document("7", "The printer is on fire", ("hardware", "urgent")).to_json()
    '{"id": "7", "text": "The printer is on fire", "labels": ["hardware", "urgent"]}'
    """

    id: str
    text: str
    labels: LabelSet = None

    def to_json(self) -> str:
        """The canonical JSONL line of this document, without its line end."""
        return json.dumps({"id": self.id, "text": self.text, "labels": self.labels}, ensure_ascii=False)
