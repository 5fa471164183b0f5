"""Plain text: every line is a document, or the whole source is one."""

from __future__ import annotations

from collections.abc import Iterator

from widemargin.documents.batches import Batch
from widemargin.documents.encoding import Lines, split_lines
from widemargin.documents.limits import exceeds, too_large


class PlainLines:
    """The lines of a source in blocks that arrived together, once; also blank ones. Ids are line numbers."""

    description = "plain text: a document per line, line numbers as ids"

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[Batch]:
        number = 0
        for block in self._lines.texts():
            texts = [line.rstrip("\r\n") for line in split_lines(block)]
            lines = list(range(number + 1, number + len(texts) + 1))
            yield Batch([str(line) for line in lines], texts, [None] * len(texts), lines)
            number += len(texts)


class WholeText:
    """A source as one document, with the id 1."""

    description = "plain text: one document"

    def __init__(self, lines: Lines, name: str, limit: int) -> None:
        self._lines, self._name, self._limit = lines, name, limit

    def __iter__(self) -> Iterator[Batch]:
        parts: list[str] = []
        for block in self._lines.texts():
            parts.append(block)
            if sum(map(len, parts)) > self._limit:
                break
        text = "".join(parts)
        if exceeds(text, self._limit):
            raise too_large(self._name, self._limit)
        yield Batch(["1"], [text], [None], [1])
