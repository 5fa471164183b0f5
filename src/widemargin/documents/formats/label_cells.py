"""Labels of a document from a cell or a JSON value."""

from __future__ import annotations

import json

from widemargin.documents.record import LabelSet


def labels_of_cell(cell: str, delimiter: str | None = None) -> LabelSet:
    """The labels in a cell of a table: a JSON list, labels separated by a delimiter, or one label.

    An empty cell means unlabeled, ``[]`` in no category.

    >>> labels_of_cell("spam"), labels_of_cell('["b", "a"]'), labels_of_cell("b; a", ";")
    (('spam',), ('b', 'a'), ('b', 'a'))
    >>> labels_of_cell(""), labels_of_cell("[]")
    (None, ())
    """
    cell = cell.strip()
    if not cell:
        return None
    if cell[0] == "[" and cell[-1] == "]":
        try:
            values = json.loads(cell)
        except (ValueError, RecursionError):
            values = None  # a label that happens to have brackets
        if isinstance(values, list) and all(isinstance(value, str | int | float) for value in values):
            return labels_of_value(values)
    if delimiter:
        return tuple(dict.fromkeys(part.strip() for part in cell.split(delimiter) if part.strip()))
    return (cell,)


def labels_of_value(value: object, delimiter: str | None = None) -> LabelSet:
    """The labels in a JSON value: null, a string, a number, or a list of them.

    >>> labels_of_value(None), labels_of_value([]), labels_of_value(["a", 1]), labels_of_value(True)
    (None, (), ('a', '1'), ('true',))
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        if delimiter:
            return tuple(dict.fromkeys(part.strip() for part in value.split(delimiter) if part.strip()))
        return (value,)
    if isinstance(value, list):
        return tuple(dict.fromkeys(_name(item) for item in value))
    return (_name(value),)


def _name(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise ValueError(f"a label is {_kind(value)}")


def _kind(value: object) -> str:
    return {dict: "an object", list: "a list", type(None): "null"}.get(type(value), type(value).__name__)
