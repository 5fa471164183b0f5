"""Cells of Arrow columns as Python values: texts are checked, numbers of classes become their names."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from widemargin.documents.formats.columns import Options
from widemargin.documents.limits import too_large
from widemargin.documents.wording import counted
from widemargin.errors import DataError, DataWarning, StorageError, UsageError, WidemarginError

Classes = Mapping[str, list[str]]


class ArrowCells:
    """The values of the columns of one table.

    Parameters
    ----------
    name : of the table, in messages
    classes : by column, the names of the classes whose numbers it holds
    """

    def __init__(self, name: str, options: Options, classes: Classes) -> None:
        self._name, self._classes = name, classes
        self._errors, self._limit = options.errors, options.max_document
        self._replaced = 0

    def values(self, column: Any, name: str, before: int) -> list[Any]:
        """The cells of a column; `before` is how many rows came before."""
        import pyarrow
        import pyarrow.compute

        kind = column.type
        shared = pyarrow.types.is_dictionary(kind)
        values = column.dictionary if shared else column
        if not is_string(values.type):
            try:
                found = list(column.to_pylist())
            except (ValueError, OverflowError) as error:
                raise DataError(
                    f'{self._name}, rows from {before + 1}: "{name}" holds a value that cannot be read '
                    f"({error}). Name another column, or write it as text."
                ) from error
            return found if name not in self._classes else self._named(found, name, before)
        places = column.indices.to_pylist() if shared else range(len(column))
        longest = pyarrow.compute.max(pyarrow.compute.binary_length(values)).as_py() or 0
        cells: dict[int | None, str | None] = {None: None}
        raw = values.cast(pyarrow.large_binary())
        result = []
        for row, place in enumerate(places, before + 1):
            if place not in cells:
                if not 0 <= place < len(raw):
                    raise DataError(
                        f'{self._name}, row {row}: damaged ("{name}" refers to a value that is not there). '
                        f"Get a complete copy."
                    )
                if longest > self._limit and len(raw[place].as_buffer() or b"") > self._limit:
                    raise too_large(f'{self._name}, row {row}, "{name}"', self._limit)
                cells[place] = self._text(raw[place].as_py(), name, row)
            result.append(cells[place])
        return result

    def warn(self) -> None:
        """Warn about replaced bytes, after all rows have been read."""
        if self._replaced:
            warnings.warn(
                f"{self._name}: {counted(self._replaced, 'cell')} with undecodable bytes, which "
                f"became U+FFFD. Write the column as UTF-8.",
                DataWarning,
                stacklevel=2,
            )

    def _named(self, values: list[Any], name: str, before: int) -> list[Any]:
        """Numbers of classes as their names; -1 marks an unlabeled row."""
        names = self._classes[name]

        def named(number: Any, row: int) -> str | None:
            if number is None or number == -1:
                return None
            if not isinstance(number, int) or not 0 <= number < len(names):
                raise DataError(
                    f'{self._name}, row {row}: "{name}" is {number!r}, but there are {len(names)} classes. '
                    f"Write the dataset again."
                )
            return names[number]

        return [
            [named(each, row) for each in value] if isinstance(value, list) else named(value, row)
            for row, value in enumerate(values, before + 1)
        ]

    def _text(self, value: bytes | None, name: str, row: int) -> str | None:
        if value is None:
            return None
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            if self._errors == "strict":
                raise DataError(
                    f'{self._name}, row {row}: "{name}" holds byte 0x{value[error.start]:02x}, which is not '
                    f"UTF-8. Write the column as UTF-8, or pass --errors replace."
                ) from error
            self._replaced += 1
            return value.decode(errors="replace")


def is_string(kind: Any) -> bool:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        kind = kind.value_type
    # Views of strings came with pyarrow 16.
    view = getattr(types, "is_string_view", lambda kind: False)
    return bool(types.is_string(kind) or types.is_large_string(kind) or view(kind))


def classes_of_schema(schema: Any) -> Classes:
    """The names of classes that Hugging Face's libraries write beside a table."""
    try:
        info = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
    except ValueError:
        return {}
    info = info.get("info") if isinstance(info, dict) else None
    return classes_of_features(info.get("features") if isinstance(info, dict) else None)


def classes_of_features(features: Any) -> Classes:
    """By column, the names of its classes.

    >>> classes_of_features({"label": {"_type": "ClassLabel", "names": ["ham", "spam"]}, "text": {}})
    {'label': ['ham', 'spam']}
    """
    found = {}
    for name, feature in features.items() if isinstance(features, dict) else ():
        # A list of classes has them as its inner feature.
        inner = feature.get("feature", feature) if isinstance(feature, dict) else feature
        inner = inner[0] if isinstance(inner, list) and inner else inner
        names = inner.get("names") if isinstance(inner, dict) else None
        if isinstance(names, list) and names and all(isinstance(each, str) for each in names):
            found[name] = names
    return found


def require_pyarrow(name: str, what: str) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"{name}: reading {what} needs pyarrow. Run `pip install widemargin[parquet]`."
        ) from error


@contextlib.contextmanager
def explained(name: str, what: str) -> Iterator[None]:
    """Converts pyarrow's errors to this library's errors."""
    import pyarrow

    try:
        yield
    except (WidemarginError, MemoryError):
        raise
    except (pyarrow.ArrowException, OSError, ValueError, LookupError, OverflowError) as error:
        # Errors of the system have a number; the others are pyarrow's, about the bytes.
        if isinstance(error, OSError) and error.errno is not None:
            raise StorageError(
                f"{name}: cannot be read ({error.strerror or error}). Check its permissions."
            ) from error
        reason = " ".join(str(error).split())
        raise DataError(f"{name}: not {what}, or damaged ({reason}). Get a complete copy.") from error
