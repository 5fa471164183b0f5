"""Documents of a JSONL stream in batches, as many as have arrived: for learners that keep up with a pipe.

Parsing many lines in one call takes a third of the time of parsing them one by one, and a batch never waits
for documents that are not there yet. A line that is no document is skipped and told with its number, since a
stream without end must not end for it; ``errors="strict"`` stops there instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from widemargin.documents.encoding import Decoder, Errors, Lines, check_encoding, split_lines
from widemargin.documents.formats.columns import Options
from widemargin.documents.formats.jsonl import Fields, choose_fields
from widemargin.documents.formats.sniffing import checked_format, format_by_name, format_of_bytes
from widemargin.documents.limits import MAX_DOCUMENT, check_limit
from widemargin.documents.opening import ByteSource
from widemargin.documents.record import Labels
from widemargin.errors import DataError, UsageError

# Enough to keep the compiled core busy, few enough to stay small in memory.
BATCH = 8192


@dataclass
class Batch:
    """Documents that arrived together.

    `lines` are the numbers of their lines, `bad` what was wrong with lines that are none of them.
    """

    texts: list[str] = field(default_factory=list)
    labels: list[Labels] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    bad: list[DataError] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.texts)

    def __bool__(self) -> bool:
        return bool(self.texts or self.bad)

    def extend(self, other: Batch) -> None:
        """Add the documents of `other`, which came later."""
        self.texts += other.texts
        self.labels += other.labels
        self.lines += other.lines
        self.bad += other.bad


class BatchReader:
    """The documents of a JSONL file or of standard input ("-"), a batch at a time and once.

    Parameters
    ----------
    source : path or "-"
    text, label, label_delimiter, encoding, max_document : as of
        :func:`~widemargin.documents.reading.read_documents`
    errors : "replace" skips lines that are no documents, "strict" ends with an error after those before it
    size : the most documents of a batch
    """

    def __init__(
        self,
        source: str | Path,
        *,
        format: str | None = None,
        text: str | None = None,
        label: str | None = None,
        id: str | None = None,
        label_delimiter: str | None = None,
        encoding: str | None = None,
        errors: Errors = "replace",
        max_document: int = MAX_DOCUMENT,
        size: int = BATCH,
    ) -> None:
        check_encoding(encoding, errors)
        check_limit(max_document)
        found = checked_format(format) or format_by_name(source)
        self._source = ByteSource(source, in_thread=True)
        self.name = self._source.name
        found = found or format_of_bytes(self._source.head, self.name)
        if found != "jsonl":
            raise UsageError(
                f"{self.name}: a stream is JSON Lines, and this is {found}. Train without --stream, or "
                f"write one object a line."
            )
        options = Options(text, label, id, label_delimiter)
        # A line that is too long is skipped as one that is no document.
        self._too_long: list[DataError] = []
        skip = None if errors == "strict" else self._too_long.append
        decoder = Decoder(self.name, encoding, errors)
        self._lines = Lines(self._source.chunks(), decoder, max_document, skip)
        columns = choose_fields(self._lines, self.name, options)
        self._fields = Fields(self.name, columns, options, errors)
        self._size = size
        self.description = f"{self.name}: a stream of JSON Lines: {columns.describe()}."

    def __iter__(self) -> Iterator[Batch]:
        batch, number = Batch(), 0
        for text in self._lines.texts():
            number += self._parse(text, number, batch)
            batch.bad += self._too_long
            self._too_long.clear()
            if batch.bad and self._fields.errors == "strict":
                error = batch.bad.pop()
                yield batch
                raise error
            if len(batch) >= self._size or not self._source.ready():
                yield batch
                batch = Batch()
        if batch:
            yield batch

    def close(self) -> None:
        self._source.close()

    def _parse(self, text: str, before: int, batch: Batch) -> int:
        """Add the documents of whole lines, which come after `before` others, to `batch`: how many lines."""
        n = text.count("\n") + (not text.endswith("\n"))
        records = _parsed_together(text, n)
        plain = records is not None and self._fields.delimiter is None
        if records is not None and plain and not _may_halve(text):
            # What nearly all lines look like; the rest takes the careful way.
            texts: list[Any] = [record.get(self._fields.columns.text) for record in records]
            labels: list[Any] = [record.get(self._fields.labels[0]) for record in records]
            if set(map(type, texts)) == {str} and _one_string_each(labels):
                batch.texts += texts
                batch.labels += map(tuple, labels)
                batch.lines += range(before + 1, before + n + 1)
                return n
        for place, line in enumerate(split_lines(text)):
            if records is not None and plain and not _may_halve(line):
                found: Any = records[place].get(self._fields.columns.text)
                known: Any = records[place].get(self._fields.labels[0])
                if type(found) is str and _one_string_each([known]):
                    batch.texts.append(found)
                    batch.labels.append(tuple(known))
                    batch.lines.append(before + place + 1)
                    continue
            if line.strip():
                self._parse_one(line, before + place + 1, batch)
                if batch.bad and self._fields.errors == "strict":
                    break
        return n

    def _parse_one(self, line: str, number: int, batch: Batch) -> None:
        try:
            document = self._fields.document(line, number, number)
        except DataError as error:
            batch.bad.append(error)
            return
        batch.texts.append(document.text)
        batch.labels.append(document.labels)
        batch.lines.append(number)


def _parsed_together(text: str, n: int) -> list[dict[str, Any]] | None:
    """The records of `n` lines, one each; None where some line is no record."""
    try:
        # A string has no end of a line in it, unless as an escape.
        records = json.loads("[" + text.rstrip("\n").replace("\n", ",") + "]")
    except (ValueError, RecursionError):
        return None
    if len(records) != n or set(map(type, records)) != {dict}:
        return None
    return list(records)


def _may_halve(text: str) -> bool:
    """Whether an escape may spell half of a surrogate pair, which begins with d."""
    return "\\u" in text and ("\\ud" in text or "\\uD" in text)


def _one_string_each(labels: list[Any]) -> bool:
    return (
        set(map(type, labels)) == {list}
        and set(map(len, labels)) == {1}
        and {type(label) for (label,) in labels} == {str}
    )
