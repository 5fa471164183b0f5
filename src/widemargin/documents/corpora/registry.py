"""Every collection by its name, and where its files are."""

from __future__ import annotations

import difflib
from pathlib import Path

from widemargin.documents.corpora import (
    french,
    languages,
    newsgroups,
    ohsumed,
    reuters,
    short_texts,
    vectors,
    webkb,
)
from widemargin.documents.corpora.corpus import CorpusDescription, Source
from widemargin.documents.corpora.home import locate
from widemargin.errors import UsageError

SOURCES: dict[str, Source] = {
    source.name: source
    for sources in (
        reuters.SOURCES,
        newsgroups.SOURCES,
        webkb.SOURCES,
        ohsumed.SOURCES,
        languages.SOURCES,
        french.SOURCES,
        short_texts.SOURCES,
        vectors.SOURCES,
    )
    for source in sources
}


def find_source(name: str) -> Source:
    """The registry's entry for `name`."""
    if name in SOURCES:
        return SOURCES[name]
    near = difflib.get_close_matches(name, SOURCES, n=1, cutoff=0.4)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise UsageError(f"There is no corpus {name!r}. {hint}The corpora are {', '.join(SOURCES)}.")


def find_files(source: Source, data_home: str | Path | None = None) -> tuple[Path, ...] | None:
    """The paths of a collection's files, or None where they are not on this machine."""
    paths = locate(source.files, data_home)
    return locate(source.fetched, data_home) if paths is None and source.fetched else paths


def corpus_files(*names: str) -> list[Path]:
    """The paths of the files of some collections that are on this machine."""
    return [path for name in names for path in find_files(find_source(name)) or ()]


def list_corpora(data_home: str | Path | None = None) -> list[CorpusDescription]:
    """Every collection that can be loaded, and whether it is on this machine."""
    return [
        CorpusDescription(
            name=source.name,
            title=source.title,
            kind=source.kind,
            splits=source.splits,
            documents=source.documents,
            classes=source.classes,
            available=find_files(source, data_home) is not None,
            origin=source.origin,
        )
        for source in SOURCES.values()
    ]


def corpus_available(name: str, data_home: str | Path | None = None) -> bool:
    """Whether the files of a collection are on this machine."""
    return find_files(find_source(name), data_home) is not None
