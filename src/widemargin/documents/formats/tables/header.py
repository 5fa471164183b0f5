"""Whether a table has a header, and what its columns are called without one: by their numbers."""

from __future__ import annotations

from collections.abc import Sequence

from widemargin.documents.formats.columns import LABEL_NAMES, TEXT_NAMES, Options, plain_name
from widemargin.errors import DataError

_LONG_NAME = 60
_KNOWN = frozenset((*TEXT_NAMES, *LABEL_NAMES))


def has_header(first: Sequence[str], options: Options) -> bool:
    """Whether the first record names the columns.

    It does unless `options` say otherwise, name columns by number, or the training table of the model had no
    header. In the last case, a header with usual names is still recognized.
    """
    if options.header is not None:
        return options.header
    wanted = options.named
    if wanted and all(column.isdecimal() and column not in first for column in wanted):
        return False
    if options.remembered.get("header", True):
        return True
    return any(plain_name(cell) in _KNOWN for cell in first)


def numbered(width: int) -> list[str]:
    """The names of the columns of a table without a header.

    >>> numbered(3)
    ['1', '2', '3']
    """
    return [str(place) for place in range(1, width + 1)]


def check_header(names: Sequence[str], options: Options, where: str) -> None:
    """Raise an error if the first record is a document instead of a header."""
    cure = "If there is no header, pass --no-header; otherwise add one such as label,text."
    for name in names:
        if len(name) > _LONG_NAME and name not in options.named:
            raise DataError(f'{where}: "{name[:40]}..." does not look like the name of a column. {cure}')
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f'{where}: two columns are called "{twice}". Rename one. {cure}')
