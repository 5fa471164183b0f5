"""JSON Lines: one object per line, with fields for the text, the labels and the id."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any, Literal, Protocol

from widemargin.documents.batches import Batch
from widemargin.documents.encoding import Errors, split_lines
from widemargin.documents.formats.columns import Columns, Options, choose_columns
from widemargin.documents.formats.label_cells import labels_of_value
from widemargin.documents.record import Document, LabelSet, join_columns
from widemargin.documents.times import as_cell
from widemargin.documents.wording import shown
from widemargin.errors import DataError


class RecordLines(Protocol):
    """Lines with a record each."""

    def peek(self) -> list[str]:
        """The first lines."""

    def texts(self) -> Iterator[str]:
        """All lines, many in one string."""


def _choose_fields(lines: RecordLines, name: str, options: Options) -> Columns:
    sample = []
    for number, line in enumerate(lines.peek(), 1):
        if line.strip():
            try:
                sample.append(_parse(line, name, number))
            except DataError:
                if not sample:
                    raise
                break  # reported with its line later
    names = list(dict.fromkeys(key for record in sample for key in record))
    if not names:
        # Nothing to guess from; the reader reports an empty file.
        found = options.texts or ("text",), options.label or "labels", options.id or "id"
        return Columns(*found, options.time, options.group)
    # A named field may be absent from the first records.
    optional = options.named if len(options.texts) > 1 else (options.label, options.id, *options.beside)
    named = [field for field in optional if field and field not in names]
    if len(options.texts) > 1 and not set(options.texts) & set(names):
        named = []  # none of them is a mistake
    return choose_columns([*names, *named], sample, options, f"{name}, line 1")


class JsonLines:
    """The documents of JSON Lines in blocks of lines that arrived together, once.

    Parsing many lines in one call takes a third of the time of parsing them one by one.

    Parameters
    ----------
    lines : the lines to read
    name : name of the source in errors
    options : fields that the caller named
    skipped : called with errors of lines that are not documents, for endless streams; None raises the first
    error, after the documents before it
    unit : what a line is called in errors
    """

    def __init__(
        self,
        lines: RecordLines,
        name: str,
        options: Options,
        skipped: list[DataError] | None = None,
        unit: Literal["line", "record"] = "line",
    ) -> None:
        self._lines = lines
        self._unit = unit
        self._name = name
        self._errors = options.errors
        self._skipped = skipped
        self._delimiter = options.label_delimiter
        columns = self.columns = _choose_fields(lines, name, options)
        # If the first records have no labels, later ones may still use the canonical fields.
        canonical = columns.label in (None, "labels", "label")
        self._labels = ("labels", "label") if canonical else (str(columns.label),)
        self.description = f"{'JSON Lines' if unit == 'line' else 'JSON'}: {columns.describe()}"

    def __iter__(self) -> Iterator[Batch]:
        number = count = 0  # lines and documents before the block
        for text in self._lines.texts():
            block = Batch()
            n_lines = text.count("\n") + (not text.endswith("\n"))
            records = _parsed_together(text, n_lines)
            if records is None or not self._add_plain(block, records, text, number, count):
                error = self._add_one_by_one(block, records, text, number, count)
                if error is not None:
                    yield block
                    raise error
            if self._skipped:
                block.bad += self._skipped
                self._skipped.clear()
            number, count = number + n_lines, count + len(block)
            yield block

    def _add_plain(
        self, block: Batch, records: list[dict[str, Any]], text: str, number: int, count: int
    ) -> bool:
        """Add records of the usual form: a text, a list of labels, an id that is a string."""
        if self._delimiter is not None or _may_halve(text):
            return False
        columns = [[record.get(field) for record in records] for field in self.columns.joined]
        texts: list[Any] = columns[0] if len(columns) == 1 else _joined(columns)
        if set(map(type, texts)) != {str}:
            return False
        labels = _plain_labels([[record.get(field) for record in records] for field in self._labels])
        if labels is None:
            return False
        ids: list[Any] = [record.get(self.columns.id) for record in records] if self.columns.id else []
        if not ids:
            ids = [str(place) for place in range(count + 1, count + len(records) + 1)]
        elif set(map(type, ids)) != {str}:
            return False
        block.ids, block.texts, block.labels = ids, texts, labels
        block.lines = list(range(number + 1, number + len(records) + 1))
        return True

    def _add_one_by_one(
        self, block: Batch, records: list[dict[str, Any]] | None, text: str, number: int, count: int
    ) -> DataError | None:
        """Add the documents of some lines, up to the first error that is not skipped."""
        for place, line in enumerate(split_lines(text)):
            if not line.strip():
                continue
            where = number + place + 1
            try:
                record = _parse(line, self._name, where) if records is None else records[place]
                block.append(self._document(record, line, where, count + len(block) + 1))
            except DataError as error:
                if self._skipped is None:
                    return error
                self._skipped.append(error)
            else:
                block.lines.append(where)
        return None

    def _document(self, record: dict[str, Any], line: str, number: int, count: int) -> Document:
        """The document of line `number`, the `count`-th one of its source."""
        columns = self.columns
        where = f"{self._name}, {self._unit} {number}"
        if columns.beside:
            record = {**record, **{name: as_cell(record.get(name)) for name in columns.beside}}
        text = _text(record, columns.joined, where)
        identifier = record.get(columns.id) if columns.id else None
        if isinstance(identifier, dict | list):
            raise DataError(
                f'{where}: "{columns.id}" is not a string or a number. Name the id field with --id.'
            )
        labels: LabelSet = None
        for field in self._labels:
            if labels is None:
                labels = _read_labels(record.get(field), field, self._delimiter, where)
        document = Document(str(count) if identifier is None else str(identifier), text, labels)
        # Escapes can produce halves of surrogate pairs, which cannot be encoded.
        return _without_surrogates(document, where, self._errors) if "\\u" in line else document


def _joined(columns: list[list[Any]]) -> list[str | None]:
    """One text per record, None where all its columns are missing or one is not a string."""
    if any(not set(map(type, column)) <= {str, type(None)} for column in columns):
        return [None]
    rows = zip(*columns, strict=True)
    return [None if all(value is None for value in row) else join_columns(row) for row in rows]


def _text(record: dict[str, Any], fields: tuple[str, ...], where: str) -> str:
    """The text of a record; of several fields, some may be missing."""
    values = [record.get(field) for field in fields]
    given = [value for value in values if value is not None]
    for field, value in zip(fields, values, strict=True):
        if not isinstance(value, str) and (value is not None or not given):
            raise DataError(_no_text(record, field, where))
    return join_columns(values) if len(values) > 1 else str(values[0])


def _parsed_together(text: str, n: int) -> list[dict[str, Any]] | None:
    """The records of `n` lines, one each; None if some line is not a record."""
    try:
        # A JSON string contains line ends only as escapes.
        records = json.loads("[" + text.rstrip("\n").replace("\n", ",") + "]")
    except (ValueError, RecursionError):
        return None
    if len(records) != n or set(map(type, records)) != {dict}:
        return None
    return list(records)


def _may_halve(text: str) -> bool:
    """Whether there may be an escape for half of a surrogate pair, which begins with d."""
    return "\\u" in text and ("\\ud" in text or "\\uD" in text)


def _plain_labels(fields: list[list[Any]]) -> list[LabelSet] | None:
    """The labels in one of several fields, if all are lists of strings or null; otherwise None.

    Examples
    --------
    >>> _plain_labels([[["b", "a"], [], None], [None, None, None]]), _plain_labels([["a", 1]])
    ([('b', 'a'), (), None], None)
    """
    used = [values for values in fields if any(value is not None for value in values)] or fields[:1]
    if len(used) > 1 or not set(map(type, used[0])) <= {list, type(None)}:
        return None
    if not set(map(type, chain.from_iterable(filter(None, used[0])))) <= {str}:
        return None
    return [None if value is None else tuple(dict.fromkeys(value)) for value in used[0]]


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
            f"{name}, line {number}{column}: not JSON ({reason}); found {shown(line)}. {_cure(line)}"
        ) from error
    if not isinstance(record, dict):
        raise DataError(f"{name}, line {number}: not an object; found {shown(line)}. {_cure(line)}")
    return record


def _cure(line: str) -> str:
    """The remedy for a line that is not an object; JSON files often spread one value over many lines."""
    how = {"[": " (`jq -c '.[]'` does it)", "{": " (`jq -c .` does it)"}
    begins_value = line.lstrip().startswith("[") or line.strip() == "{"
    return f"Write one object per line{how[line.lstrip()[0]] if begins_value else ''}."


def _read_labels(value: object, field: str, delimiter: str | None, where: str) -> LabelSet:
    try:
        return labels_of_value(value, delimiter)
    except ValueError as error:
        raise DataError(f'{where}: "{field}": {error}. Labels are a string or a list of strings.') from error


def _no_text(record: dict[str, Any], field: str, where: str) -> str:
    if record.get(field) is None:
        found = "is null" if field in record else f"is missing; fields are {', '.join(map(shown, record))}"
    else:
        found = f"is not a string: {_written(record[field])}"
    return f'{where}: "{field}" {found}. Name the field of the text with --text, or give this record one.'


def _written(value: object) -> str:
    try:
        return shown(json.dumps(value))
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
                f"{where}: half of a surrogate pair (\\u{ord(error.object[error.start]):04x}) is not a "
                f"character. Pass --errors replace to read it as U+FFFD."
            ) from error
        labels = None if document.labels is None else tuple(map(_clean, document.labels))
        return Document(_clean(document.id), _clean(document.text), labels)
    return document


def _clean(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
