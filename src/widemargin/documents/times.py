"""Times of documents: ISO 8601 dates, or numbers of any kind, such as years or seconds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from widemargin.errors import DataError


def parse_times(values: Sequence[str | None], names: Sequence[str] | None = None) -> list[float]:
    """The times as numbers that can be compared; NaN where there is none.

    Dates without a zone are taken to be in UTC. All times must be dates, or all numbers.

    Parameters
    ----------
    names : what to call the documents in errors

    Examples
    --------
    >>> parse_times(["1987-03-01", "1987-02-26T15:01", ""])
    [541555200.0, 541350060.0, nan]
    >>> parse_times(["1996", None, "1997.5"])
    [1996.0, nan, 1997.5]
    """
    found: list[float] = []
    kinds: dict[str, int] = {}
    for place, value in enumerate(values):
        text = "" if value is None else str(value).strip()
        time, kind = _parsed(text)
        name = place if names is None else names[place]
        if kind == "":
            raise DataError(
                f"Document {name} has the time {text[:40]!r}: expected a date such as 1987-02-26 or "
                f"1987-02-26T15:01:01, or a number. Convert the column, or name another with --time."
            )
        kinds.setdefault(kind, place)
        if {"date", "number"} <= kinds.keys():
            raise DataError(
                f"Document {name} has the time {text[:40]!r}, a {kind}, but others have a "
                f"{'number' if kind == 'date' else 'date'}. Convert the column to one of them."
            )
        found.append(time)
    return found


def as_cell(value: object) -> str | None:
    """A value of a record as text: a date or a number as a table would have it."""
    return None if value is None else str(value)


def _parsed(text: str) -> tuple[float, str]:
    """The time, and whether it is a "date", a "number" or "missing"; "" if it is none of them."""
    nothing = float("nan")
    if not text:
        return nothing, "missing"
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        return (nothing, "missing") if number != number else (number, "number")
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return nothing, ""
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp(), "date"
