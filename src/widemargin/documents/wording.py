"""Counts and hints in messages."""

from __future__ import annotations

from collections.abc import Iterable


def counted(count: int, noun: str) -> str:
    """A count with its noun in the right number.

    >>> counted(1, "field"), counted(1234, "field")
    ('1 field', '1,234 fields')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shown(text: str | bytes, most: int = 40) -> str:
    """The beginning of what was found, without blanks around it.

    >>> shown(b" 1 3:0.5\\n"), shown("abcdef", 3)
    ('1 3:0.5', 'abc...')
    """
    text = (text if isinstance(text, str) else text.decode("utf-8", "replace")).strip()
    return text if len(text) <= most else f"{text[:most]}..."


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A hint with the most similar of `names`, or nothing.

    Examples
    --------
    >>> did_you_mean("reuters", ["reuters21578", "webkb"])
    "Did you mean 'reuters21578'? "
    """
    import difflib

    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    return f"Did you mean {near[0]!r}? " if near else ""
