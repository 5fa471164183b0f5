"""Whether a source of unknown format is plain text or a table: a sentence with commas is not a header."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from widemargin.documents.formats.columns import (
    ID_NAMES,
    LABEL_NAMES,
    TEXT_NAMES,
    TIME_NAMES,
    Options,
    plain_name,
)
from widemargin.documents.formats.sniffing import Format
from widemargin.errors import UsageError

_JSON = re.compile(r'\s*(\{\s*("|\}|$)|\[\s*(\{|\]|$))')
_VECTOR = re.compile(r"[-+]?[\d.,]+(\s+\d+:\S+)+\s*(#.*)?")
_OTHER_NAMES = frozenset((*LABEL_NAMES, *ID_NAMES, *TIME_NAMES))
_LONGEST_NAME = 30
_MOST_WORDS = 3


def plain_or_table(head: str, name: str, options: Options, *, labeled: bool = False) -> Format | None:
    """ "lines", "csv" or "tsv"; None if the first line shows another format.

    The first line is a header if it names the column of the text: the one that is asked for, the one of the
    training documents, or a usual one beside another usual name. A table without a header is recognized if
    the training table had none, by its number of columns. Anything else is plain text, unless all lines look
    like records below a header of unknown names: that is refused.

    Examples
    --------
    >>> plain_or_table("The printer, on floor 2, is broken\\n", "-", Options())
    'lines'
    >>> plain_or_table("id,text\\n", "-", Options()), plain_or_table("a,b\\n", "-", Options(text="b"))
    ('csv', 'csv')
    """
    lines = [line for line in head.split("\n") if line.strip()]
    if not lines:
        return None
    first = lines[0].strip("\r\ufeff")
    if _JSON.match(first) or first.startswith(("__label__", "PAR1")) or _VECTOR.fullmatch(first):
        return None
    if labeled:
        return "lines"
    whole = lines if head.endswith("\n") or len(lines) == 1 else lines[:-1]
    for delimiter in "\t,;|":
        if delimiter in first and _is_table(_rows(whole, delimiter), name, options):
            return "tsv" if delimiter == "\t" else "csv"
    known = {*options.texts, *options.texts_before}
    if len(whole) > 1 and (first in known or plain_name(first) in TEXT_NAMES):
        return "csv"  # one column below its name
    return "lines"


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """The records of the first lines; none if they are not a table."""
    try:
        return [row for row in csv.reader(lines, delimiter=delimiter, strict=True) if row]
    except csv.Error:
        return []


def _is_table(rows: list[list[str]], name: str, options: Options) -> bool:
    if not rows:
        return False
    first = [cell.strip() for cell in rows[0]]
    if options.header is False or any(column.isdecimal() for column in options.texts):
        return True
    if set(first) & {*options.texts, *options.texts_before}:
        return True
    usual = {plain_name(cell) for cell in first}
    if usual & set(TEXT_NAMES) and usual & _OTHER_NAMES:
        return True
    same = len({len(row) for row in rows}) == 1
    width = options.remembered.get("width")
    if width is not None and same and len(first) == width:
        if len(rows) > 1:
            return True
        raise _unclear(name)
    if len(rows) > 1 and same and all(map(_is_name, first)) and len(set(first)) == len(first):
        raise _unclear(name)
    return False


def _is_name(cell: str) -> bool:
    """Whether a cell could be the name of a column.

    >>> _is_name("Ticket text"), _is_name("the printer is broken"), _is_name("Really?")
    (True, False, False)
    """
    short = 0 < len(cell) <= _LONGEST_NAME and len(cell.split()) <= _MOST_WORDS
    return short and not cell.endswith((".", "!", "?", ":"))


def _unclear(name: str) -> UsageError:
    return UsageError(
        f"{name}: may be a table or plain text. Pass --format csv (or tsv) with --text COL, or --format "
        f"lines for a document per line."
    )
