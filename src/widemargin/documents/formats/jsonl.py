"""JSON Lines: one object a line, with fields for the text, the labels and the id."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from widemargin.documents.encoding import Errors, Lines
from widemargin.documents.formats.columns import Columns, Options, choose_columns
from widemargin.documents.formats.label_cells import labels_of_value
from widemargin.documents.record import Document, Labels
from widemargin.errors import DataError

_SHOWN = 40


def open_jsonl(
    lines: Lines, name: str, options: Options, errors: Errors = "replace"
) -> tuple[str, Iterator[Document]]:
    """What is read from which field, and the documents."""
    fields = Fields(name, choose_fields(lines, name, options), options, errors)
    return f"JSON Lines: {fields.columns.describe()}", _documents(lines, fields)


def choose_fields(lines: Lines, name: str, options: Options) -> Columns:
    sample = []
    for number, line in enumerate(lines.peek(), 1):
        if line.strip():
            try:
                sample.append(_parse(line, name, number))
            except DataError:
                if not sample:
                    raise
                break  # told with its line when its turn comes
    names = list(dict.fromkeys(key for record in sample for key in record))
    if not names:
        # Nothing to guess from; an empty file is told by the reader.
        return Columns(options.text or "text", options.label or "labels", options.id or "id")
    # A field that is named may be absent from the first records.
    named = [field for field in (options.label, options.id) if field and field not in names]
    return choose_columns([*names, *named], sample, options, f"{name}, line 1")


class Fields:
    """Which fields of the records of `name` hold what, and how a line becomes a document."""

    def __init__(self, name: str, columns: Columns, options: Options, errors: Errors) -> None:
        self.name = name
        self.columns = columns
        self.delimiter = options.label_delimiter
        self.errors: Errors = errors
        # Where the first records have no labels, later ones may still use the canonical fields.
        canonical = columns.label in (None, "labels", "label")
        self.labels = ("labels", "label") if canonical else (str(columns.label),)

    def document(self, line: str, number: int, count: int) -> Document:
        """The document of line `number`, the `count`-th one of its source."""
        columns = self.columns
        record = _parse(line, self.name, number)
        where = f"{self.name}, line {number}"
        text = record.get(columns.text)
        if not isinstance(text, str):
            raise DataError(_no_text(record, columns.text, where))
        identifier = record.get(columns.id) if columns.id else None
        if isinstance(identifier, dict | list):
            raise DataError(
                f'{where}: "{columns.id}" is not a string or a number. Name the id field with --id.'
            )
        labels: Labels = None
        for field in self.labels:
            if labels is None:
                labels = _labels(record.get(field), field, self.delimiter, where)
        document = Document(str(count) if identifier is None else str(identifier), text, labels)
        # Escapes can spell halves of surrogate pairs, which no encoding can write.
        return _without_surrogates(document, where, self.errors) if "\\u" in line else document


def _documents(lines: Lines, fields: Fields) -> Iterator[Document]:
    count = 0
    for number, line in enumerate(lines, 1):
        if line.strip():
            count += 1
            yield fields.document(line, number, count)


def _parse(line: str, name: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except RecursionError as error:
        raise DataError(
            f"{name}, line {number}: lists or objects are nested too deeply. Flatten them."
        ) from error
    except ValueError as error:
        column = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise DataError(
            f"{name}, line {number}{column}: not JSON ({reason}); found {_shown(line)}. {_cure(line)}"
        ) from error
    if not isinstance(record, dict):
        raise DataError(f"{name}, line {number}: not an object; found {_shown(line)}. {_cure(line)}")
    return record


def _cure(line: str) -> str:
    """What to do about a line that is not an object; JSON files often spread one value over many lines."""
    how = {"[": " (`jq -c '.[]'` does it)", "{": " (`jq -c .` does it)"}
    begins_value = line.lstrip().startswith("[") or line.strip() == "{"
    return f"Write one object a line{how[line.lstrip()[0]] if begins_value else ''}."


def _labels(value: object, field: str, delimiter: str | None, where: str) -> Labels:
    try:
        return labels_of_value(value, delimiter)
    except ValueError as error:
        raise DataError(f'{where}: "{field}": {error}. Labels are a string or a list of strings.') from error


def _no_text(record: dict[str, Any], field: str, where: str) -> str:
    if record.get(field) is None:
        found = "is null" if field in record else f"is missing; fields are {', '.join(map(_shown, record))}"
    else:
        found = f"is not a string: {_written(record[field])}"
    return f'{where}: "{field}" {found}. Name the field of the text with --text, or give this record one.'


def _written(value: object) -> str:
    try:
        return _shown(json.dumps(value))
    except RecursionError:
        return f"{type(value).__name__}s nested too deeply"


def _without_surrogates(document: Document, where: str, errors: Errors) -> Document:
    parts = (document.id, document.text, *(document.labels or ()))
    try:
        for part in parts:
            part.encode()
    except UnicodeEncodeError as error:
        if errors == "strict":
            raise DataError(
                f"{where}: half of a surrogate pair (\\u{ord(error.object[error.start]):04x}) is no "
                f"character. Pass --errors replace to read it as U+FFFD."
            ) from error
        labels = None if document.labels is None else tuple(map(_clean, document.labels))
        return Document(_clean(document.id), _clean(document.text), labels)
    return document


def _clean(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _shown(line: str) -> str:
    line = line.strip()
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
