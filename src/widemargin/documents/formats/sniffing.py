"""The format of a source: by its name, otherwise by its first bytes."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path, PurePath
from typing import Literal, get_args

from widemargin.documents.encoding import Decoder
from widemargin.documents.formats.columns import Options
from widemargin.documents.sources.byte_source import ByteSource
from widemargin.documents.sources.files import COMPRESSED, STDIN
from widemargin.documents.sources.urls import Url, as_source
from widemargin.errors import DataError, DataWarning, UsageError

Format = Literal[
    "jsonl", "json", "csv", "tsv", "parquet", "excel", "folder", "svmlight", "fasttext", "lines", "text"
]
FORMATS: tuple[Format, ...] = get_args(Format)

_SUFFIXES: dict[str, Format] = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    ".csv": "csv",
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".xlsx", ".xlsm"), "excel"),
    **dict.fromkeys((".svm", ".svmlight", ".libsvm"), "svmlight"),
    **dict.fromkeys((".ft", ".fasttext"), "fasttext"),
}
_SVMLIGHT_ROW = re.compile(
    rb"[-+]?[\d.][\d.eE,+-]*(\s+(?:qid|cost):\S+)*(\s+\d+:\S+)+\s*(#.*)?|[-+]?[\d.]+\s*(#.*)?"
)


class EmptySourceError(DataError):
    """A source has no documents."""


def guess_format(source: str | Path) -> Format:
    """The format of a source by its name, otherwise by its first bytes. Standard input keeps them."""
    by_name = format_by_name(source)
    if by_name is not None and (by_name != "jsonl" or not Path(source).exists()):
        return by_name
    if source == STDIN:
        return format_of_bytes(_peek_stdin(), "standard input")
    stream = ByteSource(source)
    stream.close()
    return found_format(by_name, stream)


def found_format(
    by_name: Format | None, stream: ByteSource, options: Options | None = None, *, labeled: bool = False
) -> Format:
    """The format of an open source, whose name may leave open how JSON is spread over its lines.

    `labeled`: all its documents have one label, so that plain text has a document per line.
    """
    if by_name == "jsonl":
        return "json" if _is_one_value(stream.head) else "jsonl"
    if by_name is not None:
        return by_name
    plain = options is not None and (options.plain_text or options.remembered.get("format") == "lines")
    if options is not None and (plain or labeled):
        from widemargin.documents.formats.plain_or_table import plain_or_table

        found = plain_or_table(_decoded(stream.head, stream.name), stream.name, options, labeled=labeled)
        if found is not None:
            return found
    return format_of_bytes(stream.head, stream.name)


def _is_one_value(head: bytes) -> bool:
    """Whether a JSON file begins with a list, or with an object that goes on in the next lines.

    >>> _is_one_value(b' [{"text": "a"}]'), _is_one_value(b'{\\n "data": ['), _is_one_value(b'{"text": "a"}')
    (True, True, False)
    """
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0].strip()
    return first.startswith(b"[") or first == b"{"


def checked_format(format: str | None) -> Format | None:
    if format is None:
        return None
    for known in FORMATS:
        if format == known:
            return known
    raise UsageError(f"There is no format {format!r}. Choose one of {', '.join(FORMATS)}.")


def format_by_name(source: str | Path | Url) -> Format | None:
    source = as_source(source)
    if source == STDIN:
        return None
    if isinstance(source, Url):
        return format_by_ending(str(source))
    return "folder" if Path(source).is_dir() else format_by_ending(str(source))


def format_by_ending(name: str) -> Format | None:
    """The format that the ending of a name says.

    >>> format_by_ending("tickets.csv.gz"), format_by_ending("notes.txt")
    ('csv', None)
    """
    path = PurePath(name)
    if path.suffix.lower() in COMPRESSED:
        path = path.with_suffix("")
    return _SUFFIXES.get(path.suffix.lower())


def format_of_bytes(head: bytes, name: str) -> Format:
    """The format that the first bytes of a source show.

    >>> format_of_bytes(b"+1 3:0.5 7:1\\n", "x"), format_of_bytes(b"__label__a words\\n", "x")
    ('svmlight', 'fasttext')
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    lines = _decoded(head, name).encode().splitlines()
    rows = [line.strip() for line in lines if line.strip() and not line.startswith(b"#")]
    if not rows:
        raise EmptySourceError(
            f"{name}: is empty. Expected documents as JSON, JSON Lines, CSV, TSV, fastText or SVM-light."
        )
    first = rows[0]
    if first.startswith((b"{", b"[")):
        return "json" if _is_one_value(first + b"\n") else "jsonl"
    if first.startswith(b"__label__"):
        return "fasttext"
    if all(_SVMLIGHT_ROW.fullmatch(row) for row in rows[:2]) and b":" in b"".join(rows):
        return "svmlight"
    if b"\t" in first:
        return "tsv"
    if b"," in first or b";" in first:
        return "csv"
    raise UsageError(
        f"{name}: the format cannot be guessed from its name or its first line "
        f"({first[:40].decode(errors='replace')!r}). Name it with --format: {', '.join(FORMATS)}."
    )


def _decoded(head: bytes, name: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return Decoder(name).decode(head)


def _peek_stdin() -> bytes:
    """The first bytes of standard input, without consuming them."""
    if sys.stdin is None:
        raise DataError("standard input is closed. Pass a file, or pipe documents in.")
    buffer = sys.stdin.buffer
    if hasattr(buffer, "peek"):
        return bytes(buffer.peek(1))
    # A replacement for standard input, in memory.
    position = buffer.tell()
    head = buffer.read(1 << 16)
    buffer.seek(position)
    return head
