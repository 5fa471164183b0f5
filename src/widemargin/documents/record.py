"""The canonical record: one document with its id, its text and what is known about its labels."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

# The labels of a document: a tuple, () if it is known to be in no category, None if it is unlabeled.
LabelSet = tuple[str, ...] | None


SEPARATOR = "\x1f"
"""The character between the columns of a text (U+001F, the unit separator of ASCII)."""


def join_columns(values: Iterable[str | None]) -> str:
    r"""A text of several columns as one string; a missing one is empty, a stray separator becomes a space.

    >>> join_columns(["Wheat", None, "Up 3%\x1f"])
    'Wheat\x1f\x1fUp 3% '
    """
    return SEPARATOR.join("" if value is None else value.replace(SEPARATOR, " ") for value in values)


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
