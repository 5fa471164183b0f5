"""The public collections of text classification behind one small interface.

Nothing of them is part of widemargin: they are searched in ``$WIDEMARGIN_DATA`` and in the user's cache,
where :func:`fetch_corpus` puts what it downloads.
"""

from __future__ import annotations

import difflib
from pathlib import Path

from widemargin.documents.corpora import (
    french,
    languages,
    libsvm,
    modern,
    newsgroups,
    ohsumed,
    rcv1,
    reuters,
    webkb,
)
from widemargin.documents.corpora.corpus import Corpus, CorpusDescription, Source
from widemargin.documents.corpora.home import data_folders, locate
from widemargin.errors import MissingFileError, UsageError

__all__ = ["DEFAULT", "Corpus", "CorpusDescription", "corpus_available", "list_corpora", "load_corpus"]

# The split that papers mean when they name none.
DEFAULT = "default"

_SOURCES: dict[str, Source] = {
    source.name: source
    for sources in (
        reuters.SOURCES,
        newsgroups.SOURCES,
        webkb.SOURCES,
        ohsumed.SOURCES,
        languages.SOURCES,
        french.SOURCES,
        modern.SOURCES,
        libsvm.SOURCES,
        rcv1.SOURCES,
    )
    for source in sources
}


def load_corpus(name: str, split: str | None = DEFAULT, data_home: str | Path | None = None) -> Corpus:
    """Load a collection with its training and test documents.

    Parameters
    ----------
    name : str
        One of the names that `list_corpora` gives, such as "reuters21578".
    split : str or None
        A split of the collection ("modapte"); by default its standard one, and everything where it has
        none. None or "all": everything, as the training part.
    data_home : path, optional
        The folder to search instead of ``$WIDEMARGIN_DATA`` and the user's cache.
    """
    source = find_source(name)
    split = _choose_split(source, split)
    paths = _find(source, data_home)
    if paths is None:
        raise MissingFileError(_not_here(source, data_home))
    train, test = source.load(paths, split)
    return Corpus(name, split, train, test)


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
            available=_find(source, data_home) is not None,
            origin=source.origin,
        )
        for source in _SOURCES.values()
    ]


def corpus_available(name: str, data_home: str | Path | None = None) -> bool:
    """Whether the files of a collection are on this machine."""
    return _find(find_source(name), data_home) is not None


def find_source(name: str) -> Source:
    """The registry's entry for `name`."""
    if name in _SOURCES:
        return _SOURCES[name]
    near = difflib.get_close_matches(name, _SOURCES, n=1, cutoff=0.4)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise UsageError(f"There is no corpus {name!r}. {hint}The corpora are {', '.join(_SOURCES)}.")


def _find(source: Source, data_home: str | Path | None) -> tuple[Path, ...] | None:
    paths = locate(source.files, data_home)
    return locate(source.fetched, data_home) if paths is None and source.fetched else paths


def _choose_split(source: Source, split: str | None) -> str | None:
    if split in (None, "all"):
        return None
    if split == DEFAULT:
        return source.splits[0] if source.official else None
    if split not in source.splits:
        choices = ", ".join((*source.splits, "all"))
        raise UsageError(f"{source.name} has no split {split!r}. Choose one of {choices}.")
    return split


def _not_here(source: Source, data_home: str | Path | None) -> str:
    folders = " or ".join(str(folder) for folder in data_folders(data_home))
    return (
        f"The corpus {source.name} is not on this machine: no {' and '.join(source.files)} in {folders}. "
        f"Try `widemargin corpus fetch {source.name}`, or set WIDEMARGIN_DATA to the folder that has it."
    )
