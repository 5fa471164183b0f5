"""Counts in messages."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A count with its noun in the right number.

    >>> counted(1, "field"), counted(1234, "field")
    ('1 field', '1,234 fields')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
