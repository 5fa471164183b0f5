"""Every collection by its name, and where its files are."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from widemargin.documents.corpora import (
    french,
    languages,
    newsgroups,
    ohsumed,
    reuters,
    short_texts,
    techtc,
    vectors,
    webkb,
)
from widemargin.documents.corpora.corpus import CorpusDescription, Source
from widemargin.documents.corpora.home import locate
from widemargin.documents.wording import did_you_mean
from widemargin.errors import UsageError

SOURCES: dict[str, Source] = {
    source.name: source
    for sources in (
        reuters.SOURCES,
        newsgroups.SOURCES,
        webkb.SOURCES,
        ohsumed.SOURCES,
        techtc.SOURCES,
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
    raise UsageError(
        f"There is no corpus {name!r}. {did_you_mean(name, SOURCES)}The corpora are {', '.join(SOURCES)}."
    )


def find_files(source: Source, data_home: str | Path | None = None) -> tuple[Path, ...] | None:
    """The paths of a collection's files, or None where they are not on this machine."""
    paths = locate(source.files, data_home)
    return locate(source.fetched, data_home) if paths is None and source.fetched else paths


def corpus_files(*names: str) -> list[Path]:
    """The paths of the files of some collections that are on this machine."""
    return [path for name in names for path in find_files(find_source(name)) or ()]


def list_corpora(data_home: str | Path | None = None) -> list[CorpusDescription]:
    """Every collection that can be loaded, and whether it is on this machine."""
    shared = [part.name for part in fields(CorpusDescription) if part.name != "available"]
    return [
        CorpusDescription(
            **{name: getattr(source, name) for name in shared},
            available=find_files(source, data_home) is not None,
        )
        for source in SOURCES.values()
    ]


def corpus_available(name: str, data_home: str | Path | None = None) -> bool:
    """Whether the files of a collection are on this machine."""
    return find_files(find_source(name), data_home) is not None
