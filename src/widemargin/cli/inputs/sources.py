"""The documents that a verb reads: files, addresses, folders, archives, patterns, standard input, a query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from widemargin.cli.commands import Given
from widemargin.documents.sources.finding import Source, list_sources, name_of
from widemargin.documents.sources.parts import SqlQuery
from widemargin.documents.sources.urls import as_source
from widemargin.errors import UsageError


class Sources(tuple[Source, ...]):
    """Sources in their order; as text, what to call them in messages."""

    def __str__(self) -> str:
        return name_of(self)

    def to_json(self) -> Any:
        """One name, or a list of them."""
        names = [str(source) for source in self]
        return names[0] if len(names) == 1 else names


def all_sources(given: Given) -> Sources:
    """What a verb with any number of DATA arguments reads: they, then the query of --sql."""
    query = [] if given.sql is None else [SqlQuery(*given.sql)]
    named = [*(given.data or ()), *query]
    if not named:
        raise UsageError("No documents are given. Name DATA: one or more files, - for stdin, or --sql.")
    return Sources(list_sources(named))


def first_and_second(given: Given, first: str, second: str) -> tuple[Any, Any]:
    """The two sources of a verb; the query of --sql takes the place of the first."""
    named = getattr(given, first), getattr(given, second)
    sources: tuple[Any, Any] = _source(named[0]), _source(named[1])
    if given.sql is not None:
        if sources[1] is not None:
            raise UsageError(f"--sql takes the place of {first.upper()}. Name {second.upper()} only.")
        sources = SqlQuery(*given.sql), sources[0]
    if sources[0] is None:
        raise UsageError(f"No documents are given. Name {first.upper()}: a file, - for stdin, or --sql.")
    if sources[0] == sources[1] == "-":
        raise UsageError(
            f"{first.upper()} and {second.upper()} cannot both be -. Give one of them as a file."
        )
    return sources


def _source(given: Any) -> Any:
    return as_source(given) if isinstance(given, str) else given


def flat(inputs: Iterable[Any]) -> list[Any]:
    """All sources and files, without those that are not given."""
    found: list[Any] = []
    for each in inputs:
        if isinstance(each, Sources):
            found += each
        elif each is not None:
            found.append(each)
    return found
