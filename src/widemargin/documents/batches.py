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

from widemargin.documents.columns import Options
from widemargin.documents.encoding import Decoder, Errors, Lines, check_encoding
from widemargin.documents.formats import checked_format, format_by_name, format_of_bytes
from widemargin.documents.jsonl import Fields, choose_fields
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


class BatchReader:
    """The documents of a JSONL file or of standard input ("-"), a batch at a time and once.

    Parameters
    ----------
    source : path or "-"
    text, label, label_delimiter, encoding : as of :func:`~widemargin.documents.reading.read_documents`
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
        size: int = BATCH,
    ) -> None:
        check_encoding(encoding, errors)
        found = checked_format(format) or format_by_name(source)
        self._source = ByteSource(source)
        self.name = self._source.name
        found = found or format_of_bytes(self._source.head, self.name)
        if found != "jsonl":
            raise UsageError(
                f"{self.name}: a stream is JSON Lines, and this is {found}. Train without --stream, or "
                f"write one object a line."
            )
        options = Options(text, label, id, label_delimiter)
        self._lines = Lines(self._source.chunks(), Decoder(self.name, encoding, errors))
        columns = choose_fields(self._lines, self.name, options)
        self._fields = Fields(self.name, columns, options, errors)
        self._size = size
        self.description = f"{self.name}: a stream of JSON Lines: {columns.describe()}."

    def __iter__(self) -> Iterator[Batch]:
        batch, number = Batch(), 0
        for block in self._lines.blocks():
            for start in range(0, len(block), self._size):
                lines = block[start : start + self._size]
                self._parse(lines, number, batch)
                number += len(lines)
                if batch.bad and self._fields.errors == "strict":
                    error = batch.bad.pop()
                    yield batch
                    raise error
                if len(batch) >= self._size or not self._source.ready():
                    yield batch
                    batch = Batch()
        if len(batch) or batch.bad:
            yield batch

    def close(self) -> None:
        self._source.close()

    def _parse(self, lines: list[str], before: int, batch: Batch) -> None:
        """Add the documents of `lines`, which come after `before` others, to `batch`."""
        records = _parsed_together(lines)
        text_field, label_fields = self._fields.columns.text, self._fields.labels
        plain = self._fields.delimiter is None
        for place, line in enumerate(lines):
            if records is not None and plain and "\\u" not in line:
                record = records[place]
                text, labels = record.get(text_field), record.get(label_fields[0])
                # What nearly every line looks like; the rest takes the careful way.
                if type(text) is str and type(labels) is list and len(labels) == 1 and type(labels[0]) is str:
                    batch.texts.append(text)
                    batch.labels.append((labels[0],))
                    batch.lines.append(before + place + 1)
                    continue
            if line.strip():
                self._parse_one(line, before + place + 1, batch)
                if batch.bad and self._fields.errors == "strict":
                    return

    def _parse_one(self, line: str, number: int, batch: Batch) -> None:
        try:
            document = self._fields.document(line, number, number)
        except DataError as error:
            batch.bad.append(error)
            return
        batch.texts.append(document.text)
        batch.labels.append(document.labels)
        batch.lines.append(number)


def _parsed_together(lines: list[str]) -> list[dict[str, Any]] | None:
    """The records of `lines`, one each; None where some line is no record."""
    try:
        records = json.loads("[" + ",".join(lines) + "]")
    except (ValueError, RecursionError):
        return None
    if len(records) != len(lines) or not all(type(record) is dict for record in records):
        return None
    return list(records)
