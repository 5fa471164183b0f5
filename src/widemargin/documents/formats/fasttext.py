"""fastText's format: one document per line, its labels the words that begin with ``__label__``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from widemargin.documents.record import Document

PREFIX = "__label__"
# Only ASCII blanks separate words in fastText.
_LABEL = re.compile(rf"(?:(?<=[ \t\r\v\f\0])|^){PREFIX}([^ \t\r\v\f\0\n]*)[ \t\r\v\f\0]*")


def open_fasttext(lines: Iterable[str]) -> tuple[str, Iterator[Document]]:
    """A description, and the documents."""
    return f"fastText: labels are the words that begin with {PREFIX}, record numbers as ids", _documents(
        lines
    )


def _documents(lines: Iterable[str]) -> Iterator[Document]:
    count = 0
    for line in lines:
        line = line.strip("\r\n")
        if not line.strip():
            continue
        count += 1
        labels = tuple(dict.fromkeys(label for label in _LABEL.findall(line) if label))
        yield Document(str(count), _LABEL.sub("", line).strip(), labels or None)
