"""Fields: parts of a document, such as its title, that are counted apart.

A document is one string. A field is a span of it:

``"first-line"``
    The first line that is not blank.
``"subject"``
    The value of the header line ``Subject:`` among the first lines (of any column), with its continuation
    lines (those that begin with white space). It is empty if there is none.
a column
    Documents with several columns are one string, with the character U+001F between the columns. Trailing
    columns that are missing are empty.
``"title"``
    The first line, in documents that have no column of that name.

A column that is called ``"first-line"`` or ``"subject"`` takes the place of the span.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import widemargin._core as _core
from widemargin.documents.record import SEPARATOR, join_columns
from widemargin.errors import DataError, UsageError
from widemargin.labels.columns import column_at, is_missing, table_names
from widemargin.text.inputs import as_texts, listed

FOUND = ("title", "subject", "first-line")
"""The fields that are found in documents without columns."""

# Headers end at a blank line; a subject farther down belongs to a quoted message.
_HEADER_LINES = 50
# How the names of types of text begin in the data frames of pandas and polars and in Arrow.
_TEXT_KINDS = (
    "object",
    "str",
    "utf8",
    "categor",
    "enum",
    "large_string",
    "large_utf8",
    "dictionary<values=string",
    "dictionary<values=large_string",
)
_FIRST_LINE = re.compile(r"[^\S\n]*(\S[^\n]*)")
_SUBJECT = re.compile(r"subject:[^\S\n]*([^\n]*(?:\n[^\S\n]+\S[^\n]*)*)", re.IGNORECASE)


class Span(NamedTuple):
    """The characters of a field in a document."""

    start: int
    end: int


def find_field(text: str, field: str | None, columns: Sequence[str] | None = None) -> Span:
    r"""The span of `field` in a document; None is the whole document.

    Parameters
    ----------
    columns : names of the columns of the document, if it has several

    Examples
    --------
    >>> text = "From: a\nSubject: Wheat\n prices\n\nUp again."
    >>> start, end = find_field(text, "subject")
    >>> text[start:end]
    'Wheat\n prices'
    >>> find_field("Corn\x1fUp again.", "body", ("title", "body"))
    Span(start=5, end=14)
    """
    if field is None:
        return Span(0, len(text))
    if columns is not None and field in columns:
        return _column(text, list(columns).index(field), len(columns))
    if field == "subject":
        return _subject(text)
    found = _FIRST_LINE.search(text.partition(SEPARATOR)[0])
    return Span(0, 0) if found is None else Span(*found.span(1))


def _column(text: str, place: int, n_columns: int) -> Span:
    start = 0
    for _ in range(place):
        at = text.find(SEPARATOR, start)
        if at < 0:
            return Span(len(text), len(text))
        start = at + 1
    end = text.find(SEPARATOR, start) if place < n_columns - 1 else -1
    return Span(start, len(text) if end < 0 else end)


def _subject(text: str) -> Span:
    """The subject in the headers at the beginning of the text, or of one of its columns."""
    begin = 0
    while True:
        end = text.find(SEPARATOR, begin)
        found = _header(text, begin, len(text) if end < 0 else end)
        if found is not None or end < 0:
            return found or Span(0, 0)
        begin = end + 1


def _header(text: str, at: int, stop: int) -> Span | None:
    for _ in range(_HEADER_LINES):
        found = _SUBJECT.match(text, at, stop)
        if found is not None:
            return Span(*found.span(1))
        end = text.find("\n", at, stop)
        if end < 0 or not text[at:end].strip():
            break
        at = end + 1
    return None


class Views:
    """Documents and their fields, as the core reads them; iterables are read once.

    Parameters
    ----------
    texts : as in :func:`~widemargin.text.inputs.as_texts`
    columns : the names of their columns, if they have several
    prepare : makes the text that the core reads of every text, or None
    """

    def __init__(
        self,
        texts: Any,
        columns: Sequence[str] | None = None,
        prepare: Callable[[str], str] | None = None,
    ) -> None:
        self._texts, self._columns, self._prepare = listed(texts), columns, prepare
        self._whole = as_texts(self._texts)
        if prepare is not None:
            self._whole = self._read(None)
        self._fields: dict[str, _core.Texts] = {}

    def __len__(self) -> int:
        return len(self._whole)

    def of(self, field: str | None) -> _core.Texts:
        """The texts of one field, one per document; None is the whole document."""
        if field is None:
            return self._whole
        if field not in self._fields:
            self._fields[field] = self._read(field)
        return self._fields[field]

    def _read(self, field: str | None) -> _core.Texts:
        texts = self._texts.to_pylist() if hasattr(self._texts, "to_pylist") else self._texts
        parts = [self._part(text, field) for text in texts]
        return as_texts(parts if self._prepare is None else [self._prepare(part) for part in parts])

    def strings(self, field: str | None) -> list[str]:
        """The texts of one field as Python strings, with a line break between columns."""
        texts = self._texts.to_pylist() if hasattr(self._texts, "to_pylist") else self._texts
        return [self._part(text, field).replace(SEPARATOR, "\n") for text in texts]

    def _part(self, text: str | bytes, field: str | None) -> str:
        # Undecodable bytes separate words, as U+FFFD does.
        text = text.decode(errors="replace") if isinstance(text, bytes) else text
        start, end = find_field(text, field, self._columns)
        return text[start:end]


def check_columns(names: Any) -> tuple[str, ...] | None:
    """The names of columns, distinct strings; None if documents have no columns."""
    if names is None:
        return None
    if isinstance(names, str):
        raise UsageError(f"fields={names!r}: expected several names, such as ('title', 'body').")
    try:
        found = tuple(names)
    except TypeError:
        found = ()
    if not found or not all(isinstance(name, str) and name for name in found):
        raise UsageError(f"fields={names!r}: expected names of columns, such as ('title', 'body').")
    if len(set(found)) < len(found):
        raise UsageError(f"fields={names!r}: every column can be named only once.")
    return found


def columns_of(texts: Any) -> tuple[str, ...] | None:
    """The names of the columns of a data frame, a mapping or a list of mappings; None for texts."""
    if isinstance(texts, Mapping):
        return tuple(str(name) for name in texts)
    if isinstance(texts, list | tuple):
        if not texts or not isinstance(texts[0], Mapping):
            return None
        return tuple(dict.fromkeys(str(name) for row in texts if isinstance(row, Mapping) for name in row))
    return table_names(texts)


def has_text_columns(texts: Any) -> bool:
    """Whether documents are rows of a table with texts, and not single texts or vectors.

    Examples
    --------
    >>> has_text_columns([{"title": "Wheat"}]), has_text_columns(["Wheat"])
    (True, False)
    """
    if columns_of(texts) is None:
        return False
    if isinstance(texts, Mapping | list | tuple):
        return True
    kinds = texts.schema.types if hasattr(texts, "column_names") else texts.dtypes
    return any(str(kind).lower().startswith(_TEXT_KINDS) for kind in kinds)


def only_column(texts: Any) -> Any:
    """The column of a data frame that has a single one, of text; anything else as it is.

    Documents with one column are plain texts, and a missing one is an error, as it is in a list.
    """
    names = None if isinstance(texts, Mapping | list | tuple) else table_names(texts)
    return column_at(texts, 0) if names is not None and len(names) == 1 and has_text_columns(texts) else texts


def joined(texts: Any, names: Sequence[str]) -> list[str]:
    r"""Documents with columns as texts with separators.

    Missing values are empty. A document of a list may lack some of the columns, but a column must be known.

    Parameters
    ----------
    texts : data frame, mapping from names to sequences of str, or list of mappings from names to str

    Examples
    --------
    >>> joined({"title": ["Wheat", None], "body": ["Up.", "Down."]}, ("title", "body"))
    ['Wheat\x1fUp.', '\x1fDown.']
    """
    known = columns_of(texts) or ()
    missing = [name for name in names if name not in known]
    if missing:
        raise DataError(
            f"The documents have no column {missing[0]!r}; their columns are {', '.join(known)}. "
            f"Rename a column, or name the columns to read with fields."
        )
    if isinstance(texts, list | tuple):
        columns = [[_value(row, name, i) for i, row in enumerate(texts)] for name in names]
    else:
        columns = [_values(_column_named(texts, name, known.index(name))) for name in names]
    sizes = {len(column) for column in columns}
    if len(sizes) > 1:
        lengths = ", ".join(f"{name}: {len(column)}" for name, column in zip(names, columns, strict=True))
        raise DataError(f"The columns differ in length ({lengths}). Pass one value per document.")
    checked = [_checked(column, name) for name, column in zip(names, columns, strict=True)]
    return [join_columns(values) for values in zip(*checked, strict=True)]


def _checked(column: list[Any], name: str) -> list[str | None]:
    """Texts, and None where one is missing: null, or a number that is not equal to itself."""
    found = [None if is_missing(value) else value for value in column]
    for place, value in enumerate(found):
        if value is not None and not isinstance(value, str):
            raise DataError(
                f"Column {name!r} of document {place} (counting from 0) is {value!r}, not a text. "
                f"Pass str, or None where it is missing; or name the columns of text, such as "
                f"Vectorizer(fields=('title', 'body'))."
            )
    return found


def _value(row: Any, name: str, place: int) -> Any:
    if not isinstance(row, Mapping):
        raise DataError(
            f"Document {place} (counting from 0) is of type {type(row).__name__}, but the first one has "
            f"columns. Pass the columns of every document, or one text each."
        )
    return row.get(name)


def _column_named(texts: Any, name: str, place: int) -> Any:
    # The names of a data frame may be numbers, and those of its columns here are strings.
    return texts[name] if isinstance(texts, Mapping) and name in texts else _placed(texts, place)


def _placed(texts: Any, place: int) -> Any:
    return list(texts.values())[place] if isinstance(texts, Mapping) else column_at(texts, place)


def _values(column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def in_columns(texts: Any, fields: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Texts as they are counted, with several columns joined, and the names of these columns.

    Parameters
    ----------
    fields : the columns to use; None for all that `texts` has
    """
    columns = check_columns(fields)
    texts = only_column(texts) if columns is None else texts
    found = columns_of(texts)
    if found is None:
        return texts, columns
    columns = columns or check_columns(found)
    assert columns is not None
    return joined(texts, columns), columns
