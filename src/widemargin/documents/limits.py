"""The largest size of a document, so that reading takes bounded memory."""

from __future__ import annotations

import re

from widemargin.errors import DataError, UsageError

# Far above any real document, far below the memory of an ordinary machine.
MAX_DOCUMENT = 128_000_000
_SIZE = re.compile(r"([0-9]{1,15})\s*(|[kMGT]?B)", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


def parse_size(text: str, option: str) -> int:
    """A number of bytes from a size such as "128MB".

    >>> parse_size("128MB", "--max-document"), parse_size("500", "--max-document")
    (128000000, 500)
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(match[1]) * _UNITS[match[2].lower()] if match else 0
    if size < 1:
        raise UsageError(f"{option} {text}: expected a size such as 500kB, 64MB or 2GB.")
    return size


def check_limit(max_document: int) -> None:
    if max_document < 1:
        raise UsageError(f"max_document={max_document}: expected a number of bytes of at least 1.")


def exceeds(text: str, limit: int) -> bool:
    """Whether `text` has more than `limit` bytes as UTF-8.

    >>> exceeds("naïve", 5), exceeds("naive", 5)
    (True, False)
    """
    if 4 * len(text) <= limit:
        return False
    return len(text) > limit or (not text.isascii() and len(text.encode("utf-8", "surrogatepass")) > limit)


def too_large(where: str, limit: int, hint: str = "") -> DataError:
    """The error about a document of more than `limit` bytes."""
    return DataError(
        f"{where}: one document has more than {in_words(limit)}.{hint and ' ' + hint} Split it, or raise "
        f"--max-document."
    )


def in_words(size: int) -> str:
    """A size in words.

    >>> in_words(128_000_000), in_words(1500), in_words(999)
    ('128 MB', '1.5 kB', '999 bytes')
    """
    if size < 1000:
        return f"{size} bytes"
    power = min(4, (len(str(size)) - 1) // 3)
    return f"{size / 1000**power:g} {'kMGT'[power - 1]}B"
